"""What a person reads of backups, checks and repair."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, counted, safe

if TYPE_CHECKING:
    from knowbase.upkeep.backup import Backup
    from knowbase.upkeep.check import Checked
    from knowbase.upkeep.compact import Compacted
    from knowbase.upkeep.repair import Repaired
    from knowbase.upkeep.restore import Restored

_MEGABYTE = 1 << 20


def render_backup(paint: Painter, made: "Backup") -> Iterable[str]:
    verb = "would write" if made.dry_run else "wrote"
    size = "" if made.dry_run else f" ({made.bytes / _MEGABYTE:.1f} MB)"
    yield f"{verb} {safe(made.file)}{size}"
    held = (f"{part.name} {part.rows}" for part in made.parts if part.rows)
    if made.parts:
        yield "  " + ", ".join(one for one in held if not one.startswith("counters"))
    if made.verified:
        yield "verified: read again from the file, and the same as the base at that moment"
    for one in made.removed:
        yield paint("dim", f"{'would remove' if made.dry_run else 'removed'} {safe(one)}")


def render_restored(paint: Painter, done: "Restored") -> Iterable[str]:
    verb = "would replace" if done.dry_run else "replaced"
    after = counted(done.after, "document")
    before = "nothing that can be read" if done.before is None else counted(done.before, "document")
    yield f"{verb} {safe(done.base)} ({before}) by {safe(done.file)} ({after})"
    if done.lost:
        number = "1 document is" if done.lost == 1 else f"{done.lost} documents are"
        yield paint("red", f"{number} newer than the backup, or not in it:")
        for one in done.lost_documents:
            yield f"  {safe(one)}"
        if done.lost > len(done.lost_documents):
            yield f"  and {done.lost - len(done.lost_documents)} more"
    if done.kept:
        yield f"the base as it was: {safe(done.kept)}"


def render_compacted(paint: Painter, done: "Compacted") -> Iterable[str]:
    if not done.parts:
        yield f"{safe(done.base)}: its server looks after the disk by itself"
        return
    before, after = done.before / _MEGABYTE, done.after / _MEGABYTE
    was = "" if done.dry_run else f", {before:.1f} MB before"
    yield f"{safe(done.base)}: {after:.1f} MB{was} · {counted(done.chunks, 'chunk')}"
    for name, size in done.parts.items():
        a_chunk = f"{size / done.chunks:8,.0f} bytes a chunk" if done.chunks else ""
        yield paint("dim", f"  {name:<20} {size / _MEGABYTE:9.1f} MB {a_chunk}")


def render_checked(paint: Painter, checked: "Checked") -> Iterable[str]:
    vectors = [counted(checked.vectors, "vector")] if checked.deep else []
    numbers = (counted(checked.documents, "document"), *vectors, counted(checked.files, "file"))
    looked = ", ".join(numbers)
    yield f"{safe(checked.base)}: {looked}"
    for one in checked.findings:
        mark = paint("dim" if one.severity == "notice" else "red", f"{one.severity}:")
        yield f"{mark} {one.part}: {safe(one.message)} ({one.hint})"
        if one.documents:
            yield "  " + safe(", ".join(one.documents))
    if checked.sealed:
        sealed = counted(checked.sealed, "document")
        yield paint("dim", f"sealed now: {sealed} from before there were seals")
    if checked.is_sound:
        yield "sound" if checked.deep else "sound, as far as it was looked at (--deep reads it all)"


def render_repaired(paint: Painter, done: "Repaired") -> Iterable[str]:
    if done.is_sound:
        yield f"{safe(done.base)}: nothing is damaged, nothing was done"
        return
    would = "would be " if done.dry_run else ""
    yield f"{safe(done.base)}:"
    yield f"  {would}saved: " + (_counts(done.saved) or "nothing")
    if done.rebuilt:
        yield f"  {would}rebuilt: " + ", ".join(done.rebuilt)
    for name, documents in done.lost.items():
        yield paint("red", f"  {name}: ") + safe(", ".join(documents))
    if done.rescue:
        yield f"  what only the base had: {safe(done.rescue)}"
    if done.damaged:
        yield f"  the damaged base: {safe(done.damaged)}"
    for one in done.next:
        yield f"  next: {one}"


def _counts(saved: object) -> str:
    pairs = saved.items() if isinstance(saved, dict) else ()
    return ", ".join(f"{name} {number}" for name, number in pairs if number)
