"""Copies of documents in batches."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from knowbase.values.copies import LARGE, Copy, batches, large
from knowbase.values.documents import Document

DOCUMENT = Document("d", 1, "KB-1", "t", "note", (), None, "", "")


def copy_of(chunks: int) -> Copy:
    return Copy(DOCUMENT, {}, (), (), (None,) * chunks)  # type: ignore[arg-type]


@given(st.lists(st.sampled_from([0, 1, 30, LARGE // 3, 2 * LARGE]), max_size=300))
def test_batches_are_as_large_whatever_the_base_has(chunks: list[int]) -> None:
    copies = [copy_of(number) for number in chunks]
    read = [[copies[place] for place in batch] for batch in batches(range(len(copies)))]
    written = list(large(read))
    assert list(chain.from_iterable(written)) == copies
    for batch in written[:-1]:
        assert sum(1 + len(one.chunks) for one in batch) >= LARGE
    for batch in written:  # a part as it was read is not divided
        first = sum(1 + len(one.chunks) for one in batch[: -max(map(len, read))])
        assert first < LARGE
