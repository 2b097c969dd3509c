"""Counting the words of many chunks at once, as PostgreSQL's stores do."""

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from knowbase.store.postgres.counting import Counted
from knowbase.store.postgres.words import LONGEST, MOST, key_of
from knowbase.store.tokenizer import stems_alone
from knowbase.values.characters import clean

FIELD = st.one_of(
    st.text(max_size=40).map(clean),
    st.lists(st.sampled_from(["run", "Running", "naïve", "東京", "x-y"]), max_size=6).map(" ".join),
)
TEXTS = st.dictionaries(
    st.integers(1, 2**40), st.tuples(FIELD, FIELD, FIELD, FIELD), min_size=1, max_size=6
)


def postings(counted: Counted) -> dict[tuple[int, str], list[int]]:
    chunks, stems = counted.chunks.tolist(), counted.stems
    places = zip(counted.rows.tolist(), counted.words.tolist(), strict=True)
    often = counted.often.tolist()
    return {
        (chunks[row], stems[word]): each
        for (row, word), each in zip(places, often, strict=True)
    }  # fmt: skip


@given(TEXTS)
@example({1: ("", "", "", "")})
@example({1: ("a" * (LONGEST + 1), "", "b " * (MOST + 2), "")})
def test_every_field_is_counted_as_it_is_by_itself(texts: dict[int, tuple[str, ...]]) -> None:
    counted = Counted.of(texts)  # type: ignore[arg-type]
    expected: dict[tuple[int, str], list[int]] = {}
    having: Counter[str] = Counter()
    for chunk, fields in texts.items():
        each = [Counter(map(key_of, stems_alone(field))) for field in fields]
        for stem in set().union(*each):
            expected[chunk, stem] = [min(one[stem], MOST) for one in each]
            having[stem] += 1
    assert postings(counted) == expected
    assert counted.having() == having
    assert counted.lengths_by_chunk() == {
        chunk: sum(len(stems_alone(field)) for field in fields) for chunk, fields in texts.items()
    }


@given(TEXTS, st.data())
def test_some_of_the_chunks_are_counted_as_if_there_were_no_others(
    texts: dict[int, tuple[str, ...]], data: st.DataObject
) -> None:
    some = data.draw(st.sets(st.sampled_from(sorted(texts))))
    found = Counted.of(texts).among(some)  # type: ignore[arg-type]
    alone = Counted.of({chunk: texts[chunk] for chunk in texts if chunk in some})  # type: ignore[misc]
    assert postings(found) == postings(alone)
    assert found.having() == alone.having()
