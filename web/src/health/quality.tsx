// How good the answers are: questions made of the base itself, asked in the background.
import { useState } from "preact/hooks";
import { call } from "../api";
import { begin, ended, progress } from "../events";
import type { Evaluation } from "../operations";
import { Failure, sentence, useAsked } from "../parts/said";
import { age, count, thousands } from "../words";

const NAMES: Record<string, string> = { bm25: "words alone (BM25)", semantic: "meaning alone" };
const percent = (share: number): string => `${Math.round(share * 100)} %`;

export function Quality() {
  const loaded = useAsked((stop) => call("tasks", {}, stop), [progress.value?.id, ended.value]);
  const [error, fail] = useState<unknown>(null);
  const evaluations = (loaded.value?.tasks ?? []).filter((one) => one.task === "eval");
  const done = loaded.value?.evaluations ?? [];
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
      {done[0] && <Scores one={done[0]} />}
      {done[0] && done[0].languages.length > 0 && <Languages one={done[0]} />}
      {done.length > 1 && <Line all={[...done].reverse()} />}
    </section>
  );
}

function Scores({ one: told }: { one: Evaluation }) {
  return (
    <table class="lines">
      <caption>
        {count(told.questions, "question")} made of the base itself, <time dateTime={told.at}>{age(told.at)}</time>
      </caption>
      <thead>
        <tr>
          <th scope="col">searched by</th>
          <th scope="col">first hit right</th>
          <th scope="col">among the first three</th>
        </tr>
      </thead>
      <tbody>
        {told.scores.map((one) => (
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

const FAR = 0.2; // of 1: so much worse by meaning than by words, and another model is worth a try
const FEW = 5; // questions that say little

/** Which languages the base holds, and how they fare with its model: measured, not guessed. */
function Languages({ one: told }: { one: Evaluation }) {
  const first = (one: Evaluation["languages"][number], system: string): number | undefined => one.scores.find((score) => score.system === system)?.first;
  const shown = (share: number | undefined): string => (share === undefined ? "–" : percent(share));
  const weak = told.languages.filter((one) => one.questions >= FEW && (first(one, "bm25") ?? 0) - (first(one, "semantic") ?? 0) > FAR);
  return (
    <>
      <div class="scrolls" tabIndex={0} role="region" aria-label="By language">
        <table class="lines">
          <caption>First hit right, by the language of what was asked for</caption>
          <thead>
            <tr>
              <th scope="col">language</th>
              <th scope="col">documents</th>
              <th scope="col">questions</th>
              <th scope="col">words</th>
              <th scope="col">meaning</th>
              <th scope="col">both</th>
            </tr>
          </thead>
          <tbody>
            {told.languages.map((one) => (
              <tr key={one.language}>
                <th scope="row">{one.language}</th>
                <td>{thousands(one.documents)}</td>
                <td>{thousands(one.questions)}</td>
                <td>{shown(first(one, "bm25"))}</td>
                <td>{shown(first(one, "semantic"))}</td>
                <td>{shown(one.scores.find((score) => !(score.system in NAMES))?.first)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {weak.length > 0 && (
        <p class="notice">
          By meaning, {weak.map((one) => one.language).join(" and ")} {weak.length > 1 ? "are" : "is"} found much worse than by words: <code>kb models</code> shows other models, <code>kb embed --model NAME</code> changes to one.
        </p>
      )}
    </>
  );
}

const [WIDE, TALL, LEFT] = [320, 96, 40];

/** The last results, the newest at the right; of earlier servers too. */
function Line({ all }: { all: Evaluation[] }) {
  const shares = all.map((one) => one.scores[0]?.first ?? 0);
  const x = (at: number): number => LEFT + 8 + (at * (WIDE - LEFT - 16)) / (shares.length - 1);
  const y = (share: number): number => 8 + (TALL - 28) * (1 - share);
  return (
    <figure class="trend">
      <figcaption>First hit right, the last {all.length} times</figcaption>
      <svg viewBox={`0 0 ${WIDE} ${TALL}`} width={WIDE} height={TALL} role="img" aria-label={all.map((one, at) => `${one.at.slice(0, 10)}: ${percent(shares[at] ?? 0)}`).join(", ")}>
        {[0, 0.5, 1].map((share) => (
          <>
            <line x1={LEFT} x2={WIDE} y1={y(share)} y2={y(share)} />
            <text x={LEFT - 6} y={y(share) + 4}>
              {percent(share)}
            </text>
          </>
        ))}
        <polyline points={shares.map((share, at) => `${x(at)},${y(share)}`).join(" ")} />
        {shares.map((share, at) => (
          <circle key={at} cx={x(at)} cy={y(share)} r="3">
            <title>{`${all[at]?.at.slice(0, 16).replace("T", " ")}: ${percent(share)}`}</title>
          </circle>
        ))}
        <text class="from" x={LEFT} y={TALL - 4}>
          {all[0]?.at.slice(0, 10)}
        </text>
        <text x={WIDE} y={TALL - 4}>
          {all.at(-1)?.at.slice(0, 10)}
        </text>
      </svg>
    </figure>
  );
}
