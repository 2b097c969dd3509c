"""An agent's memory: its numbers, through the service."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase import Base, SearchRequest
from knowbase.contracts.memory import SearchOptions, SearchService, create_search_service
from placed import DAY, Clock, placed_base, seen_at, write

BOOSTS = {
    "reflective": 1.2, "semantic": 1.1, "procedural": 1.0, "emotional": 0.9, "episodic": 0.8,
}  # fmt: skip


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def base(tmp_path: Path, clock: Clock) -> Iterator[Base]:
    with placed_base(tmp_path, clock, "memory") as made:
        yield made


@pytest.fixture
def service(base: Base) -> SearchService:
    return create_search_service(base)


def raw(base: Base, query: str) -> dict[str, dict[str, float]]:
    """What each leg and signal says of each memory."""
    request = SearchRequest(query, syntax="plain", profile="memory", explain=True, top=50)
    return {
        hit.code: {part.leg: part.raw for part in hit.explanation.contributions}
        for hit in base.search(request).hits
        if hit.explanation is not None
    }


def test_a_score_is_four_weights_times_the_sector(
    base: Base, service: SearchService, clock: Clock
) -> None:
    """S2-09, S2-10, S2-11, S2-12, S2-13, C13: every sector and none, ten days old."""
    for sector in (*BOOSTS, None):
        write(base, f"M-{sector}", "the heron waits", 0.8, sector=sector, salience=0.6)
    for number in range(6):
        write(base, f"X-{number}", "something else entirely", -0.5)
    clock.seconds += 10 * DAY
    results = service.search(SearchOptions("heron", limit=20))
    told = raw(base, "heron")
    assert len(results) >= len(BOOSTS) + 1
    for one in results:
        if not one.memory.code.startswith("M-"):
            continue
        signs = told[one.memory.code]
        words = min(1.0, abs(signs["keyword"]) / 10)
        expected = 0.4 * seen_at(0.8) + 0.25 * words + 0.2 * 0.6 + 0.15 * math.exp(-0.05 * 10)
        boost = BOOSTS.get(one.memory.sector or "", 1.0)
        assert one.score == pytest.approx(expected * boost, abs=1e-6)
    codes = [one.memory.code for one in results]
    assert codes[0] == "M-reflective"
    assert codes.index("M-emotional") < codes.index("M-episodic")


def test_bm25_counts_fully_from_ten_on(base: Base, service: SearchService) -> None:
    """S2-11: six rare words score more than ten; a memory without a word gets nothing for it."""
    rare = "alder birch cedar damson elder fir"
    write(base, "TREES", rare, 0.5, salience=0.0)
    write(base, "OTHER", "a lawn", 0.5, salience=0.0)
    for number in range(60):
        write(base, f"X-{number}", "something else", -0.9)
    found = {one.memory.code: one.score for one in service.search(SearchOptions(rare))}
    assert found["TREES"] - found["OTHER"] == pytest.approx(0.25, abs=1e-6)
    assert raw(base, rare)["TREES"]["keyword"] > 10


def test_what_is_superseded_counts_half_and_nothing_more_than_one(
    base: Base, service: SearchService
) -> None:
    """S2-13, C14: asked for, it has half of what it would have."""
    write(base, "OLD", "the heron waits", 1.0, sector="reflective", salience=1.0)
    before = service.search(SearchOptions("heron"))[0].score
    write(base, "NEW", "the stork waits", 1.0, sector="reflective", salience=1.0)
    base.lifecycle.supersede("OLD", "NEW")
    options = SearchOptions("heron", include_superseded=True)
    after = {one.memory.code: one.score for one in service.search(options)}
    assert after["OLD"] == pytest.approx(before / 2, rel=0.01)
    assert all(0 <= score <= 1 for score in after.values())


def test_the_services_defaults(base: Base, service: SearchService, clock: Clock) -> None:
    """S2-01, S2-03, S2-20: ten results, five before and five after."""
    for number in range(14):
        clock.seconds += 60
        write(base, f"M-{number}", "the heron waits", 0.5)
    results = service.search(SearchOptions("heron"))
    assert len(results) == 10
    assert [one.score for one in results] == sorted((r.score for r in results), reverse=True)
    timeline = service.timeline("M-7")
    assert [one.code for one in timeline.before] == [f"M-{n}" for n in range(2, 7)]
    assert [one.code for one in timeline.after] == [f"M-{n}" for n in range(8, 13)]
    assert service.search_documents("heron") == []
    assert service.get_session_context("M-7") is None


def test_a_mode_asks_one_leg_alone(base: Base, service: SearchService) -> None:
    """S2-08, S2-15"""
    write(base, "BOTH", "the heron waits", 0.9)
    write(base, "WORDS", "the heron waits by night", -0.9)
    write(base, "MEANS", "another bird", 0.8)
    kinds = {}
    for mode in ("hybrid", "semantic", "keyword"):
        results = service.search(SearchOptions("heron", mode=mode))
        kinds[mode] = {one.memory.code: one.match_type for one in results}
    assert kinds["keyword"] == {"BOTH": "keyword", "WORDS": "keyword"}
    assert set(kinds["semantic"].values()) == {"semantic"}
    assert kinds["hybrid"]["BOTH"] == "both"
