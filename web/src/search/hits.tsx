// The hits: each document once, its best passage open, the others folded under it.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { access, call } from "../api";
import { dates, remember } from "../kept";
import type { Hit } from "../operations";
import { Bar, Sum } from "../parts/bar";
import { Icon } from "../parts/icons";
import { tell } from "../parts/said";
import { documentAddress } from "../place";
import { age, count, day, pieces, readable } from "../words";
import { answer, asked, settle, type Stack } from "./asking";
import { openInEditor } from "./editor";
import { momentOf, ofThen } from "./language";

/** The hit that the reading pane shows, by its section; and those whose sum is unfolded. */
export const current = signal("");
/** The hit that the pane keeps while others are walked through. */
export const pinned = signal<Hit | null>(null);
export const explained = signal(new Set<string>());

export const anchorOf = (hit: Hit): string => {
  const anchor = hit.section.slice(hit.code.length + 1);
  return anchor.startsWith("_") ? "" : anchor;
};
export const hitAddress = (hit: Hit): string => documentAddress(ofThen(hit.code, momentOf(asked.value.query)), asked.value.query, anchorOf(hit));

export function toggleSum(section: string): void {
  const open = new Set(explained.value);
  if (!open.delete(section)) open.add(section);
  explained.value = open;
}

export function Hits({ stacks }: { stacks: Stack[] }) {
  const best = Math.max(...stacks.map((stack) => stack.first.score), 0);
  return (
    <ol class="hits">
      {stacks.map((stack) => (
        <li key={stack.first.id} class="stack">
          <Passage hit={stack.first} best={best} isFirst />
          {(stack.rest.length > 0 || stack.first.more > 0) && <Others stack={stack} best={best} />}
        </li>
      ))}
    </ol>
  );
}

function Others({ stack, best }: { stack: Stack; best: number }) {
  const number = stack.rest.length || stack.first.more;
  const text = `${count(number, "more passage")} in this document`;
  if (!stack.rest.length) return <p class="more faint">{text}</p>;
  return (
    <details class="more">
      <summary>{text}</summary>
      {stack.rest.map((hit) => (
        <Passage key={hit.section + hit.line} hit={hit} best={best} />
      ))}
    </details>
  );
}

function Passage({ hit, best, isFirst = false }: { hit: Hit; best: number; isFirst?: boolean }) {
  const Title = isFirst ? "h2" : "h3";
  const isCurrent = current.value === hit.section;
  const choose = (): void => {
    current.value = hit.section;
  };
  return (
    <article class={`hit${isCurrent ? " current" : ""}`} data-hit={hit.section} onClick={choose}>
      <Title dir="auto">
        <a href={hitAddress(hit)} onFocus={choose} onClick={() => (remember(asked.value.query), settle())}>
          {isFirst ? hit.title : (hit.heading ?? "Beginning")}
        </a>
      </Title>
      <Where hit={hit} isFirst={isFirst} />
      <Snippet hit={hit} />
      <div class="under">
        {hit.explanation && <Bar told={hit.explanation} best={best} />}
        <Actions hit={hit} />
      </div>
      {hit.explanation && explained.value.has(hit.section) && <Sum told={hit.explanation} />}
    </article>
  );
}

function Where({ hit, isFirst }: { hit: Hit; isFirst: boolean }) {
  return (
    <p class="where">
      <span class="code">{hit.code}</span>
      {isFirst && hit.heading && (
        <span class="heading" dir="auto">
          {hit.heading}
        </span>
      )}
      {hit.path && (
        <span class="path">
          <bdi>{hit.path}</bdi>:{hit.line}
          {hit.page ? `, page ${hit.page}` : ""}
        </span>
      )}
      {isFirst && <time dateTime={hit.created_at}>{dates.value === "ago" ? age(hit.created_at) : day(hit.created_at)}</time>}
      {isFirst && hit.tags.slice(0, 8).map((tag) => <span key={tag} class="tag" dir="auto">#{tag}</span>)}
      {isFirst && hit.tags.length > 8 && <span class="faint">{hit.tags.length - 8} more tags</span>}
      {hit.is_superseded && <strong class="state">superseded{hit.superseded_by ? ` by ${hit.superseded_by.code}` : ""}</strong>}
      {hit.is_relaxed && <span class="state">without what the query requires</span>}
    </p>
  );
}

function Snippet({ hit }: { hit: Hit }) {
  if (hit.snippet_lines) return <CodeSnippet hit={hit} />;
  return (
    <p class="snippet" dir="auto">
      <Marked text={readable(hit.snippet)} />
    </p>
  );
}

const Marked = ({ text }: { text: string }) => <>{pieces(text).map((piece) => (piece.marked ? <mark>{piece.text}</mark> : piece.text))}</>;

/** With its line breaks and numbers; a hit's line is the one of its first mark. */
function CodeSnippet({ hit }: { hit: Hit }) {
  const text = hit.snippet_lines.replace(/\s+$/, "");
  const before = text.includes("<mark>") ? text.slice(0, text.indexOf("<mark>")) : "";
  const first = hit.line - (before.split("\n").length - 1);
  return (
    <pre class="snippet is-code" tabIndex={0}>
      {text.split("\n").map((line, at) => (
        <code key={at} class="line" data-line={first + at}>
          <Marked text={line} />
        </code>
      ))}
    </pre>
  );
}

function Actions({ hit }: { hit: Hit }) {
  return (
    <span class="actions">
      {hit.explanation && (
        <button type="button" class="quiet" aria-expanded={explained.value.has(hit.section)} onClick={() => toggleSum(hit.section)}>
          Explain
        </button>
      )}
      {hit.path && access.value.local && (
        <button type="button" class="quiet" aria-label="Editor" title="Open in the editor (o)" onClick={() => void openInEditor(hit.path as string, hit.line)}>
          <Icon name="open" />
        </button>
      )}
      {access.value.write && !momentOf(asked.value.query) && <Thumbs hit={hit} />}
    </span>
  );
}

const UNDOABLE = 5000; // ms in which a verdict can be taken back before it is sent

function Thumbs({ hit }: { hit: Hit }) {
  const [verdict, set] = useState("");
  const [timer, setTimer] = useState(0);
  const judge = (given: string): void => {
    clearTimeout(timer);
    set(given);
    setTimer(window.setTimeout(() => void send(given), UNDOABLE));
  };
  const send = async (given: string): Promise<void> => {
    setTimer(0);
    try {
      await call("feedback", { hit: hit.section, verdict: given });
      tell(`Noted: ${hit.code} was ${given === "good" ? "what was needed" : "not what was needed"}`);
    } catch (error) {
      set("");
      tell(String((error as Error).message));
    }
  };
  if (timer)
    return (
      <button type="button" class="quiet" onClick={() => (clearTimeout(timer), setTimer(0), set(""))}>
        Undo “{verdict}”
      </button>
    );
  return (
    <>
      <button type="button" class="quiet" aria-pressed={verdict === "good"} aria-label={`${hit.code} is what I needed`} title="What I needed" onClick={() => judge("good")}>
        <Icon name="up" />
      </button>
      <button type="button" class="quiet" aria-pressed={verdict === "bad"} aria-label={`${hit.code} is not what I needed`} title="Not what I needed" onClick={() => judge("bad")}>
        <Icon name="down" />
      </button>
    </>
  );
}

/** The hit that has the pane, or the first. */
export function chosen(): Hit | undefined {
  const hits = answer.value?.hits ?? [];
  return hits.find((hit) => hit.section === current.value) ?? hits[0];
}
