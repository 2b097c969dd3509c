// What is said to the reader: failures in the server's words, copied texts, places to wait.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { isAway, Refused } from "../api";
import { named } from "../place";
import { copy } from "../words";
import { Icon } from "./icons";

/** For screen readers, and for a moment at the foot of the page. */
export const told = signal("");
let clearing = 0;

export function tell(text: string): void {
  told.value = text;
  clearTimeout(clearing);
  clearing = window.setTimeout(() => (told.value = ""), 4000);
}

export function Told() {
  return (
    <div class="told" role="status" aria-live="polite">
      {told.value && <p>{told.value}</p>}
    </div>
  );
}

export function Copy({ text, label, children }: { text: string | (() => string); label?: string; children?: preact.ComponentChildren }) {
  const write = async (): Promise<void> => {
    const whole = typeof text === "string" ? text : text();
    tell((await copy(whole)) ? "Copied" : `This browser does not allow copying: ${whole}`);
  };
  return (
    <button type="button" class="quiet" onClick={write} aria-label={children ? undefined : (label ?? "Copy")} title={label ?? "Copy"}>
      {children ?? <Icon name="copy" />}
    </button>
  );
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const refused = error instanceof Refused ? error : new Refused(0, "page", String(error));
  if (refused.status === 401) return null; // the screen that asks for a token says it
  if (refused.code === "away" && isAway.value) return null; // said above every screen
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{sentence(refused.message)}</strong>
      </p>
      {refused.field && <p>Concerns: {refused.field}</p>}
      {refused.hint && <p>{refused.hint.startsWith("kb ") ? <code>{refused.hint}</code> : sentence(refused.hint)}</p>}
      {refused.request && (
        <p class="faint">
          Request <code>{refused.request}</code>
        </p>
      )}
      <p>
        {retry && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}{" "}
        <Copy text={refused.report} label="Copy for a bug report">
          Copy for a bug report
        </Copy>
      </p>
    </div>
  );
}

export function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…:]$/.test(start) ? start : `${start}.`;
}

/** The window has this name while the screen is shown. */
export function useName(name: string): void {
  useEffect(() => {
    named.value = name;
    return () => void (named.value = "");
  }, [name]);
}

export interface Loaded<Value> {
  value: Value | null;
  error: unknown;
  again: () => void;
}

/** The result of asking, anew whenever what it depends on changes; the last one stays meanwhile. */
export function useAsked<Value>(ask: (stop: AbortSignal) => Promise<Value>, on: unknown[]): Loaded<Value> {
  const [state, set] = useState<{ value: Value | null; error: unknown }>({ value: null, error: null });
  const [turn, again] = useState(0);
  useEffect(() => {
    const stopping = new AbortController();
    ask(stopping.signal).then(
      (value) => stopping.signal.aborted || set({ value, error: null }),
      (error: Error) => {
        if (!stopping.signal.aborted) set((before) => ({ value: before.value, error }));
      },
    );
    return () => stopping.abort();
  }, [...on, turn]);
  return { ...state, again: () => again((before) => before + 1) };
}
