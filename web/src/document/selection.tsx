// Text that is selected: find passages like it, note something about it, quote it.
import { useEffect, useState } from "preact/hooks";
import { access, call } from "../api";
import { Copy, tell } from "../parts/said";
import type { Rendered } from "../rendered";

const MOST = 600; // letters that are looked for

export function Selection({ body, shown }: { body: { current: HTMLElement | null }; shown: Rendered }) {
  const [text, set] = useState("");
  const [isNoting, note] = useState(false);
  useEffect(() => {
    const changed = (): void => {
      const selection = getSelection();
      const inside = selection?.anchorNode && body.current?.contains(selection.anchorNode);
      const chosen = inside ? selection.toString().trim() : "";
      if (chosen || !document.activeElement?.closest(".selection")) set(chosen);
      if (!chosen && !document.activeElement?.closest(".selection")) note(false);
    };
    document.addEventListener("selectionchange", changed);
    return () => document.removeEventListener("selectionchange", changed);
  }, []);
  if (!text) return null;
  const source = `${shown.title} (${shown.code}${shown.path ? `, ${shown.path}` : ""})`;
  const quotation = `${text.split("\n").map((line) => `> ${line}`).join("\n")}\n\n${source}`;
  const keep = async (event: Event): Promise<void> => {
    event.preventDefault();
    const said = String(new FormData(event.currentTarget as HTMLFormElement).get("note"));
    try {
      const made = await call("note", { text: `${said}\n\n${quotation}` } as never);
      tell(`Noted as ${(made as { code?: string; document?: { code: string } }).code ?? (made as { document?: { code: string } }).document?.code}`);
      set("");
    } catch (error) {
      tell((error as Error).message);
    }
  };
  return (
    <div class="selection" role="toolbar" aria-label="The selected text">
      <a href={`/?q=${encodeURIComponent(`similar:"${text.slice(0, MOST).replaceAll('"', " ").replaceAll(/\s+/g, " ")}"`)}`}>Passages like this</a>
      <Copy text={quotation}>Copy as a quotation</Copy>
      {access.value.write && (
        <button type="button" class="quiet" aria-expanded={isNoting} onClick={() => note(!isNoting)}>
          Note about this
        </button>
      )}
      {isNoting && (
        <form class="row" onSubmit={(event) => void keep(event)}>
          <input name="note" required aria-label="Note" />
          <button type="submit">Keep</button>
        </form>
      )}
    </div>
  );
}
