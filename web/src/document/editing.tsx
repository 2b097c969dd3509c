// Writing a note anew, where it is read; somebody else's change meanwhile is never written over.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, fresh, Refused } from "../api";
import type { Document as Facts } from "../operations";
import { Failure, tell, useAsked } from "../parts/said";
import { forgetRendered } from "../rendered";
import { age, count } from "../words";

interface Read {
  text: string;
  updatedAt: string;
}

/** The note as it is now: its text, and when it was last changed. */
async function read(id: string, stop?: AbortSignal): Promise<Read> {
  const { document, sections } = await call("get", { reference: id }, stop);
  return { text: sections.map((one) => one.text).join("").trim(), updatedAt: document.updated_at };
}

export function Editing({ facts, done }: { facts: Facts; done: () => void }) {
  const start = useAsked((stop) => read(facts.id, stop), [facts.id]);
  if (start.error != null) return <Failure error={start.error} retry={start.again} />;
  return start.value ? <Editor facts={facts} start={start.value} done={done} /> : <p aria-busy="true">…</p>;
}

function Editor({ facts, start, done }: { facts: Facts; start: Read; done: () => void }) {
  const [text, set] = useState(start.text);
  const [since, setSince] = useState(start.updatedAt);
  const [theirs, setTheirs] = useState<Read | null>(null);
  const [error, fail] = useState<unknown>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const isChanged = text !== start.text;
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    const keep = (event: BeforeUnloadEvent): void => event.preventDefault(); // what was typed is not lost by a slip
    if (isChanged) addEventListener("beforeunload", keep);
    return () => removeEventListener("beforeunload", keep);
  }, [isChanged]);
  const save = async (): Promise<void> => {
    try {
      await call("note", { text, replace: facts.id, since });
      tell(`${facts.code} is written`);
      forgetRendered();
      fresh.value++;
      done();
    } catch (failure) {
      const isTheirs = failure instanceof Refused && failure.field === "since";
      fail(isTheirs ? null : failure);
      if (isTheirs) setTheirs(await read(facts.id).catch(() => null));
    }
  };
  const press = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey) || !["s", "Enter"].includes(event.key)) return;
    event.preventDefault();
    void save();
  };
  const words = text.split(/\s+/).filter(Boolean).length;
  return (
    <form
      class="editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label for="editor-text">The text of {facts.code}, in Markdown</label>
      <textarea id="editor-text" ref={field} value={text} required spellcheck dir="auto" rows={Math.min(32, Math.max(10, text.split("\n").length + 2))} onInput={(event) => set(event.currentTarget.value)} onKeyDown={press} />
      {theirs && (
        <div class="failure" role="alert">
          <p>
            <strong>Somebody else has written it meanwhile, {age(theirs.updatedAt)}.</strong> Nothing of yours is written yet. Theirs:
          </p>
          <pre tabIndex={0}>{theirs.text}</pre>
          <p class="row">
            <button type="button" onClick={() => (set(theirs.text), setSince(theirs.updatedAt), setTheirs(null))}>
              Take theirs
            </button>
            <button type="button" onClick={() => (setSince(theirs.updatedAt), setTheirs(null))}>
              Go on with mine, which replaces it
            </button>
          </p>
        </div>
      )}
      {error != null && <Failure error={error} />}
      <div class="row">
        <button type="submit" class="main" disabled={!isChanged || theirs !== null}>
          Save
        </button>
        <button type="button" onClick={done}>
          {isChanged ? "Leave it as it was" : "Close"}
        </button>
        <span class="faint number">{count(words, "word")}, Ctrl-S saves</span>
      </div>
    </form>
  );
}
