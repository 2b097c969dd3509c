// The address is the state: what is shown follows from it alone.
import { computed, signal } from "@preact/signals";

export interface Place {
  path: string;
  params: URLSearchParams;
  hash: string;
}

function here(): Place {
  return {
    path: location.pathname,
    params: new URLSearchParams(location.search),
    hash: decodeURIComponent(location.hash.slice(1)),
  };
}

export const place = signal<Place>(here());
export const screen = computed(() => screenOf(place.value.path));

export type Screen = "search" | "document" | "graph" | "timeline" | "inbox" | "health" | "settings" | "unknown";

function screenOf(path: string): Screen {
  if (path === "/") return "search";
  if (path.startsWith("/d/")) return "document";
  if (path === "/g" || path.startsWith("/g/")) return "graph";
  const named: Record<string, Screen> = { "/t": "timeline", "/inbox": "inbox", "/health-page": "health", "/settings": "settings" };
  return named[path] ?? "unknown";
}

/** What the screen shows by its own name, once that is known: for the title of the window. */
export const named = signal("");

/** The document that the address names. */
export const reference = computed(() => decodeURIComponent(place.value.path.slice(3)));

export function go(address: string, replace = false): void {
  if (replace) history.replaceState(history.state, "", address);
  else {
    history.replaceState({ top: scrollY }, "");
    history.pushState(null, "", address);
  }
  place.value = here();
}

const PATIENCE = 3000; // ms in which a screen that one comes back to is tall enough again
const MOVES = ["wheel", "touchstart", "pointerdown", "keydown"];

/** Scroll to where the reader was, once there is so much again; whoever moves meanwhile decides. */
function comeBackTo(top: number): void {
  const stopping = new AbortController();
  for (const name of MOVES) addEventListener(name, () => stopping.abort(), { signal: stopping.signal, passive: true });
  const until = performance.now() + PATIENCE;
  const look = (): void => {
    if (stopping.signal.aborted) return;
    if (document.documentElement.scrollHeight >= top + innerHeight) scrollTo({ top, behavior: "instant" });
    if (performance.now() < until && Math.abs(scrollY - top) > 1) requestAnimationFrame(look);
    else stopping.abort();
  };
  requestAnimationFrame(look);
}

/** This place with other parameters; an empty value takes one away. */
export function withParams(changes: Record<string, string>): string {
  const params = new URLSearchParams(place.value.params);
  for (const [name, value] of Object.entries(changes)) {
    if (value) params.set(name, value);
    else params.delete(name);
  }
  return address(place.value.path, params);
}

export function address(path: string, params: URLSearchParams, hash = ""): string {
  const query = params.toString();
  return path + (query ? `?${query}` : "") + (hash ? `#${encodeURIComponent(hash)}` : "");
}

export function documentAddress(code: string, query = "", anchor = ""): string {
  return address(`/d/${encodeURIComponent(code).replaceAll("%40", "@")}`, new URLSearchParams(query ? { q: query } : {}), anchor);
}

/** Follow links of this page without loading it anew. */
export function followLinks(): void {
  addEventListener("popstate", (event: PopStateEvent) => {
    place.value = here();
    const top = (event.state as { top?: number } | null)?.top;
    if (top) comeBackTo(top);
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest("a");
    if (!link || link.target || link.origin !== location.origin || link.hasAttribute("download")) return;
    if (screenOf(link.pathname) === "unknown") return;
    const isHere = link.pathname === location.pathname && link.search === location.search;
    if (isHere && link.hash) return; // the browser goes there, and says so by popstate
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
    if (!link.hash) scrollTo(0, 0);
  });
}
