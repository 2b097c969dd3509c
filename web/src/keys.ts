// The keyboard: keys do something only while nothing is being typed.
import { effect, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { wantsToken } from "./api";
import { usesKeys } from "./kept";
import { go, screen } from "./place";

export const showsKeys = signal(false);
/** A search is asked over another screen. */
export const isAsking = signal(false);

export type Act = (event: KeyboardEvent) => void;
const bound = new Map<string, Act>();

/** Keys of what is shown. They are bound as it is drawn, not some time after: a key that is pressed
 * as soon as something is seen acts on just that. */
export function useKeys(keys: Record<string, Act>): void {
  useLayoutEffect(() => bind(keys));
}

/** Gives what unbinds them. */
function bind(keys: Record<string, Act>): () => void {
  for (const [key, act] of Object.entries(keys)) bound.set(key, act);
  return () => {
    for (const [key, act] of Object.entries(keys)) if (bound.get(key) === act) bound.delete(key);
  };
}

export const SCREENS: Record<string, string> = { s: "/" };
let afterG = false;

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element?.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
}

function ask(): void {
  const box = document.querySelector<HTMLInputElement>("#q");
  if (box) box.focus(), box.select();
  else isAsking.value = !wantsToken.value;
}

function pressed(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && event.key === "k") {
    event.preventDefault();
    return showsKeys.value ? undefined : ask();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (isTyping(event.target)) return inField(event);
  if (event.key !== "Escape" && !usesKeys.value) return;
  const first = afterG;
  afterG = false;
  if (first) {
    const target = SCREENS[event.key];
    if (target) {
      event.preventDefault();
      return go(target);
    }
  }
  const act = bound.get(event.key) ?? COMMON[event.key];
  if (act) {
    event.preventDefault();
    act(event);
  }
}

function inField(event: KeyboardEvent): void {
  const element = event.target as HTMLElement;
  if (event.key === "Escape") element.blur();
  if (event.key === "ArrowDown" && element.id === "q") {
    event.preventDefault();
    bound.get("j")?.(event);
  }
}

const COMMON: Record<string, Act> = {
  "/": ask,
  "?": () => (showsKeys.value = true),
  g: () => (afterG = true),
  Escape: () => {
    if (history.length > 1 && screen.value !== "search") history.back();
  },
};

export function listenToKeys(): void {
  addEventListener("keydown", pressed);
  effect(() => {
    if (screen.value) afterG = false;
  });
}
