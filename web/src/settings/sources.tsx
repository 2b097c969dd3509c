// Where the documents come from: folders and files that the base follows.
import { useState } from "preact/hooks";
import { call, hasToken } from "../api";
import { begin } from "../events";
import type { Removal, Status } from "../operations";
import { Failure, tell } from "../parts/said";
import { count } from "../words";

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
          <Source key={one.path} path={one.path} tags={one.tags} again={again} />
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
        What is left out stands in a <code>.kbignore</code> beside the files, as in a <code>.gitignore</code>; <a href="/health-page">Health</a> shows what a pattern takes out while it is typed. <code>kb watch</code> follows changes by itself.
      </p>
      {error != null && <Failure error={error} />}
    </section>
  );
}

/** A source is taken out once it was said what goes with it; no file is touched. */
function Source({ path, tags, again }: { path: string; tags: string[]; again: () => void }) {
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
        <span class="faint">{tags.map((tag) => `#${tag}`).join(" ")}</span>
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
