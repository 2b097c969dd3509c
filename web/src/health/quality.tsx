// How good the answers are: questions made of the base itself, asked in the background.
import { useState } from "preact/hooks";
import { call } from "../api";
import { begin, ended, progress } from "../events";
import type { TaskLine } from "../operations";
import { Failure, sentence, useAsked } from "../parts/said";
import { age } from "../words";

const NAMES: Record<string, string> = { bm25: "words alone (BM25)", semantic: "meaning alone" };
const LAST = 10;
const percent = (share: number): string => `${Math.round(share * 100)} %`;

export function Quality() {
  const loaded = useAsked((stop) => call("tasks", {}, stop), [progress.value?.id, ended.value]);
  const [error, fail] = useState<unknown>(null);
  const evaluations = (loaded.value?.tasks ?? []).filter((one) => one.task === "eval");
  const done = evaluations.filter((one) => one.scores.length > 0).slice(0, LAST);
  const isRunning = evaluations.some((one) => one.state === "running");
  const failed = evaluations[0]?.state === "failed" ? evaluations[0] : null;
  const start = (): void =>
    void begin({ task: "eval" }).then(
      () => (fail(null), loaded.again()),
      (failure: unknown) => fail(failure),
    );
  return (
    <section class="quality">
      <h2>Quality</h2>
      <p>
        <button type="button" disabled={isRunning} onClick={start}>
          {isRunning ? "Being measured …" : "Measure: ask 100 questions made of this base"}
        </button>
      </p>
      {error != null && <Failure error={error} />}
      {failed && <p class="notice">{sentence(failed.result)}</p>}
      {done[0] && <Scores task={done[0]} />}
      {done.length > 1 && <Line tasks={[...done].reverse()} />}
    </section>
  );
}

function Scores({ task }: { task: TaskLine }) {
  return (
    <table class="lines">
      <caption>
        {sentence(task.result)} <time dateTime={task.started_at}>{age(task.started_at)}</time>
      </caption>
      <thead>
        <tr>
          <th scope="col">searched by</th>
          <th scope="col">first hit right</th>
          <th scope="col">among the first three</th>
        </tr>
      </thead>
      <tbody>
        {task.scores.map((one) => (
          <tr key={one.system}>
            <th scope="row">{NAMES[one.system] ?? `profile ${one.system}`}</th>
            <td>{percent(one.first)}</td>
            <td>{percent(one.third)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The last results of this server, the newest at the right. */
function Line({ tasks }: { tasks: TaskLine[] }) {
  const shares = tasks.map((one) => one.scores[0]?.first ?? 0);
  const points = shares.map((share, at) => `${(at * 200) / (shares.length - 1)},${36 - 32 * share}`).join(" ");
  return (
    <p class="number">
      <svg class="trend" viewBox="-4 0 208 40" width="208" height="40" aria-hidden="true">
        <polyline points={points} />
      </svg>{" "}
      First hit right, the last {tasks.length} times since the server was started: {shares.map(percent).join(", ")}
    </p>
  );
}
