"""Fusion and ordering, with the worked examples of the requirements."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.ranking.fusion import rrf
from knowbase.ranking.profile import PROFILES
from knowbase.ranking.rank import Ranked, rank
from knowbase.ranking.scale import best_possible
from knowbase.values.documents import Candidate, Chunk, Document, Passage

KB = PROFILES["kb"]
NOW = "2026-01-01T00:00:00.000000Z"
BOTH = ("keyword", "semantic")

lists = st.lists(st.integers(1, 30), unique=True, max_size=20)


def candidates(chunks: list[int]) -> list[Candidate]:
    return [Candidate(chunk, 1.0 / place) for place, chunk in enumerate(chunks, 1)]


def passage(chunk: int, seq: int = 0, updated_at: str = "2026") -> Passage:
    document = Document(str(seq or chunk), seq or chunk, "", "", "note", (), None, "", updated_at)
    own = str(chunk)
    return Passage(chunk, Chunk(own, 0, None, "", "", 0, 1, None, 0, own), document)


def ranked(keyword: list[int], semantic: list[int], unit: str = "chunk") -> list[Ranked]:
    legs = {"keyword": candidates(keyword), "semantic": candidates(semantic)}
    passages = {chunk: passage(chunk, seq=1 + chunk % 7) for chunk in (*keyword, *semantic)}
    return rank(legs, passages, KB._replace(unit=unit), NOW)


def test_ranks_two_and_five_give_0_0315137() -> None:
    """S1-11, S1-13"""
    legs = {"keyword": candidates([9, 1]), "semantic": candidates([8, 7, 6, 5, 1])}
    scores = {chunk: sum(part.gain for part in parts) for chunk, parts in rrf(legs).items()}
    score = scores.pop(1)
    assert score == pytest.approx(0.0315136476, abs=1e-9)
    assert score == pytest.approx(1 / 62 + 1 / 65, abs=1e-15)
    assert max(scores.values()) == pytest.approx(1 / 61, abs=1e-15)
    assert score > best_possible(("keyword",), KB) == pytest.approx(0.0163934426, abs=1e-9)


def test_k_is_an_option() -> None:
    """S0-13, S1-11"""
    assert rrf({"keyword": candidates([5])}, k=10)[5][0].gain == pytest.approx(1 / 11)


@given(lists, lists)
def test_contributions_add_up_to_the_score_and_no_chunk_comes_twice(
    keyword: list[int], semantic: list[int]
) -> None:
    hits = ranked(keyword, semantic)
    assert len({hit.chunk for hit in hits}) == len(hits) == len({*keyword, *semantic})
    for hit in hits:
        assert hit.score == pytest.approx(sum(c.gain for c in hit.contributions), abs=1e-12)
        for part in hit.contributions:
            place = (keyword if part.leg == "keyword" else semantic).index(hit.chunk) + 1
            assert (part.rank, part.gain) == (place, 1 / (60 + place))


@given(lists, lists)
def test_scores_fall_and_stay_below_the_best_possible(
    keyword: list[int], semantic: list[int]
) -> None:
    scores = [hit.score for hit in ranked(keyword, semantic)]
    assert scores == sorted(scores, reverse=True)
    assert all(score <= best_possible(BOTH, KB) for score in scores)


@given(st.integers(1, 61), st.integers(1, 61))
def test_both_lists_beat_one(in_keyword: int, in_semantic: int) -> None:
    """S1-13: down to place 61 in both lists, 2/121 is above 1/61, the best of one list alone."""
    keyword, semantic = list(range(100, 162)), list(range(200, 262))
    keyword[in_keyword - 1] = semantic[in_semantic - 1] = 1
    hits = ranked(keyword, semantic)
    assert hits[0].chunk == 1
    assert hits[0].score == pytest.approx(1 / (60 + in_keyword) + 1 / (60 + in_semantic))
    alone = [hit.score for hit in hits if len(hit.contributions) == 1]
    assert len(alone) == 122
    assert hits[0].score > best_possible(("keyword",), KB) >= max(alone)


@given(lists, lists, st.randoms())
def test_ranking_does_not_depend_on_the_order_of_its_input(
    keyword: list[int], semantic: list[int], rng: random.Random
) -> None:
    legs = {"keyword": candidates(keyword), "semantic": candidates(semantic)}
    chunks = [*keyword, *semantic]
    rng.shuffle(chunks)
    passages = {chunk: passage(chunk, seq=1 + chunk % 7) for chunk in chunks}
    again = rank(dict(reversed(legs.items())), passages, KB, NOW)
    assert [hit.chunk for hit in again] == [hit.chunk for hit in ranked(keyword, semantic)]


def test_ties_go_to_the_newest_document_then_to_the_lower_number() -> None:
    """C29"""
    legs = {"keyword": candidates([1]), "semantic": candidates([2])}
    older, newer = passage(1, 1, "2025"), passage(2, 2, "2026")
    assert [hit.chunk for hit in rank(legs, {1: older, 2: newer}, KB, NOW)] == [2, 1]
    same = {1: passage(1, 5), 2: passage(2, 4)}
    assert [hit.chunk for hit in rank(legs, same, KB, NOW)] == [2, 1]


@given(lists, lists)
def test_documents_stand_once_with_the_places_of_their_best_chunks(
    keyword: list[int], semantic: list[int]
) -> None:
    """C15"""
    documents = ranked(keyword, semantic, unit="document")
    own = {chunk: 1 + chunk % 7 for chunk in (*keyword, *semantic)}
    assert sorted(own[hit.chunk] for hit in documents) == sorted(set(own.values()))
    for hit in documents:
        seq = own[hit.chunk]
        assert hit.more == sum(other == seq for other in own.values()) - 1
        for part in hit.contributions:
            found = keyword if part.leg == "keyword" else semantic
            places = list(dict.fromkeys(own[chunk] for chunk in found))
            assert part.rank == places.index(seq) + 1


def test_equal_scores_of_a_leg_share_their_place() -> None:
    """C29: of equal matches the newest document comes first, whatever the order of storage."""
    legs = {"keyword": [Candidate(1, 2.0), Candidate(2, 2.0), Candidate(3, 1.0)]}
    passages = {1: passage(1, 1, "2025"), 2: passage(2, 2, "2026"), 3: passage(3, 3, "2027")}
    hits = rank(legs, passages, KB, NOW)
    assert [hit.chunk for hit in hits] == [2, 1, 3]
    assert [hit.contributions[0].rank for hit in hits] == [1, 1, 3]


def test_pieces_of_a_section_and_copies_of_a_text_do_not_fill_the_page() -> None:
    """C15"""
    pieces = {n: passage(n, 1) for n in (1, 2, 3)}
    pieces = {
        n: one._replace(chunk=one.chunk._replace(slug="long", chunk_index=n))
        for n, one in pieces.items()
    }
    copies = {n: passage(n, n) for n in (4, 5)}
    copies = {n: one._replace(chunk=one.chunk._replace(hash="same")) for n, one in copies.items()}
    legs = {"keyword": candidates([1, 2, 4, 3, 5, 6])}
    passages = {**pieces, **copies, 6: passage(6, 6)}
    hits = rank(legs, passages, KB._replace(copies="together"), NOW)
    assert [(hit.chunk, hit.more) for hit in hits] == [(1, 2), (4, 1), (6, 0)]
    assert [hit.copies for hit in hits] == [(), (5,), ()]
    apart = rank(legs, passages, KB, NOW)
    assert [(hit.chunk, hit.more) for hit in apart] == [(1, 2), (4, 0), (5, 0), (6, 0)]
