"""What a base was: its changes, documents at a moment, what differs, and going back to it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import Conflict, InvalidInput, NotFound
from knowbase.memory.keep import Rule, ended
from knowbase.query.conditions import FORGOTTEN, AllOf, Not, OneOf
from knowbase.query.moments import span
from knowbase.store.contract import Store
from knowbase.store.versions import differing_fields, value_of
from knowbase.text.differences import text_diff
from knowbase.values.arguments import checks_arguments
from knowbase.values.documents import ALL, Document
from knowbase.values.history import Change, Kept, Touched, Version, Wanted

if TYPE_CHECKING:
    from knowbase.ingest.services import IngestServices

_AT = "@"
_TITLED = 10  # documents of one change that are called by their titles
_CLOCK = "%Y-%m-%dT%H:%M:%S.%fZ"
_WHEN = "a date (2026-03-01), 'last friday', 7d, a session, or #12 for a change"


class Moment(NamedTuple):
    """A change that was the last one at a moment, how the moment was written, and when it was."""

    number: int
    shown: str
    at: str


class LoggedChange(NamedTuple):
    """One transaction: who, when, through what, and what became of which documents."""

    number: int
    at: str
    who: str
    surface: str
    command: str
    session: str | None
    run: str  # the same for all that one command wrote
    touched: tuple[Touched, ...]


def logged(change: Change) -> LoggedChange:
    return LoggedChange(*change[:8])


class Log(NamedTuple):
    """Changes, the newest first."""

    changes: tuple[LoggedChange, ...]
    titles: Mapping[str, str] = {}  # by id: what is there of the first that each touched


class Step(NamedTuple):
    """A version of a document, and the change that made it."""

    number: int
    at: str
    who: str
    surface: str
    command: str
    session: str | None
    what: str  # added, changed, forgotten …
    fields: tuple[str, ...] = ()  # that are not as before
    words_added: int = 0
    words_removed: int = 0
    is_kept: bool = True  # False: what it said is no longer known


class DocumentHistory(NamedTuple):
    """What became of one document, the newest first."""

    id: str
    code: str
    title: str
    steps: tuple[Step, ...]


class FieldChange(NamedTuple):
    field: str
    old: object
    new: object


class Difference(NamedTuple):
    """What two versions have not in common."""

    code: str
    old: str
    new: str
    fields: tuple[FieldChange, ...]
    words: tuple[tuple[str, str], ...]  # = both have it, - the old one alone, + the new one

    @property
    def is_same(self) -> bool:
        return not self.fields and all(sign == "=" for sign, _ in self.words)


class Pruned(NamedTuple):
    """Versions that were given up, or would be."""

    documents: int
    versions: int
    dry_run: bool = False


@checks_arguments
class Records:
    """What one base was, as much of it as may be seen; `memory/undoing.py` goes back to it."""

    def __init__(
        self,
        store: Store,
        find: Callable[[str], Document | None],  # forgotten ones too
        named: Callable[[str], Document],  # by any name, unless it is forgotten
        clock: Callable[[], str],
        rules: Callable[[], Sequence[Rule]],
        services: "Callable[[], IngestServices]",
    ) -> None:
        self.store = store
        self.find = find
        self.named = named
        self.clock = clock
        self.rules = rules
        self.services = services

    def log(self, wanted: Wanted | None = None) -> Log:
        """Who changed what, when, and through what."""
        changes = tuple(map(logged, self.store.history().changes(wanted or Wanted())))
        named = {one.id: None for change in changes for one in change.touched[:_TITLED]}
        there = AllOf((OneOf("id", tuple(named)), Not(FORGOTTEN)))
        documents = self.store.documents(there, ALL) if named else []
        return Log(changes, {one.id: one.title for one in documents})

    # moments and names

    def moment(self, when: str) -> Moment:
        """What a moment is, as people write it; one that never was is refused."""
        when = when.strip()
        history = self.store.history()
        if when.startswith("#") and when[1:].isascii() and when[1:].isdecimal():
            number = int(when[1:])
            if number > history.last():
                raise InvalidInput(
                    f"there is no change {when} yet",
                    field="when",
                    hint=f"the last one is #{history.last()}",
                )
            return Moment(number, when, self._made_at(number))
        started = self.store.sessions((when,)).get(when)
        moment = started.started_at if started is not None else self._clock_time(when)
        found = history.number_at(moment)
        if found is None:
            raise InvalidInput(
                f"there was no base yet at {when!r}", field="when", hint="kb log says since when"
            )
        return Moment(found, when, moment)

    def _made_at(self, number: int) -> str:
        """When a change was made; of what was there before all of them it is not known."""
        change = self.store.history().numbered([number]).get(number)
        return change.at if change is not None and change.at else self.clock()

    def _clock_time(self, when: str) -> str:
        now = self.clock()
        found = span(when, now)
        if found is None:
            raise InvalidInput(f"{when!r} is not a moment", field="when", hint=_WHEN)
        if found.start > now:
            raise InvalidInput(f"{when!r} lies in the future", field="when", hint="a moment before")
        if found.start == found.end:
            return found.start
        last = datetime.fromisoformat(found.end) - timedelta(microseconds=1)
        return min(last.strftime(_CLOCK), now)

    def split(self, reference: str) -> tuple[str, str | None]:
        """A document and, behind the last @, the moment that is meant. A document whose name has
        an @ goes by its name."""
        front, at, when = reference.rpartition(_AT)
        if not at or not front or not when or self.find(reference) is not None:
            return reference, None
        if self.find(reference.rpartition(":")[0]) is None:  # no section's name has an @
            with suppress(NotFound):
                self.named(reference)  # the end of a path: icons/a@2x.svg
                return reference, None
        return front, when

    def identify(self, reference: str, moment: Moment | None = None) -> str:
        """The id of a document that was called so at a moment, that is, or that last was;
        forgotten ones are left alone."""
        if moment is not None:
            reference = self.store.history().past(reference, moment.number) or reference
        there = self.find(reference)
        if there is None:
            gone = self.store.history().past(reference)
            now = self.find(gone) if gone is not None else None
            if gone is not None and now is None:
                return gone
            there = now or self.named(reference)
        return self.named(there.id).id

    # one document

    def at(self, reference: str, when: str) -> Kept:
        """A document as it was; of what was not there, is forgotten or is no longer kept: why."""
        moment = self.moment(when)
        return self._version(self.identify(reference, moment), reference, moment)

    def _version(self, document: str, reference: str, moment: Moment) -> Kept:
        found = self.store.history().version(document, moment.number)
        if found is None:
            versions = self.store.history().versions(document)
            if any(one.has(moment.number) for one in versions):
                raise NotFound(
                    f"what {reference} said at {moment.shown} is no longer kept",
                    hint=f"kb history {reference}",
                )
            raise NotFound(
                f"{reference} was not there at {moment.shown}", hint=f"kb history {reference}"
            )
        if found.document.deleted_at is not None:
            raise NotFound(
                f"{reference} was forgotten at {moment.shown}", hint=f"kb history {reference}"
            )
        return found

    def of(self, reference: str) -> DocumentHistory:
        """What became of a document."""
        document = self.identify(reference)
        versions = self.store.history().versions(document)
        numbers = {one.since for one in versions} | {one.until or 0 for one in versions}
        changes = self.store.history().numbered(numbers)
        steps: list[Step] = []
        before: Kept | None = None
        for one in versions:
            kept = self.store.history().version(document, one.since) if one.document else None
            steps.append(_step(document, one, changes.get(one.since), before, kept))
            before = kept
        last = versions[-1] if versions else None
        if last is not None and last.until is not None:
            steps.append(_step(document, last, changes.get(last.until), before, None))
        known = [one.document for one in versions if one.document is not None]
        code, title = (known[-1].code, known[-1].title) if known else (reference, "")
        return DocumentHistory(document, code, title, tuple(reversed(steps)))

    def diff(self, old: str, new: str | None = None) -> Difference:
        """What differs between two versions: CODE (from the one before), CODE@WHEN (to now), and
        a second @WHEN or another document."""
        first, when = self.split(old)
        document = self.identify(first, self.moment(when) if when else None)
        before = self._side(document, first, when) if when else self._previous(document, first)
        if new is None:
            after, shown = self._side(document, first, None), "now"
        elif new.startswith(_AT):
            after, shown = self._side(document, first, new[1:]), new[1:]
        else:
            other, moment = self.split(new)
            identity = self.identify(other, self.moment(moment) if moment else None)
            after, shown = self._side(identity, other, moment), new
        return Difference(
            after.document.code,
            when or "before",
            shown,
            tuple(
                FieldChange(name, value_of(before, name), value_of(after, name))
                for name in differing_fields(before, after)
            ),
            text_diff(before.text, after.text),
        )

    def _side(self, document: str, reference: str, when: str | None) -> Kept:
        if when is not None:
            return self._version(document, reference, self.moment(when))
        found = self.store.history().version(document, self.store.history().last())
        if found is None:
            raise NotFound(f"{reference} is not there any more", hint=f"kb history {reference}")
        return found

    def _previous(self, document: str, reference: str) -> Kept:
        past = [one for one in self.store.history().versions(document) if one.until is not None]
        kept = [one for one in past if one.document is not None]
        found = self.store.history().version(document, kept[-1].since) if kept else None
        if found is None:
            raise NotFound(f"{reference} has no earlier version", hint=f"kb history {reference}")
        return found

    # keeping

    def prune(self, rules: Sequence[Rule] | None = None, *, dry_run: bool = False) -> Pruned:
        """Give up the versions that are kept for long enough."""
        by_id: dict[str, list[Version]] = {}
        for one in self.store.history().versions():
            by_id.setdefault(one.id, []).append(one)
        numbers = {one.until or 0 for versions in by_id.values() for one in versions}
        changes = self.store.history().numbered(numbers)
        gone: dict[str, int] = {}
        for document, versions in by_id.items():
            until = ended(rules or self.rules(), versions, changes, self.clock())
            if until is not None:
                gone[document] = until
        number = sum(
            one.document is not None and (one.until or 0) <= gone[document]
            for document in gone
            for one in by_id[document]
        )
        if gone and not dry_run:
            self.store.history().prune(list(gone.items()))
        return Pruned(len(gone), number, dry_run)


def _step(
    document: str, version: Version, change: Change | None, before: Kept | None, after: Kept | None
) -> Step:
    touched = next((t for t in change.touched if t.id == document), None) if change else None
    what = touched.what if touched is not None else "there before"
    number = change.number if change is not None else version.since
    words = text_diff(before.text, after.text) if before and after else ()
    return Step(
        number,
        *(change[1:6] if change is not None else ("", "", "", "", None)),
        what=what,
        fields=differing_fields(before, after) if before and after else (),
        words_added=_words(words, "+"),
        words_removed=_words(words, "-"),
        is_kept=version.document is not None,
    )


def _words(words: Sequence[tuple[str, str]], sign: str) -> int:
    return sum(len(text.split()) for kind, text in words if kind == sign)


def told(touched: Sequence[Touched]) -> str:
    """How many documents became what, in words."""
    numbers: dict[str, int] = {}
    for one in touched:
        numbers[one.what] = numbers.get(one.what, 0) + 1
    return ", ".join(f"{number} {what}" for what, number in numbers.items())


def built_upon(code: str, number: int) -> Conflict:
    return Conflict(
        f"{code} was changed again since, by change #{number}; nothing was undone",
        field="change",
        hint=f"kb history {code}, and kb restore {code}@WHEN",
    )
