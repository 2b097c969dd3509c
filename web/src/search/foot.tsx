// The last line: how many, by what, how long; and the same search elsewhere.
import { search } from "../api";
import { Copy, sentence, useAsked } from "../parts/said";
import { documentAddress, go, withParams } from "../place";
import { count, milliseconds, thousands } from "../words";
import { answer, asked, isPartial, plan } from "./asking";
import { legName } from "../parts/bar";
import { filtersOf, wordsOf } from "./language";

export function summary(): string {
  const found = answer.value;
  if (!found) return "";
  const by = found.search_modes_used.map(legName).join(" + ") || "filters";
  const part = isPartial.value ? " alone so far" : "";
  return `${thousands(found.returned)} of ${thousands(found.total)} · ${by}${part} · ${milliseconds(found.query_time_ms)}`;
}

export function Notices() {
  const found = answer.value;
  if (!found) return null;
  const said = new Set(plan.value?.query === found.query ? plan.value.problems.map((one) => `${one.message}; ${one.instead}`) : []); // under the box
  const share = Math.floor(found.semantic_coverage * 1000) / 10;
  return (
    <>
      {found.suggestions.map((one) => (
        <p key={one.word} class="notice">
          No document has “{one.word}”. Did you mean{" "}
          {one.nearest.map((word, at) => (
            <>
              {at > 0 && " or "}
              <a href={withParams({ q: asked.value.query.replace(one.word, word) })}>{word}</a>
            </>
          ))}
          ?
        </p>
      ))}
      {found.notices.filter((text) => !said.has(text)).map((text) => (
        <p key={text} class="notice">
          {sentence(text)}
        </p>
      ))}
      {share > 0 && share < 100 && <p class="notice">{share} % of the base have vectors: until all have, ranking leans on words.</p>}
    </>
  );
}

const MOST_FILTERS = 6;

/** What each filter takes away: how many there are without it. */
function Filters({ query, mode }: { query: string; mode: string }) {
  const filters = filtersOf(query).filter((one) => one.without.trim()).slice(0, MOST_FILTERS);
  const told = useAsked(
    (stop) => Promise.all(filters.map(async (one) => (await search({ query: one.without, mode, unit: "document", top: 1, draft: true }, stop)).total)),
    [query, mode],
  );
  const freed = filters.flatMap((one, at) => (told.value?.[at] ? [{ ...one, total: told.value[at] as number }] : []));
  if (!freed.length) return null;
  return (
    <ul class="plain freed">
      {freed.map((one) => (
        <li key={one.filter}>
          <code>{one.filter}</code> takes away <a href={withParams({ q: one.without })}>{count(one.total, "document")}</a>
        </li>
      ))}
    </ul>
  );
}

export function NoHits() {
  const { query, mode } = asked.value;
  const words = wordsOf(query);
  return (
    <div class="nothing">
      <h2>Nothing fits</h2>
      <Filters query={query} mode={mode} />
      {words && words !== query && (
        <p>
          <a href={withParams({ q: words })}>The same without filters</a>
        </p>
      )}
      {mode !== "hybrid" && (
        <p>
          <a href={withParams({ mode: "" })}>The same by words and meaning</a>
        </p>
      )}
    </div>
  );
}

export function Foot() {
  const found = answer.value;
  if (!found) return null;
  const { query, mode, unit, top } = asked.value;
  const options = { ...(mode === "hybrid" ? {} : { mode }), ...(unit === "chunk" ? {} : { unit }) };
  const flags = Object.entries(options).map(([name, value]) => ` --${name} ${value}`);
  const body = JSON.stringify({ query, top, ...options });
  const list = (): string => found.hits.map((hit) => `- [${hit.title}](${location.origin}${documentAddress(hit.code, query)}) ${hit.path ?? hit.code}`).join("\n");
  return (
    <footer class="foot">
      {found.total > found.returned && top < 200 && (
        <p>
          <button type="button" onClick={() => go(withParams({ n: String(Math.min(200, top + 20)) }), true)}>
            More hits
          </button>
        </p>
      )}
      <p>
        <span class="number">{summary()}</span>
        <span class="copies">
          copy as: <Copy text={() => location.href}>link</Copy>
          <Copy text={`kb search ${shell(query)}${flags.join("")} --top ${top}`}>kb command</Copy>
          <Copy text={`curl ${location.origin}/api/search -H 'Content-Type: application/json' -d ${shell(body)}`}>curl</Copy>
          <Copy text={list}>Markdown list</Copy>
        </span>
      </p>
    </footer>
  );
}

const shell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
