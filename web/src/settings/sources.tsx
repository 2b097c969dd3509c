// Where the documents come from: folders and files that the base follows.
import { useEffect, useState } from "preact/hooks";
import { call, hasToken } from "../api";
import { begin } from "../events";
import type { Removal, SourceState, Status } from "../operations";
import { Failure, tell } from "../parts/said";
import { age, count } from "../words";

export function Sources({ sources, again }: { sources: Status["sources"]; again: () => void }) {
  const [error, fail] = useState<unknown>(null);
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const tags = String(given.get("tags")).split(",").map((one) => one.trim().replace(/^#/, "")).filter(Boolean);
    try {
      await begin({ task: "add", paths: [String(given.get("path")).trim()], tags });
      form.reset();
      fail(null);
      tell("It is being read; Health shows how far it is, and stops it.");
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <section>
      <h2>Sources</h2>
      {!sources.length && <p class="faint">None yet.</p>}
      <ul class="plain lined">
        {sources.map((one) => (
          <Source key={one.path} source={one} watched={sources.filter((other) => other.is_watched).map((other) => other.path)} again={again} />
        ))}
      </ul>
      {hasToken() ? (
        <form class="form" onSubmit={(event) => void add(event)}>
          <label for="source-path">Folder or file</label>
          <input id="source-path" name="path" required autocomplete="off" placeholder="/home/me/notes" />
          <label for="source-tags">Its tags</label>
          <input id="source-tags" name="tags" autocomplete="off" placeholder="ops, handbook" />
          <span />
          <button type="submit">Add it</button>
        </form>
      ) : (
        <p class="faint">
          <code>kb add FOLDER</code> adds one; here, once there is a token: a server reads what its user may read.
        </p>
      )}
      <p class="faint">
        What is left out stands in a <code>.kbignore</code> beside the files, as in a <code>.gitignore</code>; <a href="/health-page">Health</a> shows what a pattern takes out while it is typed.
      </p>
      {error != null && <Failure error={error} />}
    </section>
  );
}

/** Let the server follow these sources, and no others, now and when it is started again. */
async function follow(paths: string[]): Promise<void> {
  const { tasks } = await call("tasks", {});
  const running = tasks.find((one) => one.task === "watch" && one.state === "running");
  if (running) await call("task/stop", { id: running.id });
  await call("config/set", { key: "index.watch", value: paths.join(",") });
  while (running && (await call("tasks", {})).tasks.some((one) => one.id === running.id && one.state === "running")) await new Promise((done) => setTimeout(done, 200));
  if (paths.length) await call("task/start", { task: "watch", paths });
}

const SOON = 400; // ms between two looks at whether a source is watched

export function Followed({ source }: { source: SourceState }) {
  return <span class="faint">{source.synced_at ? <>compared with the disk <time dateTime={source.synced_at}>{age(source.synced_at)}</time></> : "not compared with the disk from here yet"}</span>;
}

/** A source is taken out once it was said what goes with it; no file is touched. */
function Source({ source, watched, again }: { source: SourceState; watched: string[]; again: () => void }) {
  const { path, tags } = source;
  const [wanted, want] = useState<boolean | null>(null); // until it is so
  useEffect(() => {
    if (wanted === null) return;
    if (source.is_watched === wanted) return want(null);
    const looking = setTimeout(again, SOON);
    return () => clearTimeout(looking);
  }, [wanted, source]);
  const watch = async (isOn: boolean): Promise<void> => {
    if (wanted !== null) return;
    want(isOn);
    try {
      await follow(isOn ? [...watched, path] : watched.filter((one) => one !== path));
      fail(null);
      tell(isOn ? `${path} is watched` : `${path} is not watched any more`);
    } catch (failure) {
      want(null);
      fail(failure);
    }
  };
  const [plan, show] = useState<Removal | null>(null);
  const [error, fail] = useState<unknown>(null);
  const run = async (isReal: boolean): Promise<void> => {
    try {
      const told = await call("rm", { references: [path], dry_run: !isReal });
      fail(null);
      show(isReal ? null : told);
      if (isReal) {
        tell(`${path} is taken out`);
        again();
      }
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <li>
      <div class="setting">
        <code>{path}</code>
        {tags.length > 0 && <span class="faint">{tags.map((tag) => `#${tag}`).join(" ")}</span>}
        <Followed source={source} />
        <label class="check">
          <input type="checkbox" checked={wanted ?? source.is_watched} onChange={(event) => void watch(event.currentTarget.checked)} /> watch<span class="unseen"> {path}</span>
        </label>
        <button type="button" class="quiet" aria-expanded={plan !== null} aria-label={`Take out ${path}`} onClick={() => (plan ? show(null) : void run(false))}>
          Take out
        </button>
      </div>
      {plan && (
        <p class="notice">
          {count(plan.documents.length, "document leaves", "documents leave")} the base; the files stay as they are.{" "}
          <button type="button" class="main" onClick={() => void run(true)}>
            Do it
          </button>
        </p>
      )}
      {error != null && <Failure error={error} />}
    </li>
  );
}
