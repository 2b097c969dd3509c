"""What a person reads of moving a base."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from knowbase.cli.terminal import Painter, safe

if TYPE_CHECKING:
    from knowbase.move import Moved


def lines(paint: Painter, name: str, result: Any) -> Iterable[str]:  # noqa: ARG001
    """The lines for a move, or for what it would do."""
    return _moved(paint, result)


def _moved(paint: Painter, moved: "Moved") -> Iterable[str]:
    verb = "would copy" if moved.dry_run else "copied"
    yield f"{verb} {safe(moved.source)} to {safe(moved.target)}"
    there = f", {moved.there} were there" if moved.there else ""
    yield f"  {verb} {moved.copied} documents{there}"
    if moved.interrupted:
        yield paint("red", "interrupted: ") + "what was copied stays; run it again to go on"
        return
    held = (f"{part.rows} {part.name}" for part in moved.parts[1:] if part.name != "counters")
    yield "  with " + ", ".join(one for one in held if not one.startswith("0 "))
    if moved.verified:
        yield "verified: every part was read again from both, and is the same"
        yield paint("dim", "the source is as it was: delete it when it is needed no longer")
    for notice in moved.notices:
        yield paint("red", "note: ") + safe(notice)
