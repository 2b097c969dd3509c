// A window over the page: the browser keeps the focus in it, gives it back, and closes it by Escape.
import { useLayoutEffect, useRef } from "preact/hooks";

export function Dialog({ label, done, children }: { label: string; done: () => void; children: preact.ComponentChildren }) {
  const shown = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => shown.current?.showModal(), []);
  return (
    <dialog ref={shown} aria-label={label} onClose={done} onClick={(event) => event.target === shown.current && done()}>
      {children}
    </dialog>
  );
}
