"""What every store promises of being copied whole: each into each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase.query.conditions import EVERYTHING
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.store.contract import Store
from knowbase.values.changes import Changes, Codes, Edit, Reinforcement, SavedSearch, Verdict
from knowbase.values.documents import ALL
from knowbase.values.edges import Relation
from knowbase.values.files import FileRecord, Source
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model
from stores import BACKENDS, MODEL, NOW, copy_into, draft, section, vector

OTHER = Model("other", "2", 3)
LATER = "2026-03-03T00:00:00.000000Z"


def furnish(store: Store) -> None:
    """Something in every table."""
    store.use_model(MODEL, "how to load it")
    store.apply(
        Changes(
            drafts=(
                draft(
                    "one",
                    section("Alpha beta"),
                    section("of [two](two.md)", "b", "B"),
                    path="docs/one.md",
                    tags=("ops", "東京"),
                    roles=("qa", "dev"),
                    metadata={"b": [1, None], "a": {"x": 0.1}},
                    links=(Link("two.md", "markdown"), Link("nobody", "wiki")),
                    confidence=0.25,
                ),
                draft("two", section("Gamma delta"), path="docs/two.md", parent="one"),
                draft("three", section("Alpha gone")),
                draft("bare", section("no vector"), vectors=(None,)),
            ),
            files=(
                FileRecord("docs/one.md", "docs", 12, 2**60, "abc", "one", inode=7, ctime_ns=2**60),
                FileRecord("docs/x.bin", "docs", 3, 4, "def", None, "binary", excluded=True),
            ),
            sources=(Source("docs", ("ops",), "X-1", tree=True),),
        ),
        NOW,
    )
    store.apply(Changes(removed=("three",)), NOW)  # numbers are not used again
    first = store.chunks("one")[0]
    store.put_vectors(OTHER, "elsewhere", {first.chunk.hash: vector(1, 2, 3)})
    store.apply(
        Changes(
            edits=(Edit("two", {"archived": True, "expires_at": None, "superseded_by": "one"}),),
            sessions=(Session("s1", "web", NOW), Session("s2", None, NOW, LATER, "done")),
            uses=(
                Use("s2", "two", "recalled"),
                Use("s1", "one", "created"),
                Use("s1", "two", "recalled", LATER),
            ),
            reinforced=(Reinforcement("one", 0.3),),
            verdicts=(Verdict("one", "day 1", True, 0.1), Verdict("one", "day 2", False, 0.1)),
            relations=(Relation("two", "one", "RELATED_TO", "user"),),
            codes=(Codes("two", ("X-9",)),),
        ),
        LATER,
    )
    store.apply(Changes(edits=(Edit("bare", {"deleted_at": LATER}),)), LATER)
    store.save_search(SavedSearch("q", "alpha {x}", {"top": 3}, NOW, LATER))
    store.link_similar(0.3)


@pytest.fixture(params=list(BACKENDS))
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "a").mkdir()
    made = BACKENDS[request.param](tmp_path / "a")
    furnish(made)
    yield made
    made.close()


@pytest.fixture(params=list(BACKENDS))
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "b").mkdir()
    made = BACKENDS[request.param](tmp_path / "b")
    yield made
    made.close()


def seen(store: Store) -> list[object]:
    """What a store answers, whatever is asked."""
    words = keyword_query("alpha gamma vector")
    return [
        store.documents(EVERYTHING, ALL),
        [store.chunks(one) for one in ("one", "two", "bare")],
        store.keyword(words, EVERYTHING, 10, FieldWeights()),
        store.semantic(vector(1, 0.5, 0, 0), EVERYTHING, 10),
        store.semantic(vector(1, 0.5, 0), EVERYTHING, 10, OTHER),
        store.edges(EVERYTHING),
        [store.unresolved(one) for one in ("one", "two")],
        [store.uses_in(one) for one in ("s1", "s2")],
        store.latest_uses(("one", "two")),
        store.sessions(("s1", "s2")),
        store.relations("one"),
        store.heads(("two",)),
        (store.files(), store.sources(), store.models(), store.counts(), store.saved_searches()),
        store.tags(EVERYTHING),
    ]


def assert_same(one: Store, other: Store) -> None:
    for mine, theirs in zip(seen(one), seen(other), strict=True):
        assert mine == theirs or mine == pytest.approx(theirs)
    whole, copy = one.copying(), other.copying()
    assert copy.frame() == whole.frame()
    assert copy.copies(copy.seqs()) == whole.copies(whole.seqs())
    assert copy.shared()[:7] == whole.shared()[:7]


def test_a_copy_answers_as_the_base_itself(source: Store, target: Store) -> None:
    """C23, C26"""
    copy_into(target, source)
    assert_same(source, target)


def test_a_copy_goes_on_where_the_base_was(source: Store, target: Store) -> None:
    """C26: numbers of documents that are gone are not used again; what was said still counts."""
    copy_into(target, source)
    changes = Changes(drafts=(draft("new", section("epsilon")), draft("two", section("Gamma"))))
    for store in (source, target):
        store.apply(changes, LATER)
    new, two = target.find("new"), target.find("two")
    assert new is not None
    assert two is not None
    assert (new.seq, two.archived, two.superseded_by) == (5, True, "one")
    assert_same(source, target)


def test_pasting_again_changes_nothing_and_replaces_what_differs(
    source: Store, target: Store
) -> None:
    copy_into(target, source)
    source.apply(Changes(drafts=(draft("one", section("Alpha changed"), code="Z-1"),)), LATER)
    source.drop_model(OTHER)
    for _ in range(2):
        copy_into(target, source)
    assert_same(source, target)


def test_a_base_knows_what_it_is_becoming_a_copy_of(source: Store, target: Store) -> None:
    copy, whole = target.copying(), source.copying()
    assert copy.source() is whole.source() is None
    copy.start("over there", whole.frame())
    copy.paste(whole.copies(whole.seqs()[:1]))
    assert copy.source() == "over there"
    assert copy.seqs() == [1]
    copy.end()
    assert copy.source() is None
