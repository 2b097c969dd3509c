// A search from any screen without leaving it: its first hits, and the way to all of them.
import { useState } from "preact/hooks";
import { search } from "../api";
import { remember } from "../kept";
import { Dialog } from "../parts/dialog";
import { useAsked } from "../parts/said";
import { address, documentAddress, go } from "../place";

const MOST = 8; // hits
const PAUSE = 60; // ms after a key

export function Overlay({ done }: { done: () => void }) {
  const [query, type] = useState("");
  const [at, walk] = useState(0);
  const asked = { query, unit: "document", top: MOST };
  const found = useAsked(
    async (stop) => {
      await new Promise((go) => setTimeout(go, PAUSE));
      stop.throwIfAborted();
      return query.trim() ? search({ ...asked, draft: true }, stop) : null;
    },
    [query],
  ).value;
  const hits = query.trim() ? (found?.hits ?? []) : [];
  const targets = [...hits.map((hit) => documentAddress(hit.code, query)), ...(query.trim() ? [address("/", new URLSearchParams({ q: query }))] : [])];
  const chosen = Math.min(at, targets.length - 1);
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) walk((chosen + step + targets.length) % Math.max(targets.length, 1));
    else if (event.key !== "Enter" || !targets[chosen]) return;
    else {
      leave(chosen);
      go(targets[chosen] as string);
      scrollTo(0, 0);
    }
    event.preventDefault();
  };
  const leave = (number: number): void => {
    remember(query);
    if (number < hits.length) void search(asked).catch(() => null); // it was meant: it counts
    done();
  };
  const option = (target: string, number: number, inside: preact.ComponentChildren) => (
    <a key={target} id={`option-${number}`} role="option" aria-selected={number === chosen} tabIndex={-1} href={target} onClick={() => leave(number)}>
      {inside}
    </a>
  );
  return (
    <Dialog label="Search" done={done}>
      <input
        type="text"
        role="combobox"
        list={undefined}
        aria-label="Search"
        aria-expanded={targets.length > 0}
        aria-controls="options"
        aria-activedescendant={targets.length ? `option-${chosen}` : undefined}
        placeholder="Search from here"
        autocomplete="off"
        spellcheck={false}
        dir="auto"
        autofocus
        onInput={(event) => (type(event.currentTarget.value), walk(0))}
        onKeyDown={press}
      />
      <div id="options" role="listbox" aria-label="Hits">
        {hits.map((hit, number) =>
          option(
            targets[number] as string,
            number,
            <>
              <bdi>{hit.title}</bdi> <bdi class="faint">{hit.path ?? hit.code}</bdi>
            </>,
          ),
        )}
        {targets.length > 0 && option(targets.at(-1) as string, hits.length, found && !hits.length ? "Nothing fits. Search with facets and explanations" : "All hits, with facets and explanations")}
      </div>
    </Dialog>
  );
}
