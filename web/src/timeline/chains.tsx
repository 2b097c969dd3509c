// What took the place of what: a line through time for each chain, what holds now on top.
import { fresh, search } from "../api";
import type { Hit } from "../operations";
import { useAsked } from "../parts/said";
import { documentAddress } from "../place";
import { count, day, grouped } from "../words";

const MOST = 100; // documents that were superseded
const SHOWN = 12; // chains

export function Chains({ project }: { project: string }) {
  const asked = { query: "is:superseded", mode: "keyword", unit: "document", top: MOST, draft: true, ...(project ? { project } : {}) };
  const told = useAsked((stop) => search(asked, stop), [project, fresh.value]);
  const old = (told.value?.hits ?? []).filter((one) => one.superseded_by);
  if (!old.length) return null;
  const chains = [...grouped(old, (one) => one.superseded_by?.id ?? "").values()].sort((one, other) => since(other).localeCompare(since(one)));
  return (
    <section>
      <h2>What took the place of what</h2>
      <ul class="plain chains">
        {chains.slice(0, SHOWN).map((chain) => (
          <Chain key={chain[0]?.superseded_by?.id} old={[...chain].sort((one, other) => other.created_at.localeCompare(one.created_at))} />
        ))}
      </ul>
      {chains.length > SHOWN && (
        <p>
          <a href="/?q=is%3Asuperseded">All {count(told.value?.total ?? old.length, "document")} that do not hold any more</a>
        </p>
      )}
    </section>
  );
}

/** When what holds now came. */
const since = (chain: Hit[]): string => chain[0]?.superseded_by?.created_at ?? "";

/** The first words of a text, as a title. */
const titleOf = (text: string): string => (text.split("\n").find((line) => line.trim()) ?? "").replace(/^#+\s*/, "").slice(0, 120);

function Chain({ old }: { old: Hit[] }) {
  const now = old[0]?.superseded_by;
  if (!now) return null;
  return (
    <li>
      <ol class="plain chain">
        <li class="now">
          <Moment at={now.created_at} />{" "}
          <a href={documentAddress(now.code)} dir="auto">
            {titleOf(now.content) || now.code}
          </a>{" "}
          <span class="faint">
            <span class="code">{now.code}</span> holds now
          </span>
        </li>
        {old.map((one) => (
          <li key={one.id}>
            <Moment at={one.created_at} />{" "}
            <a href={documentAddress(one.code)} dir="auto">
              {one.title}
            </a>{" "}
            <span class="faint">
              <span class="code">{one.code}</span> {one.superseded_by?.superseded_at ? `held until ${day(one.superseded_by.superseded_at)}` : "does not hold any more"}
            </span>
          </li>
        ))}
      </ol>
    </li>
  );
}

const Moment = ({ at }: { at: string }) => <time dateTime={at}>{day(at)}</time>;
