// Settings: how this page looks in this browser, and how the base ranks.
import { useState } from "preact/hooks";
import { access, call, fresh, search } from "../api";
import { dates, density, editor, hitsAPage, recent, theme, usesKeys } from "../kept";
import { Failure, tell, useAsked } from "../parts/said";
import { BaseSettings } from "./base";
import { Agents } from "./agents";
import { Model } from "./model";
import { Sources } from "./sources";
import { Tokens } from "./tokens";

const USUAL = { editor: "vscode://file/{path}:{line}", hits: 20 };

export function Settings() {
  const status = useAsked((stop) => call("status", {}, stop), [fresh.value]);
  return (
    <div class="page settings">
      <h1>Settings</h1>
      <ThisPage />
      <Profiles />
      {status.error != null && <Failure error={status.error} retry={status.again} />}
      {status.value && access.value.local && access.value.write && !access.value.project && (
        <>
          <Sources sources={status.value.sources} again={status.again} />
          <Model models={status.value.models} />
          <BaseSettings />
          <Agents />
          <Tokens />
        </>
      )}
    </div>
  );
}

function reset(): void {
  theme.value = "system";
  density.value = "roomy";
  dates.value = "ago";
  usesKeys.value = true;
  editor.value = USUAL.editor;
  hitsAPage.value = USUAL.hits;
}

function ThisPage() {
  return (
    <section>
      <h2>This page</h2>
      <p class="faint">Kept in this browser alone.</p>
      <div class="form">
        <label for="theme">Colours</label>
        <select id="theme" value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as "system")}>
          <option value="system">as the system has them</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
        <label for="density">Density</label>
        <select id="density" value={density.value} onChange={(event) => (density.value = event.currentTarget.value as "roomy")}>
          <option value="roomy">roomy</option>
          <option value="dense">dense</option>
        </select>
        <label for="dates">Dates</label>
        <select id="dates" value={dates.value} onChange={(event) => (dates.value = event.currentTarget.value as "ago")}>
          <option value="ago">3 days ago</option>
          <option value="iso">2026-01-31</option>
        </select>
        <label for="hits">Hits a page</label>
        <input id="hits" type="number" min="5" max="100" value={hitsAPage.value} onChange={(event) => (hitsAPage.value = Math.min(100, Math.max(5, Number(event.currentTarget.value) || USUAL.hits)))} />
        <label for="editor">Editor's address</label>
        <div>
          <input id="editor" value={editor.value} list="editors" onChange={(event) => (editor.value = event.currentTarget.value.trim() || USUAL.editor)} aria-describedby="editor-hint" />
          <datalist id="editors">
            <option value="vscode://file/{path}:{line}" />
            <option value="idea://open?file={path}&line={line}" />
            <option value="obsidian://open?path={path}" />
            <option value="zed://file/{path}:{line}" />
          </datalist>
          <p id="editor-hint" class="faint">
            {"{path} and {line} stand for the place."}
          </p>
        </div>
        <label for="keys">Keys</label>
        <span>
          <input id="keys" type="checkbox" checked={usesKeys.value} onChange={(event) => (usesKeys.value = event.currentTarget.checked)} /> single keys do something (j, k, e …)
        </span>
      </div>
      <p>
        <button type="button" onClick={reset}>
          Reset to defaults
        </button>
      </p>
    </section>
  );
}

interface Compared {
  query: string;
  sides: string[][];
}

async function keepProfile(name: string, again: () => void): Promise<void> {
  try {
    const told = await call("config/set", { key: "search.profile", value: name });
    tell(`search.profile is ${name}${told.restart ? ": this wants a restart of kb serve" : ""}`);
    again();
  } catch (error) {
    tell((error as Error).message);
  }
}

/** The last searches under two profiles, side by side. */
function Profiles() {
  const told = useAsked((stop) => call("profiles", {}, stop), [fresh.value]);
  const [other, choose] = useState("");
  const [compared, set] = useState<Compared[]>([]);
  const [error, fail] = useState<unknown>(null);
  const profiles = told.value?.profiles ?? [];
  const usual = profiles.find((one) => one.default)?.name ?? "";
  const compare = async (name: string): Promise<void> => {
    choose(name);
    set([]);
    if (!name) return;
    try {
      for (const query of recent.value.slice(0, 10)) {
        const sides = await Promise.all([usual, name].map(async (profile) => (await search({ query, profile, top: 3, unit: "document", draft: true })).hits.map((hit) => hit.title)));
        set((before) => [...before, { query, sides }]);
      }
      fail(null);
    } catch (failure) {
      fail(failure);
    }
  };
  return (
    <section>
      <h2>Ranking profiles</h2>
      {told.error != null && <Failure error={told.error} retry={told.again} />}
      <ul class="plain">
        {profiles.map((one) => (
          <li key={one.name}>
            <strong>{one.name}</strong>
            {one.default && " (used here)"} <span class="faint">{one.about}</span>
          </li>
        ))}
      </ul>
      <p>
        <label>
          Compare your last searches under {usual} with{" "}
          <select value={other} onChange={(event) => void compare(event.currentTarget.value)}>
            <option value="">choose</option>
            {profiles
              .filter((one) => !one.default)
              .map((one) => (
                <option key={one.name}>{one.name}</option>
              ))}
          </select>
        </label>
      </p>
      {error != null && <Failure error={error} />}
      {other && !recent.value.length && <p class="faint">Search for something first: there is nothing to compare yet.</p>}
      {compared.length > 0 && (
        <div class="scrolls" tabIndex={0} role="region" aria-label="Comparison">
          <table class="lines">
            <thead>
              <tr>
                <th scope="col">search</th>
                <th scope="col">{usual}</th>
                <th scope="col">{other}</th>
              </tr>
            </thead>
            <tbody>
              {compared.map((one) => (
                <tr key={one.query}>
                  <th scope="row" dir="auto">
                    {one.query}
                  </th>
                  {one.sides.map((titles, at) => (
                    <td key={at}>
                      {titles.map((title, place) => (
                        <div key={title + place} dir="auto">
                          {place + 1}. {title}
                        </div>
                      ))}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {access.value.local && access.value.write && !access.value.project ? (
            <p>
              <button type="button" onClick={() => void keepProfile(other, told.again)}>
                Use {other} from now on
              </button>
            </p>
          ) : (
            <p class="faint">
              To keep it: <code>kb config set search.profile {other}</code>
            </p>
          )}
        </div>
      )}
    </section>
  );
}
