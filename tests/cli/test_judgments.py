"""The judged queries: what a person would expect to find in the handbook."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import knowbase
from conftest import FIXTURES, Kb
from knowbase import Base, SearchRequest

JUDGMENTS: list[dict[str, Any]] = json.loads(
    (FIXTURES / "judgments.json").read_text(encoding="utf-8")
)
BY_WORDS = ("keyword", "stem", "identifier", "cjk", "accent")


@pytest.fixture(scope="module")
def base(handbook: Kb) -> Iterator[Base]:
    with knowbase.open(str(handbook.folder)) as base:
        yield base


def missed(base: Base, judgments: list[dict[str, Any]], mode: str, top: int) -> list[str]:
    """The queries that do not have a relevant document among their first hits."""
    queries = []
    for judgment in judgments:
        hits = base.search(SearchRequest(judgment["query"], mode=mode, top=top)).hits
        if not {f"handbook/{path}" for path in judgment["relevant"]} & {hit.path for hit in hits}:
            queries.append(judgment["query"])
    return queries


def of_kind(*kinds: str) -> list[dict[str, Any]]:
    return [judgment for judgment in JUDGMENTS if judgment["kind"] in kinds]


def test_every_judgment_names_documents_that_are_there(base: Base) -> None:
    assert len(JUDGMENTS) == 88
    for judgment in JUDGMENTS:
        for path in judgment["relevant"]:
            document = base.get(str(base.home) + "/handbook/" + path)
            slugs = {section.section.partition(":")[2] for section in document.sections}
            if judgment["section"] and path == judgment["relevant"][0]:
                assert judgment["section"] in slugs, judgment


@pytest.mark.parametrize("kind", BY_WORDS)
def test_words_find_the_relevant_document_within_the_first_three(base: Base, kind: str) -> None:
    """C34 S1-04"""
    assert missed(base, of_kind(kind), "keyword", 3) == []


def test_words_find_the_relevant_section(base: Base) -> None:
    """S3-28"""
    wrong = []
    for judgment in of_kind(*BY_WORDS):
        hits = base.search(SearchRequest(judgment["query"], mode="keyword", top=5)).hits
        slugs = {hit.section.partition(":")[2] for hit in hits}
        if judgment["section"] and judgment["section"] not in slugs:
            wrong.append(judgment["query"])
    assert wrong == []


def test_meaning_finds_nearly_every_relevant_document_within_the_first_three(base: Base) -> None:
    """S1-09"""
    assert len(missed(base, of_kind("meaning"), "semantic", 3)) <= 2
    assert len(missed(base, of_kind("meaning"), "semantic", 10)) == 0


def test_hybrid_search_finds_nearly_all_within_the_first_ten(base: Base) -> None:
    """S3-14"""
    queries = missed(base, JUDGMENTS, "hybrid", 10)
    assert len(queries) <= len(JUDGMENTS) * 0.05, queries


@pytest.mark.parametrize("query", ["\0", "git\0install", "\ud800", "git\udcff", "\x00" * 5000])
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_no_character_makes_a_search_fail(base: Base, query: str, mode: str) -> None:
    """S0-03 C2"""
    answer = base.search(SearchRequest(query, mode=mode))
    if mode == "keyword" and "git" in query:
        assert answer.hits[0].path == "handbook/engineering/git-setup.md"
