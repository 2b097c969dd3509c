"""What a person reads of memories, sessions and the lifecycle."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import (
    Painter,
    counted,
    ending,
    hashtag,
    minute,
    safe,
    safe_lines,
    states_of,
)

if TYPE_CHECKING:
    from knowbase.memory.brief import Brief
    from knowbase.memory.lifecycle import Changed, Superseded
    from knowbase.memory.notes import Tagged
    from knowbase.memory.sessions import DocumentContext, SessionList, SessionView, Timeline
    from knowbase.memory.use import Feedback
    from knowbase.values.documents import Document
    from knowbase.values.notes import Remembered
    from knowbase.values.sessions import Session


def _line(paint: Painter, document: "Document") -> str:
    code = paint("cyan", safe(document.code))
    return f"{code}: {safe(document.title)} ({safe(document.type)})"


def _states(document: "Document") -> str:
    return "".join(f" · {state}" for state in states_of(document))


def render_remembered(paint: Painter, result: "Remembered") -> Iterable[str]:
    document = result.document
    detail = "" if result.created else " · known already"
    if not result.created and result.superseded is None:
        detail += ", nothing was changed"
    yield _line(paint, document) + paint("dim", detail)
    if document.expires_at:
        yield paint("dim", f"  expires {minute(document.expires_at)}")
    if result.superseded is not None:
        yield f"  takes the place of {safe(result.superseded.code)}"
    for one in result.similar:
        code = safe(one.document.code)
        what = f"may contradict {code}" if one.contradicts else f"very like {code}"
        how = f"{one.similarity:.2f}" + (f", {safe(one.differs)}" if one.differs else "")
        yield f"  {what} ({how}): {safe(' '.join(one.opening.split()))}"
        yield f"  if it takes its place: kb supersede {code} {safe(document.code)}"
    for notice in result.notices:
        yield paint("red", "note: ") + safe(notice)


def render_changed(paint: Painter, result: "Changed") -> Iterable[str]:
    for document in result.documents:
        tags = "".join(f" {hashtag(tag)}" for tag in document.tags)
        states = ", ".join(states_of(document)) or "shown in answers"
        yield f"{_line(paint, document)}{paint('dim', tags)} · {states}"
    for notice in result.notices:
        yield paint("red", "note: ") + safe(notice)


def render_tagged(paint: Painter, result: "Tagged") -> Iterable[str]:
    for document in result.documents:
        tags = "".join(f" {hashtag(tag)}" for tag in document.tags) or " · no tags"
        states = "".join(f" · {state}" for state in states_of(document))
        yield f"{_line(paint, document)}{paint('dim', tags)}{states}"
    for notice in result.notices:
        yield paint("red", "note: ") + safe(notice)


def render_superseded(paint: Painter, result: "Superseded") -> Iterable[str]:
    yield f"{_line(paint, result.old)} · superseded by"
    yield _line(paint, result.new)
    if result.head.id != result.new.id:
        yield f"which is superseded itself: today {safe(result.head.code)} holds"
    for notice in result.notices:
        yield paint("red", "note: ") + safe(notice)


def render_feedback(paint: Painter, result: "Feedback") -> Iterable[str]:
    detail = f"confirmed {result.document.confirmed}, salience {result.document.salience:.3f}"
    known = "" if result.counted else " · said before on this occasion: it counts once"
    yield f"{_line(paint, result.document)} · {detail}{known}"


def render_brief(_: Painter, result: "Brief") -> Iterable[str]:
    yield safe_lines(result.text.rstrip("\n"))
    if result.left_out:
        yield f"\n({result.left_out} more found no room in {result.max_tokens} tokens)"
    for notice in result.notices:
        yield f"note: {safe(notice)}"


def render_timeline(paint: Painter, result: "Timeline") -> Iterable[str]:
    for document in (*result.before, result.anchor, *result.after):
        mark = "→" if document.id == result.anchor.id else " "
        yield f"{mark} {minute(document.created_at)}  {_line(paint, document)}{_states(document)}"
    for session in result.sessions.values():
        yield from render_session(paint, session)


def render_context(paint: Painter, result: "DocumentContext") -> Iterable[str]:
    yield _line(paint, result.document)
    if result.created_in is not None:
        yield f"  made in session {safe(result.created_in.id)}"
    if result.latest is None:
        yield "  in no session"
    else:
        name, uses = safe(result.latest.session.id), result.latest.memories_in_session
        yield f"  last use: {result.latest.usage_type} in session {name} ({counted(uses, 'use')})"
    for related in result.related:
        arrow = "→" if related.direction == "to" else "←"
        arrow = "↔" if related.relation == "RELATED_TO" else arrow
        line = _line(paint, related.document) + _states(related.document)
        yield f"  {related.relation} {arrow} {line}"


def render_session(paint: Painter, session: "Session") -> Iterable[str]:
    until = f" to {minute(session.ended_at)}" if session.ended_at else ", open"
    about = f" · {safe(session.project)}" if session.project else ""
    name = paint("cyan", f"session {safe(session.id)}")
    yield f"{name} · {minute(session.started_at)}{until}{about} · {counted(session.uses, 'use')}"
    if session.summary:
        yield f"  {safe(' '.join(session.summary.split()))}"


def render_sessions(paint: Painter, result: "SessionList") -> Iterable[str]:
    for session in result.sessions:
        yield from render_session(paint, session)
    yield paint("dim", f"{len(result.sessions)} session{ending(len(result.sessions))}")


def render_session_view(paint: Painter, result: "SessionView") -> Iterable[str]:
    yield from render_session(paint, result.session)
    for used in result.used:
        line = _line(paint, used.document) + _states(used.document)
        yield f"  {minute(used.used_at)}  {used.usage:<10} {line}"
