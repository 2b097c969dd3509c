// The picture: nodes with their names, kinds of links by their line.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Around, Near, NearLink } from "./around";

declare const LAYOUT: string;

export interface Spot {
  id: string;
  x: number;
  y: number;
}

const LETTER = 7.2; // of a label, on average
const LONGEST = 30;
const SCALE = 0.85; // pixels of a unit, at least: names can be read however many there are

export const label = (node: Near): string => (node.title.length > LONGEST ? `${node.title.slice(0, LONGEST - 1)}…` : node.title);

/** Where everything lies; null until it is settled. */
export function useLayout(found: Around | null): Map<string, Spot> | null {
  const [spots, set] = useState<Map<string, Spot> | null>(null);
  useEffect(() => {
    if (!found) return;
    const worker = new Worker(LAYOUT, { type: "module" });
    worker.onmessage = (event: MessageEvent<Spot[]>) => set(new Map(event.data.map((one) => [one.id, one])));
    worker.postMessage({
      nodes: found.nodes.map(({ id, depth, ...node }) => ({ id, depth, width: Math.min(node.title.length, LONGEST) * LETTER + (node.more ? 36 : 0) })),
      links: found.links.map(({ source, target, strength }) => ({ source, target, strength })),
    });
    return () => worker.terminate();
  }, [found]);
  return spots;
}

interface Shown {
  found: Around;
  spots: Map<string, Spot>;
  chosen: string;
  choose: (id: string) => void;
  open: (code: string) => void;
}

export function Picture({ found, spots, chosen, choose, open }: Shown) {
  const onPath = new Set(found.path?.found ? [found.path.source.id, ...found.path.steps.map((step) => step.document.id)] : []);
  const depths = new Map(found.nodes.map((node) => [node.id, node.depth]));
  const dead = new Map<string, number>();
  for (const one of found.dead) dead.set(one.source, (dead.get(one.source) ?? 0) + one.count);
  const drawn = useRef<SVGSVGElement>(null);
  useLayoutEffect(() => show(drawn.current, ".centre", true), [spots]);
  useLayoutEffect(() => show(drawn.current, ".chosen", false), [chosen]);
  const [left, top, wide, tall] = bounds(found.nodes, spots);
  return (
    <svg class="picture" ref={drawn} viewBox={`${left} ${top} ${wide} ${tall}`} width={wide * SCALE} aria-hidden="true">
      {found.links.map((link) => (
        <Line key={link.source + link.target + link.relation} link={link} spots={spots} chosen={chosen} isPath={onPath.has(link.source) && onPath.has(link.target)} isLateral={depths.get(link.source) === depths.get(link.target)} />
      ))}
      {found.nodes.map((node, at) => {
        const spot = spots.get(node.id);
        if (!spot) return null;
        const side = spot.x < 0 ? -1 : 1;
        const kind = [at === 0 ? "centre" : "", node.id === chosen ? "chosen" : "", onPath.has(node.id) ? "on-path" : ""].join(" ");
        const nowhere = dead.get(node.id);
        return (
          <g key={node.id} class={`node ${kind}`} transform={`translate(${spot.x} ${spot.y})`} onClick={() => choose(node.id)}>
            <circle r={at === 0 ? 9 : 5 + Math.min(3, Math.sqrt(node.degree) / 2)} />
            {nowhere && <circle class="hollow" r="4" cx={-side * 13} />}
            <text x={side * 13} y="4" text-anchor={side < 0 ? "end" : "start"}>
              {label(node)}
              {node.more > 0 && (
                <tspan class="bundle" dx="6" onClick={(event: Event) => (event.stopPropagation(), open(node.code))}>
                  +{node.more}
                </tspan>
              )}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

/** Move what is seen of a picture that is larger than its place to one of its nodes. */
function show(drawn: SVGSVGElement | null, name: string, isMiddle: boolean): void {
  const canvas = drawn?.parentElement;
  const node = drawn?.querySelector(`${name} circle`);
  if (!canvas || !node) return;
  const [frame, spot] = [canvas.getBoundingClientRect(), node.getBoundingClientRect()];
  const isSeen = spot.left > frame.left && spot.right < frame.right && spot.top > frame.top && spot.bottom < frame.bottom;
  if (isMiddle || !isSeen) canvas.scrollBy(spot.x - frame.x - frame.width / 2, spot.y - frame.y - frame.height / 2);
}

interface Drawn {
  link: NearLink;
  spots: Map<string, Spot>;
  chosen: string;
  isPath: boolean;
  isLateral: boolean; // between documents that are as far away: there, and not in the way
}

function Line({ link, spots, chosen, isPath, isLateral }: Drawn) {
  const from = spots.get(link.source);
  const to = spots.get(link.target);
  if (!from || !to) return null;
  const isChosen = link.source === chosen || link.target === chosen;
  const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  return (
    <g class={`edge ${link.relation.toLowerCase()}${isChosen ? " chosen" : ""}${isPath ? " on-path" : ""}${isLateral ? " lateral" : ""}`}>
      <line x1={from.x} y1={from.y} x2={to.x} y2={to.y} />
      {isChosen && link.relation === "SIMILAR_TO" && (
        <text x={x} y={y} text-anchor="middle">
          {link.strength.toFixed(2)}
        </text>
      )}
    </g>
  );
}

function bounds(nodes: Near[], spots: Map<string, Spot>): [number, number, number, number] {
  let [left, top, right, bottom] = [-340, -150, 340, 150]; // a few are not drawn larger than many
  for (const node of nodes) {
    const spot = spots.get(node.id);
    if (!spot) continue;
    const wide = label(node).length * LETTER + 24 + (node.more ? 40 : 0);
    left = Math.min(left, spot.x - (spot.x < 0 ? wide : 16));
    right = Math.max(right, spot.x + (spot.x < 0 ? 16 : wide));
    top = Math.min(top, spot.y - 18);
    bottom = Math.max(bottom, spot.y + 18);
  }
  return [left, top, right - left, bottom - top];
}
