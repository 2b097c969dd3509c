"""Plain words stay plain: what agents, memory and entries ask has no operators."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import knowbase
from conftest import Kb
from knowbase import Base
from knowbase.contracts.entries import kb_search
from knowbase.contracts.memory import SearchOptions, create_search_service
from knowbase.errors import InvalidInput
from knowbase.query.words import keyword_query
from knowbase.search.request import SearchRequest
from knowbase.values.notes import Note

NOTES = {
    "SQL-1": "A NOT NULL column rejects missing values",
    "JVM-1": "Set the JVM heap with -Xmx4g",
    "JVM-2": "JVM and heap profiling",
    "ART-1": "Columns of the temple",
    "VIT-1": "Take vitamin C with meals",
    "CAT-1": "Catalogue of meals",
}
ASKED = {"NOT NULL column": "SQL-1", "JVM -Xmx4g heap": "JVM-1", 'heap "-Xmx4g': "JVM-1"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    with knowbase.create(str(tmp_path_factory.mktemp("plain") / "base.db")) as made:
        for code, text in NOTES.items():
            made.note(Note(text, code=code))
        yield made


@pytest.mark.parametrize("query", ASKED)
def test_an_agents_words_are_words(base: Base, query: str) -> None:
    """S2-04, S4-05"""
    assert kb_search(base, query=query).results[0].code == ASKED[query]
    memory = create_search_service(base).search(SearchOptions(query))
    assert memory[0].memory.code == ASKED[query]


@pytest.mark.parametrize("profile", ["best", "kb", "typed", "memory", "work", "entries"])
@pytest.mark.parametrize("query", ASKED)
def test_a_literal_query_has_no_operators_in_any_profile(
    base: Base, query: str, profile: str
) -> None:
    answer = base.search(SearchRequest(query, syntax="plain", profile=profile))
    assert answer.hits[0].code == ASKED[query]
    assert not answer.problems


def test_an_agent_can_ask_for_the_language_and_learns_of_mistakes(base: Base) -> None:
    found = kb_search(base, query="JVM -Xmx4g heap", syntax="query")
    assert [one.code for one in found.results][:1] == ["JVM-2"]
    with pytest.raises(InvalidInput) as refused:
        kb_search(base, query="heap tpye:note", syntax="query")
    assert refused.value.field == "query"
    found = kb_search(base, query='"heap profiling zebra"', syntax="query")
    assert found.metadata.notices[0].startswith('nothing has "heap profiling zebra"')
    assert found.results
    assert all(one.is_relaxed for one in found.results)
    assert kb_search(base, query="heap").results[0].is_relaxed is None


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("JVM -Xmx4g heap", "-Xmx4g left out JVM-1; quote it to search for it"),
        ("NOT NULL column", "NOT NULL left out SQL-1; quote it to search for it"),
        ("JVM -Xmx4g -profiling heap", "-Xmx4g, -profiling left out 2 hits, JVM-2 first among"),
    ],
)
def test_a_word_that_keeps_the_first_hit_away_is_said(base: Base, query: str, said: str) -> None:
    assert [one for one in base.search(query).notices if one.startswith(said)]


def test_a_required_word_that_keeps_the_first_hit_away_is_said(base: Base) -> None:
    """Where no relaxed hits follow."""
    for request in (SearchRequest(strict=True), SearchRequest(profile="kb")):
        answer = base.search(request._replace(query="+temple vitamin meals"))
        assert "+temple left out 2 hits, VIT-1 first among them" in answer.notices


@pytest.mark.parametrize(
    "query", ["heap -temple", "JVM +heap", "JVM heap", "column tag:none", "-x"]
)
def test_a_word_that_changes_nothing_at_the_top_is_not(base: Base, query: str) -> None:
    assert not [one for one in base.search(query).notices if "left out" in one]


def test_one_letter_is_a_whole_word(base: Base) -> None:
    """S2-04"""
    found = base.search(SearchRequest("c", profile="memory", mode="keyword"))
    assert [hit.code for hit in found.hits] == ["VIT-1"]
    assert [word.prefix for word in keyword_query("c meal", "any_prefix").words] == [False, True]


def test_literal_on_the_command_line(tmp_path: Path) -> None:
    with knowbase.create(str(tmp_path)) as base:
        for code, text in NOTES.items():
            base.note(Note(text, code=code))
    kb = Kb(tmp_path)
    found = kb.json("search", "--literal", "--fts-only", "JVM -Xmx4g heap")
    assert found["hits"][0]["code"] == "JVM-1"
    assert "left out JVM-1" in kb("search", "--fts-only", "JVM -Xmx4g heap").out
