// The day that the base is asked of: as it was at its end.
const today = (): string => new Date().toISOString().slice(0, 10);
const isDay = (when: string): boolean => /^\d{4}-\d\d-\d\d$/.test(when);

/** Another moment than a day (a change, a session) is shown as it was written. */
export function AsOf({ when, choose }: { when: string; choose: (when: string) => void }) {
  return (
    <span class="as-of">
      {when && !isDay(when) && <code>{when}</code>}
      <input type="date" aria-label="As of the end of a day" value={isDay(when) ? when : ""} max={today()} onChange={(event) => choose(event.currentTarget.value)} />
      {when && (
        <button type="button" class="quiet" onClick={() => choose("")}>
          now
        </button>
      )}
    </span>
  );
}
