// Tokens: made here, shown once, taken back.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { call, hasToken, keepToken } from "../api";
import type { NewToken } from "../operations";
import { Copy, Failure, tell, useAsked } from "../parts/said";
import { age } from "../words";

/** Shown for as long as the page is open: whatever else is refused meanwhile does not take it away. */
const made = signal<NewToken | null>(null);

export function Tokens() {
  const loaded = useAsked((stop) => call("token/list", {}, stop), []);
  const [error, fail] = useState<unknown>(null);
  const make = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const project = String(form.get("project")).trim();
    try {
      const isFirst = !hasToken();
      const token = await call("token/new", { name: String(form.get("name")).trim(), scope: String(form.get("scope")), ...(project ? { project } : {}) });
      made.value = token;
      fail(null);
      if (isFirst) keepToken(token.token, false); // else this page would be shut out
      loaded.again();
    } catch (failure) {
      fail(failure);
    }
  };
  const revoke = async (name: string): Promise<void> => {
    try {
      await call("token/revoke", { name });
      tell(`${name} is taken back`);
      loaded.again();
    } catch (failure) {
      fail(failure);
    }
  };
  if (loaded.error != null) return <Failure error={loaded.error} />;
  if (!loaded.value) return null;
  return (
    <section>
      <h2>Tokens</h2>
      {!loaded.value.tokens.length && <p class="faint">There are none: whoever uses this machine may ask. With the first one, every request wants a token; this browser keeps it for this visit.</p>}
      <ul class="plain lined">
        {loaded.value.tokens.map((one) => (
          <li key={one.name} class="setting">
            <strong>{one.name}</strong>
            <span>
              {one.scope}
              {one.project ? `, project ${one.project}` : ""}
            </span>
            <span class="faint">{one.last_used_at ? `used ${age(one.last_used_at)}` : "never used"}</span>
            <button type="button" class="quiet" aria-label={`Take back ${one.name}`} onClick={() => void revoke(one.name)}>
              Take back
            </button>
          </li>
        ))}
      </ul>
      {made.value && (
        <p class="notice">
          {made.value.name}: <code>{made.value.token}</code> <Copy text={made.value.token} label="Copy the token" /> It is shown this once.
        </p>
      )}
      {error != null && <Failure error={error} />}
      <form class="form" onSubmit={(event) => void make(event)}>
        <label for="token-name">Name</label>
        <input id="token-name" name="name" placeholder="token-1" autocomplete="off" />
        <label for="token-scope">May</label>
        <select id="token-scope" name="scope">
          <option value="write">read and write</option>
          <option value="read">read</option>
        </select>
        <label for="token-project">Held to a project</label>
        <input id="token-project" name="project" placeholder="none" autocomplete="off" />
        <span />
        <button type="submit" class="main">
          Make a token
        </button>
      </form>
    </section>
  );
}
