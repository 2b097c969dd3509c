"""The inbox: memories that nobody has decided on yet, and what is worth knowing of each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.memory.alike import by_words, difference, is_alike
from knowbase.memory.judging import PENDING, Judgement, judgement_of
from knowbase.query.conditions import Compare, Condition, Not, OneOf, Visible, both
from knowbase.query.moments import ahead
from knowbase.text.differences import word_diff
from knowbase.values.documents import Document, Page
from knowbase.values.times import days_between

if TYPE_CHECKING:
    from knowbase.store.contract import Store

GROUPS = ("near_duplicate", "contradiction", "low_confidence", "expiring", "never_recalled")
MOST_COUNTED = 2_000  # memories that are looked at, the newest
MOST_BY_WORDS = 100  # memories that are compared by words, which is a search each
LOW = 0.5  # a confidence below it is low
SOON = "7d"
NEW = 1.0  # days in which nobody can be expected to have recalled something
KNOWN = "like {code}, and not the same"
UNKNOWN = "nothing like it was known"


class LikeIt(NamedTuple):
    """What a memory is most like, and how their words differ: from the other one to it."""

    code: str
    title: str
    similarity: float
    diff: tuple[tuple[str, str], ...]


class InboxItem(NamedTuple):
    """A memory that waits for a verdict."""

    document: Document
    text: str  # its start
    session: str | None  # in which it was made
    confidence: float | None
    kept: str  # why it was kept
    groups: tuple[str, ...]  # of GROUPS
    like: LikeIt | None
    verdict: Judgement | None  # when it was put off


class Inbox(NamedTuple):
    """Memories that wait for a verdict, the newest first."""

    items: tuple[InboxItem, ...]
    total: int
    groups: Mapping[str, int]


class Wanted(NamedTuple):
    """Which of them."""

    project: str | None = None
    since: str | None = None  # a moment
    group: str | None = None
    page: Page = Page(20)


class _Pair(NamedTuple):
    """A memory and the one that is most like it."""

    other: Document
    similarity: float
    contradicts: bool


class Sorting:
    """Looks through what waits."""

    def __init__(self, store: "Store", now: str, *, has_vectors: bool) -> None:
        self._store = store
        self._now = now
        self._has_vectors = has_vectors

    def inbox(self, wanted: Wanted) -> Inbox:
        waiting = self._waiting(wanted)
        texts = self._store.openings([one.id for one in waiting])
        pairs = self._pairs(waiting, texts)
        groups = {one.id: tuple(self._groups(one, pairs.get(one.id))) for one in waiting}
        numbers = Counter(name for names in groups.values() for name in names)
        kept = [one for one in waiting if wanted.group in (None, *groups[one.id])]
        page = kept[wanted.page.offset : wanted.page.offset + wanted.page.limit]
        items = self._items(page, pairs, groups, texts)
        return Inbox(items, len(kept), {name: numbers[name] for name in GROUPS})

    def _waiting(self, wanted: Wanted) -> list[Document]:
        """Those that have been put off come last."""
        asked: list[Condition] = [Visible(self._now), Not(Compare("path", "present")), PENDING]
        if wanted.project is not None:
            asked.append(Compare("project", "=", wanted.project))
        if wanted.since is not None:
            asked.append(Compare("created_at", ">=", wanted.since))
        page = Page(MOST_COUNTED, order="created last")
        found = self._store.documents(both(*asked), page)
        return sorted(found, key=lambda one: one.judged is not None)

    def _pairs(self, waiting: Sequence[Document], texts: Mapping[str, str]) -> dict[str, _Pair]:
        """What each is most like, by the links that vectors made, or else by words."""
        near = self._linked(waiting) if self._has_vectors else self._with_words(waiting, texts)
        ids = {other.id for found in near.values() for other, _ in found}
        texts = {**self._store.openings(ids), **texts}
        pairs: dict[str, _Pair] = {}
        for name, found in near.items():
            for other, score in sorted(found, key=lambda one: (-one[1], one[0].seq)):
                told = difference(texts.get(other.id, ""), texts.get(name, ""))
                if is_alike(other, score, told, self._has_vectors):
                    pairs[name] = _Pair(other, score, told.contradicts)
                    break
        return pairs

    def _linked(self, waiting: Sequence[Document]) -> dict[str, list[tuple[Document, float]]]:
        ids = {one.id for one in waiting}
        edges = self._store.edges_around(list(ids), 1, Visible(self._now)) if ids else []
        ends = [
            (here, there, edge.weight)
            for edge in edges
            if edge.relation == "SIMILAR_TO"
            for here, there in ((edge.source, edge.target), (edge.target, edge.source))
            if here in ids
        ]
        known = {one.id: one for one in self._documents({there for _, there, _ in ends})}
        found: dict[str, list[tuple[Document, float]]] = {}
        for here, there, weight in ends:
            if there in known:
                found.setdefault(here, []).append((known[there], weight))
        return found

    def _documents(self, ids: set[str]) -> list[Document]:
        return self._store.documents(OneOf("id", tuple(ids)), Page(len(ids))) if ids else []

    def _with_words(
        self, waiting: Sequence[Document], texts: Mapping[str, str]
    ) -> dict[str, list[tuple[Document, float]]]:
        found = {}
        for one in waiting[:MOST_BY_WORDS]:
            others = both(Visible(self._now), Not(Compare("id", "=", one.id)))
            found[one.id] = list(by_words(self._store, texts.get(one.id, ""), others).values())
        return found

    def _groups(self, document: Document, pair: _Pair | None) -> list[str]:
        soon = ahead(SOON, self._now) or self._now
        is_old = days_between(document.created_at, self._now) >= NEW
        applies = {
            "near_duplicate": pair is not None,
            "contradiction": pair is not None and pair.contradicts,
            "low_confidence": document.confidence is not None and document.confidence < LOW,
            "expiring": document.expires_at is not None and document.expires_at <= soon,
            "never_recalled": document.access_count == 0 and is_old,
        }
        return [name for name in GROUPS if applies[name]]

    def _items(
        self,
        page: Sequence[Document],
        pairs: Mapping[str, _Pair],
        groups: Mapping[str, tuple[str, ...]],
        texts: Mapping[str, str],
    ) -> tuple[InboxItem, ...]:
        made = self._store.latest_uses([one.id for one in page], "created")
        others = self._store.openings([pairs[one.id].other.id for one in page if one.id in pairs])
        found = []
        for one in page:
            pair, text = pairs.get(one.id), texts.get(one.id, "")
            like = None
            if pair is not None:
                diff = word_diff(others.get(pair.other.id, ""), text)
                like = LikeIt(pair.other.code, pair.other.title, pair.similarity, diff)
            session = made[one.id].session if one.id in made else None
            kept = KNOWN.format(code=like.code) if like else UNKNOWN
            told = (one, text, session, one.confidence, kept, groups[one.id], like)
            found.append(InboxItem(*told, judgement_of(one)))
        return tuple(found)
