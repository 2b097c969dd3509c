// Searching as one types: what is asked follows from the address, the last question wins.
import { computed, effect, signal } from "@preact/signals";
import { call, fresh, search, type Refused } from "../api";
import { hitsAPage } from "../kept";
import type { Answer, FacetCount, Hit, QueryPlan } from "../operations";
import { place, screen } from "../place";

export interface Asked {
  query: string;
  mode: string;
  unit: string;
  profile: string;
  top: number;
}

export const asked = computed<Asked>(() => {
  const { params } = place.value;
  const more = Number(params.get("n")) || 0;
  return {
    query: params.get("q") ?? "",
    mode: params.get("mode") ?? "hybrid",
    unit: params.get("unit") ?? "chunk",
    profile: params.get("profile") ?? "",
    top: Math.min(Math.max(more, hitsAPage.value), 200),
  };
});

export const answer = signal<Answer | null>(null);
/** The words' answer stands in while the whole one is not there yet. */
export const isPartial = signal(false);
export const isWaiting = signal(false);
export const failure = signal<unknown>(null);
export const plan = signal<QueryPlan | null>(null);
export const facets = signal<Record<string, FacetCount[]>>({});
/** What is shown answers an earlier question: this one has failed. */
export const isOld = computed(() => failure.value != null && answer.value !== null);
/** From asking to having the answer, in this browser. */
export const roundTrip = signal(0);

export const FACETS = ["folder", "type", "ending", "tag", "project", "age"];
const PATIENCE = 150; // ms before the words alone are asked, too
const QUICKLY = 60; // ms between keys while an answer is under way
const SETTLED = 180; // ms after which the counts are asked for
const MEANT = 1000; // ms after which a search is no longer one that is being typed

const known = new Map<string, Answer>();
let stopping: AbortController | null = null;
let turn = 0;
let starting = 0;

const key = (one: Asked): string => JSON.stringify(one);
/** Whether it is still the question: the next one may wait to be asked. */
const isAsked = (one: Asked): boolean => key(asked.value) === key(one);

let typed = "";
/** Somebody is typing this: its last word may go on. */
export const typing = (text: string): void => void (typed = text);
/** A blank behind the last word says that it is finished: the server mends it, if it is a slip. */
const finished = (one: Asked): string => (one.query === typed ? one.query : `${one.query} `);

function values(one: Asked, more: object = {}) {
  const profile = one.profile ? { profile: one.profile } : {};
  return { query: finished(one), mode: one.mode, unit: one.unit, top: one.top, explain: true, draft: true, ...profile, ...more };
}

/** Ask whenever the address asks for something else. */
export function startAsking(): void {
  if (document.querySelector("#app .list .status")) meant = key(asked.value); // the server's own answer is counted
  effect(() => {
    const one = asked.value;
    const stale = fresh.value;
    if (screen.value !== "search") return;
    clearTimeout(starting);
    if (!one.query.trim()) return clear();
    const before = known.get(key(one));
    if (before && stale === lastFresh) return show(before, one);
    lastFresh = stale;
    isWaiting.value = true; // what is shown answers another question from here on
    starting = window.setTimeout(() => void ask(one), stopping ? QUICKLY : 0);
  });
}
let lastFresh = 0;

function clear(): void {
  stopping?.abort();
  stopping = null;
  turn++;
  answer.value = null;
  plan.value = null;
  failure.value = null;
  isWaiting.value = isPartial.value = false;
  facets.value = {};
}

async function ask(one: Asked): Promise<void> {
  stopping?.abort();
  clearTimeout(counting);
  const mine = ++turn;
  const stop = new AbortController();
  stopping = stop;
  isWaiting.value = true;
  const started = performance.now();
  const whole = search(values(one), stop.signal);
  const words = one.mode === "hybrid" ? window.setTimeout(() => void askWords(one, mine, stop), PATIENCE) : 0;
  void askMeaning(one, mine, stop);
  try {
    const found = { ...(await whole), query: one.query };
    if (mine !== turn) return;
    roundTrip.value = performance.now() - started;
    keep(found, one);
    show(found, one);
  } catch (error) {
    if (mine !== turn || !isAsked(one) || (error as Error).name === "AbortError") return;
    failure.value = error as Refused;
    if (plan.value?.query !== one.query) plan.value = null;
    isWaiting.value = false;
  } finally {
    clearTimeout(words);
    if (stopping === stop) stopping = null;
  }
}

/** The answer of the words alone, shown until the whole one is there. */
async function askWords(one: Asked, mine: number, stop: AbortController): Promise<void> {
  try {
    const found = { ...(await search(values(one, { mode: "keyword" }), stop.signal)), query: one.query };
    if (mine !== turn || !isWaiting.value) return;
    isPartial.value = true;
    keepInPlace(() => (answer.value = found));
  } catch {
    // the whole answer's failure is the one that is shown
  }
}

function show(found: Answer, one: Asked): void {
  failure.value = null;
  isWaiting.value = !isAsked(one);
  isPartial.value = false;
  keepInPlace(() => (answer.value = found));
  clearTimeout(counting);
  counting = window.setTimeout(() => void askFacets(one), SETTLED);
  clearTimeout(settling);
  settling = window.setTimeout(settle, MEANT);
}
let counting = 0;
let settling = 0;
let meant = "";

function keep(found: Answer, one: Asked): void {
  known.set(key(one), found);
  if (known.size > 30) known.delete(known.keys().next().value as string);
}

/** What is shown was meant, not typed through: asked once so that it counts, and is recorded; what
 * was typed is finished now, and a slip in its last word is mended. */
export function settle(): void {
  clearTimeout(settling);
  const one = asked.value;
  if (meant === key(one) || !one.query.trim() || isWaiting.value) return;
  meant = key(one);
  const isTyped = one.query === typed;
  typed = "";
  void search(values(one, { draft: false })).then(
    (found) => {
      if (!isTyped) return;
      keep({ ...found, query: one.query }, one);
      if (isAsked(one) && !isWaiting.value) keepInPlace(() => (answer.value = { ...found, query: one.query }));
    },
    () => null,
  );
}

async function askMeaning(one: Asked, mine: number, stop: AbortController): Promise<void> {
  try {
    const found = await call("query", { query: one.query }, stop.signal);
    if (mine === turn) plan.value = found;
  } catch {
    // the search says what is wrong
  }
}

async function askFacets(one: Asked): Promise<void> {
  try {
    const mode = one.mode === "semantic" ? "semantic" : "keyword";
    const found = await search(values(one, { mode, top: 1, explain: false, facets: FACETS }));
    if (key(asked.value) === key(one)) facets.value = found.facets;
  } catch {
    facets.value = {};
  }
}

/** Change what is shown without moving the hit that has the focus. */
function keepInPlace(change: () => void): void {
  const focused = document.activeElement?.closest<HTMLElement>("[data-hit]") ?? null;
  const id = focused?.dataset.hit;
  const before = focused?.getBoundingClientRect().top ?? 0;
  change();
  if (!id) return;
  requestAnimationFrame(() => {
    const after = document.querySelector<HTMLElement>(`[data-hit="${CSS.escape(id)}"]`);
    if (after) scrollBy(0, after.getBoundingClientRect().top - before);
  });
}

export interface Stack {
  first: Hit;
  rest: Hit[];
}

/** Hits of one document together, where its best one stands. */
export const stacks = computed<Stack[]>(() => {
  const made = new Map<string, Stack>();
  for (const hit of answer.value?.hits ?? []) {
    const stack = made.get(hit.id);
    if (stack) stack.rest.push(hit);
    else made.set(hit.id, { first: hit, rest: [] });
  }
  return [...made.values()];
});
