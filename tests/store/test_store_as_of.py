"""The base as it was: after each step of a state machine, what a store answers of every earlier
moment is compared with what a plain store answers that is made of a snapshot taken then, and with
the answers that were given then. On every store; through moves, erasures and prunings."""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from knowbase.errors import Conflict
from knowbase.query.conditions import (
    EVERYTHING,
    FORGOTTEN,
    Compare,
    Contains,
    Not,
    Tagged,
    Visible,
    both,
)
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.contract import Store
from knowbase.store.facets import Ages
from knowbase.store.plain import PlainStore
from knowbase.store.seals import OF_USE
from knowbase.store.sqlite import SqliteStore, then_connections, then_rows
from knowbase.text.analysis import Word
from knowbase.values.changes import Changes, Edit, Reinforcement
from knowbase.values.copies import Copy
from knowbase.values.documents import ALL
from knowbase.values.edges import Relation
from knowbase.values.reading import Link
from stores import BACKENDS, MODEL, NOW, copy_into, draft, section, vector, with_index

IDS = "pqrs"
TITLES = ("One", "Two")
TEXTS = ("alpha", "beta gamma", "gamma alpha alpha", "delta")
TIMES = tuple(f"2026-01-{day:02d}T00:00:00.000000Z" for day in (1, 5, 3, 9, 2))  # also backwards
WEIGHTS = FieldWeights(2.0, 1.5, 1.0, 0.5)
QUERIES = (
    KeywordQuery((Word("alpha"),)),
    KeywordQuery((Word("gamma"), Word("one"), Word("beta"))),
    KeywordQuery((Word("gamma"), Word("alpha")), match="all"),
    KeywordQuery((Word("beta gamma"), Word("al", prefix=True))),
    KeywordQuery((Word("alpha"), Word("gamma")), among=Compare("project", "=", "web")),
)
CONDITIONS = (
    EVERYTHING,
    Visible("2026-06-01T00:00:00.000000Z"),
    both(Tagged(("alpha",)), Not(FORGOTTEN)),
    both(Contains(Word("gamma")), Not(Contains(Word("beta gamma")))),
)


def scored(found: Any) -> list[tuple[int, float]]:
    return [(one.chunk, round(one.score, 9)) for one in found]


def edges(found: Any) -> list[Any]:
    """Without who is alike, which is found for today alone."""
    return [one for one in found if one.relation != "SIMILAR_TO"]


def document(one: Any) -> Any:
    """Without its use, which is not that of then."""
    return one._replace(metadata=dict(one.metadata), **dict.fromkeys(OF_USE, 0))


def passage(one: Any) -> Any:
    return one._replace(document=document(one.document))


def answers(store: Store) -> dict[str, Any]:
    """What is asked of a store, by what is asked."""
    found: dict[str, Any] = {}
    for number, condition in enumerate(CONDITIONS):
        for place, query in enumerate(QUERIES):
            part = both(query.among, condition)  # as whoever is held to a project asks
            found[f"keyword {place} {number}"] = scored(store.keyword(query, part, 20, WEIGHTS))
            found[f"matching {place} {number}"] = store.matching(query, part)
        for place in (0, 1):
            near = store.semantic(vector(1, place, 0.5, 0), condition, 20)
            found[f"semantic {place} {number}"] = scored(near)
        found[f"newest {number}"] = [passage(one) for one in store.newest(condition, 20)]
        found[f"facets {number}"] = store.facets(condition, ("type", "tag", "project"), Ages(()))
    for number, condition in enumerate(CONDITIONS[:3]):
        found[f"documents {number}"] = [document(one) for one in store.documents(condition, ALL)]
        found[f"count {number}"] = store.count(condition)
        found[f"tags {number}"] = store.tags(condition)
        found[f"projects {number}"] = store.projects(condition)
        found[f"counts {number}"] = store.counts(condition)
        found[f"heaviest {number}"] = store.heaviest(condition, 9)
        found[f"coverage {number}"] = store.semantic_coverage(condition)
        found[f"edges {number}"] = edges(store.edges(condition))
        found[f"around {number}"] = edges(store.edges_around(("p", "q"), 2, condition))
        found[f"shared {number}"] = store.sharing_tags("p", 1, condition)
        found[f"related {number}"] = store.related_counts(IDS, condition)
        wiring = store.wiring(condition)
        found[f"nodes {number}"] = wiring.nodes
    words = [Word(one) for one in ("alpha", "beta", "one", "never", "beta gamma")]
    found["frequencies"] = store.frequencies(words)
    found["frequencies of a project"] = store.frequencies(words, Compare("project", "=", "web"))
    found["unknown"] = store.unknown_words(words)
    found["nearest"] = store.nearest_words(Word("alphx"), 3)
    found["codes"] = store.codes()
    hashes = {one.chunk.hash for name in IDS for one in store.chunks(name)}
    found["vectors"] = dict(store.vectors(hashes))
    found["openings"] = store.openings(IDS)
    found["dead links"] = store.dead_links()
    for identity in IDS:
        one = store.find(identity)
        found[f"find {identity}"] = one and document(one)
        found[f"chunks {identity}"] = [passage(one) for one in store.chunks(identity)]
        found[f"relations {identity}"] = store.relations(identity)
        found[f"unresolved {identity}"] = store.unresolved(identity)
    heads = store.heads(IDS)
    found["heads"] = {one: heads[one].id for one in heads}
    known = store.passages(range(40))
    found["passages"] = {number: passage(one) for number, one in known.items()}
    for name in ("a.md", "KB-1", "2"):
        named = store.find(name)
        found[f"named {name}"] = named and named.id
    return found


class Taken:
    """What a store was at a moment: its parts, and what it answered."""

    def __init__(self, store: Store) -> None:
        whole = store.copying()
        self.frame = whole.frame()
        self.copies = whole.copies(whole.seqs())
        self.shared = whole.shared()
        self.answers = answers(store)

    def again(self, unknown: set[str], now: Store) -> PlainStore:
        """A store of what is still known of it; what is forgotten today is forgotten there."""
        there = {one.id: one for one in now.documents(EVERYTHING, ALL)}
        copies = [
            _as_known(one, there.get(one.document.id))
            for one in self.copies
            if one.document.id not in unknown
        ]
        ids = {one.document.id for one in copies}
        relations = tuple(one for one in self.shared.relations if {one.source, one.target} <= ids)
        shared = self.shared._replace(relations=relations, uses=(), similar=())
        store = PlainStore()
        copy = store.copying()
        copy.start("a test", self.frame)
        copy.paste(copies)
        copy.paste_shared(shared)
        copy.paste_history(iter([]))
        copy.end()
        return store


def _as_known(copy: Copy, now: Any) -> Copy:
    if now is None or now.seq != copy.document.seq:
        return copy
    gone = now.deleted_at or copy.document.deleted_at
    return copy._replace(document=copy.document._replace(deleted_at=gone))


class AsOf(RuleBasedStateMachine):
    backend = "memory"

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = BACKENDS[self.backend](Path(self.folder.name))
        if self.store.cluster() is not None:
            pytest.skip("a base over a cluster is not asked as it was")
        self.store.use_model(MODEL)
        self.were: dict[int, Taken] = {}
        self.unknown: dict[str, int] = {}  # by id: versions that ended by then are not kept

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()

    def apply(self, changes: Changes, now: str = NOW) -> None:
        self.store.apply(changes._replace(model=MODEL), now)
        self.were[self.store.history().last()] = Taken(self.store)

    @rule(
        identity=st.sampled_from(IDS),
        texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3),
        title=st.sampled_from(TITLES),
        path=st.none() | st.sampled_from(("a.md", "b.md")),
        linked=st.lists(st.sampled_from(("One", "two", "b.md", "KB-1", "nowhere")), max_size=2),
        project=st.none() | st.just("web"),
        now=st.sampled_from(TIMES),
    )
    def write(self, identity: str, texts: list[str], now: str, **fields: Any) -> None:
        title, path = fields["title"], fields["path"]
        sections = [section(text, f"s{place}") for place, text in enumerate(texts)]
        links = tuple(Link(one, "wiki") for one in sorted(set(fields["linked"])))
        vectors = tuple(  # the same for the same text
            vector(1, len(text), TEXTS.index(text), TITLES.index(title)) for text in texts
        )
        named = {"path": path, "title": title, "project": fields["project"], "links": links}
        tags = (texts[0].split()[0],)
        made = draft(identity, *sections, vectors=vectors, tags=tags, **named)
        self.apply(Changes(drafts=(made,)), now)

    @rule(identity=st.sampled_from(IDS), now=st.sampled_from(TIMES))
    def remove(self, identity: str, now: str) -> None:
        self.apply(Changes(removed=(identity,)), now)

    @rule(
        identity=st.sampled_from(IDS),
        values=st.sampled_from(
            (
                {"archived": True}, {"deleted_at": TIMES[0]}, {"deleted_at": None}, {},
                {"superseded_by": "q"},
            )
        ),
    )  # fmt: skip
    def edit(self, identity: str, values: dict[str, str | bool | None]) -> None:
        if values.get("superseded_by") != identity:
            with suppress(Conflict):  # a circle
                self.apply(Changes(edits=(Edit(identity, values),)))

    @rule(ends=st.permutations(IDS), drop=st.booleans())
    def relate(self, ends: list[str], drop: bool) -> None:
        said = (Relation(ends[0], ends[1], "RELATED_TO", "user"),)
        self.apply(Changes(dropped_relations=said) if drop else Changes(relations=said))

    @rule(identity=st.sampled_from(IDS))
    def use(self, identity: str) -> None:
        self.store.apply(Changes(reinforced=(Reinforcement(identity, 0.1),)), NOW)

    @rule(threshold=st.sampled_from((0.5, 0.99)))
    def link(self, threshold: float) -> None:
        self.store.link_similar(threshold)

    @rule()
    def index(self) -> None:
        """What lies beside a base does not answer for the past."""
        self.store.renew_index(anew=True)

    @rule(identity=st.sampled_from(IDS))
    def erase(self, identity: str) -> None:
        self.apply(Changes(erased=(identity,)))
        self.unknown[identity] = self.store.history().last()

    @rule(identity=st.sampled_from(IDS), data=st.data())
    def prune(self, identity: str, data: st.DataObject) -> None:
        until = data.draw(st.integers(0, self.store.history().last()))
        self.store.history().prune([(identity, until)])
        self.unknown[identity] = max(until, self.unknown.get(identity, 0))

    @rule()
    def move(self) -> None:
        copy = BACKENDS[self.backend](Path(tempfile.mkdtemp(dir=self.folder.name)))
        copy_into(copy, self.store)
        self.store.close()
        self.store = copy

    def _lost(self, number: int) -> set[str]:
        """Of which documents it is no longer known what they were then."""
        history = self.store.history()
        found = set()
        for identity, until in self.unknown.items():
            if number < until and history.version(identity, number) is None:
                found.add(identity)
        return found

    @invariant()
    def every_moment_is_answered_as_it_was(self) -> None:
        if not hasattr(self, "store"):
            return
        for number, taken in self.were.items():
            lost = self._lost(number) & {one.document.id for one in taken.copies}
            then = self.store.as_of(number)
            try:
                found = answers(then)
            finally:
                then.close()
            again = taken.again(lost, self.store)
            _compare(found, answers(again), number)
            if not lost and again.codes() == taken.answers["codes"]:  # nothing was forgotten since
                _compare(found, taken.answers, number)

    @invariant()
    def nothing_is_written_there(self) -> None:
        if not hasattr(self, "store") or not self.were:
            return
        then = self.store.as_of(max(self.were))
        try:
            with pytest.raises(Conflict, match="cannot be changed"):
                then.apply(Changes(removed=("p",)), NOW)
        finally:
            then.close()


def _compare(found: dict[str, Any], wanted: dict[str, Any], number: int) -> None:
    for name, value in wanted.items():
        assert found[name] == value, f"{name} as of {number}"


class SqliteStores(AsOf):
    backend = "sqlite"


class _Patched(SqliteStores):
    module: Any
    name: str
    value: object

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(self.module, self.name, self.value)

    def teardown(self) -> None:
        super().teardown()
        self.patch.undo()


class SqliteWithoutNumpy(_Patched):
    """What was replaced is listed by the base instead of chosen among what is in memory."""

    module, name, value = then_connections, "is_numpy_loaded", staticmethod(bool)


class SqliteWithMuch(_Patched):
    """Of a long history, what is in memory begins with the earliest moment that was asked of."""

    module, name, value = then_rows, "SHORT", 0


class PostgresStores(AsOf):
    backend = "postgres"


def sized(examples: int, steps: int) -> settings:
    """What fails is short enough to read as it is."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )


TestMemory = AsOf.TestCase
TestMemory.settings = sized(6, 12)
TestSqlite = SqliteStores.TestCase
TestSqlite.settings = sized(6, 14)
TestSqliteWithoutNumpy = SqliteWithoutNumpy.TestCase
TestSqliteWithoutNumpy.settings = sized(3, 12)
TestSqliteWithMuch = SqliteWithMuch.TestCase
TestSqliteWithMuch.settings = sized(3, 12)
TestPostgres = PostgresStores.TestCase
TestPostgres.settings = sized(2, 10)


@pytest.mark.soak
@pytest.mark.parametrize(
    "machine", [AsOf, SqliteStores, SqliteWithoutNumpy, SqliteWithMuch, PostgresStores]
)
def test_for_longer(machine: type[AsOf]) -> None:
    run_state_machine_as_test(machine, settings=sized(300, 40))


@pytest.mark.parametrize("most", [0, 20_000])
def test_moments_are_asked_of_in_any_order(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a long history, of which more is read when an earlier moment is asked of."""
    monkeypatch.setattr(then_rows, "SHORT", most)
    store = with_index(str(tmp_path / "base.db"))
    store.use_model(MODEL)
    for number, text in enumerate((*TEXTS, *TEXTS)):
        for identity in IDS:
            made = draft(identity, section(f"{text} {number}"), vectors=(vector(1, number, 0, 0),))
            store.apply(Changes(drafts=(made,), model=MODEL), NOW)
    store.renew_index(anew=True)

    def words(asked: Store, number: int) -> Any:
        then = asked.as_of(number)
        return [scored(then.keyword(query, EVERYTHING, 20, WEIGHTS)) for query in QUERIES[:4]]

    for number in (30, 5, 30, 17, 5, 2, 30, 17, 1):
        another = SqliteStore(
            str(tmp_path / "base.db")
        )  # which has not been asked of any other moment
        assert words(store, number) == words(another, number)
        another.close()
    store.close()
