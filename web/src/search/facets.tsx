// What the matching documents are: each count narrows the search, written into the box as words.
import type { FacetCount } from "../operations";
import { AsOf } from "../parts/as_of";
import { Icon } from "../parts/icons";
import { go, withParams } from "../place";
import { thousands } from "../words";
import { asked, facets, FACETS } from "./asking";
import { askedOf, has, momentOf, operatorOf, toggled } from "./language";

const TITLES: Record<string, string> = { folder: "Folder", type: "Type", ending: "Language", tag: "Tag", project: "Project", age: "Age" };
const AGES: Record<string, string> = { day: "last day", week: "last week", month: "last month", year: "last year", older: "older" };
const LANGUAGES: Record<string, string> = {
  md: "Markdown", py: "Python", ts: "TypeScript", tsx: "TypeScript (JSX)", js: "JavaScript", go: "Go", rs: "Rust", java: "Java", rb: "Ruby", c: "C", h: "C header", cpp: "C++",
  cs: "C#", php: "PHP", sh: "Shell", sql: "SQL", html: "HTML", css: "CSS", json: "JSON", yml: "YAML", yaml: "YAML", toml: "TOML", xml: "XML", csv: "CSV", txt: "plain text",
  rst: "reStructuredText", adoc: "AsciiDoc", org: "Org", tex: "LaTeX", pdf: "PDF", docx: "Word", xlsx: "Excel", pptx: "PowerPoint", odt: "OpenDocument", epub: "EPUB", ipynb: "notebook", eml: "mail",
};
const STATES = ["archived", "expired", "superseded"];

function narrow(operator: string, exclude: boolean): void {
  go(withParams({ q: toggled(asked.value.query, operator, exclude) }));
}

export function Facets() {
  const { query } = asked.value;
  const counted = FACETS.filter((name) => (facets.value[name] ?? []).length > 0);
  return (
    <div class="facets">
      {counted.map((name) => (
        <fieldset key={name}>
          <legend>{TITLES[name] ?? name}</legend>
          <ul>
            {(facets.value[name] ?? []).map((one) => (
              <Value key={one.value} facet={name} one={one} />
            ))}
          </ul>
        </fieldset>
      ))}
      <fieldset>
        <legend>As of</legend>
        <AsOf when={momentOf(query)} choose={(when) => go(withParams({ q: askedOf(query, when) }))} />
      </fieldset>
      <fieldset>
        <legend>Hidden otherwise</legend>
        <ul>
          {STATES.map((state) => (
            <Value key={state} facet="state" one={{ value: state, documents: -1 }} />
          ))}
        </ul>
      </fieldset>
    </div>
  );
}

function Value({ facet, one }: { facet: string; one: FacetCount }) {
  const operator = operatorOf(facet, one.value);
  if (operator === null) return null;
  const isOn = has(asked.value.query, operator);
  const isOut = has(asked.value.query, `-${operator}`);
  const name = facet === "age" ? (AGES[one.value] ?? one.value) : facet === "ending" ? (LANGUAGES[one.value] ?? `.${one.value}`) : one.value;
  const number = one.documents < 0 ? "" : thousands(one.documents);
  return (
    <li class={isOn ? "on" : isOut ? "out" : ""}>
      <button type="button" class="facet" aria-pressed={isOn} title={`${name}: ${operator}; Alt-click: -${operator}`} onClick={(event) => narrow(operator, event.altKey)}>
        <bdi class="name">{facet === "folder" ? shortened(name) : name}</bdi>
        <span class="number">{number}</span>
      </button>
      {facet !== "state" && (
        <button type="button" class="exclude" aria-pressed={isOut} aria-label={`Without ${name}`} title={`-${operator}`} onClick={() => narrow(operator, true)}>
          <Icon name="minus" />
        </button>
      )}
    </li>
  );
}

/** The end of a long path: it says more than its beginning. */
function shortened(folder: string): string {
  const names = folder.split("/");
  return folder.length > 24 && names.length > 2 ? `…/${names.slice(-2).join("/")}` : folder;
}
