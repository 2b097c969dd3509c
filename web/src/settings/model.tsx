// Another model: the vectors are made anew by a task of the server, and searching goes on.
import { useState } from "preact/hooks";
import { call } from "../api";
import { begin } from "../events";
import type { ModelList, Status } from "../operations";
import { Failure, sentence, tell } from "../parts/said";
import { size, thousands } from "../words";

export function Model({ models }: { models: Status["models"] }) {
  const [error, fail] = useState<unknown>(null);
  const change = async (event: Event): Promise<void> => {
    event.preventDefault();
    const model = String(new FormData(event.currentTarget as HTMLFormElement).get("model")).trim();
    try {
      await begin({ task: "embed", model });
      fail(null);
      tell("The vectors are made anew; Health shows how far it is. Searching goes on.");
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <section>
      <h2>Embedding model</h2>
      <ul class="plain lined">
        {models.map((one) => (
          <li key={one.model.name + one.model.revision} class="setting">
            <strong>{one.model.name}</strong>
            <span class="faint">
              {one.model.revision}, {one.model.dimensions} dimensions, <span class="number">{thousands(one.vectors)}</span> vectors{one.active ? ", used" : ""}
            </span>
          </li>
        ))}
      </ul>
      <form class="row" onSubmit={(event) => void change(event)}>
        <input name="model" required aria-label="Another model: a name, or the folder of one" placeholder="a name, or the folder of a model" />
        <button type="submit">Change to it</button>
      </form>
      {error != null && <Failure error={error} />}
      <Usable />
    </section>
  );
}

/** Measured when it is asked for: it takes seconds of this machine. */
function Usable() {
  const [told, set] = useState<ModelList | null>(null);
  const [isBusy, work] = useState(false);
  const [error, fail] = useState<unknown>(null);
  const measure = async (): Promise<void> => {
    work(true);
    try {
      set(await call("models", {}));
      fail(null);
    } catch (failure) {
      fail(failure);
    }
    work(false);
  };
  return (
    <>
      <p>
        <button type="button" disabled={isBusy} onClick={() => void measure()}>
          {isBusy ? "Being measured …" : "Which are usable here, and how fast"}
        </button>
      </p>
      {error != null && <Failure error={error} />}
      {told && (
        <div class="scrolls" tabIndex={0} role="region" aria-label="Usable models">
          <table class="lines">
            <thead>
              <tr>
                <th scope="col">model</th>
                <th scope="col">texts a second</th>
                <th scope="col">size</th>
                <th scope="col">reads tokens</th>
                <th scope="col">what it is</th>
              </tr>
            </thead>
            <tbody>
              {told.usable.map((one) => (
                <tr key={one.model}>
                  <th scope="row">{one.model}</th>
                  <td>{one.texts_per_second === null ? "–" : thousands(Math.round(one.texts_per_second))}</td>
                  <td>{one.size_bytes === null ? "–" : size(one.size_bytes)}</td>
                  <td>{one.max_tokens ? thousands(one.max_tokens) : "–"}</td>
                  <td class="faint">{one.problem ? `${sentence(one.problem)} ${one.hint ?? ""}` : one.about}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
