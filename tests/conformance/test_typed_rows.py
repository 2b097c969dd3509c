"""Typed knowledge: its numbers, through the functions that users import."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase import Base, Note, SearchRequest
from knowbase.contracts.knowledge import (
    Options,
    fts_search,
    hybrid_search,
    search_knowledge,
    vector_search,
)
from knowbase.errors import InvalidInput
from placed import placed_base, write

TOWARDS = [1.0, 0.0, 0.0, 0.0]


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Base]:
    with placed_base(tmp_path, profile="typed") as made:
        yield made


def test_a_score_is_fusion_times_type_times_use(base: Base) -> None:
    """S0-15, S0-16, S0-17: types of the document and another one, used and unused."""
    weights = {"decision": 2.0, "lesson": 2.0, "summary": 0.5, "temp_note": 0.3, "fact": 1.0}
    for kind in weights:
        write(base, kind, "zebra crossing", 0.9, type=kind)
    for _ in range(3):
        base.search(SearchRequest("zebra", profile="memory", type=("lesson",)))
    base.flush()
    found = {one.type: one for one in search_knowledge(base, "zebra")}
    assert {kind: one.type_weight for kind, one in found.items()} == weights
    assert found["lesson"].access_count == 3
    for one in found.values():
        assert one.access_boost == pytest.approx(1 + math.log(1 + one.access_count), abs=1e-12)
        expected = one.rrf_score * one.type_weight * one.access_boost
        assert one.final_score == pytest.approx(expected, abs=1e-12)
    order = [one.final_score for one in search_knowledge(base, "zebra")]
    assert order == sorted(order, reverse=True)


def test_each_list_has_three_candidates_a_hit(base: Base) -> None:
    """S0-14, S0-13, C4: the fourth of both lists would win, and is no candidate for one hit; with
    two hits it is, and k is 60 unless said."""
    for place in range(3):
        write(base, f"K-{place}", "zebra " * (9 - place), -0.9)
        write(base, f"V-{place}", "nothing", 0.9 - place / 100)
        write(base, f"W-{place}", "nothing", 0.5)
    both = write(base, "BOTH", "zebra " * 4 + "and " * 30, 0.8)
    one = hybrid_search(base, "zebra", TOWARDS, Options(limit=1))
    assert [result.id for result in one] != [both.id]
    two = hybrid_search(base, "zebra", TOWARDS, Options(limit=2))
    assert two[0].id == both.id
    assert two[0].rrf_score == pytest.approx(2 / 64)


def test_ten_hits_of_both_and_twenty_of_one(base: Base) -> None:
    """S0-20"""
    for number in range(25):
        write(base, f"N-{number}", "zebra", number / 30)
    assert len(search_knowledge(base, "zebra")) == 10
    assert len(hybrid_search(base, "zebra", TOWARDS)) == 10
    assert len(fts_search(base, "zebra")) == len(vector_search(base, TOWARDS)) == 20


def test_a_filter_costs_no_hit_however_many_are_nearer(base: Base) -> None:
    """S0-11"""
    for number in range(12):
        write(base, f"D-{number}", "zebra zebra", 0.9, type="decision")
    lesson = write(base, "L-1", "a zebra among others", 0.1, type="lesson")
    lessons = Options(limit=1, types=("lesson",))
    assert [one.id for one in vector_search(base, TOWARDS, lessons)] == [lesson.id]
    assert [one.id for one in fts_search(base, "zebra", lessons)] == [lesson.id]


def test_a_text_that_changes_moves_its_vector(base: Base) -> None:
    """S0-23"""
    write(base, "N-1", "first", 0.2)
    changed = base.note(Note("second cos1.000", replaces="N-1"))
    [only] = vector_search(base, TOWARDS)
    assert (only.id, only.content) == (changed.id, "second cos1.000")
    assert only.vec_distance == pytest.approx(0.0, abs=1e-6)


def test_an_embedding_of_another_length_is_refused_with_the_right_one(base: Base) -> None:
    """S4-28"""
    write(base, "N-1", "first", 0.2)
    with pytest.raises(InvalidInput) as refusal:
        vector_search(base, [1.0, 0.0])
    assert refusal.value.field == "embedding"
    assert "4 finite numbers" in str(refusal.value.hint)
