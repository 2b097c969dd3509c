// Asking the server: one function, one kind of failure, the token, and whether it answers at all.
import { signal } from "@preact/signals";
import type { Answer, Operations } from "./operations";

export type Name = keyof Operations;
export type Takes<N extends Name> = Operations[N]["takes"];
export type Gives<N extends Name> = Operations[N]["gives"];

/** What the server said of a failure, in its own words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field: string | null = null,
    readonly hint: string | null = null,
    readonly request: string | null = null,
    readonly asked = "",
  ) {
    super(message);
  }

  /** All that a report about it needs. */
  get report(): string {
    const facts = { asked: this.asked, status: this.status, code: this.code, message: this.message };
    return JSON.stringify({ ...facts, field: this.field, hint: this.hint, request: this.request }, null, 1);
  }
}

export interface Access {
  write: boolean;
  project: string | null;
  local: boolean;
  cypher: boolean;
  isKnown: boolean; // the server has said it
}

export const wantsToken = signal(false);
export const isAway = signal(false);
export const access = signal<Access>({ write: false, project: null, local: false, cypher: false, isKnown: false });
/** Counts up when the base may have changed, or the server is back: screens ask again. */
export const fresh = signal(0);

const TOKEN = "knowbase.token";

function stored(): string {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN) ?? "";
}

export function keepToken(token: string, stay: boolean): void {
  forgetToken();
  (stay ? localStorage : sessionStorage).setItem(TOKEN, token);
  wantsToken.value = false;
  fresh.value++;
  void learnAccess();
}

export function forgetToken(): void {
  sessionStorage.removeItem(TOKEN);
  localStorage.removeItem(TOKEN);
}

export const hasToken = (): boolean => stored() !== "";

export function headers(): Record<string, string> {
  const token = stored();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Run an operation. Fails with what the server says, or with AbortError. */
export async function call<N extends Name>(name: N, values: Takes<N>, stop?: AbortSignal): Promise<Gives<N>> {
  const body = JSON.stringify(values);
  return (await ask(`/api/${name}`, { method: "POST", body, signal: stop }, `${name} ${body}`)) as Gives<N>;
}

/** A search; with explain_query it would be the query's plan. */
export async function search(values: Takes<"search">, stop?: AbortSignal): Promise<Answer> {
  return (await call("search", values, stop)) as Answer;
}

async function ask(path: string, options: RequestInit, asked: string): Promise<unknown> {
  let response: Response;
  const token = stored();
  try {
    const kind: Record<string, string> = options.body ? { "Content-Type": "application/json" } : {};
    response = await fetch(path, { ...options, headers: { ...kind, ...headers() } });
  } catch (failure) {
    if ((failure as Error).name === "AbortError") throw failure;
    lookForServer();
    throw new Refused(0, "away", "the server does not answer", null, "is kb serve still running?", null, asked);
  }
  const request = response.headers.get("X-Request-Id");
  const told = await response.json().catch(() => null);
  if (response.ok) return told;
  const error = told?.error ?? { code: "unreadable", message: `the answer was not understood (${response.status})` };
  if (response.status === 401 && stored() !== token) return ask(path, options, asked); // there is another one meanwhile
  if (response.status === 401) wantsToken.value = true;
  throw new Refused(response.status, error.code, error.message, error.field, error.hint, request, asked);
}

const AGAIN = 1500; // ms until the next try

/** Learn what may be done here; until then nothing that needs it is shown. */
export async function learnAccess(): Promise<void> {
  try {
    access.value = { ...((await ask("/api/access", {}, "access")) as Access), isKnown: true };
  } catch (error) {
    const isAskedAgain = wantsToken.value || isAway.value; // with a token, or when the server is back
    if (!isAskedAgain && (error as Error).name !== "AbortError") setTimeout(() => void learnAccess(), AGAIN);
  }
}

let looking = false;

/** The server went away: look for it until it is there again. */
function lookForServer(): void {
  isAway.value = true;
  if (looking) return;
  looking = true;
  const look = async (): Promise<void> => {
    try {
      await fetch("/health/live");
      looking = false;
      isAway.value = false;
      fresh.value++;
      void learnAccess();
    } catch {
      setTimeout(look, AGAIN);
    }
  };
  setTimeout(look, 1000);
}
