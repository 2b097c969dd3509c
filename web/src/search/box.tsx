// The box, and under it what the query means.
import { useRef } from "preact/hooks";
import { remember } from "../kept";
import { Icon } from "../parts/icons";
import { go, place, withParams } from "../place";
import { sentence } from "../parts/said";
import { plan, settle, typing } from "./asking";
import { meaning } from "./language";

const query = (): string => place.value.params.get("q") ?? "";

export function Box() {
  const isNew = useRef(true); // the first key after coming here is a place of its own to go back to
  const type = (text: string): void => {
    const target = place.value.path === "/" ? withParams({ q: text, n: "" }) : `/?q=${encodeURIComponent(text)}`;
    typing(text);
    go(target, !isNew.current || !query());
    isNew.current = false;
  };
  return (
    <form
      class="box"
      role="search"
      action="/"
      onSubmit={(event) => {
        event.preventDefault();
        remember(query());
        settle();
        document.querySelector<HTMLElement>(".hit a")?.focus();
      }}
    >
      <Icon name="search" />
      <input
        id="q"
        name="q"
        type="search"
        value={query()}
        placeholder="Words, a question, tag:ops, path:docs/ …"
        aria-label="Search"
        aria-describedby="meaning"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        dir="auto"
        onInput={(event) => type(event.currentTarget.value)}
        onFocus={() => (isNew.current = true)}
        onBlur={() => remember(query())}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}

export function Meaning() {
  const told = plan.value;
  const text = query();
  if (!told || !text.trim()) return <div id="meaning" class="meaning" />;
  const problems = told.query === text ? told.problems : [];
  return (
    <div id="meaning" class="meaning">
      <p dir="auto">{meaning(told.tree)}</p>
      {problems.map((one) => (
        <p key={one.at} class="problem">
          <code>
            {text.slice(0, one.at)}
            <u>{wrongPart(text, one.at)}</u>
            {text.slice(one.at + wrongPart(text, one.at).length)}
          </code>{" "}
          {sentence(`${one.message}; ${one.instead}`)}
        </p>
      ))}
    </div>
  );
}

const wrongPart = (text: string, at: number): string => /^\S+|$/.exec(text.slice(at))?.[0] ?? "";
