"""Which documents are nearest to each other, by their most similar chunks.

Single-precision products propose pairs of chunks; the cosine that counts is computed in double
precision and rounded, so that it depends on the two vectors alone, not on the block they stood in.
Few vectors are compared with all. Many are put into cells around centres first, and each cell is
compared with the cells nearest to it: what is near lies near the same centres.
"""

from typing import TYPE_CHECKING, NamedTuple

from knowbase import deadline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy import bool_, floating, integer
    from numpy.typing import NDArray

    Floats = NDArray[floating]
    Integers = NDArray[integer]
    Flags = NDArray[bool_]

DIGITS = 6  # of a similarity
MARGIN = 1e-4  # more than single precision is ever wrong by
COMPARED_WITH_ALL = 8_000  # so many vectors at most
_ENTRIES = 4_000_000  # of a block of products: 16 MB
_EXACT = 4096  # pairs that are compared at once
_GROUPS = 64  # of documents, by whose best ones the rest is passed over; more for longer lists
_SPARE = 200  # equal ones that are looked at beyond the last place
_LEVELS = 1 << 20  # of similarity, a margin apart: more than unit vectors have
_POOL = 3_000_000  # pairs that wait to be thinned out
_ROUNDS = 6  # of moving the centres
_LEARNT_FROM = 40  # vectors a centre
_LEAST_CELLS = 16  # that a cell is compared with
_PART_OF_CELLS = 24  # … or this part of all, if that is more


class Vectors(NamedTuple):
    """Vectors, row by row, and the document of each."""

    owners: "Integers"
    matrix: "Floats"


class Near(NamedTuple):
    """Documents that are alike: for each pair its cosine similarity."""

    documents: "Integers"
    others: "Integers"
    cosines: "Floats"


class _Pairs(NamedTuple):
    """Rows of vectors that may be near, and about how near."""

    left: "Integers"
    right: "Integers"
    about: "Floats"


def nearest(vectors: Vectors, threshold: float, most: int) -> Near:
    """For each document its nearest ones above the threshold; of equal ones, the first."""
    if not len(vectors.owners):
        nothing = _nothing()
        return Near(nothing.left, nothing.right, nothing.about)
    parts = _whole(vectors) if len(vectors.owners) <= COMPARED_WITH_ALL else _cells(vectors)
    pool, waiting, enough = [_nothing()], 0, _POOL
    for rows, columns in parts:
        for found in _promising(vectors, rows, columns, threshold, most):
            thin = _thinned(vectors.owners, found, most)
            pool.append(thin)
            waiting += len(thin.left)
        if waiting > enough:
            pool = [_thinned(vectors.owners, _joined(pool), most)]
            waiting = len(pool[0].left)
            enough = max(_POOL, 2 * waiting)
    left, right, _ = _thinned(vectors.owners, _joined(pool), most)
    cosines = exact(vectors.matrix, left, vectors.matrix, right)
    near = best_of(vectors.owners[left], vectors.owners[right], cosines, threshold)
    return first_of(near, most)


def _whole(vectors: Vectors) -> "Iterator[tuple[Integers, Integers]]":
    import numpy as np

    every = np.arange(len(vectors.owners))
    yield every, every


def _cells(vectors: Vectors) -> "Iterator[tuple[Integers, Integers]]":
    """The rows of each cell, and those of all cells near it."""
    import numpy as np

    centres = _centres(vectors.matrix)
    cell = _nearest_centres(vectors.matrix, centres)
    order = np.argsort(cell, kind="stable")
    ends = np.cumsum(np.bincount(cell, minlength=len(centres)))
    members = np.split(order, ends[:-1])
    wanted = min(len(centres), max(_LEAST_CELLS, len(centres) // _PART_OF_CELLS))
    beside = np.argsort(-(centres @ centres.T), axis=1, kind="stable")[:, :wanted]
    for number, rows in enumerate(members):
        if len(rows):
            yield rows, np.sort(np.concatenate([members[one] for one in beside[number]]))


def _centres(matrix: "Floats") -> "Floats":
    """Spherical k-means over some of the vectors; the same vectors give the same centres."""
    import numpy as np

    number = int(1.6 * len(matrix) ** 0.5)
    step = max(1, len(matrix) // (number * _LEARNT_FROM))
    sample = np.ascontiguousarray(matrix[::step])
    centres = sample[:: max(1, len(sample) // number)][:number].copy()
    for _ in range(_ROUNDS):
        deadline.check()
        cell = _nearest_centres(sample, centres)
        order = np.argsort(cell, kind="stable")
        there, starts = np.unique(cell[order], return_index=True)
        sums = np.add.reduceat(sample[order], starts, axis=0)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        centres[there] = sums / np.maximum(norms, 1e-12)
    return centres


def _nearest_centres(matrix: "Floats", centres: "Floats") -> "Integers":
    import numpy as np

    block = max(1, _ENTRIES // len(centres))
    parts = []
    for start in range(0, len(matrix), block):
        deadline.check()
        parts.append(np.argmax(matrix[start : start + block] @ centres.T, axis=1))
    return np.concatenate(parts)


def _promising(
    vectors: Vectors, rows: "Integers", columns: "Integers", threshold: float, most: int
) -> "Iterator[_Pairs]":
    """Pairs of the rows with the columns that may be among the nearest of the row's document.

    Columns of one document stand in one group. The last place is at least as near as the best
    one of that many groups: what is farther is passed over without a look at it.
    """
    import numpy as np

    groups = max(_GROUPS, 3 * most)
    order = np.argsort(vectors.owners[columns] % groups, kind="stable")
    columns = columns[order]
    starts = np.unique(vectors.owners[columns] % groups, return_index=True)[1]
    right = vectors.matrix[columns].T
    place = most + 1  # the document itself is in one of the groups
    block = max(1, _ENTRIES // len(columns))
    for start in range(0, len(rows), block):
        deadline.check()
        some = rows[start : start + block]
        products = vectors.matrix[some] @ right
        floor = np.full((len(some), 1), threshold, dtype="f4")
        if len(starts) >= place:
            best = np.maximum.reduceat(products, starts, axis=1)
            at = best.shape[1] - place
            floor = np.maximum(floor, np.partition(best, at, axis=1)[:, at : at + 1])
        places = np.flatnonzero(products > floor - MARGIN)
        row, column = np.divmod(places, len(columns))
        one, other = some[row], columns[column]
        apart = vectors.owners[one] != vectors.owners[other]
        yield _Pairs(one[apart], other[apart], products.ravel()[places[apart]])


def _thinned(owners: "Integers", pairs: _Pairs, most: int) -> _Pairs:
    """Without what is certainly not the best pair of its documents, or not among the nearest."""
    import numpy as np

    if not len(pairs.left):
        return pairs
    document, other = owners[pairs.left], owners[pairs.right]
    order = np.argsort(document * (int(other.max()) + 1) + other)
    left, right, about = pairs.left[order], pairs.right[order], pairs.about[order]
    document, other = document[order], other[order]
    first = np.flatnonzero(np.r_[True, (np.diff(document) != 0) | (np.diff(other) != 0)])
    sizes = np.diff(np.r_[first, len(about)])
    best = np.maximum.reduceat(about, first)
    close = _is_close(document[first], best, most)
    kept = np.repeat(close, sizes) & (about > np.repeat(best, sizes) - MARGIN)
    return _Pairs(left[kept], right[kept], about[kept])


def _is_close(document: "Integers", best: "Floats", most: int) -> "Flags":
    """Of each document's pairs, which come in order, those that rounding could put into the first
    places."""
    import numpy as np

    level = np.clip(np.round(best / -MARGIN), -_LEVELS, _LEVELS).astype("i8")
    order = np.argsort(document * (2 * _LEVELS) + level, kind="stable")  # by other, as they came
    rank = _ranks(document[order])
    value = best[order]
    at_last = rank == most - 1
    groups = np.cumsum(rank == 0) - 1
    bound = np.full(groups[-1] + 1, -np.inf)
    bound[groups[at_last]] = value[at_last]
    last = bound[groups]
    close = np.empty(len(order), dtype=bool)
    close[order] = (rank < most) | ((value > last - 3 * MARGIN) & (rank < most + _SPARE))
    return close


def _ranks(document: "Integers") -> "Integers":
    """The place of each among those of its document, which stand together."""
    import numpy as np

    first = np.flatnonzero(np.r_[True, np.diff(document) != 0])
    sizes = np.diff(np.r_[first, len(document)])
    return np.arange(len(document)) - np.repeat(first, sizes)


def exact(one: "Floats", rows: "Integers", other: "Floats", columns: "Integers") -> "Floats":
    """Cosines of unit vectors: products of single-precision numbers are exact in double
    precision."""
    import numpy as np

    found = np.empty(len(rows))
    for start in range(0, len(rows), _EXACT):
        deadline.check()
        some = slice(start, start + _EXACT)
        left, right = one[rows[some]].astype("f8"), other[columns[some]].astype("f8")
        found[some] = np.round((left * right).sum(axis=1), DIGITS)
    return found


def best_of(documents: "Integers", others: "Integers", cosines: "Floats", threshold: float) -> Near:
    """The best of each pair, above the threshold; by document, the nearest first."""
    import numpy as np

    above = cosines > threshold
    documents, others, cosines = documents[above], others[above], cosines[above]
    order = np.lexsort((-cosines, others, documents))
    documents, others, cosines = documents[order], others[order], cosines[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(documents) != 0) | (np.diff(others) != 0)
    documents, others, cosines = documents[first], others[first], cosines[first]
    order = np.lexsort((others, -cosines, documents))
    return Near(documents[order], others[order], cosines[order])


def first_of(near: Near, most: int) -> Near:
    """The first ones of each document."""
    if not len(near.documents):
        return near
    kept = _ranks(near.documents) < most
    return Near(near.documents[kept], near.others[kept], near.cosines[kept])


def above(rows: "Floats", columns: "Floats", threshold: float) -> "tuple[Integers, Integers]":
    """Every pair that is more alike than the threshold, or may be."""
    import numpy as np

    lefts, rights = [np.empty(0, dtype="i8")], [np.empty(0, dtype="i8")]
    block = max(1, _ENTRIES // max(1, len(columns)))
    for start in range(0, len(rows), block):
        deadline.check()
        left, right = np.nonzero(rows[start : start + block] @ columns.T > threshold - MARGIN)
        lefts.append(left + start)
        rights.append(right)
    return np.concatenate(lefts), np.concatenate(rights)


def _nothing() -> _Pairs:
    import numpy as np

    return _Pairs(np.empty(0, dtype="i8"), np.empty(0, dtype="i8"), np.empty(0, dtype="f4"))


def _joined(pool: list[_Pairs]) -> _Pairs:
    import numpy as np

    return _Pairs(*(np.concatenate(values) for values in zip(*pool, strict=True)))
