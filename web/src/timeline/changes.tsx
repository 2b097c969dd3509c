// What was changed, by whom and through what: a line for all that one command wrote.
import { access, call, fresh } from "../api";
import type { LoggedChange, Touched } from "../operations";
import { Failure, useAsked } from "../parts/said";
import { Undo } from "../parts/undo";
import { documentAddress, go, place, withParams } from "../place";
import { count, day, grouped, shortened } from "../words";
import { longDay } from "./days";
import { range } from "./weeks";

const PAGE = 50;
const NAMED = 4; // documents of a line
const SURFACES = { cli: "the command", http: "HTTP, this page", mcp: "agents (MCP)", python: "Python", git: "a repository's commits" };

interface Run {
  last: LoggedChange;
  touched: Touched[];
}

/** All that one command wrote as one, the newest first. */
function runs(changes: LoggedChange[]): Run[] {
  return [...grouped(changes, (one) => one.run || String(one.number)).values()].map((all) => ({ last: all[0] as LoggedChange, touched: all.flatMap((one) => one.touched) }));
}

const dayAfter = (date: string): string => new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);

export function Changes() {
  const { params } = place.value;
  const who = params.get("who") ?? "";
  const surface = params.get("surface") ?? "";
  const session = params.get("session") ?? "";
  const { from, to } = range();
  const shown = Math.min(Math.max(Number(params.get("n")) || PAGE, PAGE), 1000);
  const filters = { ...(who ? { who } : {}), ...(surface ? { surface } : {}), ...(session ? { session } : {}), ...(from ? { since: from } : {}), ...(to ? { until: dayAfter(to) } : {}) };
  const told = useAsked((stop) => call("log", { ...filters, limit: shown }, stop), [JSON.stringify(filters), shown, fresh.value]);
  const changes = told.value?.changes ?? [];
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          By <input size={14} value={who} placeholder="anybody" onChange={(event) => go(withParams({ who: event.currentTarget.value.trim(), n: "" }))} />
        </label>
        <label>
          Through{" "}
          <select value={surface} onChange={(event) => go(withParams({ surface: event.currentTarget.value, n: "" }))}>
            <option value="">anything</option>
            {Object.entries(SURFACES).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          From <input type="date" value={from} onChange={(event) => go(withParams({ from: event.currentTarget.value, n: "" }))} />
        </label>
        <label>
          to <input type="date" value={to} onChange={(event) => go(withParams({ to: event.currentTarget.value, n: "" }))} />
        </label>
      </form>
      {told.error != null && <Failure error={told.error} retry={told.again} />}
      {told.value && !changes.length && <p>Nothing that was changed fits. Documents are counted here from when the base began to keep its history; searches, settings and feedback are no changes.</p>}
      <ol class="plain days">
        {[...grouped(runs(changes), (one) => day(one.last.at))].map(([date, all]) => (
          <li key={date}>
            <h2>
              <time dateTime={date}>{longDay(date)}</time>
            </h2>
            <div class="scrolls" tabIndex={0} role="region" aria-label={`Changes of ${date}`}>
              <table class="lines dense log">
                <thead>
                  <tr>
                    <th scope="col">time</th>
                    <th scope="col">by</th>
                    <th scope="col">through</th>
                    <th scope="col">what</th>
                    {access.value.write && <th scope="col">going back</th>}
                  </tr>
                </thead>
                <tbody>
                  {all.map((one) => (
                    <Line key={one.last.number} run={one} titles={told.value?.titles ?? {}} />
                  ))}
                </tbody>
              </table>
            </div>
          </li>
        ))}
      </ol>
      {changes.length >= shown && shown < 1000 && (
        <p>
          <button type="button" onClick={() => go(withParams({ n: String(shown + PAGE) }), true)}>
            Earlier ones
          </button>
        </p>
      )}
    </>
  );
}

function Line({ run: { last, touched }, titles }: { run: Run; titles: Record<string, string> }) {
  const through = [last.surface, last.command].filter(Boolean).join(" ");
  return (
    <tr>
      <td>
        <time dateTime={last.at} title={`change #${last.number}`}>
          {last.at.slice(11, 16)}
        </time>
      </td>
      <td>{last.who}</td>
      <td>
        {through}
        {last.session && ` in ${last.session}`}
      </td>
      <td>
        {[...grouped(touched, (one) => one.what)].map(([what, all]) => (
          <div key={what}>
            <span class={`what is-${what}`}>{what}</span>{" "}
            {all.slice(0, NAMED).map((one, at) => [
              at > 0 && ", ",
              <a key={one.id} href={documentAddress(one.code)} title={one.code} dir="auto">
                {shortened(titles[one.id] ?? one.code, 60)}
              </a>,
            ])}
            {all.length > NAMED && <span class="faint"> and {count(all.length - NAMED, "more document")}</span>}
          </div>
        ))}
      </td>
      {access.value.write && (
        <td>
          <Undo change={last.number} what={`${through}, change ${last.number}`} />
        </td>
      )}
    </tr>
  );
}
