// What the server tells unasked: that the base has changed, and how far long work is. Read by
// fetch, since an EventSource sends no token.
import { signal } from "@preact/signals";
import { call, fresh, headers, wantsToken, type Takes } from "./api";
import { forgetRendered } from "./rendered";

export interface Progress {
  task: string;
  done: number;
  total: number;
  rate: number | null;
  left_s: number | null;
  what: string;
  id: string;
  state: string;
}

export const progress = signal<Progress | null>(null);
/** The task that ended last: what it changed is asked for again. */
export const ended = signal("");
const AGAIN = 3000; // ms until the next try

/** Listen for as long as the page is seen. */
export function startListening(): void {
  let stopping = new AbortController();
  const listen = async (): Promise<void> => {
    stopping = new AbortController();
    try {
      if (!wantsToken.value) await read(stopping.signal);
    } catch {
      // gone, or left: whatever is asked next says so
    }
    if (document.visibilityState === "visible") setTimeout(() => void listen(), AGAIN);
  };
  document.addEventListener("visibilitychange", () => (document.visibilityState === "visible" ? void listen() : stopping.abort()));
  addEventListener("pagehide", () => stopping.abort());
  void listen(); // before anything is asked for: no change falls between
}

/** How the base was when it was last heard of: what changes while nobody listens is told afterwards. */
let heard = "";

async function read(stop: AbortSignal): Promise<void> {
  const since: Record<string, string> = heard ? { "Last-Event-ID": heard } : {};
  const response = await fetch("/api/events", { headers: { ...headers(), ...since }, signal: stop });
  if (!response.ok || !response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    parts.forEach(take);
  }
}

const SELDOM = 5000; // ms between two looks at a base that changes all the time
let refreshing = 0;

function refresh(): void {
  refreshing ||= window.setTimeout(() => {
    refreshing = 0;
    forgetRendered();
    fresh.value++;
  }, waitFor());
}

function end(id: string): void {
  if (ended.value === id) return;
  ended.value = id;
  refresh();
}

const LOOK = 1000; // ms between two looks at a task that was begun here

/** Begin long work. Its end is seen even when nothing is heard of it: it may be over at once. */
export async function begin(values: Takes<"task/start">): Promise<void> {
  const { id } = await call("task/start", values);
  const look = async (): Promise<void> => {
    const told = await call("tasks", {}).catch(() => null);
    if (ended.value === id) return;
    if (told?.tasks.some((one) => one.id === id && one.state !== "running")) end(id);
    else setTimeout(() => void look(), LOOK);
  };
  void look();
}

let last = 0;

/** At once, unless the last time was just now. */
function waitFor(): number {
  const wait = Math.max(0, last + SELDOM - Date.now());
  last = Date.now() + wait;
  return wait;
}

function take(event: string): void {
  heard = /^id: (.*)$/m.exec(event)?.[1] ?? heard;
  const name = /^event: (.*)$/m.exec(event)?.[1];
  const data = /^data: (.*)$/m.exec(event)?.[1];
  if (!name || !data) return;
  if (name === "changed") refresh();
  if (name !== "progress") return;
  const told = JSON.parse(data) as Progress;
  if (told.id && told.state !== "running") end(told.id);
  progress.value = told.state !== "running" || (!told.id && told.done >= told.total) ? null : told;
}
