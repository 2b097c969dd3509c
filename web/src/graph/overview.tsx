// Before a document is chosen: whose neighbourhood, or which documents belong together.
import { call, fresh } from "../api";
import { Failure, useAsked } from "../parts/said";
import { go, place as here, withParams } from "../place";
import { count } from "../words";
import { Bubbles } from "./bubbles";

const MOST = 40; // groups that are shown

const place = (code: string): string => `/g/${encodeURIComponent(code)}`;

export function Overview() {
  const newest = useAsked((stop) => call("list", { limit: 20 }, stop), [fresh.value]);
  const isWanted = here.value.params.has("communities");
  const groups = useAsked((stop) => (isWanted ? call("communities", {}, stop) : Promise.resolve(null)), [isWanted, fresh.value]);
  const all = isWanted ? (groups.value?.communities.slice(0, MOST) ?? []) : [];
  const newestFirst = (
    <section key="newest">
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
    </section>
  );
  const together = (
    <section key="together">
        <h2>What belongs together</h2>
        {!isWanted && (
          <p>
            <button type="button" onClick={() => go(withParams({ communities: "1" }))}>
              Compute communities
            </button>
          </p>
        )}
        {isWanted && groups.error != null && <Failure error={groups.error} retry={groups.again} />}
        {isWanted && !groups.value && groups.error == null && <p aria-busy="true">…</p>}
        {isWanted && groups.value && (
          <p class="faint" role="status">
            {count(groups.value.communities.length, "group")}
            {groups.value.unlinked > 0 && `; ${count(groups.value.unlinked, "document")} without a link in none`}
          </p>
        )}
        {all.length > 0 && <Bubbles all={all} address={place} />}
        {all.length > 0 && (
          <ol class="plain columns">
            {all.map((one) => (
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
    </section>
  );
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
      {isWanted ? [together, newestFirst] : [newestFirst, together]}
    </div>
  );
}
