"""The inbox: memories that nobody has decided on yet, and what is worth knowing of each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.memory.alike import by_words, difference, is_alike
from knowbase.memory.judging import PENDING, PUT_OFF, UNDECIDED, Judgement, judgement_of
from knowbase.query.conditions import Compare, Condition, Not, OneOf, Visible, both
from knowbase.query.moments import ahead
from knowbase.text.differences import word_diff
from knowbase.values.documents import Document, Page
from knowbase.values.times import days_between

if TYPE_CHECKING:
    from knowbase.store.contract import Store

GROUPS = ("near_duplicate", "contradiction", "low_confidence", "expiring", "never_recalled")
LIKENESS = ("near_duplicate", "contradiction")  # which only a comparison can tell
MOST_COUNTED = 2_000  # memories whose groups are counted, the newest
MOST_BY_WORDS = 100  # memories that are compared by words, which is a search each
FROM_ELSEWHERE = ("bookmark", "commit", "conversation", "web")  # nobody remembers these
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
    groups: Mapping[str, int]  # among the newest
    compared: int = 0  # of them, so many with others: those of the page, if that is a search each


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


class _Pairs(NamedTuple):
    """What was compared, with its text, and what each is like, by id."""

    texts: Mapping[str, str]
    found: Mapping[str, _Pair]

    def get(self, document: Document) -> _Pair | None:
        return self.found.get(document.id)

    def and_also(self, more: "_Pairs") -> "_Pairs":
        return _Pairs({**self.texts, **more.texts}, {**self.found, **more.found})


class Sorting:
    """Looks through what waits."""

    def __init__(self, store: "Store", now: str, *, has_vectors: bool) -> None:
        self._store = store
        self._now = now
        self._has_vectors = has_vectors

    def inbox(self, wanted: Wanted) -> Inbox:
        asked = self._asked(wanted)
        newest = self._in_order(asked, Page(MOST_COUNTED))
        pairs = _Pairs({}, {})
        if self._has_vectors or wanted.group in LIKENESS:
            pairs = self._pairs(newest)
        if wanted.group is None:
            total, page = self._store.count(both(asked, PENDING)), self._page(asked, newest, wanted)
        else:
            kept = [one for one in newest if wanted.group in self._groups(one, pairs.get(one))]
            total, page = len(kept), _part(kept, wanted.page)
        pairs = pairs.and_also(self._pairs([one for one in page if one.id not in pairs.texts]))
        numbers = Counter(name for one in newest for name in self._groups(one, pairs.get(one)))
        groups = {name: numbers[name] for name in GROUPS}
        return Inbox(self._items(page, pairs), total, groups, len(pairs.texts))

    def _asked(self, wanted: Wanted) -> Condition:
        asked: list[Condition] = [
            Visible(self._now),
            Not(Compare("path", "present")),
            Not(OneOf("type", FROM_ELSEWHERE)),
        ]
        if wanted.project is not None:
            asked.append(Compare("project", "=", wanted.project))
        if wanted.since is not None:
            asked.append(Compare("created_at", ">=", wanted.since))
        return both(*asked)

    def _in_order(self, asked: Condition, page: Page) -> list[Document]:
        """Those that have been put off come last."""
        undecided = both(asked, UNDECIDED)
        page = page._replace(order="created last")
        found = self._store.documents(undecided, page)
        left = page.limit - len(found)
        if left <= 0:
            return found
        before = len(found) if not page.offset else self._store.count(undecided)
        rest = page._replace(limit=left, offset=max(0, page.offset - before))
        return found + self._store.documents(both(asked, PUT_OFF), rest)

    def _page(self, asked: Condition, newest: list[Document], wanted: Wanted) -> list[Document]:
        has_all = len(newest) < MOST_COUNTED
        if has_all or wanted.page.offset + wanted.page.limit <= len(newest):
            return _part(newest, wanted.page)
        return self._in_order(asked, wanted.page)

    def _pairs(self, waiting: Sequence[Document]) -> "_Pairs":
        """What each is most like, by the links that vectors made, or else by words."""
        compared = waiting if self._has_vectors else waiting[:MOST_BY_WORDS]
        own = self._store.openings([one.id for one in compared]) if compared else {}
        near = self._linked(compared) if self._has_vectors else self._with_words(compared, own)
        ids = {other.id for found in near.values() for other, _ in found}
        texts = {**self._store.openings(ids), **own} if ids else own
        pairs: dict[str, _Pair] = {}
        for name, found in near.items():
            for other, score in sorted(found, key=lambda one: (-one[1], one[0].seq)):
                told = difference(texts.get(other.id, ""), texts.get(name, ""))
                if is_alike(other, score, told, self._has_vectors):
                    pairs[name] = _Pair(other, score, told.contradicts)
                    break
        return _Pairs({one.id: own.get(one.id, "") for one in compared}, pairs)

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
        for one in waiting:
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

    def _items(self, page: Sequence[Document], pairs: "_Pairs") -> tuple[InboxItem, ...]:
        made = self._store.latest_uses([one.id for one in page], "created")
        alike = [pair.other.id for one in page if (pair := pairs.get(one)) is not None]
        bare = [one.id for one in page if one.id not in pairs.texts]
        texts = {**self._store.openings([*alike, *bare]), **pairs.texts}
        found = []
        for one in page:
            pair, text = pairs.get(one), texts.get(one.id, "")
            like = None
            if pair is not None:
                diff = word_diff(texts.get(pair.other.id, ""), text)
                like = LikeIt(pair.other.code, pair.other.title, pair.similarity, diff)
            session = made[one.id].session if one.id in made else None
            kept = KNOWN.format(code=like.code) if like else UNKNOWN
            kept = kept if one.id in pairs.texts else ""
            groups = tuple(self._groups(one, pair))
            told = (one, text, session, one.confidence, kept, groups, like)
            found.append(InboxItem(*told, judgement_of(one)))
        return tuple(found)


def _part(documents: list[Document], page: Page) -> list[Document]:
    return documents[page.offset : page.offset + page.limit]
