// Documents by the day on which they came in, and by where they are from.
import { useState } from "preact/hooks";
import { dates } from "../kept";
import type { Document as Facts } from "../operations";
import { documentAddress } from "../place";
import { ofThen } from "../search/language";
import { count, day, grouped, shortened, thousands } from "../words";

/** One row a day, its documents by where they are from. */
export function Days({ documents, isAll, when }: { documents: Facts[]; isAll: boolean; when: string }) {
  const days = grouped(documents, (one) => day(one.created_at));
  const cut = isAll ? "" : [...days.keys()].at(-1); // more of that day may come: it has no number yet
  return (
    <ol class="plain days">
      {[...days].map(([date, all]) => (
        <li key={date}>
          <h3>
            <time dateTime={date}>{longDay(date)}</time> {date !== cut && <span class="faint number">{count(all.length, "document")}</span>}
          </h3>
          {[...grouped(all, origin)].map(([from, some]) => (
            <Group key={from} from={from} documents={some} isWhole={date !== cut} when={when} />
          ))}
        </li>
      ))}
    </ol>
  );
}

const FEW = 8;

function Group({ from, documents, isWhole, when }: { from: string; documents: Facts[]; isWhole: boolean; when: string }) {
  const [isOpen, open] = useState(false);
  const shown = isOpen ? documents : documents.slice(0, FEW);
  return (
    <div class="group">
      <p class="faint">
        <bdi>{from}</bdi> {isWhole && <span class="number">{documents.length}</span>}
      </p>
      <ul class="plain">
        {shown.map((one) => (
          <li key={one.id}>
            <a href={documentAddress(ofThen(one.code, when))} dir="auto">
              {shortened(one.title, 160)}
            </a>{" "}
            <span class="faint">{happened(one)}</span>
          </li>
        ))}
      </ul>
      {documents.length > shown.length && (
        <button type="button" class="quiet" onClick={() => open(true)}>
          {thousands(documents.length - shown.length)} more
        </button>
      )}
    </div>
  );
}

const origin = (one: Facts): string => (one.path ? one.path.split("/").slice(0, -1).join("/") || "files" : one.project ? `notes of ${one.project}` : "notes");

/** What happened to a document, in words. */
export function happened(one: Facts): string {
  const marks = [one.path ? "read" : "made"];
  if (day(one.updated_at) > day(one.created_at)) marks.push(`changed ${day(one.updated_at)}`);
  if (one.superseded_by) marks.push("superseded");
  if (one.archived) marks.push("archived");
  if (one.last_accessed_at) marks.push(`recalled ${count(one.access_count, "time")}`);
  return `${one.code}: ${marks.join(", ")}`;
}

export function longDay(date: string): string {
  if (dates.value === "iso") return date;
  return new Date(`${date}T12:00:00Z`).toLocaleDateString("en", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
}
