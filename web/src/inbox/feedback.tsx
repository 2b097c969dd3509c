// What agents and people said of hits, with the search: a bad answer is followed to its cause.
import { access, call, fresh } from "../api";
import { useAsked } from "../parts/said";
import { documentAddress } from "../place";
import { age } from "../words";

const FEW = 12;

export function Feedback() {
  const told = useAsked((stop) => (access.value.project ? Promise.resolve(null) : call("searches", {}, stop)), [fresh.value]);
  const all = told.value?.feedback ?? [];
  if (!told.value) return null;
  return (
    <section class="brief">
      <h2>What was said of hits</h2>
      {!all.length && <p class="faint">Nothing since the server was started. Agents say it by kb_feedback, people by the thumbs of a hit.</p>}
      <ul class="plain lined">
        {all.slice(0, FEW).map((one) => (
          <li key={one.code + one.at} class="setting">
            <strong class={`verdict-${one.verdict}`}>{one.verdict === "good" ? "what was needed" : "not what was needed"}</strong>
            <a href={documentAddress(one.code, one.query ?? "")} dir="auto">
              {one.title}
            </a>
            {one.query !== null && (
              <span>
                for{" "}
                <a href={`/?q=${encodeURIComponent(one.query)}`} dir="auto">
                  {one.query}
                </a>
              </span>
            )}
            {one.session && <span class="faint">session {one.session}</span>}
            <time dateTime={one.at}>{age(one.at)}</time>
          </li>
        ))}
      </ul>
    </section>
  );
}
