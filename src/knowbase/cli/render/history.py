"""What a person reads of changes and versions."""

from collections.abc import Iterable
from shlex import quote
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, counted, minute, safe, safe_lines

if TYPE_CHECKING:
    from knowbase.memory.history import Difference, DocumentHistory, Log, LoggedChange, Pruned, Step
    from knowbase.memory.undoing import Erased, Runs, Undone

MOST_NAMED = 5  # documents of one change
LINES_AROUND = 2  # of what differs
_SIGNS = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}
_COLOURS = {"-": "red", "+": "green"}


def _by(change: "LoggedChange | Step") -> str:
    where = f"{change.surface} {change.command}".strip()
    session = f" in {change.session}" if change.session else ""
    return safe(f"{change.who} ({where}){session}")


def _change(paint: Painter, change: "LoggedChange") -> Iterable[str]:
    from knowbase.memory.history import told

    number = paint("cyan", f"#{change.number}")
    yield f"{number} {minute(change.at)} {_by(change)}: {told(change.touched)}"
    named = [f"{one.what} {one.code or one.id}" for one in change.touched[:MOST_NAMED]]
    more = f" … ({len(change.touched)})" if len(change.touched) > MOST_NAMED else ""
    yield paint("dim", "    " + safe(", ".join(named)) + more)


def render_log(paint: Painter, log: "Log") -> Iterable[str]:
    for one in log.changes:
        yield from _change(paint, one)
    if not log.changes:
        yield "no changes"


def render_runs(paint: Painter, found: "Runs") -> Iterable[str]:
    for one in found.runs:
        yield from _change(paint, one)
    yield paint("dim", "kb undo NUMBER takes one of them back" if found.runs else "no changes")


def render_history(paint: Painter, found: "DocumentHistory") -> Iterable[str]:
    yield f"{paint('cyan', safe(found.code))}: {safe(found.title)}"
    for one in found.steps:
        kept = "" if one.is_kept else " · no longer kept"
        when = minute(one.at) or "before there was a history"
        yield f"  #{one.number} {when} {one.what} by {_by(one)}{kept}"
        parts = [", ".join(one.fields)] if one.fields else []
        if one.words_added or one.words_removed:
            more = "word" if one.words_added == 1 else "words"
            parts.append(f"{one.words_added} {more} more, {one.words_removed} gone")
        if parts:
            yield paint("dim", "    " + safe("; ".join(parts)))


def render_difference(paint: Painter, found: "Difference") -> Iterable[str]:
    yield paint("dim", safe(f"{found.code}: {found.old} → {found.new}"))
    if found.is_same:
        yield "nothing differs"
        return
    for field in found.fields:
        yield safe(f"{field.field}: {_value(field.old)} → {_value(field.new)}")
    text = "".join(_marked(paint, *one) for one in found.words)
    yield from text.splitlines()


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _marked(paint: Painter, sign: str, text: str) -> str:
    shown = safe_lines(text)
    if sign != "=":
        return paint(_COLOURS[sign], _SIGNS[sign].format(shown))
    lines = shown.split("\n")
    if len(lines) <= 2 * LINES_AROUND + 1:
        return shown
    return "\n".join((*lines[:LINES_AROUND], "…", *lines[-LINES_AROUND:]))


def render_undone(paint: Painter, done: "Undone") -> Iterable[str]:
    for one in reversed(done.changes):
        yield from _change(paint, one)
    if done.restored:
        yield safe(f"as before: {', '.join(done.restored)}")
    if done.removed:
        yield safe(f"removed again: {', '.join(done.removed)}")
    number = len(done.restored) + len(done.removed)
    verb = "would be as before" if done.dry_run else "as before"
    yield paint("dim", f"{counted(number, 'document')} {verb}")
    if done.unsynced:
        told = "no source holds their files any more, so kb sync leaves them alone until: kb add"
        yield paint("red", "note: ") + safe(f"{told} {' '.join(map(quote, done.unsynced))}")


def render_pruned(paint: Painter, done: "Pruned") -> Iterable[str]:
    verb = "would be given up" if done.dry_run else "given up"
    versions, documents = counted(done.versions, "version"), counted(done.documents, "document")
    yield paint("dim", f"{versions} of {documents} {verb}")


def render_erased(paint: Painter, done: "Erased") -> Iterable[str]:
    for code in done.codes:
        yield f"erased {safe(code)}"
    number = counted(done.number, "document")
    yield paint("dim", f"{number} and all that was kept of it is gone; older backups may have it")
    if not done.is_swept:
        told = "free pages of the file may still have the text: kb compact, while nobody uses it"
        yield paint("red", "note: ") + told
