"""Similarities that depend on the vectors alone."""

import math
import struct
import sys
from operator import mul

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from knowbase.store.nearest import nearest, similarities

number = st.floats(-1, 1, width=32)
vectors = st.lists(st.lists(number, min_size=23, max_size=23), min_size=2, max_size=40)


def packed(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


@given(vectors)
def test_both_ways_to_add_up_agree(lists: list[list[float]]) -> None:
    assert "numpy" in sys.modules
    query, *others = lists
    found = similarities(packed(query), [packed(one) for one in others])
    exact = [math.fsum(a * b for a, b in zip(query, one, strict=True)) for one in others]
    for one, other in zip(found, exact, strict=True):
        assert abs(one - other) <= math.ulp(other)  # at most where a tie is decided by a trifle


def test_they_agree_to_the_last_bit_on_vectors_as_models_make_them() -> None:
    chance = np.random.default_rng(7)
    for _ in range(50):
        table = chance.standard_normal((41, 385)).astype("<f4")
        query, *others = (row / np.linalg.norm(row) for row in table)
        found = similarities(query.tobytes(), [one.tobytes() for one in others])
        listed = query.tolist()
        assert found == [math.fsum(map(mul, listed, one.tolist())) for one in others]


@given(vectors, st.data())
def test_a_similarity_does_not_depend_on_what_else_is_compared(
    lists: list[list[float]], data: st.DataObject
) -> None:
    query, *others = map(packed, lists)
    whole = similarities(query, others)
    place = data.draw(st.integers(0, len(others) - 1))
    assert similarities(query, [others[place]]) == [whole[place]]
    assert similarities(query, [others[place]] * 9) == [whole[place]] * 9


def test_equal_vectors_tie_wherever_they_stand() -> None:
    chance = np.random.default_rng(1)
    one = chance.standard_normal(384).astype("<f4").tobytes()
    rest = [chance.standard_normal(384).astype("<f4").tobytes() for _ in range(50)]
    proposed = [(chunk, one if chunk % 7 == 0 else rest[chunk]) for chunk in range(50)]
    found = nearest(one, 8, lambda most: proposed[::-1][:most] if most < 50 else proposed[::-1])
    best = [candidate.chunk for candidate in found if candidate.score == found[0].score]
    assert best == sorted(best)
    assert len(best) > 1
