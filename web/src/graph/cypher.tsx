// Asking the graph in Cypher, where the owner of the base lets it be asked: rows, and what is in them.
import { useState } from "preact/hooks";
import { call } from "../api";
import { Failure } from "../parts/said";
import { documentAddress } from "../place";
import { count } from "../words";
import type { Around, Near, NearLink } from "./around";
import { Picture, useLayout } from "./picture";

type Row = Record<string, unknown>;

const MOST_ROWS = 200;
const MOST_NODES = 60;

/** What graphqlite writes of a node or a link: its properties are JSON in a text. */
function facts(value: unknown): Row | null {
  const told = (value as Row | null)?.["properties"];
  if (typeof told !== "string") return null;
  try {
    return JSON.parse(told) as Row;
  } catch {
    return null;
  }
}

const isDocument = (value: unknown): boolean => typeof facts(value)?.["code"] === "string";

/** The documents and links in the rows, as the picture has them. */
function pictured(rows: Row[]): Around {
  const nodes = new Map<unknown, Near>();
  const links: NearLink[] = [];
  const cells = rows.flatMap((row) => Object.values(row));
  for (const one of cells) {
    const told = facts(one);
    const id = (one as Row | null)?.["id"];
    if (!told || !isDocument(one) || nodes.has(id) || nodes.size >= MOST_NODES) continue;
    nodes.set(id, { id: String(id), code: String(told["code"]), title: String(told["title"]), type: String(told["type"]), path: null, depth: Math.min(nodes.size, 1), degree: 0, more: 0 });
  }
  for (const one of cells as (Row | null)[]) {
    const [from, to] = [nodes.get(one?.["startNode"]), nodes.get(one?.["endNode"])];
    if (from && to) links.push({ source: from.id, target: to.id, relation: String(one?.["type"]), strength: Number(facts(one)?.["weight"] ?? 1) });
  }
  return { nodes: [...nodes.values()], links, dead: [], deadTotal: 0, leftOut: 0, path: null };
}

export function Cypher() {
  const [rows, set] = useState<Row[] | null>(null);
  const [found, draw] = useState<Around | null>(null);
  const [error, fail] = useState<unknown>(null);
  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    const query = String(new FormData(event.currentTarget as HTMLFormElement).get("cypher"));
    try {
      const told = await call("graph/query", { query });
      const picture = pictured(told.rows);
      set(told.rows);
      draw(picture.nodes.length ? picture : null);
      fail(null);
    } catch (failure) {
      set(null);
      draw(null);
      fail(failure);
    }
  };
  return (
    <details class="cypher">
      <summary>Advanced: ask in Cypher</summary>
      <form onSubmit={(event) => void ask(event)}>
        <label for="cypher">Query</label>
        <textarea id="cypher" name="cypher" rows={3} required spellcheck={false}>
          MATCH (d:Document)-[r]-&gt;(o) RETURN d, r, o LIMIT 20
        </textarea>
        <button type="submit" class="main">
          Ask
        </button>
      </form>
      {error != null && <Failure error={error} />}
      {rows && <p role="status">{count(rows.length, "row")}{rows.length > MOST_ROWS && `, the first ${MOST_ROWS} are shown`}.</p>}
      {found && <Drawn found={found} />}
      {rows && rows.length > 0 && <Rows rows={rows.slice(0, MOST_ROWS)} />}
    </details>
  );
}

function Drawn({ found }: { found: Around }) {
  const spots = useLayout(found);
  const [chosen, choose] = useState("");
  return (
    <div class="canvas" tabIndex={0} role="region" aria-label="Picture; the rows say the same">
      {spots && <Picture found={found} spots={spots} chosen={chosen} choose={choose} open={() => undefined} />}
    </div>
  );
}

function Rows({ rows }: { rows: Row[] }) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label="Rows">
      <table class="lines">
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {names.map((name) => (
                <td key={name} dir="auto">
                  <Cell value={row[name]} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ value }: { value: unknown }) {
  const told = facts(value);
  if (told && isDocument(value)) return <a href={documentAddress(String(told["code"]))}>{String(told["title"])}</a>;
  const type = (value as Row | null)?.["type"];
  if (told && typeof type === "string") return <span class="faint">{type}</span>;
  return <>{value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value)}</>;
}
