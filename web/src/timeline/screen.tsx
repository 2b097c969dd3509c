// What came into the base when: a row a day, the sessions of agents, what expires soon.
import { call, fresh } from "../api";
import type { Document as Facts } from "../operations";
import { AsOf } from "../parts/as_of";
import { Failure, useAsked } from "../parts/said";
import { documentAddress, go, place, withParams } from "../place";
import { askedOf } from "../search/language";
import { thousands } from "../words";
import { Chains } from "./chains";
import { Changes } from "./changes";
import { Days, happened } from "./days";
import { Expiring } from "./expiring";
import { Sessions } from "./sessions";
import { conditions, range, Weeks } from "./weeks";

const PAGE = 50;
const SESSIONS = 100; // that can be chosen from
const WRITERS = { file: "files", agent: "agents, in a session", person: "people" };

export function Timeline() {
  const { params } = place.value;
  const centre = params.get("doc") ?? "";
  const isLog = params.get("show") === "changes";
  return (
    <div class="page timeline">
      <h1>Timeline</h1>
      {!centre && (
        <nav class="tabs" aria-label="Of what">
          <a href="/t" aria-current={isLog ? undefined : "page"}>
            What came in
          </a>
          <a href="/t?show=changes" aria-current={isLog ? "page" : undefined}>
            Changes
          </a>
        </nav>
      )}
      {centre ? <Around code={centre} /> : isLog ? <Changes /> : <Newest />}
    </div>
  );
}

function Newest() {
  const { params } = place.value;
  const project = params.get("project") ?? "";
  const type = params.get("type") ?? "";
  const session = params.get("session") ?? "";
  const writer = params.get("writer") ?? "";
  const shown = Math.min(Math.max(Number(params.get("n")) || PAGE, PAGE), 1000);
  const created = conditions(range());
  const when = params.get("as_of") ?? "";
  const then = when ? { as_of: when } : {};
  const filters = { ...(project ? { project } : {}), ...(type ? { type: [type] } : {}), ...(session ? { session } : {}), ...(writer ? { writer } : {}) };
  const rows = useAsked((stop) => call("browse", { ...filters, ...then, created, order: "created", limit: shown }, stop), [when, project, type, session, writer, created.join(), shown, fresh.value]);
  const sessions = useAsked((stop) => call("sessions", { limit: SESSIONS, ...(project ? { project } : {}) }, stop), [project, fresh.value]);
  const status = useAsked((stop) => call("status", {}, stop), [fresh.value]);
  const documents = rows.value?.documents ?? [];
  const total = rows.value?.total ?? documents.length;
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Project <input size={14} value={project} placeholder="all" onChange={(event) => go(withParams({ project: event.currentTarget.value.trim() }))} />
        </label>
        <label>
          Type{" "}
          <select value={type} onChange={(event) => go(withParams({ type: event.currentTarget.value }))}>
            <option value="">all</option>
            {Object.keys(status.value?.types ?? (type ? { [type]: 0 } : {})).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Written by{" "}
          <select value={writer} onChange={(event) => go(withParams({ writer: event.currentTarget.value, n: "" }))}>
            <option value="">anybody</option>
            {Object.entries(WRITERS).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          Session{" "}
          <select value={session} onChange={(event) => go(withParams({ session: event.currentTarget.value, n: "" }))}>
            <option value="">all</option>
            {[...new Set([...(session ? [session] : []), ...(sessions.value?.sessions.map((one) => one.id) ?? [])])].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <span>
          As of <AsOf when={when} choose={(day) => go(withParams({ as_of: day, n: "" }))} />
        </span>
      </form>
      {when && (
        <p class="notice" role="status">
          The base as it was at {when}: what came later, or was not so yet, is not shown. <a href={`/?q=${encodeURIComponent(askedOf("", when))}`}>Search in it</a>
        </p>
      )}
      <Weeks project={project} type={type} then={then} />
      {rows.error != null && <Failure error={rows.error} retry={rows.again} />}
      {!when && <Expiring />}
      {!when && <Sessions sessions={(sessions.value?.sessions ?? []).filter((one) => !session || one.id === session).slice(0, 12)} />}
      {!when && <Chains project={project} />}
      <h2>Documents</h2>
      {rows.value && !documents.length && created.length > 0 && <p>Nothing came in then.</p>}
      {rows.value && !documents.length && !created.length && <p>Nothing yet. A document stands at the day on which it was put in; “changed” is the time of its file, or of its last edit.</p>}
      <Days documents={documents} isAll={total <= documents.length} when={when} />
      {total > documents.length && (
        <p>
          <button type="button" onClick={() => go(withParams({ n: String(shown + PAGE) }), true)}>
            {thousands(total - documents.length)} earlier
          </button>
        </p>
      )}
    </>
  );
}

/** Centred on a document: what came before it, and after. */
function Around({ code }: { code: string }) {
  const told = useAsked((stop) => call("timeline", { anchor: code, before: 15, after: 15 }, stop), [code, fresh.value]);
  if (told.error != null) return <Failure error={told.error} retry={told.again} />;
  if (!told.value) return <p aria-busy="true">…</p>;
  const { anchor, before, after } = told.value;
  return (
    <>
      <p>
        Around <a href={documentAddress(anchor.code)}>{anchor.title}</a>, the newest first. <a href="/t">All</a>
      </p>
      <ol class="plain around">
        {[...[...after].sort(newestFirst), anchor, ...[...before].sort(newestFirst)].map((one) => (
          <li key={one.id} aria-current={one.id === anchor.id ? "true" : undefined}>
            <time dateTime={one.created_at}>{one.created_at.slice(0, 16).replace("T", " ")}</time>{" "}
            <a href={documentAddress(one.code)} dir="auto">
              {one.title}
            </a>{" "}
            <span class="faint">{happened(one)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

const newestFirst = (one: Facts, other: Facts): number => other.created_at.localeCompare(one.created_at);
