"""kb_search as agents call it: strict in, complete out, on both stores."""

from collections.abc import Iterator
from typing import Any

import pytest

import knowbase
from entries import fixtures, seed
from knowbase import Base, KnowledgeBaseSearch, Note
from knowbase.contracts.entries import kb_get_related, kb_search
from knowbase.errors import InvalidInput, NotFound
from postgres import new_base

QUERIES = fixtures()["queries"]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def base(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Base]:
    place = new_base()
    if request.param == "sqlite":
        place = str(tmp_path_factory.mktemp("entries") / "base.db")
    with knowbase.create(place) as made:
        seed(made)
        made.note(Note("Only for testers: the staging password rotates weekly", code="R-1"))
        made.remember(
            Note("Testers sign off each release", type="fact", roles=("qa",), confidence=0.4,
                 tags=("release", "testing"), code="R-2")
        )  # fmt: skip
        made.remember(
            Note("Everybody reads the release notes", type="fact", roles=("all",), code="R-3",
                 confidence=0.9)
        )  # fmt: skip
        yield made


class Nothing:
    """A base that must not be asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked for")


@pytest.mark.parametrize(
    ("arguments", "field", "allowed"),
    [
        ({}, "query", None),
        ({"query": ""}, "query", "at least one"),
        ({"query": "  "}, "query", "at least one"),
        ({"query": 7}, "query", "text"),
        ({"query": "x", "role": "boss"}, "role", "pm, dev, qa, all"),
        ({"query": "x", "limit": 51}, "limit", "from 1 to 50"),
        ({"query": "x", "limit": 0}, "limit", "from 1 to 50"),
        ({"query": "x", "limit": 2.5}, "limit", "whole number"),
        ({"query": "x", "min_confidence": 1.1}, "min_confidence", "from 0 to 1"),
        ({"query": "x", "min_confidence": -0.1}, "min_confidence", "from 0 to 1"),
        ({"query": "x", "explain": "yes"}, "explain", "true or false"),
        ({"query": "x", "colour": "red"}, "colour", "query, role, tags, entry_type"),
    ],
)
def test_what_is_wrong_is_refused_before_any_database_is_asked(
    arguments: dict[str, Any], field: str, allowed: str | None
) -> None:
    """S4-01, S4-13"""
    with pytest.raises(InvalidInput) as caught:
        kb_search(Nothing(), **arguments)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert allowed is None or allowed in (caught.value.hint or "")


def test_results_carry_everything_and_metadata_says_how(base: Base) -> None:
    """S4-02, S4-22, S4-26"""
    found = kb_search(base, query=QUERIES[0]["query"], limit=3, explain=True)
    first = found.results[0]
    assert first.code == QUERIES[0]["expected"][0]
    assert "vercel" in (first.content or "")
    assert "<mark>" in first.highlights[0]
    assert first.explanation is not None
    assert first.explanation.score == pytest.approx(first.score)
    metadata = found.metadata
    assert metadata.search_modes_used == ("keyword", "semantic")
    assert (metadata.fallback_mode, metadata.total_is_exact) == (False, True)
    assert metadata.profile == "best"
    assert metadata.total >= len(found.results) == 3
    assert metadata.query_time_ms > 0
    assert metadata.debug_info is not None
    assert kb_search(base, query="release").metadata.debug_info is None


def test_filters_restrict_and_never_rank_anew(base: Base) -> None:
    """S4-09, S4-10, S4-11, S4-12"""

    def codes(**more: Any) -> list[str]:
        return [entry.code for entry in kb_search(base, query="release", limit=50, **more).results]

    everything = codes()
    assert {"R-2", "R-3"} <= set(everything)
    assert codes(role="qa") == [code for code in everything if code in codes(role="qa")]
    assert {"R-2", "R-3"} <= set(codes(role="qa"))
    assert "R-2" not in codes(role="dev")
    assert "R-3" in codes(role="dev")
    assert codes(tags=["testing", "nobody-has-this"]) == ["R-2"]  # any of them
    assert "R-2" not in codes(min_confidence=0.5)
    assert "R-3" in codes(min_confidence=0.5)
    facts = kb_search(base, query="release", limit=50, entry_type="fact").results
    assert {entry.entry_type for entry in facts} == {"fact"}


@pytest.mark.parametrize("query", [".*+?[]{}()", "' OR 1=1 --", "x" * 10_000, "%s %d \0 \\", "🦦"])
def test_no_text_breaks_it(base: Base, query: str) -> None:
    """S4-21"""
    kb_search(base, query=query)


def test_nothing_found_is_answered_with_what_to_try(base: Base) -> None:
    """S4-22"""
    found = kb_search(base, query="relaese", tags=["testin"])
    assert found.results == ()
    assert "tag:testing" in found.metadata.suggestions


def test_the_database_and_the_embedding_client_can_be_given(base: Base) -> None:
    """S4-25"""
    search = KnowledgeBaseSearch(base.path, embedding_client=base.embedder)
    ours = KnowledgeBaseSearch(base).search(query="release", limit=5)
    theirs = search.search(query="release", limit=5)
    assert [entry.id for entry in ours.results] == [entry.id for entry in theirs.results]
    search.close()


def test_related_entries_come_parent_first_then_siblings_then_shared_tags(base: Base) -> None:
    """S4-14, S4-15, S4-16, S4-29"""
    made = {
        code: base.remember(
            Note(f"A related entry called {code}", code=code, parent=parent, tags=tags)
        ).document.id
        for code, parent, tags in (
            ("Q-0", None, ()),
            ("Q-1", "Q-0", ("x1", "x2", "x3")),
            ("Q-2", "Q-0", ("x1", "x2")),  # a sibling that shares tags is told once
            ("Q-3", None, ("x1", "x2")),
            ("Q-4", None, ("x1", "x2", "x3")),
            ("Q-5", None, ("x1",)),
        )
    }
    found = kb_get_related(base, entry_id=made["Q-1"])
    told = [(one.code, one.relation) for one in found.results]
    assert told == [
        ("Q-0", "parent"), ("Q-2", "sibling"), ("Q-4", "tag_overlap"), ("Q-3", "tag_overlap"),
        ("Q-5", "linked"),
    ]  # fmt: skip
    assert [one.shared_tags for one in found.results] == [None, None, 3, 2, None]
    assert found.metadata.relationship_types == ("parent", "sibling", "tag_overlap", "linked")
    assert [one.content for one in found.results[:2]] == [
        "A related entry called Q-0", "A related entry called Q-2",
    ]  # fmt: skip
    assert len(kb_get_related(base, entry_id=made["Q-1"], limit=2).results) == 2
    with pytest.raises(NotFound, match="no document '00000000"):
        kb_get_related(base, entry_id="00000000-0000-0000-0000-000000000000")
    alone = {one.relation for one in kb_get_related(base, entry_id=made["Q-5"]).results}
    assert alone == {"linked"}  # by what it says; one tag in common is none
    base.remove(list(made.values()))


@pytest.mark.parametrize("limit", [0, 21])
def test_a_limit_out_of_bounds_is_refused(limit: int) -> None:
    """S4-13, S4-14"""
    with pytest.raises(InvalidInput, match="limit cannot be") as caught:
        kb_get_related(Nothing(), entry_id="x", limit=limit)  # type: ignore[arg-type]
    assert caught.value.hint == "from 1 to 20"
