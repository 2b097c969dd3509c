// How a score came about: a bar of fixed length, split by what gave it.
import type { Explanation } from "../operations";
import { ordinal } from "../words";

const NAMES: Record<string, string> = { keyword: "words", semantic: "meaning", graph: "links" };
const LENGTH = 96;

export const legName = (leg: string): string => NAMES[leg] ?? leg;

interface Part {
  leg: string;
  share: number;
}

/** The parts of the score: the gains, each times the factors, so that they add up to it. */
function parts(told: Explanation): Part[] {
  const sum = told.contributions.reduce((all, one) => all + Math.max(one.gain, 0), 0) || 1;
  return told.contributions.map((one) => ({ leg: one.leg, share: (Math.max(one.gain, 0) / sum) * told.score }));
}

export function ranks(told: Explanation): string {
  return told.contributions
    .filter((one) => one.rank)
    .map((one) => `${legName(one.leg)} ${ordinal(one.rank as number)}`)
    .join(", ");
}

export function Bar({ told, best }: { told: Explanation; best: number }) {
  let from = 0;
  const scale = best > 0 ? LENGTH / best : 0;
  return (
    <span class="bar">
      <svg viewBox={`0 0 ${LENGTH} 8`} width={LENGTH} height="8" aria-hidden="true">
        <rect class="track" width={LENGTH} height="8" rx="2" />
        {parts(told).map((part) => {
          const start = from;
          const width = Math.max(0, Math.min(part.share * scale, LENGTH - start));
          from += width;
          return <rect key={part.leg} class={`leg-${part.leg}`} x={start} width={width} height="8" />;
        })}
      </svg>
      <span class="faint">{ranks(told)}</span>
    </span>
  );
}

export function Sum({ told }: { told: Explanation }) {
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label="How the score came about">
      <table class="sum">
        <thead>
          <tr>
            <th scope="col">by</th>
            <th scope="col">place</th>
            <th scope="col">found</th>
            <th scope="col">value</th>
            <th scope="col">weight</th>
            <th scope="col">adds</th>
          </tr>
        </thead>
        <tbody>
          {told.contributions.map((one) => (
            <tr key={one.leg}>
              <th scope="row">
                <span class={`dot leg-${one.leg}`} /> {legName(one.leg)}
              </th>
              <td>{one.rank ?? "–"}</td>
              <td>{figure(one.raw)}</td>
              <td>{figure(one.value)}</td>
              <td>{figure(one.weight)}</td>
              <td>{figure(one.gain)}</td>
            </tr>
          ))}
          {told.factors.map((one) => (
            <tr key={one.name}>
              <th scope="row" colSpan={5}>
                times {one.name}: {one.because}
              </th>
              <td>× {figure(one.value)}</td>
            </tr>
          ))}
          <tr class="total">
            <th scope="row" colSpan={5}>
              score{told.clamped ? ", held within its bounds" : ""}
            </th>
            <td>{figure(told.score)}</td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

const figure = (value: number | null | undefined): string => (value == null ? "–" : value.toFixed(3));
