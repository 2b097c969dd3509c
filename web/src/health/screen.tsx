// Base health: one sentence, then what wants attention, worst first, each with what mends it.
import { useState } from "preact/hooks";
import { access, call, fresh } from "../api";
import type { Diagnosis, Status } from "../operations";
import { begin } from "../events";
import { Copy, Failure, sentence, tell, useAsked } from "../parts/said";
import { Sorted } from "../parts/table";
import { documentAddress } from "../place";
import { count, size, thousands } from "../words";
import { Growth } from "../timeline/weeks";
import { Followed } from "../settings/sources";
import { Ignore, Taken } from "./ignore";
import { Progress } from "./progress";
import { Quality } from "./quality";
import { Tasks } from "./tasks";
import { Searches } from "./searches";

const WORDS: Record<string, string> = { error: "Broken", warning: "Wants attention", info: "Good to know" };

/** Who sits at this machine and may do everything. */
const isMaster = (): boolean => access.value.local && access.value.write && !access.value.project;

export function Health() {
  const doctor = useAsked((stop) => call("doctor", {}, stop), [fresh.value]);
  const status = useAsked((stop) => call("status", {}, stop), [fresh.value]);
  const isLooked = doctor.value !== null || doctor.error != null;
  const isThere = isLooked && (status.value !== null || status.error != null); // nothing moves what is under the pointer
  return (
    <div class="page health">
      <h1>Base health</h1>
      <Progress />
      {doctor.error != null && <Failure error={doctor.error} retry={doctor.again} />}
      {!isThere && <p aria-busy="true">Looking …</p>}
      {isThere && doctor.value && (
        <>
          <p class="lead" role="status">
            {sentence(doctor.value.summary)}
          </p>
          <Findings told={doctor.value} />
        </>
      )}
      {isThere && status.value && <Numbers told={status.value} />}
      {isThere && <Growth />}
      {isThere && status.value && <Files told={status.value} />}
      {isThere && isMaster() && (
        <>
          <Ignore folders={status.value?.sources.map((one) => one.path) ?? []} />
          <Tasks />
          <Quality />
        </>
      )}
      {isThere && <Searches />}
      {isThere && doctor.value && <Versions told={doctor.value} />}
    </div>
  );
}

function Findings({ told }: { told: Diagnosis }) {
  return (
    <ol class="plain findings">
      {told.findings.map((one) => (
        <li key={one.name + one.what} class={`finding ${one.severity}`}>
          <p>
            <span class="severity">{WORDS[one.severity] ?? one.severity}</span> <strong>{sentence(one.what)}</strong>
          </p>
          {one.detail && <p>{sentence(one.detail)}</p>}
          {one.command && (
            <p>
              <code>{one.command}</code> <Copy text={one.command} label={`Copy: ${one.command}`} /> <Mend command={one.command} />
            </p>
          )}
          {one.examples.length > 0 && (
            <details>
              <summary>{count(one.examples.length, "example")}</summary>
              <ul>
                {one.examples.map((example) => (
                  <li key={example}>
                    <Example name={one.name} text={example} />
                  </li>
                ))}
              </ul>
            </details>
          )}
        </li>
      ))}
    </ol>
  );
}

const OF_DOCUMENTS = ["duplicates", "expired", "expiring", "odd_titles"];

/** One that a finding names: it leads to where it is mended. */
function Example({ name, text }: { name: string; text: string }) {
  if (name === "dead_links") return <a href={naming(text)}>{text}</a>;
  if (!OF_DOCUMENTS.includes(name)) return <bdi>{text}</bdi>;
  const [codes = "", title] = text.split(/: (.*)/s);
  return (
    <bdi>
      {codes.split(" = ").map((code, at) => (
        <>
          {at > 0 && " = "}
          <a href={documentAddress(code)}>{code}</a>
        </>
      ))}
      {title && `: ${title}`}
    </bdi>
  );
}

const TASKS: Record<string, string> = { "kb embed": "embed", "kb sync": "sync" };

/** What this server can do itself, at a press. */
function Mend({ command }: { command: string }) {
  const task = TASKS[command];
  if (!task || !isMaster()) return null;
  const start = (): void => void begin({ task }).then(() => tell("It has begun; above stands how far it is."), (error: Error) => tell(error.message));
  return (
    <button type="button" aria-label={`Do it: ${command}`} onClick={start}>
      Do it
    </button>
  );
}

/** The documents that name what leads nowhere: `target (named in 3)`, by its words. */
function naming(example: string): string {
  const words = example.replace(/ \(named in \d+\)$/, "").replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
  return `/?q=${encodeURIComponent(words.includes(" ") ? `"${words}"` : words)}&mode=keyword`;
}

function Numbers({ told }: { told: Status }) {
  const rows: [string, string][] = [
    ["Documents", thousands(told.documents)],
    ["Passages", thousands(told.chunks)],
    ["With vectors", thousands(told.embedded)],
    ["Tags", thousands(told.tags)],
    ["Forgotten", thousands(told.forgotten)],
    ["On disk", told.size_bytes === null ? "–" : size(told.size_bytes)],
  ];
  const types = Object.entries(told.types).sort((one, other) => other[1] - one[1]);
  return (
    <section>
      <h2>Numbers</h2>
      <div class="pair">
        <dl class="figures">
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        {types.length > 0 && <table class="lines">
          <caption>Documents by type</caption>
          <tbody>
            {types.map(([type, number]) => (
                <tr key={type}>
                  <th scope="row">
                    <a href={`/?q=${encodeURIComponent(`type:${type}`)}`}>{type}</a>
                  </th>
                  <td>
                    <svg class="share" viewBox="0 0 96 8" width="96" height="8" aria-hidden="true">
                      <rect class="track" width="96" height="8" rx="2" />
                      <rect class="leg-keyword" width={(96 * number) / Math.max(told.documents, 1)} height="8" rx="2" />
                    </svg>
                  </td>
                  <td>{thousands(number)}</td>
                </tr>
              ))}
          </tbody>
        </table>}
      </div>
      <p class="faint">{told.model ? `Model ${told.model.name} ${told.model.revision}, ${told.model.dimensions} dimensions.` : told.documents ? "No vectors yet: words alone are searched." : "The embedding model comes with knowbase; it is loaded with the first document."}</p>
    </section>
  );
}

function Files({ told }: { told: Status }) {
  return (
    <>
      {told.sources.length > 0 && (
        <section>
          <h2>Sources</h2>
          <ul class="plain">
            {told.sources.map((one) => (
              <li key={one.path}>
                <code>{one.path}</code> {one.tags.map((tag) => `#${tag}`).join(" ")} <Followed source={one} />
                {one.is_watched ? ", watched" : ""}
              </li>
            ))}
          </ul>
        </section>
      )}
      {told.unread.length > 0 && (
        <section>
          <h2>Not read, and why</h2>
          <Sorted
            label="Files that were not read"
            columns={[{ name: "reason" }, { name: "files", isNumber: true }, { name: "kind" }, { name: "such as", isPath: true }]}
            rows={told.unread.map((one) => [one.reason, one.files, one.extension || "–", one.example])}
          />
        </section>
      )}
      {told.suspects.length > 0 && (
        <section>
          <h2>Read, and perhaps better not</h2>
          <ul class="plain">
            {told.suspects.map((one) => (
              <li key={one.path}>
                <Suspected path={one.path} reason={one.reason} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** One press shows what leaving it out takes away, the next one writes the line. */
function Suspected({ path, reason }: { path: string; reason: string }) {
  const [isOpen, open] = useState(false);
  return (
    <>
      <code>{path}</code> <span class="faint">{reason}</span>{" "}
      {isMaster() ? (
        <button type="button" class="quiet" aria-expanded={isOpen} aria-label={`Leave out ${path}`} onClick={() => open(!isOpen)}>
          Leave out
        </button>
      ) : (
        <Copy text={`kb ignore ${JSON.stringify(`/${path}`)} && kb sync`}>copy the command that leaves it out</Copy>
      )}
      {isOpen && <Taken pattern={`/${path}`} done={() => open(false)} />}
    </>
  );
}

function Versions({ told }: { told: Diagnosis }) {
  const lines = Object.entries(told.versions);
  const text = [...lines.map(([name, version]) => `${name} ${version}`), JSON.stringify(told.base), JSON.stringify(told.disk)].join("\n");
  return (
    <section class="versions">
      <h2>Versions</h2>
      <dl class="facts">
        {lines.map(([name, version]) => (
          <>
            <dt>{name}</dt>
            <dd class="number">{version}</dd>
          </>
        ))}
        {told.disk && (
          <>
            <dt>Free disk</dt>
            <dd class="number">
              {size(told.disk.free_bytes)} of {size(told.disk.total_bytes)}
            </dd>
          </>
        )}
      </dl>
      <p>
        <Copy text={text}>Copy for a bug report</Copy>
      </p>
    </section>
  );
}
