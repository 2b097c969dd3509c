// "Not what you looked for?": why a document that was expected is not among the first.
import { useState } from "preact/hooks";
import { call, Refused } from "../api";
import type { WhyNot } from "../operations";
import { legName } from "../parts/bar";
import { Failure, sentence } from "../parts/said";
import { documentAddress } from "../place";
import { ordinal } from "../words";
import { asked } from "./asking";

export function NotFound() {
  const [told, set] = useState<WhyNot | null>(null);
  const [error, fail] = useState<unknown>(null);
  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const { query, mode, unit, top } = asked.value;
    try {
      set(await call("why-not", { reference: String(form.get("reference")), query, mode, unit, top }));
      fail(null);
    } catch (failure) {
      set(null);
      fail(failure);
    }
  };
  return (
    <details class="whynot">
      <summary>Not what you looked for?</summary>
      <form onSubmit={(event) => void ask(event)}>
        <label for="expected">The document that you expected: its code or path</label>
        <div class="row">
          <input id="expected" name="reference" required autocomplete="off" />
          <button type="submit">Why not?</button>
        </div>
      </form>
      <div aria-live="polite">
        {error instanceof Refused && error.status === 404 ? <p>{sentence(error.message)}</p> : error != null && <Failure error={error} />}
        {told && <Reason told={told} />}
      </div>
    </details>
  );
}

function Reason({ told }: { told: WhyNot }) {
  const legs = told.legs.map((leg) =>
    leg.rank === null ? `${legName(leg.leg)}: not found` : `${legName(leg.leg)} ${ordinal(leg.rank)}`,
  );
  return (
    <p>
      <a href={documentAddress(told.code, told.query)} dir="auto">
        {told.code} {told.title}
      </a>
      {": "}
      {sentence(told.reason)} {legs.length > 0 && sentence(legs.join(", "))}
      {told.score !== null && told.needed !== null && ` Its score is ${told.score.toFixed(3)}; ${told.needed.toFixed(3)} was needed.`}
    </p>
  );
}
