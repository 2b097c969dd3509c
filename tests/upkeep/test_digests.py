"""Digests: two bases have the same ones when they hold the same, and only then."""

from collections.abc import Sequence

import pytest

from knowbase.upkeep.digests import Digests
from knowbase.values.copies import ChunkCopy, Copy
from knowbase.values.documents import Chunk, Document
from knowbase.values.vectors import Model

DOCUMENT = Document("d", 1, "KB-1", "t", "note", (), None, "", "")
MODEL, OTHER = Model("one", "1", 2), Model("other", "1", 2)


def chunk(
    number: int, text: str, vectors: Sequence[tuple[Model, bytes]] = (), terms: str = ""
) -> ChunkCopy:
    whole = Chunk("s", 0, None, "", text, 0, 1, None, 3, "h")
    return ChunkCopy(number, number - 1, whole, "t", terms, tuple(vectors))


def digest_of(*chunks: ChunkCopy) -> list[tuple[int, str]]:
    found = Digests()
    found.add([Copy(DOCUMENT, {}, (), (), chunks)])
    sums = (found._documents, found._chunks, found._vectors)
    return [(one.part().rows, one.part().sha256) for one in sums]


def test_rows_are_counted_by_kind() -> None:
    found = digest_of(chunk(1, "a", [(MODEL, b"1" * 8), (OTHER, b"2" * 8)]), chunk(2, "b"))
    assert [rows for rows, _ in found] == [1, 2, 2]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param([chunk(1, "ab"), chunk(2, "c")], [chunk(1, "a"), chunk(2, "bc")], id="text"),
        pytest.param([chunk(1, "a", terms="b")], [chunk(1, "ab")], id="field"),
        pytest.param([chunk(1, "a")], [chunk(3, "a")], id="number"),
        pytest.param(
            [chunk(1, "a", [(MODEL, b"1" * 8)])], [chunk(1, "a", [(OTHER, b"1" * 8)])], id="model"
        ),
        pytest.param(
            [chunk(1, "a", [(MODEL, b"1" * 8)]), chunk(2, "a")],
            [chunk(1, "a"), chunk(2, "a", [(MODEL, b"1" * 8)])],
            id="vector of another chunk",
        ),
        pytest.param(
            [chunk(1, "a", [(MODEL, b"1" * 8)])], [chunk(1, "a", [(MODEL, b"1" * 7 + b"2")])],
            id="vector",
        ),
    ],
)  # fmt: skip
def test_what_differs_has_another_digest(one: list[ChunkCopy], other: list[ChunkCopy]) -> None:
    assert digest_of(*one) != digest_of(*other)


def test_what_a_store_cannot_hold_is_what_it_holds_instead() -> None:
    """PostgreSQL has no NUL in text."""
    assert digest_of(chunk(1, "a\0b", terms="\0")) == digest_of(
        chunk(1, "a\ufffdb", terms="\ufffd")
    )
