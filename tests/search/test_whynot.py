"""`why-not` is honest for every way of losing."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from knowbase.base import Base, create
from knowbase.errors import NotFound
from knowbase.ranking.profile import PROFILES
from knowbase.search.request import SearchRequest
from knowbase.values.changes import Changes
from knowbase.values.vectors import Model
from stores import draft, section, vector

MODEL = Model("test", "1", 4)


class AlongFirstAxis:
    """An embedder for tests: every query points along the first axis."""

    model = MODEL
    max_tokens = 512

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[bytes]:
        return iter([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> bytes:
        return vector(1, 0, 0, 0)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Base]:
    """Forty documents with the word; the higher the number, the worse in both legs."""
    path = create(str(tmp_path / "b.db")).path
    with Base(path, embedder=AlongFirstAxis()) as made:
        made.store.use_model(MODEL)
        drafts = [
            draft(
                f"d{n}",
                section("alpha " + "filler " * n),
                code=f"D-{n}",
                vectors=(vector(100 - n, n, 0, 0),),
            )
            for n in range(40)
        ]
        drafts += [
            draft("tagged", section("alpha"), code="T-1", tags=("ops",), type="note"),
            draft("old", section("alpha"), code="OLD", archived=True),
            draft(
                "expired", section("alpha"), code="EXP", expires_at="2020-01-01T00:00:00.000000Z"
            ),
            draft("replaced", section("alpha"), code="REP", superseded_by="D-1"),
            draft("other", section("beta"), code="B-1", vectors=(None,)),
            draft("against", section("gamma"), code="G-1", vectors=(vector(-1, 0, 0, 0),)),
        ]
        made.store.apply(Changes(drafts=tuple(drafts)), "2026-01-01T00:00:00.000000Z")
        yield made


def ask(base: Base, code: str, **options: object) -> tuple[str, str]:
    answer = base.why_not(code, SearchRequest("alpha", **options))  # type: ignore[arg-type]
    return answer.stage, answer.reason


def test_a_document_with_many_matching_chunks_does_not_crowd_out_the_others(base: Base) -> None:
    """C15"""
    big = draft("big", *(section("alpha", f"s{n}", f"Section {n}") for n in range(200)), code="BIG")
    base.store.apply(Changes(drafts=(big,)), "2026-01-01T00:00:00.000000Z")
    answer = base.search(SearchRequest("alpha", top=10, unit="document"))
    assert answer.returned == 10
    assert len({hit.code for hit in answer.hits}) == 10
    [found] = [hit for hit in answer.hits if hit.code == "BIG"]
    assert found.more >= 29


def test_a_document_that_is_there_is_named_with_its_place(base: Base) -> None:
    request = SearchRequest("alpha", top=5)
    hits = base.search(request).hits
    assert len(hits) == 5
    for place, hit in enumerate(hits, 1):
        answer = base.why_not(hit.code, request)
        assert (answer.stage, answer.reason) == ("hit", f"it is there: hit number {place}")
        assert answer.score == pytest.approx(hit.score)


def test_a_filter_is_named(base: Base) -> None:
    assert ask(base, "D-1", tags=("ops",))[0] == "filtered"
    assert "tags" in ask(base, "D-1", tags=("ops",))[1]
    assert "type" in ask(base, "D-1", type=("note",))[1]


@pytest.mark.parametrize(
    ("code", "state"), [("OLD", "archived"), ("EXP", "expired"), ("REP", "superseded")]
)
def test_the_lifecycle_is_named(base: Base, code: str, state: str) -> None:
    """C14"""
    stage, reason = ask(base, code)
    assert stage == "hidden"
    assert state in reason
    assert ask(base, code, include=(state,))[0] != "hidden"


def test_what_no_leg_finds_is_said(base: Base) -> None:
    none, vector_ = "it has none of the words that were looked for", "it has no vector"
    assert ask(base, "B-1") == ("not matched", f"{none} and {vector_}")
    assert ask(base, "B-1", mode="keyword") == ("not matched", none)
    request = SearchRequest("alpha beta", mode="keyword", profile="typed")
    assert "not have all of the words" in base.why_not("D-1", request).reason


def test_a_rank_beyond_the_depth_is_given_for_each_leg(base: Base) -> None:
    answer = base.why_not("D-39", SearchRequest("alpha", top=2, profile="kb"))
    assert answer.stage == "depth"
    places = {leg.leg: (leg.rank, leg.depth) for leg in answer.legs}
    assert places["semantic"][1] == places["keyword"][1] == 6
    assert all(rank is not None and rank > 6 for rank, _ in places.values())


def test_the_limit_is_named_with_the_margin(base: Base) -> None:
    request = SearchRequest("alpha", top=4)
    wide = base.search(SearchRequest("alpha", top=12)).hits
    candidate = base.why_not(wide[5].code, request)
    assert candidate.stage == "limit"
    assert candidate.needed == pytest.approx(base.search(request).hits[-1].score)
    assert candidate.margin == pytest.approx(candidate.needed - candidate.score)  # type: ignore[operator]
    assert candidate.margin is not None
    assert candidate.margin > 0


def test_the_threshold_is_named_with_the_margin(base: Base) -> None:
    """S1-17"""
    answer = base.why_not("D-5", SearchRequest("alpha", top=20, threshold=0.0327, profile="kb"))
    assert answer.stage == "threshold"
    assert answer.margin == pytest.approx(0.0327 - (answer.score or 0))


def test_the_floor_is_named(base: Base) -> None:
    """C6"""
    answer = base.why_not("G-1", SearchRequest("alpha", profile="entries"))
    assert answer.stage == "floor"
    assert "0.3" in answer.reason


def test_an_unknown_document_is_an_error(base: Base) -> None:
    with pytest.raises(NotFound):
        base.why_not("NOTHING", "alpha")


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_explains_its_hits_to_the_digit(base: Base, profile: str) -> None:
    """S3-39, C3, C27"""
    answer = base.search(SearchRequest("alpha", profile=profile, explain=True, top=5))
    assert answer.profile == profile
    assert answer.returned == 5
    for hit in answer.hits:
        assert hit.explanation is not None
        product = hit.explanation.sum
        for factor in hit.explanation.factors:
            product *= factor.value
        assert product == pytest.approx(hit.score, abs=1e-12)
        assert sum(part.gain for part in hit.explanation.contributions) == pytest.approx(
            hit.explanation.sum, abs=1e-12
        )


@pytest.mark.parametrize("mode", ["keyword", "semantic"])
@pytest.mark.parametrize("profile", PROFILES)
def test_a_filter_never_changes_the_order_of_what_passes_it_in_a_leg(
    base: Base, profile: str, mode: str
) -> None:
    """C33, S4-12: scores and their order are those of the whole base."""
    everything = SearchRequest("alpha", profile=profile, top=45, mode=mode)
    order = [hit.code for hit in base.search(everything).hits if hit.type == "markdown"]
    passing = base.search(everything._replace(type=("markdown",))).hits
    assert [hit.code for hit in passing][: len(order)] == order


def test_hits_say_which_legs_found_them_and_are_sorted_and_cut(base: Base) -> None:
    """S2-15, S2-20"""
    hits = base.search(SearchRequest("alpha", profile="memory", top=7)).hits
    assert len(hits) == 7
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert {hit.match_type for hit in hits} == {"both"}
    by_words = base.search(SearchRequest("alpha", profile="memory", mode="keyword")).hits
    assert {hit.match_type for hit in by_words} == {"keyword"}


def test_a_superseded_hit_names_what_took_its_place(base: Base) -> None:
    """S2-18, C14"""
    request = SearchRequest("alpha is:superseded", mode="keyword")
    [hit] = base.search(request).hits
    assert hit.is_superseded
    assert hit.superseded_by is not None
    assert hit.superseded_by.code == "D-1"
    assert hit.superseded_by.content == "alpha filler "


def test_filters_of_memories_are_applied_before_the_limit(base: Base) -> None:
    """S2-14: however few pass, they are found."""
    request = SearchRequest("alpha", profile="memory", top=1, type=("note",))
    assert [hit.code for hit in base.search(request).hits] == ["T-1"]
    assert base.search(request._replace(filters={"salience": ">0.9"})).hits == ()


def test_searching_changes_nothing(base: Base) -> None:
    """C12, S0-25, S4-27"""
    before = base.documents()
    for profile in PROFILES.keys() - {"memory"}:
        base.search(SearchRequest("alpha", profile=profile))
    assert base.documents() == before
