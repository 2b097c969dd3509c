"""Of a document the best section counts as it is, every other one a little less."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import knowbase.store  # noqa: F401 - it brings the tokenizer
from knowbase.ranking.profile import PROFILES, Profile
from knowbase.ranking.rank import Ranked, Traits, rank, total
from knowbase.values.documents import Candidate, Chunk, Document, Passage

NOW = "2026-01-01T00:00:00.000000Z"
BEST = PROFILES["best"]._replace(word_first=False, kind_weights={}, title_boost=0.0)
Found = tuple[int, str, float]  # a document's number, a section's slug, a similarity


def ranked(found: list[Found], profile: Profile = BEST, words: int = 0) -> list[Ranked]:
    """The hits; the last so many are also found by words, all equally good."""
    documents = [
        Document(str(seq), seq, f"KB-{seq}", "", "markdown", (), f"{seq}.md", NOW, NOW)
        for seq, _, _ in found
    ]
    passages = {
        number: Passage(
            number, Chunk(slug, number, None, "", "", 0, 1, None, 0, f"{number}"), documents[number]
        )
        for number, (_, slug, _) in enumerate(found)
    }
    semantic = [Candidate(number, score) for number, (_, _, score) in enumerate(found)]
    semantic.sort(key=lambda one: -one.score)
    keyword = [Candidate(number, 1.0) for number in list(passages)[len(found) - words :]]
    legs = {"semantic": semantic, **({"keyword": keyword} if words else {})}
    hits = rank(legs, passages, profile, NOW, Traits(text="a b"))
    for hit in hits:
        made_of = total(hit.contributions, hit.factors, profile.clamp)
        assert hit.score == pytest.approx(made_of, abs=1e-12)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return hits


def chunks(hits: list[Ranked]) -> list[int]:
    return [hit.chunk for hit in hits]


def test_what_is_nearly_as_good_elsewhere_stands_before_more_of_the_same_page() -> None:
    found = [(1, "a", 0.9), (1, "b", 0.8), (2, "c", 0.78), (1, "d", 0.77), (3, "e", 0.4)]
    assert chunks(ranked(found)) == [0, 2, 1, 3, 4]
    assert chunks(ranked(found, BEST._replace(further_factor=1.0))) == [0, 1, 2, 3, 4]


def test_what_is_much_better_stays_before_other_pages() -> None:
    found = [(1, "a", 0.9), (1, "b", 0.89), (2, "c", 0.5)]
    assert chunks(ranked(found)) == [0, 1, 2]


def test_the_explanation_names_the_document_that_has_a_better_passage() -> None:
    first, _, further = ranked([(1, "a", 0.9), (1, "b", 0.8), (2, "c", 0.78)])
    assert first.factors == ()
    assert further.factors == (("further", 0.85, "a further passage of KB-1"),)


def test_pieces_of_one_section_are_one_passage() -> None:
    hits = ranked([(1, "a", 0.9), (1, "a", 0.8), (2, "c", 0.78)])
    assert [(hit.chunk, hit.more, hit.factors) for hit in hits] == [(0, 1, ()), (2, 0, ())]


def test_the_best_passage_is_the_one_with_the_word_where_words_are_meant() -> None:
    found = [(1, "a", 0.72), (2, "b", 0.7), (2, "d", 0.3), (1, "c", 0.5)]
    hits = ranked(found, BEST._replace(word_first=True), words=1)
    assert chunks(hits) == [3, 1, 0, 2]
    assert [hit.factors != () for hit in hits] == [False, False, True, True]


def test_only_the_default_profile_does_so() -> None:
    assert [name for name, one in PROFILES.items() if one.further_factor != 1.0] == ["best"]


@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.sampled_from("abc"), st.floats(0.1, 0.9)),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 3),
    st.booleans(),
)
def test_documents_keep_their_order_by_the_best_passage_of_each(
    found: list[Found], words: int, word_first: bool
) -> None:
    profile = BEST._replace(word_first=word_first)
    orders = []
    for one in (profile, profile._replace(further_factor=1.0)):
        hits = ranked(found, one, min(words, len(found)))
        orders.append(list(dict.fromkeys(found[hit.chunk][0] for hit in hits)))
    assert orders[0] == orders[1]
