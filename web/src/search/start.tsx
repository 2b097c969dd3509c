// Before anything is typed: saved searches, recent ones, the newest documents, what has changed.
import { useMemo, useState } from "preact/hooks";
import { access, call, fresh } from "../api";
import { lastVisit, recent } from "../kept";
import type { Folder, Saved } from "../operations";
import { Copy, Failure, tell, useAsked } from "../parts/said";
import { address, documentAddress, go } from "../place";
import { age, count, thousands } from "../words";
import { operatorOf } from "./language";

const COMMANDS = ["kb add FOLDER", "kb note 'What I have learned today'", "kb search 'a few words'"];

/** The newest documents, and the folders: where all lie in one, those in it. */
async function arranged(stop: AbortSignal): Promise<Folder> {
  const whole = await call("browse", { limit: 12 }, stop);
  const only = whole.folders.length === 1 ? whole.folders[0] : undefined;
  if (!only) return whole;
  const { folders } = await call("browse", { folder: only.folder, limit: 1 }, stop);
  return folders.length ? { ...whole, folders } : whole;
}

const LISTED: Record<string, string> = { tags: "tag", type: "type", include: "include" };

/** A saved search as an address: what has an operator is written into the box. */
function savedAddress({ query, options }: Saved): string {
  const words = [query];
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) {
    if (["mode", "unit", "profile"].includes(name)) params.set(name, String(value));
    else if (Array.isArray(value) && LISTED[name]) words.push(...value.map((one) => operatorOf(LISTED[name] as string, String(one)) ?? ""));
    else if (["project", "path", "under", "updated", "created", "after", "before", "session"].includes(name)) words.push(operatorOf(name, String(value)) ?? "");
  }
  params.set("q", words.filter(Boolean).join(" "));
  return address("/", params);
}

function Folders({ folders }: { folders: Folder["folders"] }) {
  if (!folders.length) return null;
  return (
    <section>
      <h2>Folders</h2>
      <ul class="plain folders">
        {folders.slice(0, 30).map((one) => (
          <li key={one.folder}>
            <a href={`/?q=${encodeURIComponent(operatorOf("folder", one.folder.replace(/\/$/, "")) ?? "")}`} dir="auto">
              {one.folder}
            </a>{" "}
            <span class="faint number">{thousands(one.documents)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A note, written where one thinks of it. */
function NewNote() {
  const [error, fail] = useState<unknown>(null);
  const write = async (event: Event): Promise<void> => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get("text"));
    try {
      const made = await call("note", { text });
      tell(`Written as ${made.code}`);
      go(documentAddress(made.code));
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <details class="new-note">
      <summary>Write a note</summary>
      <form class="editor" onSubmit={(event) => void write(event)}>
        <label for="new-note">Its text, in Markdown; the first line is its title</label>
        <textarea id="new-note" name="text" rows={6} required dir="auto" />
        {error != null && <Failure error={error} />}
        <div class="row">
          <button type="submit" class="main">
            Keep
          </button>
        </div>
      </form>
    </details>
  );
}

export function Start() {
  const since = useMemo(() => {
    const before = lastVisit.value;
    lastVisit.value = new Date().toISOString();
    return before;
  }, []);
  const newest = useAsked(arranged, [fresh.value]);
  const saved = useAsked((stop) => call("saved/list", {}, stop), [fresh.value]);
  if (newest.error != null) return <Failure error={newest.error} retry={newest.again} />;
  if (!newest.value) return <div class="start" />;
  if (!newest.value.total) return <EmptyBase />;
  const documents = newest.value.documents;
  const changed = since ? documents.filter((one) => one.updated_at > since || one.created_at > since).length : 0;
  return (
    <div class="start">
      {access.value.write && <NewNote />}
      {saved.value && saved.value.saved.length > 0 && (
        <section>
          <h2>Saved searches</h2>
          <ul class="plain">
            {saved.value.saved.map((one) => (
              <li key={one.name}>
                <a href={savedAddress(one)}>{one.name}</a> <code class="faint">{one.query}</code>
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
      <Folders folders={newest.value.folders} />
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
