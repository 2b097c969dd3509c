// Numbers, dates and marked texts as people read them.

export interface Piece {
  text: string;
  marked: boolean;
}

/** A snippet's text, which has <mark> around what was matched. */
export function pieces(snippet: string): Piece[] {
  return snippet
    .split(/(<mark>[\s\S]*?<\/mark>)/)
    .filter(Boolean)
    .map((part) =>
      part.startsWith("<mark>") && part.endsWith("</mark>")
        ? { text: part.slice(6, -7), marked: true }
        : { text: part, marked: false },
    );
}

/** Prose without the marks of Markdown that nobody reads: links by their words, no hashes. */
export function readable(snippet: string): string {
  return snippet
    .replace(/^(…?)[\s>|]+/, "$1")
    .replaceAll(/\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]/g, "$1")
    .replaceAll(/!?\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)/g, "$1")
    .replaceAll(/(^|\s)#{1,6}\s+/g, "$1")
    .replaceAll(/`{1,3}([^`]*)`{1,3}/g, "$1")
    .replaceAll(/\*\*(?=\S)(.*?\S)\*\*/g, "$1");
}

export function ordinal(number: number): string {
  const rest = number % 100;
  const ending = rest > 10 && rest < 14 ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th");
  return `${number}${ending}`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${thousands(number)} ${number === 1 ? one : many}`;
}

export const thousands = (number: number): string => number.toLocaleString("en");

const STEPS: [number, string][] = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [7, "day"],
  [4.35, "week"],
  [12, "month"],
  [Infinity, "year"],
];

/** How long ago, in one word. */
export function age(moment: string, now = Date.now()): string {
  let amount = (now - Date.parse(moment)) / 1000;
  const ahead = amount < 0;
  amount = Math.abs(amount);
  for (const [size, name] of STEPS) {
    if (amount < size) {
      if (name === "second") return ahead ? "in a moment" : "just now";
      const told = count(Math.floor(amount), name);
      return ahead ? `in ${told}` : `${told} ago`;
    }
    amount /= size;
  }
  return "";
}

export const day = (moment: string): string => moment.slice(0, 10);

export function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    unit++;
  }
  return `${bytes < 10 && unit ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
}

export const milliseconds = (ms: number): string => (ms < 10 ? ms.toFixed(1) : String(Math.round(ms))) + " ms";

/** Write to the clipboard; false where the browser does not let us. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** A title of one line. */
export const shortened = (title: string, most: number): string => (title.length > most ? `${title.slice(0, most - 1)}…` : title);

/** Items by a key, in the order of their first. */
export function grouped<Item>(items: Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}
