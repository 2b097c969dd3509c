// The page: its frame, and the screen that the address names.
import { effect } from "@preact/signals";
import { render } from "preact";
import { Frame } from "./frame";
import { learnAccess } from "./api";
import { startListening } from "./events";
import { startCounting } from "./inbox/count";
import { showTheme } from "./kept";
import { listenToKeys } from "./keys";
import { followLinks, go, place, screen, withParams } from "./place";
import { answer, failure, startAsking } from "./search/asking";
import { rendered } from "./rendered";
import { reference } from "./place";

const PATIENCE = 1500; // ms that what the server rendered stays, while its data is fetched

/** What was rendered by the server stays until the same can be shown: nothing is ever blank. */
async function firstData(): Promise<void> {
  if (screen.value === "search" && place.value.params.get("q")) {
    await new Promise<void>((done) => effect(() => void ((answer.value || failure.value) && done())));
  } else if (screen.value === "document") {
    await rendered(reference.value, place.value.params.get("q") ?? "").catch(() => null);
  }
}

/** What was typed before this script was there. */
function takeOverBox(): { start: number; isFocused: boolean } | null {
  const box = document.querySelector<HTMLInputElement>("#q");
  if (!box) return null;
  if (screen.value === "search" && box.value !== (place.value.params.get("q") ?? "")) go(withParams({ q: box.value }), true);
  return { start: box.selectionStart ?? box.value.length, isFocused: document.activeElement === box };
}

async function start(): Promise<void> {
  showTheme();
  startListening();
  startAsking();
  void learnAccess();
  await Promise.race([firstData(), new Promise((done) => setTimeout(done, PATIENCE))]);
  const box = takeOverBox();
  const root = document.getElementById("app") as HTMLElement;
  root.replaceChildren();
  render(<Frame />, root);
  followLinks();
  listenToKeys();
  startCounting();
  const now = document.querySelector<HTMLInputElement>("#q");
  if (now && (box?.isFocused || screen.value === "search")) {
    now.focus();
    now.setSelectionRange(box?.start ?? now.value.length, box?.start ?? now.value.length);
  }
  root.dataset.ready = "true";
}

void start();
