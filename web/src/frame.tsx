// What is around every screen: where one can go, how it looks, who asks, whether the server answers.
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { access, forgetToken, hasToken, isAway, keepToken, wantsToken } from "./api";
import { Document } from "./document/screen";
import { waiting } from "./inbox/count";
import { theme } from "./kept";
import { isAsking, SCREENS, showsKeys, useKeys } from "./keys";
import { Dialog } from "./parts/dialog";
import { Icon } from "./parts/icons";
import { Told } from "./parts/said";
import { named, place, reference, screen, type Screen } from "./place";
import { Search } from "./search/screen";
import { SEARCH_KEYS } from "./search/keys";
import { Overlay } from "./search/overlay";

interface Entry {
  screen: Screen;
  label: string;
  path: string;
  key: string;
  view: () => preact.JSX.Element;
  badge?: () => string;
}

/** A screen in a file of its own, fetched when it is first opened. */
function later(fetched: () => Promise<() => preact.JSX.Element>): () => preact.JSX.Element {
  return function Later() {
    const [View, set] = useState<(() => preact.JSX.Element) | null>(null);
    useEffect(() => void fetched().then((view) => set(() => view)), []);
    return View ? <View /> : <div class="page" aria-busy="true" />;
  };
}

export const ENTRIES: Entry[] = [
  { screen: "search", label: "Search", path: "/", key: "s", view: Search },
  { screen: "graph", label: "Graph", path: "/g", key: "g", view: later(() => import("./graph/screen").then((one) => one.Graph)) },
  { screen: "timeline", label: "Timeline", path: "/t", key: "t", view: later(() => import("./others").then((one) => one.Timeline)) },
  { screen: "inbox", label: "Inbox", path: "/inbox", key: "i", badge: () => (waiting.value ? String(waiting.value) : ""), view: later(() => import("./others").then((one) => one.Inbox)) },
  { screen: "health", label: "Health", path: "/health-page", key: "h", view: later(() => import("./others").then((one) => one.Health)) },
  { screen: "settings", label: "Settings", path: "/settings", key: ",", view: later(() => import("./others").then((one) => one.Settings)) },
];
/** Those that answer to who asks: the health of the whole base is nothing for one project. */
const entries = (): Entry[] => ENTRIES.filter((one) => !(access.value.project && one.screen === "health"));
for (const one of ENTRIES) SCREENS[one.key] = one.path;

export function Frame() {
  useSignalEffect(() => {
    document.title = title();
  });
  useArrival();
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header />
      {isAway.value && (
        <p class="away" role="alert">
          The server does not answer: is kb serve still running? It is looked for; what is shown is from before.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {wantsToken.value ? <TokenScreen /> : <Shown />}
      </main>
      <Told />
      {showsKeys.value && <KeyList />}
      {isAsking.value && <Overlay done={() => (isAsking.value = false)} />}
    </>
  );
}

/** Another screen: who listens to the page hears it from its start. */
function useArrival(): void {
  const path = place.value.path;
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    if (screen.value === "search") (document.querySelector<HTMLElement>(".hit.current a") ?? document.getElementById("q"))?.focus();
    else document.getElementById("main")?.focus({ preventScroll: true });
  }, [path]);
}

function title(): string {
  const label = ENTRIES.find((one) => one.screen === screen.value)?.label ?? "No such page";
  const query = screen.value === "search" ? place.value.params.get("q") : "";
  const name = query || named.value || (screen.value === "document" ? reference.value : label);
  const badge = ENTRIES.map((one) => one.badge?.() ?? "").find(Boolean);
  return `${badge ? `(${badge}) ` : ""}${name.slice(0, 120)} · knowbase`;
}

function Header() {
  return (
    <header class="top">
      <a class="brand" href="/">
        <span class="glyph" aria-hidden="true">
          kb
        </span>
        knowbase
      </a>
      <nav aria-label="Screens">
        {entries().map((one) => (
          <a key={one.path} href={one.path} aria-current={screen.value === one.screen ? "page" : undefined}>
            <Icon name={one.screen} />
            <span>{one.label}</span>
            {one.badge?.() && <span class="badge">{one.badge()}</span>}
          </a>
        ))}
      </nav>
      <div class="tools">
        <button type="button" class="quiet" aria-label={`Colours: ${theme.value}. Change`} title={`Colours: ${theme.value}`} onClick={nextTheme}>
          <Icon name={theme.value} />
        </button>
        <button type="button" class="quiet" aria-label="Keys" title="Keys (?)" onClick={() => (showsKeys.value = true)}>
          <Icon name="keys" />
        </button>
        {hasToken() && (
          <button type="button" class="quiet" onClick={() => (forgetToken(), location.reload())}>
            Sign out
          </button>
        )}
      </div>
    </header>
  );
}

function nextTheme(): void {
  const order = ["system", "light", "dark"] as const;
  theme.value = order[(order.indexOf(theme.value) + 1) % 3] ?? "system";
}

function Shown() {
  const name = screen.value;
  useKeys(name === "search" ? SEARCH_KEYS : {});
  if (name === "document") return <Document />;
  const entry = ENTRIES.find((one) => one.screen === name);
  if (entry) return <entry.view />;
  return (
    <div class="page">
      <h1>There is no such page</h1>
      <p>
        <a href="/">Search</a>
      </p>
    </div>
  );
}

function TokenScreen() {
  const keep = (event: Event): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    keepToken(String(form.get("token")).trim(), form.get("stay") !== null);
  };
  return (
    <form class="token" onSubmit={keep}>
      <h1>A token is wanted</h1>
      <p>
        Who serves this base makes one with <code>kb token new</code>.{hasToken() && " The one that was given is not known here, or has ended."}
      </p>
      <label for="token">Token</label>
      <input id="token" name="token" type="password" required autocomplete="off" />
      <label class="check">
        <input type="checkbox" name="stay" /> stay signed in on this browser
      </label>
      <button type="submit" class="main">
        Sign in
      </button>
    </form>
  );
}

const KEYS: [string, string][] = [
  ["/ or Ctrl-K", "search, from every screen"],
  ["j k or ↓ ↑", "walk the hits"],
  ["Enter", "open"],
  ["o", "open in the editor"],
  ["e", "explain the score"],
  ["f", "narrow down"],
  ["p", "pin the reading pane"],
  ["n N", "in a document: next, previous passage"],
  ["Esc", "one step back"],
  ["?", "this list"],
];

function KeyList() {
  const close = (): void => void (showsKeys.value = false);
  return (
    <Dialog label="Keys" done={close}>
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
        {entries().map((one) => (
          <div key={one.path}>
            <dt>
              <kbd>g {one.key}</kbd>
            </dt>
            <dd>{one.label}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={close}>
        Close
      </button>
    </Dialog>
  );
}
