// Verdicts: each is seen at once and sent in turn; one that is refused is taken back, and said.
import { signal } from "@preact/signals";
import { call } from "../api";
import type { InboxItem } from "../operations";
import { tell } from "../parts/said";
import { countInbox } from "./count";

interface Given {
  item: InboxItem;
  verdict: string;
  isRefused: boolean;
}

/** What was judged in this visit, the newest last: u takes it back. */
export const given = signal<Given[]>([]);
/** How many verdicts are on their way. */
export const sending = signal(0);
/** Counts up once the server has answered to a verdict: what is like what may have changed. */
export const answered = signal(0);

/** Those that are left to judge; what has been put off comes last. */
export function undecided(items: InboxItem[]): InboxItem[] {
  const verdicts = new Map(given.value.map((one) => [one.item.document.id, one.verdict]));
  const isLater = (item: InboxItem): boolean => verdicts.get(item.document.id) === "later";
  return [...items.filter((item) => !verdicts.has(item.document.id)), ...items.filter(isLater)];
}

export function give(item: InboxItem, verdict: string): Promise<void> {
  const one: Given = { item, verdict, isRefused: false };
  const { id, code } = item.document;
  const other = verdict === "supersede" || verdict === "merge" ? { other: item.like?.code } : {};
  given.value = [...given.value, one];
  return inTurn(async () => {
    try {
      await call("verdict", { reference: id, verdict, ...other });
      tell(`${verdict}: ${code}`);
    } catch (error) {
      one.isRefused = true;
      given.value = given.value.filter((kept) => kept !== one);
      throw error;
    }
  });
}

export function undo(): Promise<void> {
  const last = given.value.at(-1);
  if (!last) return Promise.resolve();
  const { id, code } = last.item.document;
  given.value = given.value.slice(0, -1);
  return inTurn(async () => {
    if (last.isRefused) return;
    await call("verdict", { reference: id, verdict: "undo" });
    tell(`Undone: ${last.verdict} ${code}`);
  });
}

let working: Promise<void> = Promise.resolve();

/** One after the other, however quickly the keys come: the server has them in the reader's order. */
function inTurn(work: () => Promise<void>): Promise<void> {
  sending.value++;
  working = working
    .then(work)
    .catch((error: Error) => tell(error.message))
    .then(() => {
      sending.value--;
      answered.value++;
      void countInbox();
    });
  return working;
}

addEventListener("beforeunload", (event) => {
  if (sending.value) event.preventDefault(); // the browser asks whether to leave before they are there
});
