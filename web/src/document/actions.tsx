// What can be done with a document by who may write; each says what it will do.
import { useState } from "preact/hooks";
import { call } from "../api";
import type { Document as Facts } from "../operations";
import { Failure, tell } from "../parts/said";
import { forgetRendered } from "../rendered";

type Doing = "tag" | "archive" | "forget" | "supersede" | "relate";

const WHAT: Record<Doing, (code: string) => string> = {
  tag: (code) => `Adds tags to ${code}; one with a minus before it is taken away.`,
  archive: (code) => `Hides ${code} from searches unless archived documents are asked for. It can be restored.`,
  forget: (code) => `Takes ${code} out of every answer. Undo brings it back.`,
  supersede: (code) => `Says that another document holds in place of ${code}: searches show that one first.`,
  relate: (code) => `Links ${code} with another document.`,
};

/** A file's tags stand in the file. */
const offered = (facts: Facts): Doing[] => (Object.keys(WHAT) as Doing[]).filter((one) => one !== "tag" || !facts.path);

interface Shown {
  facts: Facts;
  again: () => void;
  isEditing: boolean;
  edit: (on: boolean) => void;
}

export function Actions({ facts, again, isEditing, edit }: Shown) {
  const [doing, choose] = useState<Doing | "">("");
  const [error, fail] = useState<unknown>(null);
  const [undo, setUndo] = useState<{ text: string; run: () => Promise<unknown> } | null>(null);
  const run = async (work: () => Promise<unknown>, done: string, back: (() => Promise<unknown>) | null): Promise<void> => {
    try {
      await work();
      fail(null);
      choose("");
      setUndo(back && { text: done, run: back });
      tell(done);
      forgetRendered();
      again();
    } catch (failure) {
      fail(failure);
    }
  };
  const open = (one: Doing): void => {
    fail(null); // it was about another action
    choose(doing === one ? "" : one);
  };
  const send = (event: Event): void => {
    event.preventDefault();
    const value = String(new FormData(event.currentTarget as HTMLFormElement).get("value") ?? "").trim();
    const [work, done, back] = steps(doing as Doing, facts, value);
    void run(work, done, back);
  };
  return (
    <div class="doing">
      <div class="buttons" role="group" aria-label="Actions">
        {!facts.path && (
          <button type="button" class="quiet" aria-expanded={isEditing} onClick={() => edit(!isEditing)}>
            Edit
          </button>
        )}
        {offered(facts).map((one) => (
          <button key={one} type="button" class="quiet" aria-expanded={doing === one} onClick={() => open(one)}>
            {one === "archive" && facts.archived ? "Restore" : one.charAt(0).toUpperCase() + one.slice(1)}
            {one === "supersede" ? " by …" : one === "relate" ? " to …" : ""}
          </button>
        ))}
        {undo && (
          <button type="button" onClick={() => void run(undo.run, "Undone", null)}>
            Undo: {undo.text}
          </button>
        )}
      </div>
      {doing && (
        <form onSubmit={send}>
          <p>{doing === "archive" && facts.archived ? `Shows ${facts.code} in searches again.` : WHAT[doing](facts.code)}</p>
          <div class="row">
            {doing !== "archive" && doing !== "forget" && <input name="value" required aria-label={doing === "tag" ? "Tags, with commas" : "Code of the other document"} placeholder={doing === "tag" ? "ops, -draft" : "KB-12"} />}
            <button type="submit" class="main">
              Do it
            </button>
          </div>
        </form>
      )}
      {error != null && <Failure error={error} />}
    </div>
  );
}

type Step = [() => Promise<unknown>, string, (() => Promise<unknown>) | null];

function steps(doing: Doing, facts: Facts, value: string): Step {
  const references = [facts.code];
  const ids = [facts.id]; // what is forgotten has no code any more
  switch (doing) {
    case "tag": {
      const given = value.split(",").map((one) => one.trim().replace(/^#/, "")).filter(Boolean);
      const add = given.filter((one) => !one.startsWith("-"));
      const remove = given.filter((one) => one.startsWith("-")).map((one) => one.slice(1));
      const change = (more: string[], less: string[]) => () => call("tag", { references, add: more, remove: less });
      return [change(add, remove), `Tagged ${facts.code}`, change(remove, add)];
    }
    case "archive":
      if (facts.archived) return [() => call("restore", { references }), `Restored ${facts.code}`, () => call("archive", { references })];
      return [() => call("archive", { references }), `Archived ${facts.code}`, () => call("restore", { references })];
    case "forget":
      return [() => call("forget", { references }), `Forgot ${facts.code}`, () => call("restore", { references: ids })];
    case "supersede":
      return [() => call("supersede", { old: facts.code, new: value }), `${facts.code} is superseded by ${value}`, () => call("restore", { references: ids })];
    case "relate":
      return [
        () => call("relate", { source: facts.code, target: value }),
        `Related ${facts.code} to ${value}`,
        () => call("relate", { source: facts.code, target: value, remove: true }),
      ];
  }
}
