// The searches of this server: how many, how fast, and which found nothing.
import { call, fresh } from "../api";
import { useAsked } from "../parts/said";
import { age, milliseconds, thousands } from "../words";

export function Searches() {
  const loaded = useAsked((stop) => call("searches", {}, stop), [fresh.value]);
  const told = loaded.value;
  if (!told) return null;
  const time = (value: number | null): string => (value === null ? "–" : milliseconds(value));
  const rows: [string, string][] = [
    ["Searches", thousands(told.count)],
    ["Without a hit", thousands(told.without_hits)],
    ["Half within", time(told.latency_ms.p50)],
    ["95 of 100 within", time(told.latency_ms.p95)],
    ["By meaning too", told.semantic_share === null ? "–" : `${Math.round(told.semantic_share * 100)} %`],
  ];
  return (
    <section>
      <h2>Searches since the server was started</h2>
      <dl class="figures">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {told.last_without_hits.length > 0 && (
        <>
          <h3>The last without a hit</h3>
          <ul class="plain">
            {told.last_without_hits.map((one) => (
              <li key={one.query + one.at}>
                <a href={`/?q=${encodeURIComponent(one.query)}`} dir="auto">
                  {one.query}
                </a>{" "}
                <time dateTime={one.at}>{age(one.at)}</time>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
