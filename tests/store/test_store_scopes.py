"""What every store promises of parts of a base, of numbers and of codes."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowbase.errors import Conflict
from knowbase.query.conditions import EVERYTHING, Compare, Condition
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.contract import Store
from knowbase.store.plain import PlainStore
from knowbase.text.analysis import Word
from knowbase.values.changes import Changes
from knowbase.values.documents import Document
from stores import NOW, draft, section, vector

PLAIN = FieldWeights()


def put(store: Store, *drafts: object) -> None:
    store.apply(Changes(drafts=tuple(drafts)), NOW)  # type: ignore[arg-type]


WORDS = ("brown", "fox", "bears", "brown fox", "h*", "nothing", "--")


@given(
    texts=st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from(WORDS[:5])), max_size=12),
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True),
    match=st.sampled_from(["any", "all"]),
)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_others_have_does_not_show_in_a_score_counted_among_ones_own(
    store: Store, texts: list[tuple[str, str]], words: list[str], match: str
) -> None:
    """S0-01, C26"""
    drafts = [
        draft(f"{number}", section(f"{text} honey {number}"), project=project, code=f"C-{number}")
        for number, (project, text) in enumerate(texts)
    ]
    ours, query = Compare("project", "=", "p"), KeywordQuery(tuple(map(word_of, words)), match)
    put(store, *drafts)
    alone = PlainStore()
    alone.apply(
        Changes(drafts=tuple(one for one in drafts if one.reading.value("project") == "p")), NOW
    )
    first = {one.id: score for one, score in scored(alone, query, EVERYTHING)}
    among = {one.id: score for one, score in scored(store, query, ours)}
    store.apply(Changes(removed=tuple(one.id for one in drafts)), NOW)
    assert among == pytest.approx(first, rel=1e-9)


def word_of(text: str) -> Word:
    return Word(text.rstrip("*"), prefix=text.endswith("*"))


def scored(store: Store, query: KeywordQuery, ours: Condition) -> list[tuple[Document, float]]:
    found = store.keyword(query._replace(among=ours), ours, 50, PLAIN)
    passages = store.passages([one.chunk for one in found])
    return [(passages[one.chunk].document, one.score) for one in found]


def test_what_is_counted_is_what_passes(store: Store) -> None:
    put(
        store,
        draft(
            "a",
            section("one"),
            section("two", "Two"),
            project="p",
            vectors=(vector(1, 0, 0, 0), None),
        ),
        draft("b", section("three"), project="q"),
    )
    ours = store.counts(Compare("project", "=", "p"))
    assert (ours.documents, ours.chunks, ours.embedded) == (1, 2, 1)
    assert store.semantic_coverage(Compare("project", "=", "p")) == 0.5
    assert store.semantic_coverage(Compare("project", "=", "none")) == 1.0


@pytest.mark.parametrize(
    "reference", ["²", "³1", "١", "①", "1²", "0x1", "+1", "01", " 1", "9" * 30]
)
def test_only_plain_digits_are_a_number(store: Store, reference: str) -> None:
    put(store, draft("a", section("one")))
    assert store.find(reference) is None
    number = store.find("1")
    assert number is not None
    assert number.id == "a"


def test_a_document_that_must_have_its_code_is_not_written_with_another(store: Store) -> None:
    put(store, draft("a", section("one"), code="SAME-1"))
    second = draft("b", section("two"), code="same-1")
    with pytest.raises(Conflict) as refused:
        put(store, draft("c", section("three")), second._replace(own_code=True))
    assert refused.value.field == "code"
    assert [store.find("b"), store.find("c")] == [None, None]
    put(store, second)  # a file's code, which is taken: it keeps one of its own
    assert store.find("b").code != "SAME-1"  # type: ignore[union-attr]
