// Programs whose agents can use this base: what each is to be told, and whether it asks.
import { call, fresh } from "../api";
import type { AgentClient } from "../operations";
import { Copy, Failure, useAsked } from "../parts/said";
import { age } from "../words";

const HOUR = 3_600_000; // ms

export function Agents() {
  const told = useAsked((stop) => call("mcp/clients", {}, stop), [fresh.value]);
  if (told.error != null) return <Failure error={told.error} retry={told.again} />;
  return (
    <section>
      <h2>Agents</h2>
      <ul class="plain lined">
        {told.value?.clients.map((one) => (
          <Client key={one.client} one={one} />
        ))}
        {told.value?.others.map((one) => (
          <li key={one.name} class="setting">
            <strong dir="auto">{one.name}</strong>
            <Asked at={one.asked_at} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Client({ one }: { one: AgentClient }) {
  return (
    <li>
      <div class="setting">
        <strong>{one.client}</strong>
        <Asked at={one.asked_at} />
        <span class="faint">{one.is_told ? "its settings name this base" : "has not been told of this base"}</span>
      </div>
      <details>
        <summary>
          What <code>kb mcp install --client {one.client}</code> writes
        </summary>
        <p>
          <code>{one.path}</code>
          <Copy text={one.text} label={`Copy the block for ${one.client}`} />
        </p>
        <pre tabIndex={0}>{one.text}</pre>
      </details>
    </li>
  );
}

function Asked({ at }: { at: string | null }) {
  if (!at) return <span>has not asked yet</span>;
  const isNow = Date.now() - Date.parse(at) < HOUR;
  return (
    <span>
      {isNow ? "asked in the last hour" : "has not asked in the last hour"}
      <span class="faint">
        {" "}
        (<time dateTime={at}>{age(at)}</time>)
      </span>
    </span>
  );
}
