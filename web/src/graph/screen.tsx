// The graph: what lies around one document, as a picture and as a list that says the same.
import { useState } from "preact/hooks";
import { access, fresh } from "../api";
import { relationName } from "../document/rail";
import { useKeys } from "../keys";
import { Copy, Failure, useAsked, useName } from "../parts/said";
import { documentAddress, go, place, reference, withParams } from "../place";
import { count, thousands } from "../words";
import { around, asked, RELATIONS, type Around, type Near, type NearLink } from "./around";
import { Cypher } from "./cypher";
import { exportAs } from "./export";
import { Overview } from "./overview";
import { Picture, useLayout } from "./picture";

/** Relations that have a direction, from their source and from their target. */
const WAYS: Record<string, [string, string]> = {
  REFERENCES: ["refers to", "is referred to"],
  SUPERSEDES: ["supersedes", "is superseded"],
};

const HIDDEN = "superseded,archived,expired";

export function Graph() {
  const code = place.value.path.startsWith("/g/") ? reference.value : "";
  return (
    <>
      {code ? <Neighbours code={code} /> : <Overview />}
      {access.value.cypher && <Cypher />}
    </>
  );
}

function Neighbours({ code }: { code: string }) {
  const one = asked.value;
  const loaded = useAsked((stop) => around(code, one, stop), [code, JSON.stringify(one), fresh.value]);
  const found = loaded.value;
  const spots = useLayout(found);
  const [chosen, choose] = useState("");
  const open = (opened: string): void => go(withParams({ open: [...one.opened, opened].join(",") }));
  useKeys(WALK);
  const follow = (id: string): void => {
    choose(id);
    document.querySelector<HTMLElement>(`[data-node="${CSS.escape(id)}"] a`)?.focus();
  };
  const centre = found?.nodes[0];
  useName(centre?.title ?? "");
  if (!found && loaded.error != null) {
    return (
      <div class="page">
        <h1 dir="auto">{code}</h1>
        <Failure error={loaded.error} retry={loaded.again} />
      </div>
    );
  }
  return (
    <div class="graph">
      <header>
        <h1 dir="auto">{centre ? centre.title : code}</h1>
        {found && (
          <p class="faint" role="status">
            {count(found.nodes.length - 1, "document")} around{" "}
            <a href={documentAddress(code)} class="code">
              {centre?.code}
            </a>
            , {count(found.links.length, "link")}
            {found.leftOut > 0 && `, ${thousands(found.leftOut)} more not shown`}
            {found.deadTotal > 0 && (
              <>
                , <a href="#nowhere">{thousands(found.deadTotal)} lead nowhere</a>
              </>
            )}
          </p>
        )}
      </header>
      <Filters found={found} />
      {loaded.error != null && <Failure error={loaded.error} retry={loaded.again} />}
      <div class="canvas" tabIndex={0} role="region" aria-label="Picture; the list of documents says the same">{found && spots && <Picture found={found} spots={spots} chosen={chosen} choose={follow} open={open} />}</div>
      {found && (
        <div class="beside">
          <Legend />
          {found.path && <Way found={found} />}
          <Listed found={found} chosen={chosen} choose={choose} open={open} />
          <p class="exports">
            Export:{" "}
            {(["SVG", "PNG", "GraphML"] as const).map((kind) => (
              <button key={kind} type="button" class="quiet" onClick={() => exportAs(kind, centre?.code ?? code, found)}>
                {kind}
              </button>
            ))}
            <Copy text={() => location.href}>link</Copy>
          </p>
        </div>
      )}
    </div>
  );
}

function Filters({ found }: { found: Around | null }) {
  const { depth, include, relations, strength, tags, to, types } = asked.value;
  const all = [...new Set(found?.nodes.map((node) => node.type) ?? [])];
  const toggle = (relation: string): void => {
    const now = relations.length ? relations : RELATIONS;
    const next = now.includes(relation) ? now.filter((name) => name !== relation) : [...now, relation];
    go(withParams({ relations: next.length === RELATIONS.length ? "" : next.join(",") }));
  };
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        Steps{" "}
        <select value={depth} onChange={(event) => go(withParams({ depth: event.currentTarget.value === "1" ? "" : event.currentTarget.value, open: "" }))}>
          {[1, 2, 3].map((number) => (
            <option key={number} value={number}>
              {number}
            </option>
          ))}
        </select>
      </label>
      <fieldset>
        <legend class="unseen">Kinds of links</legend>
        {RELATIONS.map((relation) => (
          <label key={relation}>
            <input type="checkbox" checked={!relations.length || relations.includes(relation)} onChange={() => toggle(relation)} /> {relationName(relation)}
          </label>
        ))}
      </fieldset>
      <label>
        Type{" "}
        <select value={types[0] ?? ""} onChange={(event) => go(withParams({ types: event.currentTarget.value }))}>
          <option value="">all</option>
          {[...new Set([...all, ...types])].map((type) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </select>
      </label>
      <label>
        Tag <input size={10} value={tags.join(",")} placeholder="all" onChange={(event) => go(withParams({ tags: event.currentTarget.value.trim() }))} />
      </label>
      <label>
        <input type="checkbox" checked={include.length > 0} onChange={() => go(withParams({ include: include.length ? "" : HIDDEN }))} /> with hidden ones
      </label>
      <label>
        Strength from <span class="number">{strength.toFixed(1)}</span>{" "}
        <input type="range" min="0" max="1" step="0.1" value={strength} onChange={(event) => go(withParams({ strength: event.currentTarget.value === "0" ? "" : event.currentTarget.value }))} />
      </label>
      <label>
        Path to <input size={12} value={to} placeholder="KB-12" onChange={(event) => go(withParams({ to: event.currentTarget.value.trim() }))} />
      </label>
    </form>
  );
}

function Legend() {
  return (
    <p class="legend" aria-hidden="true">
      {RELATIONS.map((relation) => (
        <span key={relation}>
          <svg width="34" height="10" class={`edge ${relation.toLowerCase()}`}>
            <line x1="1" y1="5" x2="33" y2="5" />
          </svg>
          {relationName(relation)}
        </span>
      ))}
    </p>
  );
}

function Way({ found }: { found: Around }) {
  const path = found.path;
  if (!path) return null;
  if (!path.found)
    return (
      <p class="notice">
        No links lead from {path.source.code} to {path.target.code}.
      </p>
    );
  return (
    <section aria-label="Path">
      <h2>Path</h2>
      <p>
        {path.source.title}
        {path.steps.map((step) => (
          <>
            {" "}
            <span class="faint">→ {relationName(step.relation)} →</span> <a href={documentAddress(step.document.code)}>{step.document.title}</a>
          </>
        ))}
      </p>
    </section>
  );
}

/** How a document is linked with one that is nearer; "it" is the one in the middle. */
function linkedWith(link: NearLink, isSource: boolean, nearer: Near): string {
  const it = nearer.depth ? nearer.code : "it";
  if (link.relation === "PARENT_OF") return `is ${isSource ? "the parent of" : "below"} ${it}`;
  const [out, back] = WAYS[link.relation] ?? [];
  if (out && back) return isSource ? `${out} ${it}` : nearer.depth ? `${back} by ${it}` : back;
  const strength = link.relation === "SIMILAR_TO" ? ` ${link.strength.toFixed(2)}` : "";
  return `${relationName(link.relation)}${strength}${nearer.depth ? ` (${it})` : ""}`;
}

interface ListShown {
  found: Around;
  chosen: string;
  choose: (id: string) => void;
  open: (code: string) => void;
}

function Listed({ found, chosen, choose, open }: ListShown) {
  const names = new Map(found.nodes.map((node) => [node.id, node]));
  const told = (node: Near): string => {
    const nearer = found.links.flatMap((link) => {
      const other = names.get(link.source === node.id ? link.target : link.target === node.id ? link.source : "");
      return other && other.depth < node.depth ? [{ link, other }] : [];
    });
    return nearer
      .slice(0, 6)
      .map(({ link, other }) => linkedWith(link, link.source === node.id, other))
      .join(", ");
  };
  return (
    <>
      <h2>Documents</h2>
      <ol class="plain nodes">
        {found.nodes.map((node) => (
          <li key={node.id} data-node={node.id} class={node.id === chosen ? "chosen" : ""}>
            <a href={`/g/${encodeURIComponent(node.code)}`} onFocus={() => choose(node.id)} dir="auto">
              {node.title}
            </a>{" "}
            <a class="code faint" href={documentAddress(node.code)} aria-label={`Read ${node.code}`}>
              {node.code}
            </a>
            {node.more > 0 && (
              <button type="button" class="quiet" aria-label={`Open ${node.more} more at ${node.code}`} onClick={() => open(node.code)}>
                +{node.more}
              </button>
            )}
            <span class="faint"> {told(node)}</span>
          </li>
        ))}
      </ol>
      {found.dead.length > 0 && (
        <>
          <h2 id="nowhere">Leading nowhere</h2>
          <ul class="plain">
            {found.dead.slice(0, 100).map((one) => (
              <li key={one.source + one.text}>
                <s dir="auto">{one.text}</s> in <a href={documentAddress(names.get(one.source)?.code ?? one.source)}>{names.get(one.source)?.code}</a>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function walk(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>(".nodes li > a:first-child")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}

/** Arrows walk the list, and the picture follows. */
const WALK = { ArrowDown: () => walk(1), ArrowUp: () => walk(-1), j: () => walk(1), k: () => walk(-1) };
