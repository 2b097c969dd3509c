// What differs between two texts, by words: what was taken out is struck, what came in underlined.
import { count } from "../words";

export type Piece = [string, string]; // = both have it, - the old one alone, + the new one

const AROUND = 3; // lines that are shown of a long stretch that is the same, at each end

export function Differing({ pieces }: { pieces: Piece[] }) {
  const joined = together(pieces);
  return (
    <div class="diff" dir="auto">
      {joined.map(([sign, text], at) => (sign === "=" ? <Same key={at} text={text} isFirst={at === 0} isLast={at === joined.length - 1} /> : sign === "-" ? <del key={at}>{text}</del> : <ins key={at}>{text}</ins>))}
    </div>
  );
}

/** Neighbours of one kind as one. */
function together(pieces: Piece[]): Piece[] {
  const made: Piece[] = [];
  for (const [sign, text] of pieces) {
    const last = made.at(-1);
    if (last?.[0] === sign && sign === "=") last[1] += text;
    else made.push([sign, text]);
  }
  return made;
}

/** Of much that is the same, only what stands beside a change. */
function Same({ text, isFirst, isLast }: { text: string; isFirst: boolean; isLast: boolean }) {
  const lines = text.split("\n");
  const [head, tail] = [isFirst ? 0 : AROUND, isLast ? 0 : AROUND];
  const left = lines.length - head - tail;
  if (left <= AROUND) return <span>{text}</span>;
  return (
    <>
      {head > 0 && <span>{`${lines.slice(0, head).join("\n")}\n`}</span>}
      <span class="faint left-out">{`… ${count(left, "line")} that are the same …\n`}</span>
      {tail > 0 && <span>{lines.slice(-tail).join("\n")}</span>}
    </>
  );
}
