// Search: box, facets, hits, reading pane.
import { signal, useComputed } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { fresh } from "../api";
import { Failure } from "../parts/said";
import { go, withParams } from "../place";
import { answer, asked, failure, isOld, isWaiting, stacks } from "./asking";
import { Box, Meaning } from "./box";
import { Facets } from "./facets";
import { Foot, NoHits, Notices, summary } from "./foot";
import { Hits } from "./hits";
import { Pane } from "./pane";
import { Start } from "./start";
import { NotFound } from "./whynot";

export const showsFacets = signal(false);

export function Search() {
  const isEmpty = useComputed(() => !asked.value.query.trim()).value;
  const isWide = useWide("(min-width: 1100px)");
  return (
    <div class={isEmpty ? "search empty" : "search"}>
      <h1 class="unseen">Search</h1>
      <div class="ask">
        <Box />
        <Meaning />
      </div>
      {isEmpty ? <Start /> : <Found isWide={isWide} />}
    </div>
  );
}

function Found({ isWide }: { isWide: boolean }) {
  const found = answer.value;
  return (
    <>
      <details class="narrow" open={isWide || showsFacets.value} onToggle={(event) => (showsFacets.value = event.currentTarget.open)}>
        <summary>Narrow down</summary>
        <Facets />
      </details>
      <section class="list" aria-label="Hits" aria-busy={isWaiting.value}>
        <div class="status">
          <p class="number" role="status" aria-live="polite">
            {found && !isOld.value ? summary() : "\u00a0"}
          </p>
          <Switches />
        </div>
        {failure.value != null && <Failure error={failure.value} retry={() => fresh.value++} />}
        {isOld.value ? <Earlier /> : <Answered />}
      </section>
      {isWide && <Pane />}
    </>
  );
}

function Answered() {
  const found = answer.value;
  return (
    <>
      <Notices />
      {found && (found.hits.length ? <Hits stacks={stacks.value} /> : <NoHits />)}
      {found && <NotFound />}
      <Foot />
    </>
  );
}

/** The hits of the question before, under that question. */
function Earlier() {
  const found = answer.value;
  if (!found?.hits.length) return null;
  return (
    <div class="earlier">
      <p>
        From before, for <q dir="auto">{found.query}</q>:
      </p>
      <Hits stacks={stacks.value} />
    </div>
  );
}

function Switches() {
  const { unit, mode } = asked.value;
  return (
    <div class="switches">
      <label>
        <input type="checkbox" checked={unit === "document"} onChange={(event) => go(withParams({ unit: event.currentTarget.checked ? "document" : "" }))} /> one hit a document
      </label>
      <label>
        by{" "}
        <select value={mode} onChange={(event) => go(withParams({ mode: event.currentTarget.value === "hybrid" ? "" : event.currentTarget.value }))}>
          <option value="hybrid">words and meaning</option>
          <option value="keyword">words</option>
          <option value="semantic">meaning</option>
        </select>
      </label>
    </div>
  );
}

export function useWide(query: string): boolean {
  const [is, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const changed = (): void => set(media.matches);
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, [query]);
  return is;
}
