"""Which documents have chunks that are alike: blocked matrix products over stored vectors.

Single-precision products propose pairs; the cosine that counts is computed in double precision
and rounded, so that it depends on the two vectors alone, not on the block they stood in.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from knowbase.values.vectors import Vector

if TYPE_CHECKING:
    from numpy import floating, integer
    from numpy.typing import NDArray

    Floats = NDArray[floating]
    Integers = NDArray[integer]

DIGITS = 6  # of a similarity
_MARGIN = 1e-4  # more than single precision is ever wrong by
_ENTRIES = 4_000_000  # of a block: 16 MB
_EXACT = 4096  # pairs that are compared at once
_TRIES = 3
_COMPARING = threading.Lock()

Similar: TypeAlias = dict[tuple[int, int], float]
"""Pairs of documents, the lower number first, with their cosine similarity."""


class VectorsDue(NamedTuple):
    """What is to be compared, as it was at one moment."""

    version: int  # another one when a vector has changed
    documents: list[int]  # whose vectors changed since they were compared
    owners: list[int]  # for each vector of the base its document
    vectors: list[Vector]


def link(
    is_due: Callable[[], bool],
    read: Callable[[], VectorsDue],
    write: Callable[[VectorsDue, Similar], bool],
    threshold: float,
) -> int:
    """Compare what is due with everything while nobody has to wait, then write the links.

    When others have changed vectors meanwhile, it is done again, but not for ever: what is left
    is due, and each of them compares at the end of his own writing. Threads do so one at a time:
    each has all vectors in memory, and the first one does the work of those who wait.
    """
    with _COMPARING:
        for _ in range(_TRIES if is_due() else 0):
            due = read()
            pairs = similar_documents(due.owners, due.vectors, due.documents, threshold)
            if write(due, pairs):
                return len(due.documents)
    return 0


def similar_documents(
    owners: Sequence[int], vectors: Sequence[Vector], due: Collection[int], threshold: float
) -> Similar:
    """Pairs of documents, of which one is due and whose most similar
    chunks are more alike than the threshold, with their cosine similarity.

    `owners` has for each vector the document that it belongs to.
    """
    import numpy as np

    if not vectors or not due:
        return {}
    owner = np.asarray(owners, dtype=np.int64)
    matrix = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)
    is_due = np.isin(owner, np.fromiter(due, dtype=np.int64))
    # What is due comes first: a row is compared with itself and all behind it, never twice.
    order = np.argsort(~is_due, kind="stable")
    owner, matrix = owner[order], matrix[order]
    found: Similar = {}
    block = max(1, _ENTRIES // len(vectors))
    last = int(is_due.sum())
    for start in range(0, last, block):
        rows = min(block, last - start)
        for pair, value in _in_block(matrix[start:], owner[start:], rows, threshold):
            if value > max(threshold, found.get(pair, -1.0)):
                found[pair] = value
    return found


def _in_block(
    matrix: "Floats", owner: "Integers", rows: int, threshold: float
) -> Iterator[tuple[tuple[int, int], float]]:
    """The first rows with all: the best pair of chunks of each pair of documents, or several
    that are as good."""
    import numpy as np

    products = matrix[:rows] @ matrix.T
    left, right = np.nonzero(products > threshold - _MARGIN)
    about = products[left, right]
    other = owner[left] != owner[right]
    left, right, about = left[other], right[other], about[other]
    if not len(left):
        return
    low = np.minimum(owner[left], owner[right])
    high = np.maximum(owner[left], owner[right])
    order = np.lexsort((high, low))
    left, right, about, low, high = (one[order] for one in (left, right, about, low, high))
    first = np.flatnonzero(np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])])
    best = np.repeat(np.maximum.reduceat(about, first), np.diff(np.r_[first, len(about)]))
    kept = np.flatnonzero(about > best - _MARGIN)
    for start in range(0, len(kept), _EXACT):
        some = kept[start : start + _EXACT]
        exact = _cosines(matrix[left[some]], matrix[right[some]])
        pairs = zip(low[some].tolist(), high[some].tolist(), strict=True)
        yield from zip(pairs, exact, strict=True)


def _cosines(one: "Floats", other: "Floats") -> list[float]:
    """Products of single-precision numbers are exact in double precision."""
    sums = (one.astype("f8") * other.astype("f8")).sum(axis=1)
    return [round(value, DIGITS) for value in sums.tolist()]
