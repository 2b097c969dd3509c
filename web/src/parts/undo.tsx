// Taking back what a command changed, after saying what that is.
import { useState } from "preact/hooks";
import { call, fresh } from "../api";
import type { Undone } from "../operations";
import { forgetRendered } from "../rendered";
import { count } from "../words";
import { Failure, tell } from "./said";

const FEW = 6; // codes that are named

/** What undoing does: "HB-1 and 3 more are as before, KB-9 is gone". */
function outcome(told: Undone): string {
  const named = (codes: string[]): string => (codes.length > FEW ? `${codes.slice(0, FEW).join(", ")} and ${count(codes.length - FEW, "more document")}` : codes.join(", "));
  const parts = [told.restored.length ? `${named(told.restored)} as before` : "", told.removed.length ? `${named(told.removed)} taken out, not there before` : ""];
  return parts.filter(Boolean).join("; ") || "nothing changes";
}

export function Undo({ change, what }: { change: number; what: string }) {
  const [asked, ask] = useState<Undone | null>(null);
  const [error, fail] = useState<unknown>(null);
  const run = async (isTrial: boolean): Promise<void> => {
    try {
      const told = (await call("undo", { change, dry_run: isTrial })) as Undone;
      fail(null);
      ask(isTrial ? told : null);
      if (isTrial) return;
      tell(`Undone: ${outcome(told)}`);
      forgetRendered();
      fresh.value++;
    } catch (failure) {
      ask(null);
      fail(failure);
    }
  };
  return (
    <div class="undo">
      {!asked && (
        <button type="button" class="quiet" aria-label={`Undo ${what}`} onClick={() => void run(true)}>
          Undo
        </button>
      )}
      {asked && (
        <p class="row" role="group" aria-label={`Undo ${what}`}>
          <span>{outcome(asked)}.</span>
          <button type="button" class="main" onClick={() => void run(false)}>
            Undo it
          </button>
          <button type="button" onClick={() => ask(null)}>
            Leave it
          </button>
        </p>
      )}
      {error != null && <Failure error={error} />}
    </div>
  );
}
