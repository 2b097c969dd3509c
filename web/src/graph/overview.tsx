// Before a document is chosen: whose neighbourhood, or which documents belong together.
import { useState } from "preact/hooks";
import { call, fresh } from "../api";
import type { Communities } from "../operations";
import { Failure, useAsked } from "../parts/said";
import { go } from "../place";
import { count } from "../words";

const place = (code: string): string => `/g/${encodeURIComponent(code)}`;

export function Overview() {
  const newest = useAsked((stop) => call("list", { limit: 20 }, stop), [fresh.value]);
  const [groups, set] = useState<Communities | null>(null);
  const [error, fail] = useState<unknown>(null);
  const compute = (): void => void call("communities", {}).then(set, fail);
  return (
    <div class="page">
      <h1>Graph</h1>
      <p>The graph is shown around one document: choose it.</p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          go(place(String(new FormData(event.currentTarget).get("code")).trim()));
        }}
      >
        <input name="code" required aria-label="Code or path of a document" placeholder="KB-12 or docs/guide.md" />
        <button type="submit" class="main">
          Show
        </button>
      </form>
      {newest.error != null && <Failure error={newest.error} retry={newest.again} />}
      <h2>Newest documents</h2>
      <ul class="plain columns">
        {newest.value?.documents.map((one) => (
          <li key={one.id}>
            <a href={place(one.code)} dir="auto">
              {one.title}
            </a>{" "}
            <span class="code faint">{one.code}</span>
          </li>
        ))}
      </ul>
      <h2>What belongs together</h2>
      {!groups && (
        <p>
          <button type="button" onClick={compute}>
            Compute communities
          </button>
        </p>
      )}
      {error != null && <Failure error={error} />}
      {groups && (
        <ol class="plain columns">
          {groups.communities.slice(0, 60).map((one) => (
            <li key={one.label}>
              {one.central.slice(0, 1).map((document) => (
                <a key={document.id} href={place(document.code)} dir="auto">
                  {document.title}
                </a>
              ))}{" "}
              <span class="faint">
                {one.label}, {count(one.size, "document")}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
