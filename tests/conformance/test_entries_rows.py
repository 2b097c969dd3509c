"""A team's entries: their numbers, through search with the profile `entries`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase import Base, SearchRequest
from knowbase.search.answer import Hit
from placed import Clock, placed_base, seen_at, write


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def base(tmp_path: Path, clock: Clock) -> Iterator[Base]:
    with placed_base(tmp_path, clock) as made:
        yield made


def hits(base: Base, query: str, **more: object) -> list[Hit]:
    request = SearchRequest(query, **{"profile": "entries", "syntax": "plain", **more})  # type: ignore[arg-type]
    return list(base.search(request).hits)


def test_the_documents_three_entries_have_its_scores_and_order(base: Base) -> None:
    """S4-06, S4-07: A (1, 5), B (3, -), C (-, 1); each stands once."""
    words = "heron"
    for place, code in enumerate(("C", "K-2", "K-3", "K-4")):
        write(base, code, f"{words} " * (9 - place), 0.1)
    write(base, "A", f"{words} and a long text that speaks of much else besides", 0.9)
    write(base, "V-2", "stork", 0.8)
    write(base, "B", "stork", 0.7, title="stork B")
    found = hits(base, words)
    scores = {hit.code: hit.score for hit in found}
    assert scores["A"] == pytest.approx(0.7 / 61 + 0.3 / 65, abs=1e-12)
    assert [round(scores[code], 6) for code in "ABC"] == [0.016091, 0.011111, 0.004918]
    assert [hit.code for hit in found if hit.code in "ABC"] == ["A", "B", "C"]
    assert len(scores) == len(found)


def test_equal_scores_go_to_the_newest(base: Base, clock: Clock) -> None:
    """S4-07, S4-21, C29"""
    for number in range(4):
        clock.seconds += 60
        write(base, f"N-{number}", f"heron {'abcd'[number]}", 0.5, title="heron")
    for _ in range(3):
        assert [hit.code for hit in hits(base, "heron")] == ["N-3", "N-2", "N-1", "N-0"]


def test_meaning_needs_a_similarity_of_three_tenths_and_comes_nearest_first(base: Base) -> None:
    """S4-04"""
    for number, cosine in enumerate((0.31, 0.9, 0.29, 0.301, 0.5)):
        write(base, f"N-{number}", "stork", cosine, title=f"stork {number}")
    found = hits(base, "heron", mode="semantic", explain=True)
    assert [hit.code for hit in found] == ["N-1", "N-4", "N-0", "N-3"]
    raw = [hit.explanation.contributions[0].raw for hit in found if hit.explanation]
    assert raw == pytest.approx([seen_at(one) for one in (0.9, 0.5, 0.31, 0.301)], abs=1e-6)


def test_a_hundred_candidates_whatever_is_asked_for(base: Base) -> None:
    """S4-04, S4-05, C4"""
    for number in range(104):
        write(base, f"N-{number}", f"heron {number}", 0.4 + number / 1000)
    request = SearchRequest("heron", profile="entries", mode="semantic", top=5)
    answer = base.search(request)
    assert (answer.returned, answer.total) == (5, 100)
    assert base.search(request._replace(mode="keyword")).total == 100
