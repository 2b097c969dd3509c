// Opening a file in the reader's own editor, by an address that the editor answers to.
import { access, call } from "../api";
import { editor } from "../kept";
import { tell } from "../parts/said";

let home: Promise<string> | null = null;

/** The folder that paths are told from: where the base's own folder lies. */
async function homeFolder(): Promise<string> {
  home ??= call("status", {}).then((told) => told.base.replace(/[\\/]\.kb[\\/][^\\/]*$/, ""));
  return home;
}

export async function openInEditor(path: string, line: number): Promise<void> {
  if (!access.value.local) return;
  try {
    const whole = /^([\\/]|\w:)/.test(path) ? path : `${await homeFolder()}/${path}`;
    const place = encodeURI(whole);
    const address = editor.value.replace("/{path}", `/${place.replace(/^\/+/, "")}`).replace("{path}", place).replace("{line}", String(line));
    if (!/^[a-z][a-z0-9+.-]*:/i.test(address) || /^(javascript|data|blob):/i.test(address)) {
      return tell("The editor's address in the settings is not one");
    }
    location.assign(address);
    tell(`Opening ${path}:${line}`);
  } catch (error) {
    tell((error as Error).message);
  }
}
