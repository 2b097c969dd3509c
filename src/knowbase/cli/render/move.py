"""What a person reads of moving a base."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, counted, safe

if TYPE_CHECKING:
    from knowbase.move import Moved


def render_moved(paint: Painter, moved: "Moved") -> Iterable[str]:
    verb = "would copy" if moved.dry_run else "copied"
    yield f"{verb} {safe(moved.source)} to {safe(moved.target)}"
    held = (f"{part.name} {part.rows}" for part in moved.parts if part.rows)
    if moved.parts:
        yield "  " + ", ".join(one for one in held if not one.startswith("counters"))
    if moved.there:
        yield f"  {counted(moved.there, 'document')} already there, {verb} {moved.copied}"
    if moved.interrupted:
        yield paint("red", "interrupted: ") + "what was copied stays; run it again to go on"
    if moved.verified:
        yield "verified: every part was read again from the copy, and is the same"
        yield paint("dim", "the source is as it was: delete it when it is needed no longer")
    for notice in moved.notices:
        yield paint("red", "note: ") + safe(notice)
