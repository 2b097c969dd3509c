// What agents remembered: one card each, judged by one key.
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { access, call, fresh } from "../api";
import { useKeys } from "../keys";
import type { InboxItem } from "../operations";
import { Differing, type Piece } from "../parts/diff";
import { Failure, sentence, tell, useAsked } from "../parts/said";
import { documentAddress, go, place, withParams } from "../place";
import { age, count, thousands } from "../words";
import { Brief } from "./brief";
import { Feedback } from "./feedback";
import { answered, give, given, sending, undecided, undo } from "./judging";

const GROUPS: Record<string, string> = {
  near_duplicate: "near-duplicates",
  contradiction: "contradictions",
  low_confidence: "low confidence",
  expiring: "expiring",
  never_recalled: "never recalled",
};
const PAGE = 20;
/** The memory that was last chosen, by its id. */
const chosen = signal("");

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
  const items = undecided(loaded.value?.items ?? []);
  const [current, walk] = useCurrent(items);
  const [editing, edit] = useState("");
  const judge = (item: InboxItem, name: string): void => {
    if (item === current) walk(1, -1);
    void give(item, name);
  };
  const last = given.value.at(-1);
  const takeBack = (): void => {
    if (last) chosen.value = last.item.document.id; // once it is there again
    void undo();
  };
  const keys: Record<string, () => void> = { j: () => walk(1), k: () => walk(-1) };
  if (access.value.write) {
    for (const one of VERDICTS) keys[one.key] = () => current && (!one.needsLike || current.like) && judge(current, one.name);
    keys.u = takeBack;
    keys.e = () => current && edit(current.document.id);
  }
  useKeys(keys);
  return (
    <div class="page inbox">
      <h1>Memory inbox</h1>
      {loaded.error != null && <Failure error={loaded.error} retry={loaded.again} />}
      {!(loaded.value && access.value.isKnown) && loaded.error == null && <p aria-busy="true">…</p>}
      {loaded.value && access.value.isKnown && (
        <>
          <p class="faint" role="status">
            {loaded.value.total ? `${count(loaded.value.total, "memory", "memories")} not judged yet.` : "Nothing waits to be judged."}
            {access.value.write && items.length > 0 && " Keys: a accept, e edit, s supersede, m merge, x forget, l later, u undo."}
          </p>
          <Groups counts={loaded.value.groups} chosen={group} />
          {group && access.value.write && items.length > 0 && <Bulk group={group} items={items} />}
          {last && (
            <p>
              <button type="button" onClick={takeBack}>
                Undo: {last.verdict} {last.item.document.code}
              </button>
            </p>
          )}
          <ol class="plain cards" aria-busy={sending.value > 0}>
            {items.map((item) => (
              <Card key={item.document.id} item={item} isCurrent={item === current} choose={() => (chosen.value = item.document.id)} isEditing={editing === item.document.id} edit={edit} judge={judge} />
            ))}
          </ol>
        </>
      )}
      <Brief />
      <Feedback />
    </div>
  );
}

/** The card that keys act on, and what walks on from it; it stays the same whatever else comes in. */
function useCurrent(items: InboxItem[]): [InboxItem | undefined, (...steps: number[]) => void] {
  const before = useRef(0);
  const isWalked = useRef(false);
  const found = items.findIndex((item) => item.document.id === chosen.value);
  const at = found < 0 ? Math.max(0, Math.min(before.current, items.length - 1)) : found;
  const current = items[at];
  useLayoutEffect(() => {
    before.current = at;
    if (isWalked.current) document.querySelector<HTMLElement>(".card.current h2 a")?.focus();
    isWalked.current = false;
  }, [current?.document.id]);
  const walk = (...steps: number[]): void => {
    const next = steps.map((step) => items[at + step]).find(Boolean);
    if (!next) return;
    isWalked.current = true;
    chosen.value = next.document.id;
  };
  return [current, walk];
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
    await Promise.all(items.map((item) => give(item, wanted)));
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
  judge: (item: InboxItem, name: string) => void;
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
            Very like <a href={documentAddress(like.code)}>{like.code}</a> <span class="faint number">({like.similarity.toFixed(2)})</span> <span dir="auto">{like.title}</span>
          </p>
          <Differing pieces={like.diff as Piece[]} />
        </div>
      )}
      {access.value.write && (
        <div class="buttons" role="group" aria-label={`Verdict on ${document.code}`}>
          {VERDICTS.map(
            (one) =>
              (!one.needsLike || like) && (
                <button key={one.name} type="button" title={`${one.title} (${one.key})`} onClick={() => judge(item, one.name)}>
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
