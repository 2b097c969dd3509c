// What expires soon: today, this week, this month; each is kept for longer, or let go.
import { useState } from "preact/hooks";
import { access, call, fresh } from "../api";
import type { Document as Facts, Listing } from "../operations";
import { tell, useAsked } from "../parts/said";
import { documentAddress } from "../place";
import { age, grouped } from "../words";

const DAY = 86_400_000;
const SOON: [number, string][] = [
  [1, "Today"],
  [7, "Within a week"],
  [30, "Within a month"],
];
const LONGER = 30; // days
const MOST = 40;

interface Done {
  hit: Facts;
  said: string;
}

export function Expiring() {
  const found = useAsked((stop) => call("expire", { within: "30d", limit: 200 }, stop), [fresh.value]);
  const [done, set] = useState<Done | null>(null);
  const now = Date.now();
  const left = (one: Facts): number => Date.parse(one.expires_at ?? "") - now;
  const soon = ((found.value as Listing | null)?.documents ?? []).filter((one) => left(one) >= 0).slice(0, MOST);
  if (!soon.length && !done) return null;
  const run = async (work: Promise<unknown>, after: Done | null, said: string): Promise<void> => {
    try {
      await work;
      set(after);
      tell(said);
      fresh.value++;
    } catch (error) {
      tell((error as Error).message);
    }
  };
  const extend = (hit: Facts): void => {
    const until = new Date(Date.parse(hit.expires_at ?? "") + LONGER * DAY).toISOString().slice(0, 10);
    void run(call("extend", { references: [hit.id], until }), { hit, said: `${hit.code} holds until ${until}` }, `${hit.code} holds until ${until}`);
  };
  const letGo = (hit: Facts): void => void run(call("forget", { references: [hit.id] }), { hit, said: `${hit.code} is forgotten` }, `${hit.code} is forgotten`);
  const undo = ({ hit, said }: Done): void => {
    const before = { references: [hit.id], until: hit.expires_at ?? "never" };
    void run(said.endsWith("forgotten") ? call("restore", { references: [hit.id] }) : call("extend", before), null, "Undone");
  };
  const groups = grouped(soon, (one) => (SOON.find(([days]) => left(one) < days * DAY) ?? SOON[2])?.[1] ?? "");
  return (
    <section class="strip expiring">
      <h2>Expiring soon</h2>
      {done && (
        <p>
          <button type="button" onClick={() => undo(done)}>
            Undo: {done.said}
          </button>
        </p>
      )}
      <div class="pair">
        {[...groups].map(([name, documents]) => (
          <section key={name}>
            <h3>
              {name} <span class="faint number">{documents.length}</span>
            </h3>
            <ul class="plain">
              {documents.map((hit) => (
                <li key={hit.id}>
                  <a href={documentAddress(hit.code)} dir="auto">
                    {hit.title}
                  </a>{" "}
                  <span class="code faint">{hit.code}</span> <time dateTime={hit.expires_at ?? ""}>{age(hit.expires_at ?? "")}</time>{" "}
                  {access.value.write && (
                    <>
                      <button type="button" class="quiet" aria-label={`${LONGER} days longer: ${hit.code}`} onClick={() => extend(hit)}>
                        {LONGER} days longer
                      </button>
                      <button type="button" class="quiet" aria-label={`Let go: ${hit.code}`} onClick={() => letGo(hit)}>
                        Let go
                      </button>
                    </>
                  )}
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </section>
  );
}
