// What agents remembered: one card each, judged by one key.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { access, call, fresh } from "../api";
import { bind } from "../keys";
import type { InboxItem } from "../operations";
import { Differing, type Piece } from "../parts/diff";
import { Failure, sentence, tell, useAsked } from "../parts/said";
import { documentAddress, go, place, withParams } from "../place";
import { age, count, thousands } from "../words";
import { Brief } from "./brief";
import { countInbox } from "./count";
import { Feedback } from "./feedback";

const GROUPS: Record<string, string> = {
  near_duplicate: "near-duplicates",
  contradiction: "contradictions",
  low_confidence: "low confidence",
  expiring: "expiring",
  never_recalled: "never recalled",
};
const PAGE = 20;

/** Counts up once a verdict, or its undoing, has been answered: what is like what may have changed. */
const answered = signal(0);
/** What was judged in this visit, the newest last: u takes it back. */
const judged = signal<{ id: string; code: string; verdict: string }[]>([]);

interface Verdict {
  key: string;
  name: string;
  label: string;
  title: string;
  needsLike?: boolean;
}

const VERDICTS: Verdict[] = [
  { key: "a", name: "accept", label: "Accept", title: "It is right, and stays" },
  { key: "s", name: "supersede", label: "Supersede the other", title: "It holds in place of the one that it is like", needsLike: true },
  { key: "m", name: "merge", label: "Merge", title: "One new note of both texts, which supersedes both", needsLike: true },
  { key: "x", name: "forget", label: "Forget", title: "It is in no answer any more" },
  { key: "l", name: "later", label: "Later", title: "It comes back at the end" },
];

export function Inbox() {
  const group = place.value.params.get("group") ?? "";
  const project = place.value.params.get("project") ?? "";
  const asked = { limit: PAGE, ...(group ? { group } : {}), ...(project ? { project } : {}) };
  const loaded = useAsked((stop) => call("inbox", asked, stop), [group, project, fresh.value, answered.value]);
  const isJudged = (item: InboxItem, isLater: boolean): boolean => judged.value.some((one) => one.id === item.document.id && (one.verdict === "later") === isLater);
  const open = (loaded.value?.items ?? []).filter((item) => !isJudged(item, false));
  const items = [...open.filter((item) => !isJudged(item, true)), ...open.filter((item) => isJudged(item, true))];
  const [at, setAt] = useState(0);
  const [editing, edit] = useState("");
  const current = items[Math.min(at, items.length - 1)];
  useEffect(() => {
    if (!access.value.write) return;
    const keys: Record<string, () => void> = { u: () => void undo(), j: () => setAt(Math.min(at + 1, items.length - 1)), k: () => setAt(Math.max(at - 1, 0)) };
    for (const one of VERDICTS) keys[one.key] = () => current && (!one.needsLike || current.like) && void give(current, one.name);
    keys.e = () => current && edit(current.document.id);
    return bind(keys);
  });
  return (
    <div class="page inbox">
      <h1>Memory inbox</h1>
      {loaded.error != null && <Failure error={loaded.error} retry={loaded.again} />}
      {loaded.value && (
        <>
          <p class="faint" role="status">
            {loaded.value.total ? `${count(loaded.value.total, "memory", "memories")} not judged yet.` : "Nothing waits to be judged."}
            {access.value.write && items.length > 0 && " Keys: a accept, e edit, s supersede, m merge, x forget, l later, u undo."}
          </p>
          <Groups counts={loaded.value.groups} chosen={group} />
          {group && access.value.write && items.length > 0 && <Bulk group={group} items={items} />}
          {judged.value.length > 0 && (
            <p>
              <button type="button" onClick={() => void undo()}>
                Undo: {judged.value.at(-1)?.verdict} {judged.value.at(-1)?.code}
              </button>
            </p>
          )}
          <ol class="plain cards">
            {items.map((item, number) => (
              <Card key={item.document.id} item={item} isCurrent={item === current} choose={() => setAt(number)} isEditing={editing === item.document.id} edit={edit} judge={give} />
            ))}
          </ol>
        </>
      )}
      <Brief />
      <Feedback />
    </div>
  );
}

/** One after the other: what is undone is what was judged last, however quickly the keys come. */
let working: Promise<void> = Promise.resolve();

function inTurn(work: () => Promise<void>): Promise<void> {
  working = working.then(work).catch((error: Error) => tell(error.message));
  return working;
}

function give(item: InboxItem, name: string): Promise<void> {
  const { id, code } = item.document;
  return inTurn(async () => {
    if (judged.value.some((one) => one.id === id && one.verdict !== "later")) return;
    const other = name === "supersede" || name === "merge" ? { other: item.like?.code } : {};
    await call("verdict", { reference: id, verdict: name, ...other });
    settle([...judged.value, { id, code, verdict: name }], `${name}: ${code}`);
  });
}

function undo(): Promise<void> {
  return inTurn(async () => {
    const last = judged.value.at(-1);
    if (!last) return;
    await call("verdict", { reference: last.id, verdict: "undo" });
    settle(judged.value.slice(0, -1), `Undone: ${last.verdict} ${last.code}`);
  });
}

function settle(now: typeof judged.value, said: string): void {
  judged.value = now;
  answered.value++;
  tell(said);
  void countInbox();
}

function Groups({ counts, chosen }: { counts: Record<string, number>; chosen: string }) {
  return (
    <div class="groups" role="group" aria-label="Groups">
      <button type="button" aria-pressed={!chosen} onClick={() => go(withParams({ group: "" }))}>
        all
      </button>
      {Object.entries(GROUPS).map(
        ([name, label]) =>
          (counts[name] ?? 0) > 0 && (
            <button key={name} type="button" aria-pressed={chosen === name} onClick={() => go(withParams({ group: name }))}>
              {label} <span class="number">{thousands(counts[name] ?? 0)}</span>
            </button>
          ),
      )}
    </div>
  );
}

/** All of a group that is shown, after saying what that is. */
function Bulk({ group, items }: { group: string; items: InboxItem[] }) {
  const [wanted, want] = useState("");
  const run = async (): Promise<void> => {
    for (const item of items) await give(item, wanted);
    want("");
  };
  return (
    <p class="row">
      {["accept", "forget"].map((name) => (
        <button key={name} type="button" onClick={() => want(name)}>
          {name === "accept" ? "Accept" : "Forget"} these {items.length}
        </button>
      ))}
      {wanted && (
        <button type="button" class="main" onClick={() => void run()}>
          Yes: {wanted} {count(items.length, "memory", "memories")} of “{GROUPS[group]}”
        </button>
      )}
    </p>
  );
}

/** The text without a first line that says what stands above it already. */
function withoutTitle({ text, document }: InboxItem): string {
  const [first = "", ...rest] = text.trim().split("\n");
  return (first.replace(/^#+\s+/, "").trim() === document.title.trim() ? rest.join("\n") : text).trim();
}

interface CardShown {
  item: InboxItem;
  isCurrent: boolean;
  choose: () => void;
  isEditing: boolean;
  edit: (id: string) => void;
  judge: (item: InboxItem, name: string) => Promise<void>;
}

function Card({ item, isCurrent, choose, isEditing, edit, judge }: CardShown) {
  const { document, like } = item;
  return (
    <li class={isCurrent ? "card current" : "card"} onFocusIn={choose} onClick={choose}>
      <h2 dir="auto">
        <a href={documentAddress(document.code)}>{document.title}</a>
      </h2>
      <p class="where">
        <span class="code">{document.code}</span>
        <span>{document.type}</span>
        {document.project && <span>project {document.project}</span>}
        {item.session && <span>session {item.session}</span>}
        {item.confidence !== null && <span class="number">confidence {item.confidence.toFixed(2)}</span>}
        <time dateTime={document.created_at}>{age(document.created_at)}</time>
        {item.groups.map((name) => (
          <strong key={name} class="state">
            {GROUPS[name] ?? name}
          </strong>
        ))}
        {item.verdict && <span>put off by {item.verdict.by}</span>}
      </p>
      {isEditing ? (
        <Edit item={item} done={() => edit("")} />
      ) : (
        withoutTitle(item) && (
          <p class="memory" dir="auto">
            {withoutTitle(item)}
          </p>
        )
      )}
      {item.kept && <p class="faint">{sentence(item.kept)}</p>}
      {like && (
        <div class="like">
          <p>
            Very like <a href={documentAddress(like.code)}>{like.code}</a> <span dir="auto">{like.title}</span>, <span class="number">{like.similarity.toFixed(2)}</span>:
          </p>
          <Differing pieces={like.diff as Piece[]} />
        </div>
      )}
      {access.value.write && (
        <div class="buttons" role="group" aria-label={`Verdict on ${document.code}`}>
          {VERDICTS.map(
            (one) =>
              (!one.needsLike || like) && (
                <button key={one.name} type="button" title={`${one.title} (${one.key})`} onClick={() => void judge(item, one.name)}>
                  {one.label}
                </button>
              ),
          )}
          <button type="button" title="Write it anew (e)" onClick={() => edit(document.id)}>
            Edit
          </button>
        </div>
      )}
    </li>
  );
}

/** An edited memory is a new one that supersedes the old. */
function Edit({ item, done }: { item: InboxItem; done: () => void }) {
  const full = useAsked((stop) => call("get", { reference: item.document.id }, stop), [item.document.id]);
  const text = full.value?.sections.map((one) => one.text).join("").trim() ?? null;
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    const said = String(new FormData(event.currentTarget as HTMLFormElement).get("text"));
    const { type, project, tags, code } = item.document;
    try {
      await call("remember", { text: said, type, tags, supersede: code, ...(project ? { project } : {}) } as never);
      tell(`${code} is superseded by what you wrote`);
      done();
      fresh.value++;
    } catch (error) {
      tell((error as Error).message);
    }
  };
  if (text === null) return <p aria-busy="true">…</p>;
  return (
    <form onSubmit={(event) => void save(event)} class="edit">
      <label>
        The memory as it should be
        <textarea name="text" rows={5} required autofocus>
          {text}
        </textarea>
      </label>
      <div class="row">
        <button type="submit" class="main">
          Keep this instead
        </button>
        <button type="button" onClick={done}>
          Leave it
        </button>
      </div>
    </form>
  );
}
