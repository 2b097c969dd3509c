"""Any sequence of changes leaves every store with the same answers as the plain one."""

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from knowbase.errors import InvalidInput
from knowbase.query.conditions import (
    EVERYTHING,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Contains,
    InPath,
    InRole,
    InSession,
    Not,
    OneOf,
    Tagged,
    Under,
    Visible,
)
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.text.analysis import Word
from knowbase.text.paths import path_pattern
from knowbase.upkeep.check import contents
from knowbase.values.changes import Changes, Codes, Edit, Reinforcement, Verdict
from knowbase.values.documents import Candidate, Page
from knowbase.values.edges import Relation
from knowbase.values.findings import NOTICE
from knowbase.values.reading import Link
from knowbase.values.sessions import USAGES, Session, Use
from knowbase.values.vectors import Model, Vector, unpack
from stores import BACKENDS, MODEL, copy_into, draft, section, vector

WORDS = ("install", "installed", "git", "getUserName", "user", "C++", "東京", "京都", "café", "x")
TAGS = ("ops", "production", "phase/active")
PATTERNS = ("a.md", "*.MD", "[ab].md", "b*/", "/?.md")
TIMES = tuple(f"2026-01-0{day}T00:00:00.000000Z" for day in range(1, 5))
ALL = 50
OTHER = Model("other", "2", 3)
SESSIONS = ("s1", "s2")
LINKS = (
    Link("A-1", "code"),
    Link("b-2", "code"),
    Link("b.md", "markdown"),
    Link("./a.md#top", "markdown"),
    Link("P", "wiki"),
    Link("b", "wiki"),
    Link("q", "wiki"),
    Link("nobody", "wiki"),
)
MATCHES = ("any", "all", "any_prefix", "boolean")

texts = st.lists(st.sampled_from(WORDS), min_size=0, max_size=6).map(" ".join)
vectors = st.tuples(*[st.integers(-3, 3)] * 4).filter(any).map(lambda numbers: vector(*numbers))
sections = st.dictionaries(
    st.sampled_from(("_preamble", "a", "b")), st.tuples(texts, st.none() | vectors), max_size=3
)
fields = st.fixed_dictionaries(
    {
        "tags": st.lists(st.sampled_from(TAGS), unique=True).map(tuple),
        "type": st.sampled_from(("markdown", "code", "note")),
        "archived": st.booleans(),
        "expires_at": st.none() | st.sampled_from(TIMES),
        "superseded_by": st.none() | st.sampled_from(("p", "q", "B-2", "a.md", "nobody")),
        "valid_until": st.none() | st.sampled_from(TIMES),
        "project": st.none() | st.just("web"),
        "salience": st.none() | st.just(0.7),
        "parent": st.none() | st.sampled_from(("p", "q", "a-1", "B-2", "KB-1")),
        "roles": st.sampled_from(((), ("dev",), ("qa", "all"))),
        "path": st.none() | st.sampled_from(("a.md", "b.md")),
        "code": st.none() | st.sampled_from(("A-1", "a-1", "B-2")),
        "updated_at": st.sampled_from(TIMES),
        "links": st.lists(st.sampled_from(LINKS), unique=True, max_size=3).map(tuple),
    }
)
conditions: st.SearchStrategy[Condition] = st.one_of(
    st.just(EVERYTHING),
    st.builds(Visible, st.sampled_from(TIMES), st.just(frozenset())),
    st.builds(
        Tagged,
        st.lists(st.sampled_from(TAGS), min_size=1).map(tuple),
        st.sampled_from(("all", "any")),
    ),
    st.builds(lambda tag: Not(Tagged((tag,))), st.sampled_from(TAGS)),
    st.builds(Under, st.sampled_from(("p", "A-1", "b-2")).map(lambda name: (name,)), st.booleans()),
    st.builds(InPath, st.sampled_from(PATTERNS).map(path_pattern)),
    st.builds(InRole, st.sampled_from(("dev", "qa"))),
    st.builds(InSession, st.sampled_from(SESSIONS)),
    st.builds(lambda number: Compare("seq", "<", number), st.integers(1, 5)),
    st.builds(
        lambda tag, kind: AllOf((Tagged((tag,)), OneOf("type", (kind,)))),
        st.sampled_from(TAGS),
        st.sampled_from(("markdown", "code")),
    ),
)

text_conditions = st.recursive(
    conditions | st.builds(lambda word: Contains(Word(word)), st.sampled_from(WORDS)),
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(AllOf, st.lists(inner, max_size=3).map(tuple))
        | st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple))
    ),
    max_leaves=5,
)


def agree(one: list[Candidate], other: list[Candidate]) -> None:
    """The same chunks with the same scores; order may differ only within rounding."""
    assert {c.chunk for c in one} == {c.chunk for c in other}
    scores = {c.chunk: c.score for c in other}
    for candidate in one:
        assert candidate.score == pytest.approx(scores[candidate.chunk], rel=1e-9, abs=1e-6)
    ordered = [scores[c.chunk] for c in one]
    assert all(a >= b - 1e-6 for a, b in pairwise(ordered))


class Stores(RuleBasedStateMachine):
    """The plain store, and another one that is to agree with it."""

    backend: str

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.memory = BACKENDS["memory"](Path(self.folder.name))
        self.other = BACKENDS[self.backend](Path(self.folder.name))
        self.threshold = 0.8
        for store in (self.memory, self.other):
            store.use_model(MODEL)

    def teardown(self) -> None:
        try:
            self.everything_is_sealed_and_in_step()
        finally:
            self.close()

    def everything_is_sealed_and_in_step(self) -> None:
        with self.other.copying().snapshot() as whole:
            found = [*whole.findings(deep=False), *contents(whole).findings]
        assert [one for one in found if one.severity != NOTICE] == []

    def close(self) -> None:
        self.other.close()
        self.folder.cleanup()

    @rule(
        identity=st.sampled_from("pqr"),
        parts=sections,
        values=fields,
        now=st.sampled_from(TIMES),
        once=st.booleans(),
    )
    def write(
        self,
        identity: str,
        parts: dict[str, tuple[str, Vector | None]],
        values: dict[str, object],
        now: str,
        once: bool,
    ) -> None:
        made = draft(
            identity,
            *(section(text, slug) for slug, (text, _) in parts.items()),
            vectors=tuple(given for _, given in parts.values()),
            **values,  # type: ignore[arg-type]
        )
        changes = Changes(drafts=(made._replace(once=once),), model=MODEL)
        assert self.memory.apply(changes, now) == self.other.apply(changes, now)

    @rule(identity=st.sampled_from("pqr"))
    def remove(self, identity: str) -> None:
        for store in (self.memory, self.other):
            store.apply(Changes(removed=(identity,)), TIMES[0])

    @rule(numbers=st.tuples(*[st.integers(-3, 3)] * 3).filter(any), most=st.integers(1, 3))
    def build_beside(self, numbers: tuple[int, ...], most: int) -> None:
        missing = self.memory.unembedded(OTHER, 0, most)
        assert missing == self.other.unembedded(OTHER, 0, most)
        vectors = {passage.chunk.hash: vector(*numbers) for passage in missing}
        for store in (self.memory, self.other):
            store.put_vectors(OTHER, "", vectors)

    @rule(model=st.sampled_from((MODEL, OTHER)))
    def switch(self, model: Model) -> None:
        assert self.memory.switch_model(model) == self.other.switch_model(model)
        assert self.memory.model() == self.other.model()

    @rule()
    def drop_the_others(self) -> None:
        for store in (self.memory, self.other):
            for one in store.models():
                if not one.active:
                    store.drop_model(one.model)

    def both_apply(self, changes: Changes, now: str) -> None:
        for store in (self.memory, self.other):
            store.apply(changes, now)

    @rule(
        identity=st.sampled_from("pqr"),
        values=st.fixed_dictionaries(
            {},
            optional={
                "archived": st.booleans(),
                "deleted_at": st.none() | st.sampled_from(TIMES),
                "expires_at": st.none() | st.sampled_from(TIMES),
                "superseded_by": st.none() | st.sampled_from("pqr"),
                "valid_until": st.none() | st.sampled_from(TIMES),
            },
        ),
    )
    def edit(self, identity: str, values: dict[str, str | bool | None]) -> None:
        refused = []
        for store in (self.memory, self.other):
            try:
                store.apply(Changes(edits=(Edit(identity, values),)), TIMES[0])
                refused.append("")
            except InvalidInput as error:  # a circle
                refused.append(error.message)
        assert refused[0] == refused[1]

    @rule(
        session=st.sampled_from(SESSIONS),
        identity=st.sampled_from("pqr"),
        usage=st.sampled_from(USAGES),
        summary=st.none() | st.just("done"),
        now=st.sampled_from(TIMES),
    )
    def use(self, session: str, identity: str, usage: str, summary: str | None, now: str) -> None:
        started = Session(session, None, now, summary=summary)
        used = Use(session, identity, usage)
        self.both_apply(Changes(sessions=(started,), uses=(used,)), now)

    @rule(
        identity=st.sampled_from("pqr"),
        occasion=st.none() | st.sampled_from(("day 1", "day 2")),
        good=st.booleans(),
        now=st.sampled_from(TIMES),
    )
    def reinforce(self, identity: str, occasion: str | None, good: bool, now: str) -> None:
        changes = Changes(reinforced=(Reinforcement(identity, 0.02),))
        if occasion is not None:
            changes = Changes(verdicts=(Verdict(identity, occasion, good, 0.02),))
        self.both_apply(changes, now)

    @rule(
        ends=st.tuples(st.sampled_from("pqr"), st.sampled_from("pqr")),
        relation=st.sampled_from(("RELATED_TO", "REFERENCES")),
        drop=st.booleans(),
    )
    def relate(self, ends: tuple[str, str], relation: str, drop: bool) -> None:
        said = (Relation(*ends, relation, "user"),)
        changes = Changes(dropped_relations=said) if drop else Changes(relations=said)
        self.both_apply(changes, TIMES[0])

    @rule(identity=st.sampled_from("pqr"), codes=st.sets(st.sampled_from(("A-1", "KB-2", "X-9"))))
    def codes(self, identity: str, codes: set[str]) -> None:
        self.both_apply(Changes(codes=(Codes(identity, tuple(codes)),)), TIMES[0])

    @rule(threshold=st.sampled_from((0.5, 0.8)))
    def similarity(self, threshold: float) -> None:
        self.threshold = threshold

    @rule()
    def renew_index(self) -> None:
        """What is derived changes no answer, whenever it was made."""
        self.other.renew_index()

    @rule()
    def relink(self) -> None:
        """C24: all links found anew are the links that were kept."""
        self.other.link_similar(self.threshold)
        kept = self.other.edges(EVERYTHING)
        self.other.relink()
        self.other.link_similar(self.threshold)
        assert self.other.edges(EVERYTHING) == kept

    @rule()
    def copy_whole(self) -> None:
        """C26: a copy is the base, whatever comes after; every store reads the same of it."""
        mine, theirs = self.memory.copying(), self.other.copying()
        assert theirs.frame() == mine.frame()
        assert theirs.copies(theirs.seqs()) == mine.copies(mine.seqs())
        assert theirs.shared()[:6] == mine.shared()[:6]
        copy = BACKENDS[self.backend](Path(tempfile.mkdtemp(dir=self.folder.name)))
        copy_into(copy, self.other)
        self.other.close()
        self.other = copy
        again = BACKENDS["memory"](Path(self.folder.name))
        copy_into(again, self.memory)
        self.memory = again

    @rule(starts=st.sets(st.sampled_from("pqr")), depth=st.integers(1, 3), condition=conditions)
    def walk(self, starts: set[str], depth: int, condition: Condition) -> None:
        one, other = self.other, self.memory
        assert one.edges(condition) == other.edges(condition)
        assert one.edges_around(starts, depth, condition) == other.edges_around(
            starts, depth, condition
        )
        for identity in "pqr":
            assert one.sharing_tags(identity, 1, condition) == other.sharing_tags(
                identity, 1, condition
            )

    @rule(query=texts, condition=text_conditions, match=st.sampled_from(MATCHES))
    def keyword(self, query: str, condition: Condition, match: str) -> None:
        words = keyword_query(query, match)
        agree(
            *(s.keyword(words, condition, ALL, FieldWeights()) for s in (self.other, self.memory))
        )

    @rule(query=vectors, condition=text_conditions)
    def semantic(self, query: bytes, condition: Condition) -> None:
        agree(*(s.semantic(query, condition, ALL, MODEL) for s in (self.other, self.memory)))
        other = vector(*unpack(query)[:3])
        agree(*(s.semantic(other, condition, ALL, OTHER) for s in (self.other, self.memory)))

    @rule(condition=conditions)
    def lists(self, condition: Condition) -> None:
        for order in ("newest", "created", "created last"):
            page = Page(ALL, order=order)
            assert self.other.documents(condition, page) == self.memory.documents(condition, page)
        expiring = AllOf((condition, Compare("expires_at", "present")))
        page = Page(ALL, order="expires")
        assert self.other.documents(expiring, page) == self.memory.documents(expiring, page)
        assert self.other.tags(condition) == self.memory.tags(condition)

    @rule(condition=text_conditions)
    def newest(self, condition: Condition) -> None:
        assert self.other.newest(condition, ALL) == self.memory.newest(condition, ALL)

    @rule(query=texts)
    def vocabulary(self, query: str) -> None:
        words = keyword_query(query).words
        unknown = self.memory.unknown_words(words)
        assert self.other.unknown_words(words) == unknown
        for word in unknown:
            assert self.other.nearest_words(word, 3) == self.memory.nearest_words(word, 3)

    @invariant()
    def the_same_documents_and_chunks(self) -> None:
        assert self.other.counts() == self.memory.counts()
        assert self.other.models() == self.memory.models()
        assert self.other.semantic_coverage() == self.memory.semantic_coverage()
        for identity in "pqr":
            assert self.other.find(identity) == self.memory.find(identity)
            passages = self.other.chunks(identity)
            assert passages == self.memory.chunks(identity)
            hashes = [passage.chunk.hash for passage in passages]
            for model in (None, MODEL, OTHER):
                stored = self.memory.vectors(hashes, model)
                assert set(self.other.vectors(hashes, model)) == set(stored)

    @invariant()
    def the_same_sessions_and_relations(self) -> None:
        one, other = self.other, self.memory
        assert one.codes() == other.codes()
        assert one.heads("pqr") == other.heads("pqr")
        assert one.openings("pqr") == other.openings("pqr")
        assert one.sessions(SESSIONS) == other.sessions(SESSIONS)
        assert one.recent_sessions(None, Page()) == other.recent_sessions(None, Page())
        shown = Visible(TIMES[1])
        assert one.related_counts("pqr", shown) == other.related_counts("pqr", shown)
        for usage in (None, "created"):
            assert one.latest_uses("pqr", usage) == other.latest_uses("pqr", usage)
        for session in SESSIONS:
            assert one.uses_in(session) == other.uses_in(session)
        for identity in "pqr":
            assert one.relations(identity) == other.relations(identity)

    @invariant()
    def the_same_links(self) -> None:
        """C24: what is kept step by step is what the plain store finds anew each time."""
        for store in (self.other, self.memory):
            store.link_similar(self.threshold)
        assert self.other.edges(EVERYTHING) == self.memory.edges(EVERYTHING)
        for identity in "pqr":
            assert self.other.unresolved(identity) == self.memory.unresolved(identity)
        assert self.other.dead_links() == self.memory.dead_links()


class SqliteStores(Stores):
    backend = "sqlite"


class PostgresStores(Stores):
    """C32, C33"""

    backend = "postgres"


TestSqlite = SqliteStores.TestCase
TestSqlite.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestPostgres = PostgresStores.TestCase
TestPostgres.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
