// The query language as the page writes it into the box, and the query's meaning in words.

/** A value behind an operator, quoted where it must be. */
const quoted = (value: string): string => (/[\s"()]/.test(value) ? `"${value.replaceAll('"', "")}"` : value);

const AGES: Record<string, string> = { day: "1d", week: "7d", month: "30d", year: "365d" };

/** What a facet's value is in the query language; null where it has no words. */
export function operatorOf(facet: string, value: string): string | null {
  if (facet === "folder") return value === "." ? null : `path:${quoted(`/${value}/`)}`;
  if (facet === "ending") return `path:${quoted(`*.${value}`)}`;
  if (facet === "age") return value in AGES ? `updated:${AGES[value]}` : "before:365d";
  if (facet === "state") return `include:${value}`;
  return `${facet}:${quoted(value)}`;
}

/** The query with an operator, or without it when it has it. */
export function toggled(query: string, operator: string, exclude = false): string {
  const wanted = (exclude ? "-" : "") + operator;
  const parts = split(query);
  const others = parts.filter((part) => part !== operator && part !== `-${operator}`);
  const had = parts.includes(wanted);
  return [...others, ...(had ? [] : [wanted])].join(" ");
}

export const has = (query: string, operator: string): boolean => split(query).includes(operator);

const split = (query: string): string[] => query.match(/[-+]?(?:[\w.]+:|#)?"[^"]*"|\S+/g) ?? [];

const AS_OF = /(?:^|\s)as_of:("[^"]*"|\S+)/i;

/** The moment that a query is asked of; "" for now. */
export const momentOf = (query: string): string => AS_OF.exec(query)?.[1]?.replaceAll('"', "") ?? "";

/** The query asked of another moment, or of now. */
export const askedOf = (query: string, when: string): string => [query.replace(AS_OF, "").trim(), when ? `as_of:${quoted(when)}` : ""].filter(Boolean).join(" ");

/** A reference to a document as it was then. */
export const ofThen = (code: string, when: string): string => (when ? `${code}@${when}` : code);

/** The operators of a query, each with the query as it is without it. */
export const filtersOf = (query: string): { filter: string; without: string }[] => {
  const parts = split(query);
  const isFilter = (part: string): boolean => /^-?[\w.]+:./.test(part) || /^-?#\S/.test(part) || /^-\w/.test(part);
  return parts.flatMap((part, at) => (isFilter(part) ? [{ filter: part, without: parts.filter((_, other) => other !== at).join(" ") }] : []));
};

/** The query without operators. */
export const wordsOf = (query: string): string => split(query).filter((part) => !/^-?[\w.]+:./.test(part) && !part.startsWith("#")).join(" ");

interface Line {
  depth: number;
  text: string;
}

const SAID: Record<string, string> = {
  tag: "tag", type: "type", project: "project", path: "in", folder: "in", updated: "changed", created: "made",
  after: "changed after", before: "changed before", include: "with what is", is: "only what is", under: "below",
  as_of: "as it was at", similar: "like the text", like: "like", related: "near",
};

/** A query's tree in words: "auth · without legacy · tag backend". */
export function meaning(tree: string): string {
  const lines = tree
    .split("\n")
    .filter(Boolean)
    .map((line) => ({ depth: line.length - line.trimStart().length, text: line.trim() }));
  return said(lines).join(" · ");
}

function said(lines: Line[]): string[] {
  const parts: string[] = [];
  let words: string[] = [];
  const flush = (): void => {
    if (words.length) parts.push((words.length > 1 ? "words " : "word ") + words.join(", "));
    words = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as Line;
    let end = at + 1;
    while (end < lines.length && (lines[end] as Line).depth > line.depth) end++;
    const below = said(lines.slice(at + 1, end));
    const word = /^word (.*)$/.exec(line.text);
    const operator = /^([\w.]+): (.*)$/.exec(line.text);
    if (word) words.push(word[1] as string);
    else {
      flush();
      if (operator) parts.push(`${SAID[operator[1] as string] ?? operator[1]} ${operator[2]}`);
      else parts.push(...joined(line.text, below));
    }
    at = end - 1;
  }
  flush();
  return parts;
}

function joined(kind: string, below: string[]): string[] {
  const items = below.flatMap((one) => (/^words? /.test(one) ? one.replace(/^words? /, "").split(", ") : [one]));
  if (kind === "not") return [`without ${items.join(", ")}`];
  if (kind === "must") return [`must have ${items.join(", ")}`];
  if (kind === "or" || kind === "and") return [items.join(` ${kind} `)];
  return below.length ? below : [kind];
}
