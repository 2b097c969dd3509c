// The settings of the base: what each is, where it comes from; a change is shown before it is made.
import { useState } from "preact/hooks";
import { call, fresh } from "../api";
import type { SettingChange, SettingLine } from "../operations";
import { Failure, tell, useAsked } from "../parts/said";
import { grouped } from "../words";

const shown = (value: unknown): string => (Array.isArray(value) ? value.join(", ") : value === null || value === "" ? "–" : String(value));

export function BaseSettings() {
  const loaded = useAsked((stop) => call("config", {}, stop), [fresh.value]);
  const [chosen, choose] = useState("");
  if (loaded.error != null) return <Failure error={loaded.error} />;
  if (!loaded.value) return null;
  return (
    <section>
      <h2>This base</h2>
      <p class="faint">
        <code>{loaded.value.base}</code>
      </p>
      <ResetAll lines={loaded.value.settings.filter((one) => one.origin === "kb.toml" && !one.by_command)} again={loaded.again} />
      {[...grouped(loaded.value.settings, (one) => one.key.split(".")[0] as string)].map(([group, lines]) => (
        <details key={group} open={chosen.startsWith(`${group}.`)}>
          <summary>
            {group} <span class="faint number">{lines.length}</span>
          </summary>
          <ul class="plain lined">
            {lines.map((line) => (
              <Line key={line.key} line={line} isChosen={chosen === line.key} choose={choose} again={loaded.again} />
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}

/** Every setting that was changed here, back to what it was at first, once it is said which. */
function ResetAll({ lines, again }: { lines: SettingLine[]; again: () => void }) {
  const [isSure, ask] = useState(false);
  if (!lines.length) return null;
  const run = async (): Promise<void> => {
    try {
      for (const line of lines) await call("config/reset", { key: line.key });
      tell("All are as they were at first: this wants a restart of kb serve");
    } catch (error) {
      tell((error as Error).message);
    }
    ask(false);
    again();
  };
  return (
    <p class="row">
      <button type="button" aria-expanded={isSure} onClick={() => ask(!isSure)}>
        All as they were at first
      </button>
      {isSure && (
        <button type="button" class="main" onClick={() => void run()}>
          Yes: {lines.map((one) => one.key).join(", ")}
        </button>
      )}
    </p>
  );
}

interface Shown {
  line: SettingLine;
  isChosen: boolean;
  choose: (key: string) => void;
  again: () => void;
}

function Line({ line, isChosen, choose, again }: Shown) {
  const isFixed = line.by_command || !["default", "kb.toml"].includes(line.origin);
  return (
    <li>
      <div class="setting">
        <code>{line.key}</code>
        <strong class="number">{shown(line.value)}</strong>
        <span class="faint">
          {line.origin === "default" ? "as it is at first" : `from ${line.origin}; at first ${shown(line.default)}`}
          {line.in_use ? "" : "; not in use until a restart"}
          {line.by_command && <>; changed by <code>kb config set</code> alone</>}
        </span>
        {!isFixed && (
          <button type="button" class="quiet" aria-expanded={isChosen} aria-label={`Change ${line.key}`} onClick={() => choose(isChosen ? "" : line.key)}>
            Change
          </button>
        )}
      </div>
      <p class="faint">{line.about}</p>
      {isChosen && <Change line={line} done={() => (choose(""), again())} />}
    </li>
  );
}

/** First what would be written, then the writing. */
function Change({ line, done }: { line: SettingLine; done: () => void }) {
  const [value, set] = useState(line.value === null ? "" : shown(line.value).replace(/^–$/, ""));
  const [plan, show] = useState<SettingChange | null>(null);
  const [error, fail] = useState<unknown>(null);
  const run = async (work: () => Promise<SettingChange>, isReal: boolean): Promise<void> => {
    try {
      const told = await work();
      fail(null);
      if (!isReal) return show(told);
      tell(`${told.key} is ${shown(told.value)} now${told.restart ? ": this wants a restart of kb serve" : ""}`);
      done();
    } catch (failure) {
      show(null);
      fail(failure);
    }
  };
  return (
    <form
      class="change"
      onSubmit={(event) => {
        event.preventDefault();
        void run(() => call("config/set", { key: line.key, value, dry_run: !plan }), plan !== null);
      }}
    >
      <div class="row">
        {line.choices.length > 0 ? (
          <select aria-label={line.key} value={value} onChange={(event) => (set(event.currentTarget.value), show(null))}>
            {line.choices.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        ) : (
          <input aria-label={line.key} value={value} onInput={(event) => (set(event.currentTarget.value), show(null))} />
        )}
        <button type="submit" class="main">
          {plan ? "Write it" : "Show the change"}
        </button>
        {line.origin !== "default" && (
          <button type="button" onClick={() => void run(() => call("config/reset", { key: line.key }), true)}>
            As it was at first
          </button>
        )}
      </div>
      {(line.least !== null || line.most !== null) && (
        <p class="faint number">
          {line.least !== null && `at least ${line.least} `}
          {line.most !== null && `at most ${line.most}`}
        </p>
      )}
      {plan && (
        <>
          <p>
            This is written to <code>{plan.file}</code>:
          </p>
          <pre tabIndex={0}>{plan.diff.join("\n") || "nothing: it is so already"}</pre>
          {plan.restart && <p class="notice">This wants a restart of kb serve.</p>}
        </>
      )}
      {error != null && <Failure error={error} />}
    </form>
  );
}
