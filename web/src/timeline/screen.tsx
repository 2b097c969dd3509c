// What came into the base when: a row a day, the sessions of agents, what expires soon.
import { useState } from "preact/hooks";
import { access, call, fresh } from "../api";
import { dates } from "../kept";
import type { Document as Facts, Listing, Session } from "../operations";
import { Failure, tell, useAsked } from "../parts/said";
import { documentAddress, go, place, withParams } from "../place";
import { conditions, range, Weeks } from "./weeks";
import { age, count, day, grouped, thousands } from "../words";

const PAGE = 50;
const SOON = 30; // days

export function Timeline() {
  const { params } = place.value;
  const centre = params.get("doc") ?? "";
  return (
    <div class="page timeline">
      <h1>Timeline</h1>
      {centre ? <Around code={centre} /> : <Newest />}
    </div>
  );
}

function Newest() {
  const { params } = place.value;
  const project = params.get("project") ?? "";
  const type = params.get("type") ?? "";
  const shown = Math.min(Math.max(Number(params.get("n")) || PAGE, PAGE), 1000);
  const created = conditions(range());
  const filters = { ...(project ? { project } : {}), ...(type ? { type: [type] } : {}) };
  const rows = useAsked((stop) => call("browse", { ...filters, created, limit: shown }, stop), [project, type, created.join(), shown, fresh.value]);
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
      </form>
      <Weeks project={project} type={type} />
      {rows.error != null && <Failure error={rows.error} retry={rows.again} />}
      <Expiring />
      <Sessions project={project} />
      <h2>Documents</h2>
      {rows.value && !documents.length && created.length > 0 && <p>Nothing came in then.</p>}
      {rows.value && !documents.length && !created.length && <p>Nothing yet. A document stands at the day on which it was put in; “changed” is the time of its file, or of its last edit.</p>}
      <Days documents={documents} isAll={total <= documents.length} />
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

/** One row a day, its documents by where they are from. */
function Days({ documents, isAll }: { documents: Facts[]; isAll: boolean }) {
  const days = grouped(documents, (one) => day(one.created_at));
  const cut = isAll ? "" : [...days.keys()].at(-1); // more of that day may come: it has no number yet
  return (
    <ol class="plain days">
      {[...days].map(([date, all]) => (
        <li key={date}>
          <h3>
            <time dateTime={date}>{dates.value === "ago" ? longDay(date) : date}</time> {date !== cut && <span class="faint number">{count(all.length, "document")}</span>}
          </h3>
          {[...grouped(all, origin)].map(([from, some]) => (
            <Group key={from} from={from} documents={some} isWhole={date !== cut} />
          ))}
        </li>
      ))}
    </ol>
  );
}

const FEW = 8;

function Group({ from, documents, isWhole }: { from: string; documents: Facts[]; isWhole: boolean }) {
  const [isOpen, open] = useState(false);
  const shown = isOpen ? documents : documents.slice(0, FEW);
  return (
    <div class="group">
      <p class="faint">
        <bdi>{from}</bdi> {isWhole && <span class="number">{documents.length}</span>}
      </p>
      <ul class="plain">
        {shown.map((one) => (
          <li key={one.id}>
            <a href={documentAddress(one.code)} dir="auto">
              {one.title}
            </a>{" "}
            <span class="faint">{happened(one)}</span>
          </li>
        ))}
      </ul>
      {documents.length > shown.length && (
        <button type="button" class="quiet" onClick={() => open(true)}>
          {thousands(documents.length - shown.length)} more
        </button>
      )}
    </div>
  );
}

const origin = (one: Facts): string => (one.path ? one.path.split("/").slice(0, -1).join("/") || "files" : one.project ? `notes of ${one.project}` : "notes");

/** What happened to a document, in words. */
function happened(one: Facts): string {
  const marks = [one.path ? "read" : "made"];
  if (day(one.updated_at) > day(one.created_at)) marks.push(`changed ${day(one.updated_at)}`);
  if (one.superseded_by) marks.push("superseded");
  if (one.archived) marks.push("archived");
  if (one.last_accessed_at) marks.push(`recalled ${count(one.access_count, "time")}`);
  return `${one.code}: ${marks.join(", ")}`;
}

function longDay(date: string): string {
  return new Date(`${date}T12:00:00Z`).toLocaleDateString("en", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
}

function Expiring() {
  const found = useAsked((stop) => call("expire", { within: `${SOON}d`, limit: 200 }, stop), [fresh.value]);
  const now = Date.now();
  const isSoon = ({ expires_at: at }: Facts): boolean => at !== null && Date.parse(at) >= now && Date.parse(at) < now + SOON * 86_400_000;
  const soon = ((found.value as Listing | null)?.documents ?? []).filter(isSoon).slice(0, 20);
  if (!soon.length) return null;
  return (
    <section class="strip">
      <h2>Expiring within {SOON} days</h2>
      <ul class="plain">
        {soon.map((hit) => (
          <li key={hit.id}>
            <a href={documentAddress(hit.code)} dir="auto">
              {hit.title}
            </a>{" "}
            <span class="code faint">{hit.code}</span> <time dateTime={hit.expires_at ?? ""}>{age(hit.expires_at ?? "")}</time>{" "}
            {access.value.write && (
              <button type="button" class="quiet" aria-label={`Let go: ${hit.code}`} onClick={() => void letGo(hit)}>
                Let go
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Forgotten before it expires. */
async function letGo(hit: Facts): Promise<void> {
  try {
    await call("forget", { references: [hit.id] });
    tell(`${hit.code} is forgotten; kb restore ${hit.id} brings it back`);
    fresh.value++;
  } catch (error) {
    tell((error as Error).message);
  }
}

function Sessions({ project }: { project: string }) {
  const told = useAsked((stop) => call("sessions", { limit: 12, ...(project ? { project } : {}) }, stop), [project, fresh.value]);
  if (!told.value?.sessions.length) return null;
  return (
    <section>
      <h2>Sessions</h2>
      <ul class="plain cards">
        {told.value.sessions.map((one) => (
          <SessionCard key={one.id} session={one} />
        ))}
      </ul>
    </section>
  );
}

function SessionCard({ session }: { session: Session }) {
  const [isOpen, open] = useState(false);
  const view = useAsked((stop) => (isOpen ? call("session/show", { session: session.id }, stop) : Promise.resolve(null)), [isOpen]);
  const minutes = session.ended_at ? Math.max(1, Math.round((Date.parse(session.ended_at) - Date.parse(session.started_at)) / 60_000)) : 0;
  return (
    <li class="card">
      <p class="where">
        <span class="code">{session.id}</span>
        {session.project && <span>project {session.project}</span>}
        <time dateTime={session.started_at}>{age(session.started_at)}</time>
        <span>{session.ended_at ? `${count(minutes, "minute")}, ended` : "under way"}</span>
        <span class="number">{count(session.uses, "use")}</span>
      </p>
      {session.summary && <p dir="auto">{session.summary}</p>}
      <details onToggle={(event) => open(event.currentTarget.open)}>
        <summary>What it remembered and recalled</summary>
        <ul class="plain">
          {view.value?.used.map((one) => (
            <li key={one.document.id + one.usage + one.used_at}>
              <span class="state">{one.usage}</span>{" "}
              <a href={documentAddress(one.document.code)} dir="auto">
                {one.document.title}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </li>
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
