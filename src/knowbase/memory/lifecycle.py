"""The lifecycle of documents: superseded, forgotten, archived, expired, and back."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from knowbase.errors import InvalidInput, NotFound
from knowbase.query.conditions import (
    FORGOTTEN,
    HIDDEN_STATES,
    AnyOf,
    Compare,
    Condition,
    Not,
    Visible,
    both,
    in_state,
)
from knowbase.query.moments import ahead
from knowbase.store.contract import DocumentStore
from knowbase.values.arguments import checks_arguments
from knowbase.values.changes import Changes, Edit
from knowbase.values.documents import ALL, STATES, Document, Listing, Page, each_once, is_in

NEVER = "never"


class Superseded(NamedTuple):
    """An old document, the one that took its place, and what holds at the end of the chain."""

    old: Document
    new: Document
    head: Document
    notices: tuple[str, ...] = ()  # that it had a successor before


class Changed(NamedTuple):
    """The documents that were changed, as they are now."""

    documents: tuple[Document, ...]
    notices: tuple[str, ...] = ()  # what stays hidden by something that was forgotten


@checks_arguments
class Lifecycle:
    """Changes what a document is shown as, never its text. `kb rm` removes for good."""

    def __init__(
        self,
        store: DocumentStore,
        find: Callable[[str], Document | None],  # forgotten ones too
        whole: Callable[[str], Document],  # the document that a reference names, unless forgotten
        clock: Callable[[], str],
    ) -> None:
        self.store = store
        self.find = find
        self.whole = whole
        self.clock = clock

    def supersede(self, old: str, new: str) -> Superseded:
        """Let `new` take the place of `old`, which is hidden from now on."""
        before, after = self.whole(old), self.whole(new)
        notices = former_successor(self.store, before, after.id)
        self._write(superseding(before, after.id, self.clock()))
        head = self.store.heads([before.id]).get(before.id, after)
        return Superseded(self._now(before), after, head, notices)

    def forget(self, references: Sequence[str]) -> Changed:
        """Never show them again, until they are restored."""
        forgotten = self._edited(references, {"deleted_at": self.clock()})
        return forgotten._replace(notices=still_hidden(self.store, forgotten.documents))

    def archive(self, references: Sequence[str]) -> Changed:
        """Hide them unless archived ones are asked for."""
        return self._edited(references, {"archived": True})

    def restore(self, references: Sequence[str]) -> Changed:
        """Undo whatever hides them: forgetting, archiving, superseding, expiry."""
        documents = each_once(self._known(reference) for reference in references)
        self._write(*(edit for one in documents if (edit := self._restored(one)).values))
        return Changed(tuple(self._now(one) for one in documents))

    def extend(self, references: Sequence[str], until: str) -> Changed:
        """Let them expire then and not before, or, with `never`, not at all."""
        moment = None if until.strip().lower() == NEVER else ahead(until, self.clock())
        if moment is None and until.strip().lower() != NEVER:
            hint = "such as 30d, 2030-12-31 or never"
            raise InvalidInput(f"until cannot be {until!r}", field="until", hint=hint)
        if moment is not None and moment <= self.clock():
            told = f"{until} has passed"
            raise InvalidInput(told, field="until", hint="kb forget takes it out of every answer")
        return self._edited(references, {"expires_at": moment})

    def forgotten(self, page: Page = Page()) -> Listing:  # noqa: B008 - a value, never changed
        """What could be restored."""
        return self._listed(FORGOTTEN, page)

    def due(self, within: str | None = None, page: Page = Page()) -> Listing:  # noqa: B008
        """What has expired by now or will within that time, the first to expire first."""
        now = self.clock()
        until = now if within is None else ahead(within, now)
        if until is None:
            raise InvalidInput(
                f"within cannot be {within!r}", field="within", hint="such as 7d, 12h or 2026-12-31"
            )
        expiring = both(
            Visible(now, frozenset(HIDDEN_STATES)),
            Compare("expires_at", "<=", until),
        )
        return self._listed(expiring, page._replace(order="expires"))

    def _listed(self, condition: Condition, page: Page) -> Listing:
        found = self.store.documents(condition, page)
        return Listing(tuple(found), self.store.count(condition))

    def _edited(self, references: Sequence[str], values: dict[str, str | bool | None]) -> Changed:
        documents = each_once(self.whole(reference) for reference in references)
        self._write(*(Edit(document.id, values) for document in documents))
        return Changed(tuple(self._now(document) for document in documents))

    def _restored(self, document: Document) -> Edit:
        """Only what hides it is taken back, so that its text may go on saying the rest."""
        now = self.clock()
        hiding = ["deleted_at"] if document.deleted_at is not None else []
        for state, fields in STATES.items():
            hiding += fields if is_in(document, state, now) else ()
        defaults = {name: Document._field_defaults[name] for name in hiding}
        differing = {name: v for name, v in defaults.items() if getattr(document, name) != v}
        return Edit(document.id, differing)

    def _write(self, *edits: Edit) -> None:
        self.store.apply(Changes(edits=edits), self.clock())

    def _known(self, reference: str) -> Document:
        """A document, forgotten or not."""
        return self.find(reference) or self.whole(reference)

    def _now(self, document: Document) -> Document:
        found = self.store.find(document.id)
        if found is None:
            raise NotFound(f"{document.code} has just been removed")
        return found


def former_successor(store: DocumentStore, old: Document, new: str) -> tuple[str, ...]:
    """What is said when a document that has a successor gets another one."""
    former = store.find(old.superseded_by) if old.superseded_by else None
    if former is None or former.id == new or former.deleted_at is not None:
        return ()
    return (f"{old.code} was superseded by {former.code} until now; {former.code} stays as it is",)


SUPERSEDED: Condition = both(Compare("superseded_by", "present"), Not(FORGOTTEN))


def still_hidden(store: DocumentStore, gone: Sequence[Document]) -> tuple[str, ...]:
    """What is said of documents whose place was taken by one that is gone now."""
    by = {name: one.code for one in gone for name in (one.id, one.code.lower(), one.path) if name}
    ids = {one.id for one in gone}
    notices = []
    for one in store.documents(SUPERSEDED, ALL) if gone else ():
        named = one.superseded_by or ""
        code = by.get(named) or by.get(named.lower())
        if code is not None and one.id not in ids:
            told = f"{one.code} stays hidden, though {code}, which took its place, is gone"
            notices.append(f"{told}: kb restore {one.code} shows it again")
    return tuple(notices)


def hidden_by_state(
    store: DocumentStore, condition: Condition, now: str, include: Collection[str] = ()
) -> dict[str, int]:
    """How many documents that pass are hidden, by state; those of `include` are shown."""
    tests = {one: in_state(one, now) for one in HIDDEN_STATES if one not in include}
    passing = both(Not(FORGOTTEN), condition)
    if not tests or not store.count(both(passing, AnyOf(tuple(tests.values())))):
        return {}
    found = {one: store.count(both(passing, test)) for one, test in tests.items()}
    return {state: number for state, number in found.items() if number}


def superseding(old: Document, new: str, now: str) -> Edit:
    """That the document of this id takes the place of `old`; the store refuses a circle."""
    return Edit(old.id, {"superseded_by": new, "valid_until": now})
