// What is left out of the base: a pattern shows what it takes away while it is typed, and is written
// once that is what was meant.
import { useEffect, useState } from "preact/hooks";
import { call } from "../api";
import { begin } from "../events";
import type { Ignored } from "../operations";
import { Failure, tell } from "../parts/said";
import { count, thousands } from "../words";

const PAUSE = 150; // ms after the last key

export function Ignore({ folders = [] }: { folders?: string[] }) {
  const [pattern, set] = useState("");
  const [folder, choose] = useState("");
  return (
    <section class="ignore">
      <h2>Leave out</h2>
      <div class="row">
        <input value={pattern} aria-label="Pattern of files to leave out" aria-describedby="ignored" placeholder="*.min.js, build/, /archive/**" autocomplete="off" spellcheck={false} onInput={(event) => set(event.currentTarget.value)} />
        {folders.length > 0 && (
          <span>
            in{" "}
            <select value={folder} aria-label="The folder that it is written for" onChange={(event) => choose(event.currentTarget.value)}>
              <option value="">the base's home</option>
              {folders.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </span>
        )}
      </div>
      <Taken pattern={pattern.trim()} folder={folder} done={() => set("")} />
    </section>
  );
}

/** What a pattern would leave out, before it is written. */
export function Taken({ pattern, folder = "", done }: { pattern: string; folder?: string; done: () => void }) {
  const [plan, show] = useState<Ignored | null>(null);
  const [error, fail] = useState<unknown>(null);
  const asked = { pattern, ...(folder ? { folder } : {}) };
  useEffect(() => {
    const stopping = new AbortController();
    const timer = setTimeout(() => {
      if (!pattern) return show(null), fail(null);
      call("ignore", { ...asked, dry_run: true }, stopping.signal).then(
        (told) => (show(told), fail(null)),
        (failure: Error) => failure.name !== "AbortError" && (show(null), fail(failure)),
      );
    }, PAUSE);
    return () => (clearTimeout(timer), stopping.abort());
  }, [pattern, folder]);
  const write = async (): Promise<void> => {
    try {
      const told = await call("ignore", asked);
      await begin({ task: "sync" });
      tell(`${told.file} has the line now; the files are being left out`);
      show(null);
      done();
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <div id="ignored" aria-live="polite">
      {plan && plan.pattern === pattern && (
        <>
          <p>
            <code>{plan.pattern}</code> takes <strong class="number">{thousands(plan.documents)}</strong> of {count(plan.of, "document")} out of the base; the files stay as they are.{" "}
            <button type="button" class="main" onClick={() => void write()}>
              Write it to .kbignore
            </button>
          </p>
          {plan.examples.length > 0 && (
            <ul class="plain path faint">
              {plan.examples.map((path) => (
                <li key={path}>
                  <bdi>{path}</bdi>
                </li>
              ))}
              {plan.documents > plan.examples.length && <li>and {thousands(plan.documents - plan.examples.length)} more</li>}
            </ul>
          )}
        </>
      )}
      {error != null && <Failure error={error} />}
    </div>
  );
}
