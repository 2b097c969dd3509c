// The reading pane: the document at the passage, following the hit that is chosen.
import { useEffect, useRef } from "preact/hooks";
import { Failure, useAsked } from "../parts/said";
import { Tree } from "../parts/tree";
import { rendered } from "../rendered";
import { asked } from "./asking";
import { anchorOf, chosen, hitAddress, pinned } from "./hits";
import { momentOf, ofThen } from "./language";

const PAUSE = 60; // ms: walking quickly through hits opens only the last
const TYPING = 250; // ms: while one types, the hits come first

export function Pane() {
  const hit = pinned.value ?? chosen();
  const { query } = asked.value;
  const reference = hit ? ofThen(hit.code, momentOf(query)) : "";
  const loaded = useAsked(
    async (stop) => {
      if (!hit) return null;
      await new Promise((done) => setTimeout(done, document.activeElement?.id === "q" ? TYPING : PAUSE));
      stop.throwIfAborted();
      const shown = await rendered(reference, query, stop);
      const isThere = !shown.truncated || (hit.line >= shown.first_line && (!shown.next_line || hit.line < shown.next_line));
      return { shown: isThere ? shown : await rendered(reference, query, stop, hit.line) };
    },
    [reference, query, hit?.line],
  );
  const body = useRef<HTMLDivElement>(null);
  const anchor = hit ? anchorOf(hit) : "";
  useEffect(() => {
    const inside = body.current;
    if (!inside || !hit) return;
    const target = passageNear(inside, anchor, hit.line);
    inside.scrollTop = target ? target.offsetTop - inside.offsetTop - 48 : 0;
  }, [loaded.value?.shown, hit?.section]);
  if (!hit) return null;
  return (
    <aside class="pane" aria-label="Reading pane">
      <header>
        <a href={hitAddress(hit)} dir="auto">
          {hit.title}
        </a>
        <span class="faint">
          <bdi>{hit.path ?? hit.code}</bdi>
        </span>
        <button type="button" class="quiet" aria-pressed={pinned.value !== null} title="p" onClick={() => (pinned.value = pinned.value ? null : hit)}>
          {pinned.value ? "Unpin" : "Pin"}
        </button>
      </header>
      {loaded.error != null && <Failure error={loaded.error} />}
      <div class="text" ref={body} tabIndex={0} role="region" aria-label={`Text of ${hit.code}`} dir="auto">
        {loaded.value && <Tree nodes={loaded.value.shown.tree} />}
      </div>
    </aside>
  );
}

/** Where a hit stands in a rendered text: its line or its heading; else the best passage. */
export function passageNear(inside: HTMLElement, anchor: string, line = 0): HTMLElement | null {
  const lines = line ? [...inside.querySelectorAll<HTMLElement>("[data-line]")] : [];
  const atLine = lines.filter((one) => Number(one.dataset.line) <= line).at(-1) ?? null;
  const heading = anchor ? inside.querySelector<HTMLElement>(`[id="${CSS.escape(anchor)}"]`) : null;
  return atLine ?? heading ?? inside.querySelector<HTMLElement>("#p1");
}
