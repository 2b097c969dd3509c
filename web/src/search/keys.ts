// Keys of the search screen: walk, open, explain, narrow.
import type { Act } from "../keys";
import { explained, chosen, current, hitAddress, pinned, toggleSum } from "./hits";
import { go } from "../place";
import { openInEditor } from "./editor";
import { remember } from "../kept";
import { asked, settle } from "./asking";
import { access } from "../api";
import { showsFacets } from "./screen";

function links(): HTMLAnchorElement[] {
  return [...document.querySelectorAll<HTMLAnchorElement>(".hit :is(h2, h3) a")].filter((one) => one.checkVisibility());
}

function walk(step: number): void {
  const all = links();
  const at = all.indexOf(document.activeElement as HTMLAnchorElement);
  const chosenAt = all.findIndex((one) => one.closest<HTMLElement>("[data-hit]")?.dataset.hit === current.value);
  const from = at >= 0 ? at : step > 0 && document.activeElement?.id !== "q" ? chosenAt : step > 0 ? -1 : chosenAt;
  const next = all[Math.min(Math.max(from + step, 0), all.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

export const SEARCH_KEYS: Record<string, Act> = {
  j: () => walk(1),
  k: () => walk(-1),
  ArrowDown: () => walk(1),
  ArrowUp: () => walk(-1),
  e: () => {
    const hit = chosen();
    if (hit?.explanation) toggleSum(hit.section);
    else explained.value = new Set();
  },
  f: () => {
    showsFacets.value = true;
    requestAnimationFrame(() => document.querySelector<HTMLElement>(".facet")?.focus());
  },
  p: () => (pinned.value = pinned.value ? null : (chosen() ?? null)),
  o: () => {
    const hit = chosen();
    if (hit?.path && access.value.local) void openInEditor(hit.path, hit.line);
  },
  Enter: (event) => {
    if ((event.target as HTMLElement).closest("a, button, summary")) return (event.target as HTMLElement).closest<HTMLElement>("a, button, summary")?.click();
    const hit = chosen();
    if (!hit) return;
    remember(asked.value.query);
    settle();
    go(hitAddress(hit));
  },
};
