// How many memories wait, shown in the header: asked every 30 s while the page is seen.
import { effect, signal } from "@preact/signals";
import { call, fresh, wantsToken } from "../api";

export const waiting = signal(0);
const EVERY = 30_000;

export async function countInbox(): Promise<void> {
  if (document.visibilityState === "hidden" || wantsToken.value) return;
  try {
    waiting.value = (await call("inbox", { limit: 1 })).total;
  } catch {
    waiting.value = 0; // the inbox itself says why
  }
}

export function startCounting(): void {
  effect(() => {
    if (fresh.value >= 0) setTimeout(() => void countInbox(), 800); // after what was asked for first
  });
  setInterval(() => void countInbox(), EVERY);
}
