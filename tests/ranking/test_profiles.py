"""Each profile has exactly the constants of its document, and its worked examples hold."""

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.ranking.about import PROFILE_FIELDS
from knowbase.ranking.profile import PROFILES, Profile
from knowbase.ranking.rank import Ranked, Traits, rank
from knowbase.values.documents import SECTORS, Candidate, Chunk, Document, Passage

NOW = "2026-03-01T00:00:00.000000Z"
CHUNK = Chunk("_", 0, None, "", "", 0, 1, None, 0, "")


def passage(number: int, **fields: object) -> Passage:
    """A document with one chunk, both of that number."""
    document = Document(str(number), number, "", "", "note", (), None, NOW, NOW)
    chunk = CHUNK._replace(slug=str(number), hash=str(number))
    return Passage(number, chunk, document._replace(**fields))  # type: ignore[arg-type]


def run(
    profile: str,
    legs: Mapping[str, Sequence[tuple[int, float]]],
    *passages: Passage,
    intent: str = "keyword",
) -> dict[int, Ranked]:
    candidates = {leg: [Candidate(*pair) for pair in found] for leg, found in legs.items()}
    known = {one.chunk_id: one for one in passages}
    for found in candidates.values():
        for one in found:
            known.setdefault(one.chunk, passage(one.chunk))
    ranked = rank(candidates, known, PROFILES[profile], NOW, Traits(intent))
    return {hit.chunk: hit for hit in ranked}


def ranks(*chunks: int) -> list[tuple[int, float]]:
    return [(chunk, 1 - place / 100) for place, chunk in enumerate(chunks)]


def test_the_default_profile_is_reciprocal_rank_fusion_with_three_candidates_a_hit() -> None:
    """S1-08, S1-11, S1-12, C4"""
    kb = PROFILES["kb"]
    assert (kb.fusion, kb.rrf_k, kb.match, kb.unit) == ("rrf", 60, "any", "chunk")
    assert kb.candidates(10) == 30
    assert kb.weights == {"keyword": 1.0, "semantic": 1.0}


def test_entries_scores_of_the_document() -> None:
    """S4-06, S4-07: A (1, 5), B (3, -), C (-, 1)."""
    a, b, c = 1, 2, 3
    hits = run("entries", {"semantic": ranks(a, 8, b), "keyword": ranks(c, 7, 6, 5, a)})
    assert hits[a].score == pytest.approx(0.7 / 61 + 0.3 / 65, abs=1e-12)
    assert [round(hits[one].score, 6) for one in (a, b, c)] == [0.016091, 0.011111, 0.004918]
    order = [chunk for chunk in hits if chunk in (a, b, c)]
    assert order == [a, b, c]


def test_entries_take_a_hundred_candidates_above_the_floor_and_at_most_fifty_hits() -> None:
    """S4-04, S4-10, S4-20, C4, C5, C6, C8"""
    entries = PROFILES["entries"]
    assert (entries.candidates(10), entries.candidates(50)) == (100, 100)
    assert (entries.default_top, entries.max_top, entries.tags_match) == (10, 50, "any")
    hits = run("entries", {"semantic": [(1, 0.31), (2, 0.3), (3, 0.29)], "keyword": []})
    assert set(hits) == {1, 2}


@pytest.mark.parametrize(
    ("kind", "uses", "weight", "boost"),
    [
        ("decision", 0, 2.0, 1.0),
        ("lesson", 1, 2.0, 1 + math.log(2)),
        ("summary", 9, 0.5, 1 + math.log(10)),
        ("temp_note", 0, 0.3, 1.0),
        ("anything", 99, 1.0, 1 + math.log(100)),
    ],
)
def test_typed_scores_are_fusion_times_type_times_access(
    kind: str, uses: int, weight: float, boost: float
) -> None:
    """S0-13, S0-15, S0-16, S0-17, S0-18"""
    one = passage(1, type=kind, access_count=uses)
    hit = run("typed", {"keyword": ranks(9, 1), "semantic": ranks(1)}, one)[1]
    assert hit.score == pytest.approx((1 / 62 + 1 / 61) * weight * boost, abs=1e-12)
    assert [part.leg for part in hit.contributions] == ["keyword", "semantic"]


@pytest.mark.parametrize("sector", [*SECTORS, None])
@pytest.mark.parametrize("superseded", [False, True])
def test_memory_scores_for_every_sector(sector: str | None, superseded: bool) -> None:
    """S2-09, S2-10, S2-11, S2-12, S2-13, C13"""
    boosts = {"reflective": 1.2, "semantic": 1.1, "emotional": 0.9, "episodic": 0.8}
    one = passage(
        1,
        sector=sector,
        salience=0.6,
        created_at="2026-02-19T00:00:00.000000Z",
        valid_until=NOW if superseded else None,
    )
    hit = run("memory", {"semantic": [(1, 0.8)], "keyword": [(1, 4.0)]}, one)[1]
    expected = 0.4 * 0.8 + 0.25 * 0.4 + 0.2 * 0.6 + 0.15 * math.exp(-0.05 * 10)
    expected *= boosts.get(sector or "", 1.0) * (0.5 if superseded else 1.0)
    assert hit.score == pytest.approx(expected, abs=1e-9)


def test_memory_counts_bm25_fully_from_ten_on_and_an_absent_leg_as_nothing() -> None:
    """S2-11"""
    assert PROFILES["memory"].candidates(10) == 20
    hits = run("memory", {"keyword": [(1, 25.0), (2, 10.0)], "semantic": []})
    assert hits[1].score == pytest.approx(hits[2].score)
    assert hits[1].contributions[0].gain == pytest.approx(0.25)


def test_work_stretches_each_leg_to_one() -> None:
    """S3-36, S3-05"""
    hits = run(
        "work", {"keyword": [(1, 9.0), (2, 6.0), (3, 3.0)], "semantic": [(2, 0.9), (1, 0.6)]}
    )
    assert hits[1].score == pytest.approx(0.7 * 1.0 + 0.2 * 0.0, abs=1e-12)
    assert hits[2].score == pytest.approx(0.7 * 0.5 + 0.2 * 1.0, abs=1e-12)
    assert hits[3].score == 0.0


def test_work_with_equal_scores_and_absent_legs_never_divides_by_zero() -> None:
    """S3-36, C28"""
    equal = run("work", {"keyword": [(1, 5.0), (2, 5.0)], "semantic": []})
    assert [hit.score for hit in equal.values()] == pytest.approx([0.7, 0.7])
    single = run("work", {"semantic": [(1, 0.7)]})
    assert single[1].score == pytest.approx(0.2)
    assert run("work", {"keyword": [], "semantic": []}) == {}


@pytest.mark.parametrize(
    ("intent", "weights"),
    [("keyword", (0.7, 0.2, 0.1)), ("semantic", (0.2, 0.7, 0.1)), ("graph", (0.1, 0.3, 0.6))],
)
def test_work_weights_follow_the_intent(intent: str, weights: tuple[float, ...]) -> None:
    """S3-38"""
    legs = {"keyword": [(1, 2.0)], "semantic": [(2, 0.9)], "graph": [(3, 0.4)]}
    hits = run("work", legs, intent=intent)
    assert [hits[chunk].score for chunk in (1, 2, 3)] == pytest.approx(list(weights), abs=1e-12)


def test_work_takes_cosine_similarity_of_a_half_and_fifteen_hits() -> None:
    """S3-25, S3-26, C6"""
    work = PROFILES["work"]
    assert (work.min_similarity, work.default_top, work.candidates(15)) == (0.5, 15, 15)


def test_every_field_of_a_profile_is_described() -> None:
    assert set(PROFILE_FIELDS) == set(Profile._fields) - {"name", "about"}


legs_ = st.fixed_dictionaries(
    {
        leg: st.lists(
            st.tuples(st.integers(1, 12), st.floats(0, 1)), unique_by=lambda pair: pair[0]
        ).map(lambda pairs: sorted(pairs, key=lambda pair: -pair[1]))
        for leg in ("keyword", "semantic")
    }
)
documents_ = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(("decision", "temp_note", "markdown")),
            "sector": st.none() | st.sampled_from(SECTORS),
            "salience": st.floats(0, 1),
            "access_count": st.integers(0, 10_000),
            "valid_until": st.none() | st.just(NOW),
            "created_at": st.sampled_from(("2020-01-01T00:00:00.000000Z", NOW)),
            "updated_at": st.sampled_from(("2020-01-01T00:00:00.000000Z", NOW)),
        }
    ),
    min_size=12,
    max_size=12,
)


@pytest.mark.parametrize("profile", list(PROFILES))
@given(legs=legs_, fields=documents_)
def test_the_explanation_reproduces_the_score(
    profile: str, legs: dict[str, list[tuple[int, float]]], fields: list[dict[str, object]]
) -> None:
    """S3-39, S0-17, C3"""
    passages = [passage(number, **each) for number, each in enumerate(fields, 1)]
    for hit in run(profile, legs, *passages).values():
        expected = math.fsum(part.weight * part.value for part in hit.contributions)
        for factor in hit.factors:
            expected *= factor.value
        if profile == "memory":
            expected = min(1.0, max(0.0, expected))
        assert hit.score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("profile", list(PROFILES))
@given(legs=legs_, fields=documents_, data=st.data())
def test_ranking_is_the_same_however_its_input_is_shuffled(
    profile: str,
    legs: dict[str, list[tuple[int, float]]],
    fields: list[dict[str, object]],
    data: st.DataObject,
) -> None:
    """C29"""
    passages = [passage(number, **each) for number, each in enumerate(fields, 1)]
    shuffled = data.draw(st.permutations(passages))
    turned = dict(reversed(legs.items()))
    before = (dict(legs), list(passages))
    assert list(run(profile, legs, *passages)) == list(run(profile, turned, *shuffled))
    assert (legs, passages) == before


@given(legs=legs_, place=st.integers(0, 12))
def test_an_irrelevant_candidate_changes_nothing_but_ranks(
    legs: dict[str, list[tuple[int, float]]], place: int
) -> None:
    """Under RRF, a stranger in one leg moves what is below it there, and nothing else."""
    keyword = [(chunk, 1 - number / 100) for number, (chunk, _) in enumerate(legs["keyword"])]
    place = min(place, len(keyword))
    stranger = (99, 1 - place / 100 + 0.005)
    before = run("kb", {**legs, "keyword": keyword})
    after = run("kb", {**legs, "keyword": [*keyword[:place], stranger, *keyword[place:]]})
    above = {chunk for chunk, _ in keyword[:place]}
    untouched = above | ({chunk for chunk, _ in legs["semantic"]} - {chunk for chunk, _ in keyword})
    for chunk in untouched:
        assert after[chunk].score == before[chunk].score
    assert [c for c in after if c in untouched] == [c for c in before if c in untouched]
