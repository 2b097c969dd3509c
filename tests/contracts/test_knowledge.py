"""Typed knowledge as plain functions: S0-19 and its verified scenarios."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase.base import Base, create
from knowbase.contracts.knowledge import (
    TYPE_WEIGHTS,
    Options,
    fts_search,
    hybrid_search,
    normalize_embedding,
    sanitize_fts_query,
    search_knowledge,
    vector_search,
)
from knowbase.errors import InvalidInput
from knowbase.values.changes import Changes
from knowbase.values.vectors import Model
from stores import draft, section, similarity, vector

LATER, EARLIER = "2999-01-01T00:00:00.000000Z", "2020-01-01T00:00:00.000000Z"


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Base]:
    """Five entries with vectors of their own; one of them has expired."""
    with create(str(tmp_path / "k.db"), profile="typed") as made:
        made.store.use_model(Model("test", "1", 4))
        drafts = (
            draft(
                "sqlite",
                section("SQLite storage is one file"),
                vectors=(vector(1, 0, 0, 0),),
                type="decision",
            ),
            draft(
                "pages",
                section("storage pages of SQLite and more storage"),
                vectors=(vector(1, 1, 0, 0),),
                type="lesson",
                project="web",
            ),
            draft(
                "cats", section("cats sleep all day"), vectors=(vector(0, 0, 1, 0),), type="summary"
            ),
            draft(
                "dogs",
                section("dogs bark at night"),
                vectors=(vector(0, 0, 0, 1),),
                type="temp_note",
                expires_at=LATER,
            ),
            draft(
                "gone",
                section("SQLite storage of old"),
                vectors=(vector(1, 0, 0, 0),),
                type="decision",
                expires_at=EARLIER,
            ),
        )
        made.store.apply(Changes(drafts=drafts), EARLIER)
        yield made


def test_keyword_results_are_ordered_by_bm25_lower_is_better(base: Base) -> None:
    """S0-01, S0-26, S0-07"""
    results = fts_search(base, "SQLite storage")
    assert {result.id for result in results} == {"sqlite", "pages"}
    assert [result.fts_rank for result in results] == [1, 2]
    assert results[0].bm25_score <= results[1].bm25_score < 0


def test_all_words_must_be_there(base: Base) -> None:
    """C1"""
    assert [result.id for result in fts_search(base, "SQLite pages")] == ["pages"]
    assert fts_search(base, "SQLite cats") == []


def test_an_identical_vector_has_distance_zero_and_the_rest_follow(base: Base) -> None:
    """S0-08, S0-26, S0-07, S0-12"""
    results = vector_search(base, [2.0, 0.0, 0.0, 0.0])
    assert [result.id for result in results][:2] == ["sqlite", "pages"]
    assert results[0].vec_distance == pytest.approx(0.0, abs=1e-6)
    assert "gone" not in {result.id for result in results}
    assert [result.vec_rank for result in results] == [1, 2, 3, 4]


def test_hybrid_results_carry_every_field_and_both_sources(base: Base) -> None:
    """S0-14, S0-17, S0-18, S0-21, S0-26"""
    [first, *_] = hybrid_search(base, "one file", [1.0, 0.0, 0.0, 0.0])
    assert (first.id, first.sources, first.type_weight, first.access_boost) == (
        "sqlite", ("fts", "vec"), 2.0, 1.0,
    )  # fmt: skip
    assert first.rrf_score == pytest.approx(2 / 61, abs=1e-12)
    assert first.final_score == pytest.approx(4 / 61, abs=1e-12)
    assert first.content == "SQLite storage is one file"
    assert (first.scope, first.access_count, first.metadata) == ("global", 0, {})


def test_either_part_alone_is_a_valid_search(base: Base) -> None:
    """S0-10, S0-24"""
    assert {r.sources for r in hybrid_search(base, "storage", [])} == {("fts",)}
    assert hybrid_search(base, "", [0.0, 0.0, 1.0, 0.0])[0].sources == ("vec",)
    assert not any((hybrid_search(base, "", []), fts_search(base, ""), vector_search(base, [])))


def test_types_and_scope_filter_both_legs(base: Base) -> None:
    """S0-05, S0-06, S0-12, S0-26"""
    lessons = Options(types=("lesson",))
    assert [r.id for r in fts_search(base, "storage", lessons)] == ["pages"]
    assert [r.id for r in vector_search(base, [1.0, 0, 0, 0], lessons)] == ["pages"]
    project = Options(scope="project")
    assert [r.id for r in hybrid_search(base, "storage", [1.0, 0, 0, 0], project)] == ["pages"]
    with pytest.raises(InvalidInput, match="scope"):
        fts_search(base, "storage", Options(scope="planet"))


def test_limits_and_k_are_options(base: Base) -> None:
    """S0-13, S0-20"""
    assert len(vector_search(base, [1.0, 0, 0, 0], Options(limit=2))) == 2
    [best, *_] = hybrid_search(base, "storage", [], Options(k=1))
    assert best.rrf_score == pytest.approx(1 / 2)


def test_malformed_queries_find_nothing_and_raise_nothing(base: Base) -> None:
    """S0-03, S0-04"""
    for query in ("", "   ", '"', "AND", "NEAR(", "title:", "*", "((", "a:b:c"):
        assert isinstance(fts_search(base, query), list)


def test_the_base_embeds_the_query_itself(tmp_path: Path) -> None:
    """S0-19"""
    from knowbase import Note

    with create(str(tmp_path / "real.db")) as base:
        base.note(Note("We store everything in SQLite", type="decision"))
        base.note(Note("Lunch is at noon", type="temp_note"))
        results = search_knowledge(base, "store")
        assert results[0].type == "decision"
        assert results[0].sources == ("fts", "vec")
        assert search_knowledge(base, " ") == []


def test_helpers_are_exported_too() -> None:
    """S0-19, S0-02, S0-09, S0-15"""
    assert sanitize_fts_query("test (query) *special*") == "test query special"
    assert normalize_embedding([0.0, 2.0]) == [0.0, 1.0]
    assert TYPE_WEIGHTS == {"decision": 2.0, "lesson": 2.0, "summary": 0.5, "temp_note": 0.3}


@pytest.mark.parametrize("special", '(){}[]^"~*?:\\')
def test_special_characters_are_spaces(base: Base, special: str) -> None:
    """S0-02: to the sanitiser, and to a search."""
    assert sanitize_fts_query(f" {special}storage{special}{special}file  ") == "storage file"
    plain = fts_search(base, "storage file")
    assert plain
    assert fts_search(base, f"{special}storage{special}file") == plain


def test_vectors_count_by_their_direction(base: Base) -> None:
    """S0-09: that of a query, and those that are stored; what has no length stays as it is."""
    near = vector_search(base, [1.0, 0.5, 0, 0])
    assert near
    assert [one.id for one in vector_search(base, [400.0, 200.0, 0, 0])] == [one.id for one in near]
    for one, other in zip(near, vector_search(base, [400.0, 200.0, 0, 0]), strict=True):
        assert one.vec_distance == pytest.approx(other.vec_distance, abs=1e-6)
    stored = vector(0, 0, 3, 4)
    long = draft("long", section("Far away"), vectors=(stored,))
    base.store.apply(Changes(drafts=(long,), model=Model("test", "1", 4)), EARLIER)
    [found, *_] = vector_search(base, [0, 0, 30.0, 40.0])
    assert found.id == "long"
    assert found.vec_distance == pytest.approx(1 - similarity(stored, stored), abs=1e-6)
    for tiny in ([0.0, 0.0], [1e-13, 0.0]):
        assert normalize_embedding(tiny) == tiny
