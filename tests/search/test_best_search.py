"""Searching with the profile `best`, the real model and a real base."""

from collections.abc import Iterator
from math import prod

import pytest

import knowbase
from conftest import Kb
from knowbase import Base, SearchRequest


@pytest.fixture(scope="module")
def base(handbook: Kb) -> Iterator[Base]:
    with knowbase.open(str(handbook.folder)) as base:
        yield base


def weights(base: Base, query: str) -> dict[str, float]:
    """What each leg weighs in the first hit that it finds."""
    found: dict[str, float] = {}
    for hit in base.search(SearchRequest(query, profile="best", explain=True)).hits:
        assert hit.explanation is not None
        for part in hit.explanation.contributions:
            found.setdefault(part.leg, part.weight)
    return found


def test_a_language_that_the_model_lacks_is_searched_by_its_words(base: Base) -> None:
    assert weights(base, "how do I set up version control")["semantic"] == 1.5
    assert 0.9 < weights(base, "Wie richte ich die Versionsverwaltung ein?")["semantic"] < 1.5
    assert weights(base, "バージョン管理を設定する方法")["semantic"] < 0.6
    assert weights(base, "버전 관리를 설정하는 방법")["semantic"] == pytest.approx(0.075)


def test_words_weigh_little_when_the_best_chunk_has_few_of_them(base: Base) -> None:
    assert weights(base, "regatta")["keyword"] > 0.8
    assert weights(base, "refresh token valid for thirty days")["keyword"] > 0.5
    mismatch = "proving identity when talking to the REST service"
    assert weights(base, mismatch).get("keyword", 0.0) < 0.1  # none of the ten has a word


def test_every_score_is_explained_to_the_last_digit(base: Base) -> None:
    for query in ("how do I roll back a release", "getUserName", "デプロイの手順", "regatta"):
        hits = base.search(SearchRequest(query, profile="best", explain=True)).hits
        assert hits, query
        for hit in hits:
            explained = hit.explanation
            assert explained is not None
            gains = [part.weight * part.value for part in explained.contributions]
            factors = [factor.value for factor in explained.factors]
            assert sum(gains) * prod(factors) == pytest.approx(hit.score, abs=1e-12)


def test_words_and_meaning_both_find_their_own(base: Base) -> None:
    by_words = base.search(SearchRequest("getUserName", profile="best")).hits[0]
    assert by_words.path == "handbook/code/http_client.py"
    asked = "how am I reimbursed for a taxi"
    by_meaning = base.search(SearchRequest(asked, profile="best")).hits[0]
    assert by_meaning.path == "handbook/people/expenses.md"


def test_a_document_that_is_missing_is_told_with_the_weights_of_its_query(base: Base) -> None:
    request = SearchRequest("버전 관리를 설정하는 방법", profile="best", top=1)
    first = base.search(request).hits[0]
    why = base.why_not(first.code, request)
    assert why.stage == "hit"
    assert why.score == pytest.approx(first.score, abs=1e-12)


def test_keyword_search_needs_no_model(base: Base) -> None:
    """S1-05"""
    request = SearchRequest("deploy", profile="best", mode="keyword")
    with Base(base.path, embedder=None) as other:
        other.search(request)
        assert "embedder" not in vars(other)
