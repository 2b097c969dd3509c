// A document as the server renders it.
import { call } from "./api";
import type { Rendered as Served } from "./operations";
import type { Node } from "./parts/tree";
import { askedOf } from "./search/language";


export type Outline = Served["outline"][number];
export type Rendered = Omit<Served, "tree" | "front_matter"> & { tree: Node[]; front_matter: [string, string][] };

const known = new Map<string, Rendered>();

export async function rendered(reference: string, query: string, stop?: AbortSignal, line?: number): Promise<Rendered> {
  const key = JSON.stringify([reference, query, line]);
  const before = known.get(key);
  if (before) return before;
  const found = (await call("render", { reference, query: askedOf(query, ""), ...(line ? { line } : {}) }, stop)) as unknown as Rendered;
  known.set(key, found);
  if (known.size > 20) known.delete(known.keys().next().value as string);
  return found;
}

export const forgetRendered = (): void => known.clear();
