// Long work that the server does: begun here, seen as it goes on, stopped.
import { useState } from "preact/hooks";
import { call } from "../api";
import { begin, ended, progress } from "../events";
import { Failure, sentence, useAsked } from "../parts/said";
import { age } from "../words";

const KINDS: [string, string][] = [
  ["sync", "Look for changed files"],
  ["embed", "Make missing vectors"],
];

export function Tasks() {
  const loaded = useAsked((stop) => call("tasks", {}, stop), [progress.value?.id, ended.value]);
  const [error, fail] = useState<unknown>(null);
  const run = (work: Promise<unknown>): void =>
    void work.then(
      () => (fail(null), loaded.again()),
      (failure: unknown) => fail(failure),
    );
  const tasks = loaded.value?.tasks ?? [];
  return (
    <section>
      <h2>Work</h2>
      <p class="row">
        {KINDS.map(([task, label]) => (
          <button key={task} type="button" onClick={() => run(begin({ task }))}>
            {label}
          </button>
        ))}
      </p>
      {error != null && <Failure error={error} />}
      <ul class="plain lined">
        {tasks.slice(0, 8).map((one) => (
          <li key={one.id} class="setting">
            <strong>{one.task}</strong>
            <span>{one.state}</span>
            <span class="faint">{one.result ? sentence(one.result) : ""}</span>
            <time dateTime={one.started_at}>{age(one.started_at)}</time>
            {one.state === "running" && (
              <button type="button" class="quiet" aria-label={`Stop ${one.task}`} onClick={() => run(call("task/stop", { id: one.id }))}>
                Stop
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
