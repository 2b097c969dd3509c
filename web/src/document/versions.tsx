// What became of a document: its versions, one as it was, and what differs between two of them.
import { useState } from "preact/hooks";
import { access, call, fresh } from "../api";
import { dates } from "../kept";
import type { Step } from "../operations";
import { Differing, type Piece } from "../parts/diff";
import { Failure, tell, useAsked, type Loaded } from "../parts/said";
import { Undo } from "../parts/undo";
import { address, documentAddress, go } from "../place";
import { forgetRendered, type Rendered } from "../rendered";
import { age, count, thousands } from "../words";

const FEW = 8; // versions that are shown at first
const GONE = ["removed", "forgotten", "erased"];

export type Steps = Loaded<{ code: string; steps: Step[] }>;

/** The versions of a document, also of one that was removed; none of what was never there. */
export function useSteps(reference: string): Steps {
  return useAsked((stop) => call("history", { reference }, stop), [reference, fresh.value]);
}

/** Whether what it said then can be read. */
export const isKnown = (step: Step | undefined): boolean => step !== undefined && step.is_kept && !GONE.includes(step.what);
export const atChange = (code: string, number: number): string => `${code}@#${number}`;

/** Where it is said what a version changed. */
export function comparison(code: string, steps: Step[], at: number): string {
  const before = steps[at + 1] as Step;
  const path = documentAddress(at === 0 ? code : atChange(code, (steps[at] as Step).number));
  return address(path, new URLSearchParams({ since: `#${before.number}` }));
}

export function Versions({ code, steps, when }: { code: string; steps: Step[]; when: string | null }) {
  const [isOpen, open] = useState(false);
  const shown = isOpen ? steps : steps.slice(0, FEW);
  return (
    <>
      <h3>
        Versions <span class="number faint">{steps.length}</span>
      </h3>
      <ol class="plain versions">
        {shown.map((one, at) => (
          <li key={one.number} aria-current={when === `#${one.number}` || (when === null && at === 0) ? "true" : undefined}>
            <p>
              <Moment code={code} step={one} isNow={at === 0} /> <span class="faint">{said(one)}</span>
            </p>
            <p class="faint">
              {isKnown(one) && isKnown(steps[at + 1]) && <a href={comparison(code, steps, at)}>what changed</a>} <Amount step={one} />
            </p>
            {at === 0 && access.value.write && steps.length > 1 && <Undo change={one.number} what={`the last change of ${code}`} />}
          </li>
        ))}
      </ol>
      {steps.length > shown.length && (
        <button type="button" class="quiet" onClick={() => open(true)}>
          {thousands(steps.length - shown.length)} earlier
        </button>
      )}
    </>
  );
}

function Moment({ code, step, isNow }: { code: string; step: Step; isNow: boolean }) {
  const text = <time dateTime={step.at}>{moment(step.at)}</time>;
  if (GONE.includes(step.what)) return text;
  if (!step.is_kept) return <s title="What it said then is no longer kept">{text}</s>;
  return <a href={documentAddress(isNow ? code : atChange(code, step.number))}>{text}</a>;
}

export const moment = (at: string): string => (!at ? "before there was a history" : dates.value === "ago" ? age(at) : at.slice(0, 16).replace("T", " "));

const said = (step: Step): string => `${step.what} by ${step.who}, ${[step.surface, step.command].filter(Boolean).join(" ")}${step.session ? ` in ${step.session}` : ""}`;

function Amount({ step }: { step: Step }) {
  const words = [step.words_added ? `+${thousands(step.words_added)}` : "", step.words_removed ? `−${thousands(step.words_removed)}` : ""].filter(Boolean).join(" ");
  return (
    <span class="number">
      {words && `${words} ${step.words_added + step.words_removed === 1 ? "word" : "words"} `}
      {step.fields.join(", ")}
    </span>
  );
}

/** A moment as it was written; of a change, also when that was. */
function named(when: string, steps: Step[]): string {
  const step = steps.find((one) => `#${one.number}` === when);
  return step ? `change ${when} (${moment(step.at)})` : when;
}

/** Above a document as it was: when that was, and the ways back. */
export function Past({ shown, steps }: { shown: Rendered; steps: Step[] }) {
  const [error, fail] = useState<unknown>(null);
  const when = shown.when ?? "";
  const step = steps.find((one) => `#${one.number}` === when);
  const restore = async (): Promise<void> => {
    try {
      await call("restore", { references: [`${shown.code}@${when}`] });
      forgetRendered();
      fresh.value++;
      tell(`${shown.code} is again what it was`);
      go(documentAddress(shown.code));
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <div class="notice past" role="status">
      <p>
        <strong>As it was at {named(when, steps)}.</strong> {step && <span class="faint">{said(step)}.</span>}
      </p>
      <p class="row">
        <a href={documentAddress(shown.code)}>As it is now</a>
        <a href={address(documentAddress(shown.code), new URLSearchParams({ since: when }))}>What changed since</a>
        {access.value.write && (
          <button type="button" onClick={() => void restore()}>
            Let it be this again
          </button>
        )}
      </p>
      {error != null && <Failure error={error} />}
    </div>
  );
}

/** What changed in a document since a moment, up to the version that is shown. */
export function Changes({ shown, since, steps }: { shown: Rendered; since: string; steps: Step[] }) {
  const told = useAsked((stop) => call("diff", { old: `${shown.code}@${since}`, ...(shown.when ? { new: `@${shown.when}` } : {}) }, stop), [shown.id, shown.when, since, fresh.value]);
  if (told.error != null) return <Failure error={told.error} retry={told.again} />;
  if (!told.value) return <p aria-busy="true">…</p>;
  const { fields, words } = told.value;
  const isSame = !fields.length && words.every(([sign]) => sign === "=");
  return (
    <section class="changes" aria-label="What changed">
      <div class="notice">
        <p>
          <strong>
            What changed from {named(since, steps)} to {shown.when ? named(shown.when, steps) : "now"}.
          </strong>{" "}
          {isSame && "Nothing did."}
        </p>
        <p class="row">
          <a href={documentAddress(shown.when ? `${shown.code}@${shown.when}` : shown.code)}>The whole text</a>
          <a href={documentAddress(`${shown.code}@${since}`)}>As it was before</a>
        </p>
      </div>
      {fields.length > 0 && (
        <div class="scrolls" tabIndex={0} role="region" aria-label="Fields">
          <table class="lines">
            <thead>
              <tr>
                <th scope="col">field</th>
                <th scope="col">before</th>
                <th scope="col">after</th>
              </tr>
            </thead>
            <tbody>
              {fields.map((one) => (
                <tr key={one.field}>
                  <th scope="row">{one.field}</th>
                  <td dir="auto">
                    <del>{value(one.old)}</del>
                  </td>
                  <td dir="auto">
                    <ins>{value(one.new)}</ins>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {!isSame && <Differing pieces={words as Piece[]} />}
    </section>
  );
}

const value = (told: unknown): string => (told == null || told === "" ? "–" : Array.isArray(told) ? told.join(", ") || "–" : typeof told === "object" ? JSON.stringify(told) : String(told));

/** A document that is not there any more, if it ever was. */
export function Gone({ reference }: { reference: string }) {
  const { value: told } = useSteps(reference);
  if (!told) return null;
  return (
    <section class="rail">
      <p>{count(told.steps.length, "version")} of it are known: one that is opened can be brought back.</p>
      <Versions code={told.code} steps={told.steps} when="" />
    </section>
  );
}
