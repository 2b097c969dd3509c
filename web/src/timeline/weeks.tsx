// What came in when, by week: a bar each; a stretch of them is chosen by dragging, or by its dates.
import { useRef, useState } from "preact/hooks";
import { fresh, search } from "../api";
import type { FacetCount } from "../operations";
import { useAsked } from "../parts/said";
import { go, place, withParams } from "../place";
import { count, thousands } from "../words";

const WEEK = 7 * 86_400_000;
const MOST = 104; // bars; with more weeks than that, each stands for several
const HIGH = 84;
const TOP = 14; // room for the topmost number
const TICKS = 8; // dates below a chart, at most

export interface Range {
  from: string;
  to: string; // the last day
}

export const range = (): Range => ({ from: date("from"), to: date("to") });

function date(name: string): string {
  const told = place.value.params.get(name) ?? "";
  return /^\d{4}-\d\d-\d\d$/.test(told) && !Number.isNaN(Date.parse(told)) ? told : "";
}

/** The range as `created` is asked for. */
export const conditions = ({ from, to }: Range): string[] => [...(from ? [`>=${from}`] : []), ...(to ? [`<=${to}`] : [])];

interface Bar {
  from: string;
  to: string;
  documents: number;
}

const iso = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Every week between the first and the last, empty ones too, some together where there are many. */
function bars(weeks: FacetCount[]): Bar[] {
  if (!weeks.length) return [];
  const times = weeks.map((one) => Date.parse(one.value));
  const first = Math.min(...times);
  const number = Math.round((Math.max(...times) - first) / WEEK) + 1;
  const wide = Math.ceil(number / MOST);
  const made = Array.from({ length: Math.ceil(number / wide) }, (_, at): Bar => {
    const start = first + at * wide * WEEK;
    return { from: iso(start), to: iso(Math.min(start + wide * WEEK - 86_400_000, Math.max(Date.now(), start))), documents: 0 };
  });
  for (const one of weeks) (made[Math.floor(Math.round((Date.parse(one.value) - first) / WEEK) / wide)] as Bar).documents += one.documents;
  return made;
}

export function Weeks({ project, type, then }: { project: string; type: string; then: { as_of?: string } }) {
  const filters = { ...(project ? { project } : {}), ...(type ? { type: [type] } : {}) };
  const told = useAsked((stop) => search({ query: "", facets: ["week"], top: 1, mode: "keyword", draft: true, ...filters, ...then }, stop), [project, type, then.as_of, fresh.value]);
  const all = bars(told.value?.facets["week"] ?? []);
  const { from, to } = range();
  if (all.length < 2 && !from && !to) return null;
  const choose = (one: Range): void => go(withParams({ from: one.from, to: one.to, n: "" }));
  return (
    <section class="weeks" aria-label="By week">
      {all.length > 1 && <Chart all={all} chosen={{ from, to }} choose={choose} />}
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          From <input type="date" value={from} onChange={(event) => choose({ from: event.currentTarget.value, to })} />
        </label>
        <label>
          to <input type="date" value={to} onChange={(event) => choose({ from, to: event.currentTarget.value })} />
        </label>
        {(from || to) && (
          <>
            <button type="button" onClick={() => choose({ from: "", to: "" })}>
              All of it
            </button>
            <a href={`/?q=${encodeURIComponent(conditions({ from, to }).map((one) => `created:${one}`).join(" "))}`}>Search in it</a>
          </>
        )}
      </form>
    </section>
  );
}

/** How the base grew; a stretch that is chosen is shown by the timeline. */
export function Growth() {
  const told = useAsked((stop) => search({ query: "", facets: ["week"], top: 1, mode: "keyword", draft: true }, stop), [fresh.value]);
  const all = bars(told.value?.facets["week"] ?? []);
  if (all.length < 2) return null;
  return (
    <section class="weeks">
      <h2>What came in, by week</h2>
      <Chart all={all} chosen={{ from: "", to: "" }} choose={({ from, to }) => go(`/t?from=${from}&to=${to}`)} />
    </section>
  );
}

function Chart({ all, chosen, choose }: { all: Bar[]; chosen: Range; choose: (one: Range) => void }) {
  const [drawn, draw] = useState<[number, number] | null>(null);
  const picture = useRef<SVGSVGElement>(null);
  const most = Math.max(...all.map((one) => one.documents), 1);
  const under = (event: PointerEvent): number => {
    const box = (picture.current as SVGSVGElement).getBoundingClientRect();
    return Math.min(all.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * all.length)));
  };
  const [low, high] = drawn ? [Math.min(...drawn), Math.max(...drawn)] : [-1, -1];
  const isIn = (one: Bar, at: number): boolean => (drawn ? at >= low && at <= high : (!chosen.from || one.to >= chosen.from) && (!chosen.to || one.from <= chosen.to));
  const end = (): void => {
    if (drawn) choose({ from: (all[low] as Bar).from, to: (all[high] as Bar).to });
    draw(null);
  };
  const [first, last] = [all[0] as Bar, all.at(-1) as Bar];
  const total = all.reduce((sum, one) => sum + one.documents, 0);
  const part = 100 / all.length; // of the width, in percent
  return (
    <figure>
      <svg
        ref={picture}
        role="img"
        aria-label={`${count(total, "document")} from ${first.from} to ${last.to}, at most ${most} in a bar`}
        onPointerDown={(event) => (picture.current?.setPointerCapture(event.pointerId), draw([under(event), under(event)]))}
        onPointerMove={(event) => drawn && draw([drawn[0], under(event)])}
        onPointerUp={end}
        onPointerCancel={() => draw(null)}
      >
        {levels(most).map((number) => (
          <line key={number} class="level" x1="0" x2="100%" y1={TOP + HIGH - (HIGH * number) / most} y2={TOP + HIGH - (HIGH * number) / most} />
        ))}
        {all.map((one, at) => {
          const tall = one.documents ? Math.max(2, (HIGH * one.documents) / most) : 0;
          return (
            <g key={one.from} class={isIn(one, at) ? "in" : "out"}>
              <title>{`${one.from} to ${one.to}: ${count(one.documents, "document")}`}</title>
              <rect class="field" x={`${at * part}%`} width={`${part}%`} y={TOP} height={HIGH} />
              <rect x={`${(at + 0.1) * part}%`} width={`${0.8 * part}%`} y={TOP + HIGH - tall} height={tall} />
            </g>
          );
        })}
        <line class="ground" x1="0" x2="100%" y1={TOP + HIGH} y2={TOP + HIGH} />
        {levels(most).map((number) => (
          <text key={number} x="2" y={TOP + HIGH - (HIGH * number) / most - 3}>
            {thousands(number)}
          </text>
        ))}
        {ticks(all).map(({ at, name }) => (
          <text key={at} class="tick" x={`${at * part}%`} y={TOP + HIGH + 15}>
            {name}
          </text>
        ))}
      </svg>
    </figure>
  );
}

/** The numbers at the side: round ones, at most four. */
function levels(most: number): number[] {
  const sizes = [0, 1, 2, 3, 4, 5, 6].flatMap((zeros) => [1, 2, 2.5, 5].map((one) => one * 10 ** zeros));
  const step = sizes.find((one) => Number.isInteger(one) && most / one <= 4) ?? most;
  return [1, 2, 3, 4].map((one) => one * step).filter((one) => one <= most);
}

/** Where a day, a month or a year begins, the finest of these that has room. */
function ticks(all: Bar[]): { at: number; name: string }[] {
  const by = (letters: number) => all.flatMap((one, at) => (at === 0 || one.from.slice(0, letters) !== (all[at - 1] as Bar).from.slice(0, letters) ? [{ at, name: one.from.slice(0, letters) }] : []));
  const found = [10, 7, 4].map(by).find((one) => one.length <= TICKS) ?? by(4);
  const every = Math.ceil(found.length / TICKS);
  const apart = all.length / TICKS / 1.5; // bars between two names, so that they do not touch
  return found.filter((_, at) => at % every === 0).filter((one, at, kept) => one.at < all.length - apart && (at === 0 ? (kept[1]?.at ?? Infinity) - one.at >= apart : true));
}
