// A document: its text, where the search hit it, what it is linked with.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { access, call, fresh } from "../api";
import { useKeys } from "../keys";
import { editor } from "../kept";
import type { Document as Facts, DocumentContext } from "../operations";
import { Icon } from "../parts/icons";
import { Copy, Failure, useAsked, useName } from "../parts/said";
import { Tree, type Node } from "../parts/tree";
import { go, place, reference, withParams } from "../place";
import { rendered, type Outline, type Rendered } from "../rendered";
import { openInEditor } from "../search/editor";
import { operatorOf } from "../search/language";
import { passageNear } from "../search/pane";
import { age, count, thousands } from "../words";
import { Actions } from "./actions";
import { Editing } from "./editing";
import { hasOriginal, OpenPage, pageOf } from "./original";
import { Rail } from "./rail";
import { Selection } from "./selection";
import { Changes, comparison, Gone, isKnown, Past, useSteps } from "./versions";

export function Document() {
  const wanted = reference.value;
  const query = place.value.params.get("q") ?? "";
  const line = Number(place.value.params.get("line")) || undefined;
  const text = useAsked((stop) => arriving(wanted, query, line, stop), [wanted, query, line, fresh.value]);
  const context = useAsked((stop) => about(wanted, query, stop), [wanted, fresh.value]);
  useName(text.error == null ? (text.value?.title ?? "") : "");
  if (text.error != null) {
    return (
      <div class="page">
        <h1>{wanted}</h1>
        <Failure error={text.error} retry={text.again} />
        <Gone reference={wanted} />
      </div>
    );
  }
  if (!text.value) return <div class="page" aria-busy="true" />;
  return <Shown key={`${text.value.id} ${text.value.when} ${text.value.first_line}`} shown={text.value} context={context.value} again={context.again} query={query} />;
}

/** The text, or of a long one the part that the address names. */
async function arriving(wanted: string, query: string, line: number | undefined, stop: AbortSignal): Promise<Rendered> {
  const shown = await rendered(wanted, query, stop, line);
  const anchor = place.value.hash;
  if (!shown.truncated || line || !anchor || JSON.stringify(shown.tree).includes(JSON.stringify(anchor))) return shown;
  return rendered(`${shown.code}:${anchor}${shown.when ? `@${shown.when}` : ""}`, query, stop).catch(() => shown);
}

/** Where a document comes from and what it is; a section is asked for by its document. */
async function about(wanted: string, query: string, stop: AbortSignal): Promise<DocumentContext> {
  const isPart = /[@:]/.test(wanted); // a section, or what was: the text says of which document
  return call("context", { reference: isPart ? (await rendered(wanted, query, stop)).code : wanted }, stop);
}

interface Page {
  shown: Rendered;
  context: DocumentContext | null;
  again: () => void;
  query: string;
}

function Shown({ shown, context, again, query }: Page) {
  const facts = context?.document ?? null;
  const body = useRef<HTMLDivElement>(null);
  const section = useReading(body, shown);
  const steps = useSteps(shown.id).value?.steps ?? [];
  const since = place.value.params.get("since") ?? "";
  const isNow = shown.when === null;
  const isEditing = isNow && place.value.params.has("edit") && access.value.write && facts !== null && !facts.path;
  const edit = (on: boolean): void => go(withParams({ edit: on ? "1" : "" }), !on);
  return (
    <div class="document">
      <Outlined outline={shown.outline} section={section} body={body} />
      <article>
        <Head shown={shown} facts={facts} query={query} changes={isNow && isKnown(steps[0]) && isKnown(steps[1]) ? comparison(shown.code, steps, 0) : ""} />
        {!isNow && !since && <Past shown={shown} steps={steps} />}
        {shown.front_matter.length > 0 && <FrontMatter rows={shown.front_matter} />}
        {isNow && !since && access.value.write && facts && <Actions facts={facts} again={again} isEditing={isEditing} edit={edit} />}
        {since ? <Changes shown={shown} since={since} steps={steps} /> : <Parts shown={shown} />}
        {isEditing && facts && <Editing facts={facts} done={() => edit(false)} />}
        <div class={`text ${shown.kind}`} ref={body} dir="auto" hidden={isEditing || since !== ""}>
          <Tree nodes={withoutTitle(shown)} beside={hasOriginal(shown) ? (anchor) => (pageOf(anchor) ? <OpenPage code={shown.code} page={pageOf(anchor)} /> : null) : undefined} />
        </div>
        {!since && <Parts shown={shown} />}
        <p class="source">
          {shown.code} {shown.path ?? ""}
        </p>
      </article>
      <Rail shown={shown} context={context} steps={steps} />
      {!since && !isEditing && <Selection body={body} shown={shown} />}
    </div>
  );
}

/** Of a long document a part is shown: which, and where it goes on. */
function Parts({ shown }: { shown: Rendered }) {
  if (!shown.truncated) return null;
  const last = shown.next_line ? shown.next_line - 1 : shown.total_lines;
  return (
    <p class="notice">
      Lines {thousands(shown.first_line)} to {thousands(last)} of {thousands(shown.total_lines)}.{" "}
      {shown.first_line > 1 && <a href={withParams({ line: "1" })}>From the start</a>} {shown.next_line && <a href={withParams({ line: String(shown.next_line) })}>Go on</a>}
    </p>
  );
}

/** Arrive at the passage, walk the others by n and N, and let the address follow the reading. */
function useReading(body: { current: HTMLDivElement | null }, shown: Rendered): string {
  const [section, setSection] = useState(place.value.hash);
  const at = useRef(-1);
  const isThere = useRef(false); // what is shown anew leaves the reader where they are
  const step = (by: number): void => {
    const marks = body.current ? passages(body.current) : [];
    if (!body.current || !marks.length) return;
    at.current = (at.current + by + marks.length) % marks.length;
    arrive(marks[at.current] as HTMLElement, body.current);
  };
  useKeys({ n: () => step(1), N: () => step(-1), o: () => shown.path && access.value.local && void openInEditor(shown.path, 1) });
  useLayoutEffect(() => {
    if (!body.current) return;
    const target = passageNear(body.current, place.value.hash);
    if (target && !isThere.current) arrive(target, body.current);
    isThere.current = true;
    at.current = passages(body.current).findIndex((one) => one === target);
  }, [shown]);
  useEffect(() => {
    const inside = body.current;
    if (!inside || !shown.outline.length) return;
    const headings = shown.outline.map((one) => inside.querySelector<HTMLElement>(`[id="${CSS.escape(one.anchor)}"]`)).filter((one) => one !== null);
    let frame = 0;
    const follow = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        const above = headings.filter((one) => one.getBoundingClientRect().top < 140).at(-1);
        const anchor = above?.id ?? "";
        setSection(anchor);
        if (anchor !== decodeURIComponent(location.hash.slice(1)) && scrollY > 0) {
          history.replaceState(history.state, "", location.pathname + location.search + (anchor ? `#${encodeURIComponent(anchor)}` : ""));
        }
      });
    };
    addEventListener("scroll", follow, { passive: true });
    return () => removeEventListener("scroll", follow);
  }, [shown]);
  return section;
}

const passages = (inside: HTMLElement): HTMLElement[] => [...inside.querySelectorAll<HTMLElement>("[id]")].filter((one) => /^p\d+$/.test(one.id));

/** Go to a passage; under a heading, to the first one there. */
function arrive(target: HTMLElement, inside: HTMLElement): void {
  const heading = /^H[1-6]$/.test(target.tagName) ? target : null;
  target.scrollIntoView({ block: heading ? "start" : "center", behavior: "instant" });
  for (const one of inside.querySelectorAll(".arrived")) one.classList.remove("arrived");
  target.classList.add("arrived");
}

function Outlined({ outline, section, body }: { outline: Outline[]; section: string; body: { current: HTMLElement | null } }) {
  const [hit, setHit] = useState(new Set<string>());
  useEffect(() => {
    const anchors = new Set(outline.map((one) => one.anchor));
    const found = new Set<string>();
    let last = "";
    for (const one of body.current?.querySelectorAll<HTMLElement>("[id], mark") ?? []) {
      if (one.tagName === "MARK" || /^p\d+$/.test(one.id)) found.add(last);
      else if (anchors.has(one.id)) last = one.id;
    }
    setHit(found);
  }, [outline]);
  if (outline.length < 2) return <div class="outline" />;
  return (
    <nav class="outline" aria-label="Outline">
      <ul>
        {outline.slice(0, 300).map((one) => (
          <li key={one.anchor} class={`level-${one.level}`}>
            <a href={`#${encodeURIComponent(one.anchor)}`} aria-current={one.anchor === section ? "true" : undefined} dir="auto">
              {one.title}
              {hit.has(one.anchor) && <span class="dot" title="has a hit of the search" />}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const MOST_TAGS = 20;

function Head({ shown, facts, query, changes }: { shown: Rendered; facts: Facts | null; query: string; changes: string }) {
  return (
    <header class="head">
      {query && (
        <p>
          <a href={`/?q=${encodeURIComponent(query)}`}>← {query}</a>
        </p>
      )}
      <h1 dir="auto">{shown.title}</h1>
      <p class="where">
        <span class="code">{shown.code}</span>
        <span>{shown.language ?? shown.type}</span>
        {shown.path && (
          <span class="path">
            <Crumbs path={shown.path} /> <Copy text={shown.path} label="Copy the path" />
            {access.value.local && editor.value && (
              <button type="button" class="quiet" onClick={() => void openInEditor(shown.path as string, 1)}>
                <Icon name="open" /> Editor
              </button>
            )}
            {hasOriginal(shown) && <OpenPage code={shown.code} page={pageOf(shown.outline[0]?.anchor ?? "") || 1} label="PDF" />}
          </span>
        )}
        {facts && shown.when === null && <time dateTime={facts.updated_at}>{changes ? <a href={changes}>changed {age(facts.updated_at)}</a> : `changed ${age(facts.updated_at)}`}</time>}
        {facts && <span>read {count(facts.access_count, "time")}</span>}
        {facts?.tags.slice(0, MOST_TAGS).map((tag) => (
          <a key={tag} class="tag" href={`/?q=${encodeURIComponent(`tag:${tag}`)}`} dir="auto">
            #{tag}
          </a>
        ))}
        {facts && facts.tags.length > MOST_TAGS && <span>{count(facts.tags.length - MOST_TAGS, "more tag")}</span>}
        {facts?.archived && <strong class="state">archived</strong>}
        {facts?.superseded_by && <strong class="state">superseded</strong>}
        {shown.marks > 0 && <span>{count(shown.marks, "passage")} hit: n, N</span>}
      </p>
    </header>
  );
}

/** A path whose folders lead to what is in them. */
function Crumbs({ path }: { path: string }) {
  const names = path.split("/");
  return (
    <bdi>
      {names.slice(0, -1).map((name, at) => {
        const folder = names.slice(0, at + 1).join("/");
        return name ? (
          <span key={folder}>
            <a href={`/?q=${encodeURIComponent(operatorOf("folder", folder) ?? "")}`}>{name}</a>/
          </span>
        ) : (
          "/"
        );
      })}
      {names.at(-1)}
    </bdi>
  );
}

function FrontMatter({ rows }: { rows: [string, string][] }) {
  return (
    <table class="front">
      <tbody>
        {rows.map(([key, value]) => (
          <tr key={key}>
            <th scope="row">{key}</th>
            <td dir="auto">{value.length > LONG ? <Long text={value} /> : value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const LONG = 400; // letters of a value

function Long({ text }: { text: string }) {
  return (
    <details>
      <summary>{text.slice(0, LONG / 2)}…</summary>
      {text}
    </details>
  );
}

/** The text's own first heading, unseen where it says what stands above it already. */
function withoutTitle(shown: Rendered): Node[] {
  const [first, ...rest] = shown.tree;
  if (!first || typeof first === "string" || first.e !== "h1" || textOf(first) !== shown.title || hasPassage(first)) return shown.tree;
  return [{ ...first, a: { ...first.a, class: "unseen" } }, ...rest];
}

const hasPassage = (node: Node): boolean => typeof node !== "string" && (/^p\d+$/.test(node.a?.id ?? "") || (node.c ?? []).some(hasPassage) || (node.a?.class ?? "").split(" ").includes("passage"));
const textOf = (node: Node): string => (typeof node === "string" ? node : (node.c ?? []).map(textOf).join(""));
