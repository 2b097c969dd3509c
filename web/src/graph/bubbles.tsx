// Documents that belong together, as bubbles: as large as they are many, the same picture each time.
import type { Communities } from "../operations";
import { go } from "../place";
import { count } from "../words";

type Community = Communities["communities"][number];

interface Bubble {
  one: Community;
  x: number;
  y: number;
  radius: number;
}

const LEAST = 34; // of a radius: room for a word
const LARGEST = 120;
const GAP = 6;
const STEP = 0.35; // of the spiral on which a place is looked for
const LETTER = 6.4;

/** The largest in the middle, each next one at the nearest place on a spiral that is free. */
function packed(all: Community[]): Bubble[] {
  const most = Math.max(...all.map((one) => one.size), 1);
  const placed: Bubble[] = [];
  for (const one of all) {
    const radius = Math.max(LEAST, LARGEST * Math.sqrt(one.size / most));
    for (let turn = 0; ; turn += STEP) {
      const [x, y] = [7 * turn * Math.cos(turn) * 1.5, 7 * turn * Math.sin(turn)];
      if (placed.some((other) => Math.hypot(other.x - x, other.y - y) < other.radius + radius + GAP)) continue;
      placed.push({ one, x, y, radius });
      break;
    }
  }
  return placed;
}

/** Words in lines that fit; what has no room is left out, and said by the title. */
function lines(text: string, radius: number): string[] {
  const wide = Math.max(6, Math.floor((1.7 * radius) / LETTER));
  const most = Math.max(1, Math.floor(radius / 16) - 1);
  const made: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = made.at(-1);
    if (last !== undefined && last.length + word.length < wide) made[made.length - 1] = `${last} ${word}`;
    else made.push(word.length > wide ? `${word.slice(0, wide - 1)}…` : word);
  }
  return made.length > most ? [...made.slice(0, most - 1), `${(made[most - 1] ?? "").slice(0, wide - 1)}…`] : made;
}

/** The list below says the same, and is what keys and screen readers use. */
export function Bubbles({ all, address }: { all: Community[]; address: (code: string) => string }) {
  const bubbles = packed(all.filter((one) => one.central.length > 0));
  if (!bubbles.length) return null;
  const left = Math.min(...bubbles.map((one) => one.x - one.radius)) - GAP;
  const top = Math.min(...bubbles.map((one) => one.y - one.radius)) - GAP;
  const right = Math.max(...bubbles.map((one) => one.x + one.radius)) + GAP;
  const bottom = Math.max(...bubbles.map((one) => one.y + one.radius)) + GAP;
  return (
    <svg class="bubbles" viewBox={[left, top, right - left, bottom - top].map(Math.round).join(" ")} aria-hidden="true">
      {bubbles.map(({ one, x, y, radius }) => {
        const title = one.central[0]?.title ?? one.label;
        const told = lines(title, radius);
        return (
          <g key={one.label + title} class="bubble" onClick={() => go(address(one.central[0]?.code ?? ""))}>
            <title>{`${title}: ${one.label}, ${count(one.size, "document")}`}</title>
            <circle cx={x} cy={y} r={radius} />
            {told.map((line, at) => (
              <text key={at} x={x} y={y + 14 * (at - told.length / 2) + 4}>
                {line}
              </text>
            ))}
            <text class="number" x={x} y={y + 7 * told.length + 8}>
              {one.size}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
