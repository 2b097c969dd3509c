// Before anything is typed: saved searches, recent ones, the newest documents, what has changed.
import { useMemo } from "preact/hooks";
import { call, fresh } from "../api";
import { lastVisit, recent } from "../kept";
import { Copy, Failure, useAsked } from "../parts/said";
import { documentAddress } from "../place";
import { age, count } from "../words";

const COMMANDS = ["kb add FOLDER", "kb note 'What I have learned today'", "kb search 'a few words'"];

export function Start() {
  const since = useMemo(() => {
    const before = lastVisit.value;
    lastVisit.value = new Date().toISOString();
    return before;
  }, []);
  const newest = useAsked((stop) => call("list", { limit: 12 }, stop), [fresh.value]);
  const saved = useAsked((stop) => call("saved/list", {}, stop), [fresh.value]);
  if (newest.error != null) return <Failure error={newest.error} retry={newest.again} />;
  if (!newest.value) return <div class="start" />;
  if (!newest.value.total) return <EmptyBase />;
  const documents = newest.value.documents;
  const changed = since ? documents.filter((one) => one.updated_at > since || one.created_at > since).length : 0;
  return (
    <div class="start">
      {saved.value && saved.value.saved.length > 0 && (
        <section>
          <h2>Saved searches</h2>
          <ul class="plain">
            {saved.value.saved.map((one) => (
              <li key={one.name}>
                <a href={`/?q=${encodeURIComponent(one.query)}`}>{one.name}</a> <code class="faint">{one.query}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
      {recent.value.length > 0 && (
        <section>
          <h2>
            Last searches{" "}
            <button type="button" class="quiet" onClick={() => (recent.value = [])}>
              Forget them
            </button>
          </h2>
          <ul class="plain">
            {recent.value.map((query) => (
              <li key={query}>
                <a href={`/?q=${encodeURIComponent(query)}`} dir="auto">
                  {query}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h2>Newest of {count(newest.value.total, "document")}</h2>
        {changed > 0 && <p class="faint">{changed === documents.length ? "All of these are" : changed === 1 ? "One is" : `${changed} are`} new since your last visit.</p>}
        <ul class="plain newest">
          {documents.map((one) => (
            <li key={one.id}>
              <a href={documentAddress(one.code)} dir="auto">
                {one.title}
              </a>
              <span class="faint">
                <span class="code">{one.code}</span> <bdi>{one.path ?? one.type}</bdi>
              </span>
              <time class="faint" dateTime={one.created_at}>
                {age(one.created_at)}
              </time>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function EmptyBase() {
  return (
    <section class="start empty">
      <h2>This base is empty</h2>
      <p>Three commands to begin with, in a terminal:</p>
      <ul class="plain">
        {COMMANDS.map((one) => (
          <li key={one}>
            <code>{one}</code> <Copy text={one} label={`Copy: ${one}`} />
          </li>
        ))}
      </ul>
    </section>
  );
}
