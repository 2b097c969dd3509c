// What this browser alone keeps: how the page looks, and what was searched for.
import { effect, signal } from "@preact/signals";

function kept<Value>(name: string, otherwise: Value) {
  const key = `knowbase.${name}`;
  let start = otherwise;
  try {
    const told = localStorage.getItem(key);
    if (told !== null) start = JSON.parse(told) as Value;
  } catch {
    // another page's, or damaged: what is usual will do
  }
  const value = signal<Value>(start);
  effect(() => {
    try {
      localStorage.setItem(key, JSON.stringify(value.value));
    } catch {
      // no room, or not allowed: then it is for this visit alone
    }
  });
  return value;
}

export const theme = kept<"system" | "light" | "dark">("theme", "system");
export const density = kept<"roomy" | "dense">("density", "roomy");
export const dates = kept<"ago" | "iso">("dates", "ago");
export const editor = kept("editor", "vscode://file/{path}:{line}");
export const hitsAPage = kept("hits", 20);
export const usesKeys = kept("keys", true);
export const recent = kept<string[]>("recent", []);
export const lastVisit = kept("visit", "");

/** Remember a search that somebody meant. */
export function remember(query: string): void {
  const text = query.trim();
  if (text) recent.value = [text, ...recent.value.filter((one) => one !== text)].slice(0, 10);
}

export function showTheme(): void {
  effect(() => {
    const root = document.documentElement;
    if (theme.value === "system") delete root.dataset.theme;
    else root.dataset.theme = theme.value;
    root.dataset.density = density.value;
  });
}
