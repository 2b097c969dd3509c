// Work under way: its real share, and what it means for searching meanwhile.
import { call } from "../api";
import { progress } from "../events";
import { thousands } from "../words";

export function Progress() {
  const told = progress.value;
  if (!told || (!told.id && told.rate === null)) return null; // vectors that nobody makes are a finding, no work
  const left = told.left_s === null ? "" : `, about ${told.left_s < 90 ? `${Math.ceil(told.left_s)} s` : `${Math.ceil(told.left_s / 60)} min`} left`;
  return (
    <section class="strip">
      <h2>Under way: {told.task}</h2>
      <progress max={told.total} value={told.done} aria-label={told.task} />
      <p class="number">
        {thousands(told.done)} of {thousands(told.total)} {told.what}
        {told.rate !== null && `, ${told.rate} a second`}
        {left}.{told.task === "embed" && " Until it is done, ranking leans on words."}
      </p>
      {told.id && (
        <button type="button" onClick={() => void call("task/stop", { id: told.id }).catch(() => null)}>
          Stop
        </button>
      )}
    </section>
  );
}
