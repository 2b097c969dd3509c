// A dense table whose columns are sorted by their names.
import { useState } from "preact/hooks";
import { thousands } from "../words";

export interface Column {
  name: string;
  isNumber?: boolean;
  isPath?: boolean;
}

type Cell = string | number;

/** Rows as they come, until a column is chosen; chosen again, the other way round. */
export function Sorted({ label, columns, rows }: { label: string; columns: Column[]; rows: Cell[][] }) {
  const [by, choose] = useState<{ at: number; isDown: boolean } | null>(null);
  const shown = by ? [...rows].sort((one, other) => compare(one[by.at], other[by.at]) * (by.isDown ? -1 : 1)) : rows;
  const press = (at: number): void => choose(by?.at === at ? { at, isDown: !by.isDown } : { at, isDown: columns[at]?.isNumber ?? false });
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={label}>
      <table class="lines dense">
        <thead>
          <tr>
            {columns.map((one, at) => (
              <th key={one.name} scope="col" class={one.isNumber ? "number" : undefined} aria-sort={by?.at === at ? (by.isDown ? "descending" : "ascending") : undefined}>
                <button type="button" onClick={() => press(at)}>
                  {one.name} {by?.at === at ? (by.isDown ? "↓" : "↑") : ""}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.join(" ")}>
              {row.map((cell, at) => (
                <td key={at} class={columns[at]?.isNumber ? "number" : undefined}>
                  {columns[at]?.isPath ? <bdi class="path">{cell}</bdi> : typeof cell === "number" ? thousands(cell) : cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const compare = (one: Cell | undefined, other: Cell | undefined): number =>
  typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
