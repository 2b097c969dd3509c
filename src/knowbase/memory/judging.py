"""Verdicts on memories: what somebody decided, when and who; each can be undone.

A verdict is kept with the document, as what commands say of it is: it outlives changes of its
text, goes where the base goes, and is undone by taking back what it changed.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from knowbase.errors import Conflict, InvalidInput, NotFound
from knowbase.memory.lifecycle import superseding
from knowbase.query.conditions import AllOf, AnyOf, Compare, Condition, Not
from knowbase.store.contract import DocumentStore
from knowbase.values.changes import Changes, Edit
from knowbase.values.documents import ALL, Document
from knowbase.values.visible import one_line

VERDICTS = ("accept", "forget", "supersede", "merge", "later", "undo")
NEED_ANOTHER = ("supersede", "merge")
LONGEST_NAME = 100  # letters of who decided
_BEFORE = "\t"  # after it, in `judged`: what the verdict changed, as it was before
_GIVEN_WAY = ("superseded_by", "valid_until")


class Judgement(NamedTuple):
    """What was decided of a document, by whom and when."""

    verdict: str
    by: str
    at: str


class Judged(NamedTuple):
    """A document after a verdict on it."""

    document: Document
    verdict: str
    by: str
    at: str
    undone: str | None = None  # the verdict that was taken back
    other: Document | None = None  # what it took the place of, or was merged with
    merged: Document | None = None  # what both have become


def judgement_of(document: Document) -> Judgement | None:
    """The verdict on a document, if there is one."""
    parts = (document.judged or "").partition(_BEFORE)[0].split(" ", 2)
    return Judgement(parts[0], parts[2], parts[1]) if len(parts) == 3 else None


def is_accepted(document: Document) -> bool:
    return (document.judged or "").startswith("accept ")


UNDECIDED: Condition = Not(Compare("judged", "present"))
PUT_OFF: Condition = AllOf((Compare("judged", ">=", "later "), Compare("judged", "<", "later!")))
"""What has been put off: the texts that begin so."""
PENDING: Condition = AnyOf((UNDECIDED, PUT_OFF))


class Judging:
    """Writes verdicts, and takes them back."""

    def __init__(
        self,
        store: DocumentStore,
        find: Callable[[str], Document],  # forgotten ones too
        whole: Callable[[str], Document],
        write: Callable[[Document, Document, str], Document],  # both of them as one note
        clock: Callable[[], str],
    ) -> None:
        self._store = store
        self._find = find
        self._whole = whole
        self._write = write
        self._clock = clock

    def judge(self, reference: str, verdict: str, other: str | None, text: str, by: str) -> Judged:
        """The document once the verdict is written."""
        if verdict not in VERDICTS:
            hint = "one of " + ", ".join(VERDICTS)
            raise InvalidInput(f"verdict cannot be {verdict!r}", field="verdict", hint=hint)
        if verdict == "undo":
            return self._undo(self._find(reference), by)
        document = self._whole(reference)
        _refuse_another(document)
        another = self._other(document, verdict, other)
        now = self._clock()
        given = Judgement(verdict, one_line(by)[:LONGEST_NAME] or "user", now)
        merged = None
        edits = [Edit(document.id, self._edited(given, _before(document, verdict, another)))]
        if verdict == "supersede" and another is not None:
            edits.append(superseding(another, document.id, now))
        if verdict == "merge" and another is not None:
            merged = self._write(another, document, text)
            edits[0] = _with(edits[0], superseding(document, merged.id, now))
            edits.append(superseding(another, merged.id, now))
        self._store.apply(Changes(edits=tuple(edits)), now)
        after = self._now(document)
        return Judged(after, *given, None, another and self._now(another), merged)

    def _other(self, document: Document, verdict: str, other: str | None) -> Document | None:
        if verdict not in NEED_ANOTHER:
            return None
        if not other:
            hint = "the code of the other memory"
            raise InvalidInput(f"{verdict} needs another document", field="other", hint=hint)
        found = self._whole(other)
        if found.id == document.id:
            raise Conflict("a memory cannot take its own place", field="other")
        return found

    def _edited(self, given: Judgement, before: str) -> dict[str, str | bool | None]:
        told: dict[str, str | bool | None] = {
            "judged": f"{given.verdict} {given.at} {given.by}{before}"
        }
        return {**told, "deleted_at": given.at} if given.verdict == "forget" else told

    def _undo(self, document: Document, by: str) -> Judged:
        given = judgement_of(document)
        if given is None:
            raise Conflict(
                f"there is no verdict on {document.code} to undo",
                field="verdict",
                hint="one of " + ", ".join(VERDICTS[:-1]),
            )
        before = _kept_in(document)
        taken: dict[str, str | bool | None] = {"judged": before.get("judged")}
        if given.verdict == "forget":
            taken["deleted_at"] = None
        edits = [Edit(document.id, taken)]
        now = self._clock()
        successor = document.id if given.verdict == "supersede" else document.superseded_by
        if given.verdict in NEED_ANOTHER and successor:
            for one in self._replaced_by(successor, given.at):
                edits.append(self._restored(one, before.get(_role(one, document), {})))
        if given.verdict == "merge" and document.superseded_by:
            edits.append(Edit(document.superseded_by, {"deleted_at": now}))
        self._store.apply(Changes(edits=_joined(edits)), now)
        return Judged(self._now(document), "undo", by, now, given.verdict)

    def _replaced_by(self, document: str, at: str) -> list[Document]:
        """What gave way to a document by one verdict."""
        gone = AllOf((Compare("superseded_by", "=", document), Compare("valid_until", "=", at)))
        return self._store.documents(gone, ALL)

    def _restored(self, document: Document, before: Mapping[str, str]) -> Edit:
        """As it was; what it gave way to then may have been removed since."""
        values: dict[str, str | bool | None] = {name: before.get(name) for name in _GIVEN_WAY}
        successor = before.get("superseded_by")
        if successor and self._store.find(successor) is None:
            values["superseded_by"] = None
        return Edit(document.id, values)

    def _now(self, document: Document) -> Document:
        found = self._store.find(document.id)
        if found is None:
            raise NotFound(f"{document.code} has just been removed")
        return found


def _refuse_another(document: Document) -> None:
    """A verdict that changed other documents is taken back before there is another one."""
    given = judgement_of(document)
    if given is not None and given.verdict in NEED_ANOTHER:
        raise Conflict(
            f"there is a verdict on {document.code} that changed others: {given.verdict}",
            field="verdict",
            hint=f"undo it first: kb verdict {document.code} undo",
        )


def _role(one: Document, judged: Document) -> str:
    return "own" if one.id == judged.id else "other"


def _before(document: Document, verdict: str, another: Document | None) -> str:
    """What a verdict is about to change, where undoing it could not tell."""
    import json

    kept: dict[str, object] = {}
    if document.judged:
        kept["judged"] = document.judged.partition(_BEFORE)[0]
    giving_way = (document, another) if verdict == "merge" else (another,)
    for one in giving_way:
        if one is not None and (had := _had(one)):
            kept[_role(one, document)] = had
    return _BEFORE + json.dumps(kept, separators=(",", ":")) if kept else ""


def _had(document: Document) -> dict[str, str]:
    values = {name: getattr(document, name) for name in _GIVEN_WAY}
    return {name: value for name, value in values.items() if value is not None}


def _kept_in(document: Document) -> dict[str, Any]:
    """What `_before` kept; a text that says nothing of the kind keeps nothing."""
    import json

    try:
        found = json.loads((document.judged or "").partition(_BEFORE)[2] or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _with(edit: Edit, more: Edit) -> Edit:
    return Edit(edit.document, {**edit.values, **more.values})


def _joined(edits: list[Edit]) -> tuple[Edit, ...]:
    """One edit a document."""
    found: dict[str, Edit] = {}
    for edit in edits:
        found[edit.document] = _with(found.get(edit.document, Edit(edit.document, {})), edit)
    return tuple(found.values())
