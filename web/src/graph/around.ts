// The documents around one, as the address asks for them.
import { computed } from "@preact/signals";
import { call } from "../api";
import type { Neighbourhood, Path } from "../operations";
import { place } from "../place";

export type Near = Neighbourhood["nodes"][number];
export type NearLink = Neighbourhood["links"][number];

export const RELATIONS = ["REFERENCES", "PARENT_OF", "RELATED_TO", "SUPERSEDES", "SIMILAR_TO"];
const MOST = 150; // with all that was opened

export interface Asked {
  depth: number;
  relations: string[];
  types: string[];
  tags: string[];
  strength: number;
  opened: string[];
  to: string;
  include: string[];
}

const list = (name: string): string[] => (place.value.params.get(name) ?? "").split(",").filter(Boolean);

export const asked = computed<Asked>(() => ({
  depth: Math.min(3, Math.max(1, Number(place.value.params.get("depth")) || 1)),
  relations: list("relations"),
  types: list("types"),
  tags: list("tags"),
  strength: Number(place.value.params.get("strength")) || 0,
  opened: list("open"),
  to: place.value.params.get("to") ?? "",
  include: list("include"),
}));

export interface Around {
  nodes: Near[];
  links: NearLink[];
  dead: Neighbourhood["dead"];
  deadTotal: number;
  leftOut: number;
  path: Path | null;
}

export async function around(reference: string, one: Asked, stop: AbortSignal): Promise<Around> {
  const filters = { relations: one.relations, type: one.types, tags: one.tags, strength: one.strength, include: one.include };
  const first = await call("neighbourhood", { reference, depth: one.depth, ...filters }, stop);
  const more = await Promise.all(one.opened.slice(0, 6).map((code) => call("neighbourhood", { reference: code, depth: 1, ...filters }, stop)));
  const path = one.to ? await call("path", { source: reference, target: one.to }, stop) : null;
  return withPath(merged(first, more), path);
}

function merged(first: Neighbourhood, others: Neighbourhood[]): Around {
  const nodes = new Map(first.nodes.map((node) => [node.id, node]));
  for (const other of others) {
    const from = nodes.get(other.centre)?.depth ?? 0;
    for (const node of other.nodes) {
      if (nodes.size < MOST && !nodes.has(node.id)) nodes.set(node.id, { ...node, depth: from + 1 });
    }
    const opened = nodes.get(other.centre);
    if (opened) nodes.set(other.centre, { ...opened, more: 0 });
  }
  const links = new Map<string, NearLink>();
  for (const link of [first, ...others].flatMap((one) => one.links)) {
    if (nodes.has(link.source) && nodes.has(link.target)) links.set(`${link.source} ${link.target} ${link.relation}`, link);
  }
  return { nodes: [...nodes.values()], links: [...links.values()], dead: first.dead, deadTotal: first.dead_total, leftOut: first.left_out, path: null };
}

/** The steps of a path are part of the picture. */
function withPath(found: Around, path: Path | null): Around {
  if (!path?.found) return { ...found, path };
  const nodes = new Map(found.nodes.map((node) => [node.id, node]));
  const links = [...found.links];
  let before = path.source.id;
  path.steps.forEach((step, at) => {
    const { id, code, title, type, path: file } = step.document;
    if (!nodes.has(id)) nodes.set(id, { id, code, title, type, path: file, depth: at + 1, degree: 0, more: 0 });
    const isThere = links.some((link) => [link.source, link.target].includes(id) && [link.source, link.target].includes(before));
    if (!isThere) links.push({ source: before, target: id, relation: step.relation, strength: step.weight });
    before = id;
  });
  return { ...found, nodes: [...nodes.values()], links, path };
}
