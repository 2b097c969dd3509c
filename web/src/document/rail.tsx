// Beside a document: its links, what is like it, its history.
import { useState } from "preact/hooks";
import { access, call, fresh, search } from "../api";
import type { Document as Facts, DocumentContext, DocumentLinks, Link, LinkLine, Step } from "../operations";
import { Failure, tell, useAsked } from "../parts/said";
import { documentAddress } from "../place";
import { forgetRendered, type Rendered } from "../rendered";
import { openInEditor } from "../search/editor";
import { age, count, grouped, pieces, readable } from "../words";
import { Versions } from "./versions";

const LIKE = 5;

interface Beside {
  shown: Rendered;
  context: DocumentContext | null;
  steps: Step[];
}

/** Links and what is alike are those of now: what was has its history alone. */
export function Rail(beside: Beside) {
  return (
    <aside class="rail" aria-label="About this document">
      {beside.shown.when === null ? <Now {...beside} /> : <History {...beside} succession={[]} />}
    </aside>
  );
}

function Now({ shown, context, steps }: Beside) {
  const { code } = shown;
  const links = useAsked((stop) => call("links", { reference: code }, stop), [code, fresh.value]);
  const like = useAsked((stop) => search({ query: `like:${code}`, unit: "document", top: LIKE, draft: true }, stop), [code]);
  return (
    <>
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
                  {readable(pieces(hit.snippet).map((piece) => piece.text).join(""))}
                </p>
              </li>
            ))}
          </ul>
        </section>
      )}
      <History shown={shown} context={context} steps={steps} succession={(links.value?.links ?? []).filter((one) => one.relation === "SUPERSEDES")} />
    </>
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
              <Dead key={one.target + one.kind} link={one} document={told.document} />
            ))}
          </ul>
        </>
      )}
      {!told.links.length && !told.unresolved.length && <p class="faint">None yet.</p>}
    </section>
  );
}

/** Mended where it is written, or by writing what it names. */
function Dead({ link, document }: { link: Link; document: Facts }) {
  const [isWriting, write] = useState(false);
  const [error, fail] = useState<unknown>(null);
  const canWrite = access.value.write && !/[\\/]|\.\w+$/.test(link.target); // a note is no file
  const keep = async (event: Event): Promise<void> => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get("text"));
    const name = link.kind === "code" ? { code: link.target } : { title: link.target };
    try {
      const made = await call("note", { text, ...name, ...(document.project ? { project: document.project } : {}) });
      tell(`Written as ${made.code}: the link leads there now`);
      write(false);
      fail(null);
      forgetRendered();
      fresh.value++;
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <li>
      <s dir="auto">{link.target}</s> <span class="faint">{link.kind}</span>{" "}
      {document.path && access.value.local && (
        <button type="button" class="quiet" aria-label={`Editor, at ${link.target}`} onClick={() => void mendInEditor(document, link.target)}>
          Editor
        </button>
      )}
      {canWrite && (
        <button type="button" class="quiet" aria-expanded={isWriting} aria-label={`Write it: ${link.target}`} onClick={() => write(!isWriting)}>
          Write it
        </button>
      )}
      {isWriting && (
        <form onSubmit={(event) => void keep(event)}>
          <textarea name="text" rows={3} required aria-label={`What ${link.target} says`} dir="auto" />
          <button type="submit" class="main">
            Keep
          </button>
        </form>
      )}
      {error != null && <Failure error={error} />}
    </li>
  );
}

/** At the line that names it, as far as the text tells. */
async function mendInEditor(document: Facts, target: string): Promise<void> {
  const { sections } = await call("get", { reference: document.code }).catch(() => ({ sections: [] }));
  const section = sections.find((one) => one.text.includes(target));
  const before = section?.text.slice(0, section.text.indexOf(target)) ?? "";
  await openInEditor(document.path as string, (section?.line ?? 1) + before.split("\n").length - 1);
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

function History({ shown, context, steps, succession }: Beside & { succession: LinkLine[] }) {
  return (
    <section>
      <h2>History</h2>
      {context && <FactList facts={context.document} context={context} succession={succession} />}
      {(steps.length > 1 || shown.when !== null) && <Versions code={shown.code} steps={steps} when={shown.when} />}
    </section>
  );
}

function FactList({ facts, context, succession }: { facts: Facts; context: DocumentContext; succession: LinkLine[] }) {
  const before = succession.filter((one) => one.direction === "to");
  const after = succession.find((one) => one.direction !== "to" && one.document.id === facts.superseded_by);
  return (
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
            <a href={documentAddress(after?.document.code ?? facts.superseded_by)} dir="auto">
              {after?.document.title ?? facts.superseded_by.slice(0, 13)}
            </a>
          </dd>
        </>
      )}
      {before.length > 0 && (
        <>
          <dt>In place of</dt>
          <dd>
            {before.map(({ document }, at) => (
              <>
                {at > 0 && ", "}
                <a key={document.id} href={documentAddress(document.code)} dir="auto">
                  {document.title}
                </a>
              </>
            ))}
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
  );
}

/** "accept 2026-01-31T… ada", as a person would say it; behind a tab stands what it was before. */
function judgement(told: string): string {
  const [verdict, at, ...by] = (told.split("\t")[0] as string).split(" ");
  return `${verdict} by ${by.join(" ")}, ${age(at ?? "")}`;
}
