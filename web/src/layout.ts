// The layout of a graph, in a worker: settled before anything is shown, the same for the same graph.
import { forceCollide, forceLink, forceManyBody, forceRadial, forceSimulation, forceX, forceY, type SimulationNodeDatum } from "d3-force";

export interface Placed extends SimulationNodeDatum {
  id: string;
  depth: number;
  width: number; // of its label
}

export interface Wanted {
  nodes: Placed[];
  links: { source: string; target: string; strength: number }[];
}

interface Drawn {
  source: Placed;
  target: Placed;
  strength: number;
}

/** Links between neighbours must not draw them all to one side. */
const pull = (link: Drawn): number => (link.source.depth === link.target.depth ? 0.02 : 0.15 + 0.2 * link.strength);

const TICKS = 320;
const RING = 165;
const HEIGHT = 22; // of a label

onmessage = (event: MessageEvent<Wanted>) => {
  const { nodes, links } = event.data;
  const centre = nodes[0];
  if (centre) centre.fx = centre.fy = 0;
  const simulation = forceSimulation(nodes)
    .force("charge", forceManyBody().strength(-520))
    .force("link", forceLink<Placed, { source: string; target: string; strength: number }>(links.map((one) => ({ ...one }))).id((node) => node.id).distance(120).strength((one) => pull(one as unknown as Drawn)))
    .force("ring", forceRadial<Placed>((node) => node.depth * RING).strength(0.7))
    .force("x", forceX(0).strength(0.01))
    .force("y", forceY(0).strength(0.03))
    .force("apart", forceCollide(30))
    .stop();
  simulation.tick(TICKS);
  for (const node of nodes) node.x = (node.x ?? 0) * 1.45; // labels are wide
  separate(nodes);
  postMessage(nodes.map((node) => ({ id: node.id, x: Math.round(node.x ?? 0), y: Math.round(node.y ?? 0) })));
};

/** Labels that lie on each other move apart, up and down. */
function separate(nodes: Placed[]): void {
  for (let round = 0; round < 200; round++) {
    let moved = false;
    for (let one = 0; one < nodes.length; one++) {
      for (let other = one + 1; other < nodes.length; other++) moved = push(nodes[one] as Placed, nodes[other] as Placed) || moved;
    }
    if (!moved) return;
  }
}

function push(one: Placed, other: Placed): boolean {
  const across = Math.min(right(one), right(other)) - Math.max(left(one), left(other));
  const down = HEIGHT - Math.abs((one.y ?? 0) - (other.y ?? 0));
  if (across <= 0 || down <= 0.5) return false;
  const [upper, lower] = (one.y ?? 0) <= (other.y ?? 0) ? [one, other] : [other, one];
  if (upper.fy == null) upper.y = (upper.y ?? 0) - down / 2;
  if (lower.fy == null) lower.y = (lower.y ?? 0) + down / 2;
  return true;
}

/** A label stands outwards of its node. */
const isLeft = (node: Placed): boolean => (node.x ?? 0) < 0;
const left = (node: Placed): number => (node.x ?? 0) - (isLeft(node) ? node.width + 14 : 10);
const right = (node: Placed): number => (node.x ?? 0) + (isLeft(node) ? 10 : node.width + 14);
