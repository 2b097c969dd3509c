"""What a person reads of exports and imports."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.render.filling import unread
from knowbase.cli.terminal import Painter, counted, safe

if TYPE_CHECKING:
    from knowbase.exchange.exporting import Export
    from knowbase.exchange.imported import Imported
    from knowbase.upkeep.digests import Part


def render_export(paint: Painter, export: "Export") -> Iterable[str]:
    if export.interrupted:
        yield paint("red", "interrupted: ") + f"{safe(export.folder)} is as it was; run it again"
        return
    yield f"{'would write' if export.dry_run else 'wrote'} {safe(export.folder)}"
    yield from _held(export.parts)
    if export.pages:
        same = export.pages - export.written
        told = f", {same} of them as they were" if same else ""
        told += f", {export.removed} gone" if export.removed else ""
        yield f"  {counted(export.pages, 'Markdown file')}{told}"
    if export.files:
        yield f"  {counted(export.files, 'file')} copied"
    yield from _notices(paint, export.notices)


def render_imported(paint: Painter, imported: "Imported") -> Iterable[str]:
    counts = (
        ("added", imported.added),
        ("changed", imported.changed),
        ("unchanged", imported.unchanged),
        ("newer here, and kept", imported.kept),
        ("skipped", len(imported.skipped)),
        ("failed", len(imported.failed)),
    )
    shown = ", ".join(f"{number} {word}" for word, number in counts if number or word == "added")
    yield f"{'would be: ' if imported.dry_run else ''}{shown}"
    yield from _held(imported.parts)
    if imported.chunks_embedded or imported.chunks_waiting:
        waiting = imported.chunks_waiting
        told = f", {waiting} wait for kb embed" if waiting else ""
        yield f"  {counted(imported.chunks_embedded, 'chunk')} embedded{told}"
    yield from unread(paint, "skipped", imported.skipped, "entries")
    yield from unread(paint, "failed", imported.failed, "entries")
    if imported.verified:
        yield "verified: every part was read again from the copy, and is the same"
    yield from _notices(paint, imported.notices)
    if imported.interrupted:
        yield paint("red", "interrupted: ") + "what was taken stays; run it again to go on"


def _held(parts: "tuple[Part, ...]") -> Iterable[str]:
    held = [f"{part.name} {part.rows}" for part in parts if part.rows and part.name != "counters"]
    if held:
        yield "  " + ", ".join(held)


def _notices(paint: Painter, notices: tuple[str, ...]) -> Iterable[str]:
    for notice in notices:
        yield paint("red", "note: ") + safe(notice)
