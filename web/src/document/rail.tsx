// Beside a document: its links, what is like it, its history.
import { call, fresh, search } from "../api";
import type { Document as Facts, DocumentContext, DocumentLinks, LinkLine } from "../operations";
import { Failure, useAsked } from "../parts/said";
import { documentAddress } from "../place";
import { age, count, grouped, pieces } from "../words";

const LIKE = 5;

export function Rail({ code, facts }: { code: string; facts: Facts | null }) {
  const links = useAsked((stop) => call("links", { reference: code }, stop), [code, fresh.value]);
  const like = useAsked((stop) => search({ query: `like:${code}`, unit: "document", top: LIKE }, stop), [code]);
  const context = useAsked((stop) => call("context", { reference: code }, stop), [code, fresh.value]);
  return (
    <aside class="rail" aria-label="About this document">
      {links.error != null && <Failure error={links.error} />}
      {links.value && <Links told={links.value} />}
      <p>
        <a href={`/g/${encodeURIComponent(code)}`}>Show as a graph</a> · <a href={`/t?doc=${encodeURIComponent(code)}`}>in time</a>
      </p>
      {like.value && like.value.hits.length > 0 && (
        <section>
          <h2>Like it</h2>
          <ul class="plain">
            {like.value.hits.map((hit) => (
              <li key={hit.id}>
                <a href={documentAddress(hit.code)} dir="auto">
                  {hit.title}
                </a>
                <p class="faint excerpt" dir="auto">
                  {pieces(hit.snippet)
                    .map((piece) => piece.text)
                    .join("")}
                </p>
              </li>
            ))}
          </ul>
        </section>
      )}
      {context.value && facts && <History facts={facts} context={context.value} />}
    </aside>
  );
}

function Links({ told }: { told: DocumentLinks }) {
  const from = told.links.filter((one) => one.direction === "to");
  const to = told.links.filter((one) => one.direction !== "to");
  return (
    <section>
      <h2>Links</h2>
      <Side title="From here" lines={from} />
      <Side title="To here" lines={to} />
      {told.unresolved.length > 0 && (
        <>
          <h3>Leading nowhere</h3>
          <ul class="plain">
            {told.unresolved.slice(0, 50).map((one) => (
              <li key={one.target + one.kind}>
                <s dir="auto">{one.target}</s> <span class="faint">{one.kind}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {!told.links.length && !told.unresolved.length && <p class="faint">None yet.</p>}
    </section>
  );
}

const RELATIONS: Record<string, string> = { REFERENCES: "reference", SIMILAR_TO: "similar", SUPERSEDES: "supersedes", PARENT_OF: "parent", RELATED_TO: "related" };
/** A relation from the end that is shown: who is the other's parent has it below. */
const seenFromHere = (one: LinkLine): string => (one.relation !== "PARENT_OF" ? relationName(one.relation) : one.direction === "to" ? "below this" : "parent");
export const relationName = (relation: string): string => RELATIONS[relation] ?? relation.toLowerCase().replaceAll("_", " ");

function Side({ title, lines }: { title: string; lines: LinkLine[] }) {
  if (!lines.length) return null;
  const documents = grouped(lines, (one) => one.document.id);
  return (
    <>
      <h3>
        {title} <span class="number faint">{documents.size}</span>
      </h3>
      <ul class="plain">
        {[...documents.values()].slice(0, 60).map((all) => {
          const { document } = all[0] as LinkLine;
          return (
            <li key={document.id}>
              <a href={documentAddress(document.code)} dir="auto">
                {document.title}
              </a>{" "}
              <span class="faint number">{all.map((one) => `${seenFromHere(one)}${one.weight !== 1 ? ` ${one.weight.toFixed(2)}` : ""}`).join(", ")}</span>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function History({ facts, context }: { facts: Facts; context: DocumentContext }) {
  return (
    <section>
      <h2>History</h2>
      <dl class="facts">
        <dt>Put in</dt>
        <dd>
          <time dateTime={facts.created_at}>{age(facts.created_at)}</time>
          {context.created_in && <> in session {context.created_in.id}</>}
        </dd>
        {context.latest && (
          <>
            <dt>Last used</dt>
            <dd>
              {context.latest.usage_type} in {context.latest.session.id} ({count(context.latest.memories_in_session, "memory", "memories")})
            </dd>
          </>
        )}
        {facts.superseded_by && (
          <>
            <dt>Superseded by</dt>
            <dd>
              <a href={documentAddress(facts.superseded_by)}>{facts.superseded_by.slice(0, 13)}</a>
            </dd>
          </>
        )}
        {facts.expires_at && (
          <>
            <dt>Expires</dt>
            <dd>
              <time dateTime={facts.expires_at}>{age(facts.expires_at)}</time>
            </dd>
          </>
        )}
        {facts.judged && (
          <>
            <dt>Judged</dt>
            <dd>{judgement(facts.judged)}</dd>
          </>
        )}
        {facts.confirmed > 0 && (
          <>
            <dt>Confirmed</dt>
            <dd>{count(facts.confirmed, "time")}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

/** "accept 2026-01-31T… ada", as a person would say it. */
function judgement(told: string): string {
  const [verdict, at, ...by] = told.split(" ");
  return `${verdict} by ${by.join(" ")}, ${age(at ?? "")}`;
}
