"""Rules that every store keeps."""

from collections.abc import Callable, Iterable

from knowbase.errors import Conflict
from knowbase.query.conditions import Compare, Condition, Not, Visible, both
from knowbase.values.changes import Draft, Edit
from knowbase.values.documents import Document
from knowbase.values.reading import content_hash

MARK = "idempotency"  # in a document's metadata: of what its key was first sent with


def same_project(project: str | None) -> Condition:
    """Of this project; without one, of none."""
    if project is None:
        return Not(Compare("project", "present"))
    return Compare("project", "=", project)


def known_text(draft: Draft, now: str) -> Condition:
    """The documents that make a draft unnecessary, when it is to be written once."""
    if draft.mark:
        return Compare("id", "=", draft.id)
    return both(
        Compare("content_hash", "=", content_hash(draft.reading)),
        Compare("type", "=", draft.reading.type),
        same_project(draft.reading.value("project")),
        Visible(now),
    )


def check_codes(drafts: Iterable[Draft], written: Iterable[Document]) -> None:
    """Refuse that a document which must have its own code was given another one."""
    drafts, written = tuple(drafts), tuple(written)
    check_marks((one.mark, there) for one, there in zip(drafts, written, strict=True) if one.mark)
    for draft, document in zip(drafts, written, strict=True):
        wanted = draft.reading.value("code") if draft.own_code else None
        is_it = document.id == draft.id
        if wanted is not None and is_it and wanted.lower() != document.code.lower():
            raise code_taken(wanted)


def check_unchanged(draft: Draft, updated_at: str) -> None:
    """Refuse to write over what somebody else has written meanwhile."""
    if draft.since and draft.since != updated_at:
        raise Conflict(
            f"it was changed by somebody else at {updated_at}",
            field="since",
            hint="read it again, and say what it should be",
        )


def check_marks(marked: Iterable[tuple[str, Document]]) -> None:
    """Refuse that a key which has written something is used for something else."""
    if any(document.metadata.get(MARK) != mark for mark, document in marked):
        raise Conflict(
            "this key was used for other notes", field="key", hint="take a new key for new notes"
        )


def code_taken(code: str) -> Conflict:
    return Conflict(f"the code {code} is taken", field="code", hint="take another")


def check_chain(edit: Edit, find: Callable[[str], Document | None]) -> None:
    """Refuse that a document comes, by way of others, before itself."""
    following = edit.values.get("superseded_by")
    chain, seen = [edit.document], set()
    while isinstance(following, str) and (document := find(following)) is not None:
        chain.append(document.code)
        if document.id == edit.document:
            chain[0] = document.code
            raise Conflict(
                f"this would be a circle: {' → '.join(chain)}",
                field="new",
                hint="a document cannot come before itself",
            )
        if document.id in seen:
            return  # a circle that files made, without this one
        seen.add(document.id)
        following = document.superseded_by
