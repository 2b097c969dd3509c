// What agents did, a card a session.
import { useState } from "preact/hooks";
import { call } from "../api";
import type { Session } from "../operations";
import { useAsked } from "../parts/said";
import { documentAddress, withParams } from "../place";
import { age, count } from "../words";

export function Sessions({ sessions }: { sessions: Session[] }) {
  if (!sessions.length) return null;
  return (
    <section>
      <h2>Sessions</h2>
      <ul class="plain cards">
        {sessions.map((one) => (
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
        <a class="code" href={withParams({ session: session.id, n: "" })}>
          {session.id}
        </a>
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
