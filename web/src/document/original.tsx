// The PDF that a document was read from, at a page. It is asked for as everything else, with the
// token in a header, so it is opened from memory and not by an address of the server.
import { access, call } from "../api";
import { Icon } from "../parts/icons";
import { tell } from "../parts/said";
import type { Rendered } from "../rendered";

export const hasOriginal = (shown: Rendered): boolean =>
  shown.kind === "pages" && shown.when === null && /\.pdf$/i.test(shown.path ?? "") && access.value.local && access.value.write && !access.value.project;

export const pageOf = (anchor: string): number => Number(/^page-(\d+)$/.exec(anchor)?.[1] ?? 0);

const made = new Map<string, string>(); // addresses in memory, by code

async function open(code: string, page: number): Promise<void> {
  const tab = window.open("about:blank", "_blank"); // at once: later it would be a pop-up
  try {
    let address = made.get(code);
    if (!address) {
      const { content, media_type: type } = await call("original", { reference: code });
      const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
      address = URL.createObjectURL(new Blob([bytes], { type }));
      made.set(code, address);
    }
    if (tab) tab.location.href = `${address}#page=${page}`;
    else tell("This browser does not open another window");
  } catch (error) {
    tab?.close();
    tell((error as Error).message);
  }
}

export function OpenPage({ code, page, label }: { code: string; page: number; label?: string }) {
  return (
    <button type="button" class="quiet" aria-label={`Open the PDF at page ${page}`} title={`Open the PDF at page ${page}`} onClick={() => void open(code, page)}>
      <Icon name="open" /> {label}
    </button>
  );
}
