"""The profile `best`: each leg counts by how far its scores stand above its background."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.ranking.fusion import lift
from knowbase.ranking.profile import PROFILES
from knowbase.ranking.rank import Traits, rank, total
from knowbase.ranking.scale import best_possible
from knowbase.ranking.trust import coverage, fluency
from knowbase.text.analysis import Word, query_words
from knowbase.values.documents import Candidate, Chunk, Document, Passage

BEST = PROFILES["best"]
NOW = "2026-01-01T00:00:00.000000Z"
EVEN = {"keyword": 1.0, "semantic": 1.0}

scores = st.lists(st.floats(0.001, 50), max_size=30)
similarities = st.lists(st.floats(-1, 1), max_size=30)


def leg(*found: float, first: int = 1) -> list[Candidate]:
    """Candidates numbered from `first` on, best first."""
    ordered = sorted(found, reverse=True)
    return [Candidate(chunk, score) for chunk, score in enumerate(ordered, first)]


def passage(number: int, text: str = "", title: str = "", code: str = "") -> Passage:
    document = Document(str(number), number, code, title, "note", (), None, NOW, NOW)
    return Passage(
        number, Chunk(str(number), 0, None, "", text, 0, 1, None, 0, str(number)), document
    )


def gains(legs: dict[str, list[Candidate]], depth: int) -> dict[int, float]:
    fused = lift(legs, EVEN, depth)
    return {chunk: sum(part.gain for part in parts) for chunk, parts in fused.items()}


def test_the_worked_example_of_the_page() -> None:
    """Words 20 and 8 of background, similarity 0.9 over 0.6: as docs/ranking.md computes it."""
    legs = {"keyword": leg(20.0, 14.0, 8.0), "semantic": leg(0.9, 0.75, 0.6)}
    first, second, third = (lift(legs, BEST.weights, 3)[chunk] for chunk in (1, 2, 3))
    assert [part.gain for part in first] == pytest.approx([0.6**2 * 0.6, 1.5 * 0.3 / 0.4])
    assert [part.gain for part in second] == pytest.approx([0.6**2 * 0.3, 1.5 * 0.15 / 0.4])
    assert [part.gain for part in third] == pytest.approx([0.0, 0.0])


def test_words_that_tell_nothing_apart_hardly_count() -> None:
    peaked = gains({"keyword": leg(20.0, 5.0, 4.0, 4.0)}, 4)
    flat = gains({"keyword": leg(20.0, 19.0, 18.5, 18.0)}, 4)
    assert peaked[1] == pytest.approx(0.8**3)
    assert flat[1] == pytest.approx(0.1**3)


def test_the_only_chunk_with_a_word_counts_nearly_in_full() -> None:
    """What has a rare word is not lost among many that only mean something alike."""
    legs = {
        "keyword": leg(7.0),
        "semantic": leg(*[0.7 + place / 1000 for place in range(100)], first=2),
    }
    found = gains(legs, 100)
    assert found[1] == pytest.approx(0.99**3)
    assert max(found, key=lambda chunk: found[chunk]) == 1


def test_equal_scores_and_empty_legs_are_no_division_by_zero() -> None:
    assert gains({"keyword": leg(3.0, 3.0), "semantic": leg()}, 2) == {1: 0.0, 2: 0.0}
    assert gains({"keyword": [Candidate(1, 0.0)], "semantic": leg(1.0, 1.0)}, 2)[2] == 0.0


@given(scores, similarities)
def test_contributions_add_up_to_the_score_and_each_legs_order_stays(
    keyword: list[float], semantic: list[float]
) -> None:
    legs = {"keyword": leg(*keyword), "semantic": leg(*semantic, first=1000)}
    passages = {one.chunk: passage(one.chunk) for found in legs.values() for one in found}
    hits = rank(legs, passages, BEST, NOW)
    assert {hit.chunk for hit in hits} == set(passages)
    for hit in hits:
        for part in hit.contributions:
            assert part.gain == part.weight * part.value
            assert part.value >= 0
        assert hit.score == pytest.approx(total(hit.contributions, hit.factors), abs=1e-12)
    for start, end in ((1, 999), (1000, 2000)):
        own = [hit.score for hit in sorted(hits) if start <= hit.chunk <= end]
        assert own == sorted(own, reverse=True)


def test_no_score_is_above_what_is_said_to_be_possible() -> None:
    legs = {"keyword": leg(9.0), "semantic": leg(1.0, -1.0)}
    found = lift(legs, BEST.weights, 100)
    assert sum(part.gain for part in found[1]) <= best_possible(("keyword", "semantic"), BEST)


@pytest.mark.parametrize(
    ("tokens", "size", "share"),
    [(6, 29, 1.0), (30, 100, 1.0), (45, 100, 0.5), (60, 100, 0.05), (33, 36, 0.05), (0, 0, 1.0)],
)
def test_meaning_counts_less_the_smaller_the_model_has_to_cut(
    tokens: int, size: int, share: float
) -> None:
    assert fluency(tokens, size, 0.3, 0.6) == pytest.approx(share)


def test_without_bounds_every_language_counts_in_full() -> None:
    assert fluency(99, 100, 0.0, 0.0) == 1.0


@pytest.mark.parametrize(
    ("query", "share"),
    [
        ("rollback", 1.0),
        ("deploying friday", 1.0),
        ("deploy holiday", 0.5),
        ("deploy yacht parking spot", 0.25),
        ("deploys freeze friday regatta yacht parking spot", 1.0),
        ("KB-12 calendar", 1.0),
        ("yacht", 0.0),
    ],
)
def test_coverage_is_the_share_of_the_words_or_of_four_of_them(query: str, share: float) -> None:
    text = "Deploys freeze on Fridays around the regatta; a rollback is fine."
    covered = coverage(query_words(query), passage(1, text, "Release calendar", "KB-12"))
    assert covered == pytest.approx(share**2)


def test_a_prefix_covers_what_begins_with_it_and_no_word_covers_all() -> None:
    one = passage(1, "the deployment")
    assert coverage([Word("deplo", prefix=True)], one) == 1.0
    assert coverage([Word("deplo")], one) == 0.0
    assert coverage([], one) == 1.0


def test_trust_is_a_factor_of_the_weights() -> None:
    legs = {"keyword": leg(9.0, 3.0), "semantic": leg(0.9, 0.6)}
    passages = {1: passage(1), 2: passage(2)}
    full = rank(legs, passages, BEST, NOW)[0]
    less = rank(legs, passages, BEST, NOW, Traits(trust={"keyword": 0.25, "semantic": 0.5}))[0]
    pairs = zip(full.contributions, less.contributions, strict=True)
    assert [other.weight / one.weight for one, other in pairs] == pytest.approx([0.25, 0.5])


@given(scores, similarities, st.sampled_from(("lift", "rrf")), st.booleans())
def test_what_has_the_word_stands_first_and_scores_fall(
    words: list[float], meanings: list[float], fusion: str, clamp: bool
) -> None:
    """S3-07: also under types that count little, and within the best score that can be."""
    legs = {"keyword": leg(*words), "semantic": leg(*meanings, first=1 + len(words) // 2)}
    numbers = {one.chunk for found in legs.values() for one in found}
    kinds = {"note": 0.3, "fact": 2.0}
    passages = {
        number: one._replace(document=one.document._replace(type=("note", "fact")[number % 2]))
        for number in numbers
        for one in [passage(number)]
    }
    profile = BEST._replace(word_first=True, fusion=fusion, clamp=clamp)
    for weighed in (profile, profile._replace(type_weights=kinds)):
        ranked = rank(legs, passages, weighed, NOW)
        has = [any(part.leg == "keyword" for part in hit.contributions) for hit in ranked]
        assert has == sorted(has, reverse=True)
        for above, below in itertools.pairwise(ranked):
            assert above.score >= below.score - 1e-9
        best = best_possible(("keyword", "semantic"), weighed)
        assert all(hit.score <= best + 1e-9 for hit in ranked)
