"""Vectors as codes of one byte a number: a quarter of the bytes, a product that is nearly right.

A vector is turned first, always the same way, so that no number of it stands out; then each number
is divided by the vector's own step and rounded. What rounding takes away is then as if by chance,
and `Query.slack` bounds what it can do to a product: by five standard deviations, or by the worst
case where that is less. Products by codes only choose what is compared exactly.
"""

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy import int8
    from numpy.typing import NDArray

    from knowbase.store.sqlite.scan import Floats

    Codes = NDArray[int8]

_STEPS = 127
_ROWS = 256  # that are made floats at once, where no kernel multiplies bytes
_DEVIATIONS = 5.0
_SINGLE = 4e-6  # more than single precision is ever wrong by, for vectors of length 1


class Coded(NamedTuple):
    """Vectors as codes, with the step of each."""

    codes: "Codes"
    steps: "Floats"


@lru_cache(maxsize=4)
def _turn(dimensions: int) -> "Floats":
    """A rotation: a cosine transform after changed signs, which are the same everywhere."""
    place = np.arange(dimensions)
    waves = np.cos(np.pi / dimensions * np.outer(place + 0.5, place))
    waves *= np.sqrt(2 / dimensions)
    waves[:, 0] = np.sqrt(1 / dimensions)
    state, signs = 1, []
    for _ in place:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        signs.append(1 - 2 * (state >> 63))
    turned: Floats = (waves * np.array(signs)[:, None]).astype("f4")
    return turned


def coded(matrix: "Floats") -> Coded:
    """Each row as codes."""
    turned = matrix @ _turn(matrix.shape[1])
    steps = np.maximum(turned.max(axis=1), -turned.min(axis=1)) / _STEPS
    turned /= np.maximum(steps, np.finfo("f4").tiny)[:, None]
    return Coded(np.rint(turned, out=turned).astype("i1"), steps)


class Query:
    """What codes are compared with."""

    def __init__(self, vector: "Floats") -> None:
        self._turned = vector @ _turn(len(vector))
        self._codes, steps = coded(vector[None, :])
        self._step = float(steps[0]) if _kernel() is not None else 0.0
        self._length = float(np.linalg.norm(vector))
        self._kernel = _kernel()

    def products(self, codes: "Codes", steps: "Floats") -> "Floats":
        """About the product with each vector."""
        if self._kernel is not None:
            found: Floats = np.asarray(self._kernel(codes, self._codes)).astype("f4")
            found *= steps * np.float32(self._step)
            return found
        found = np.empty(len(codes), "f4")
        room = np.empty((min(_ROWS, len(codes)), codes.shape[1]), "f4")
        for start in range(0, len(codes), _ROWS):
            some = codes[start : start + _ROWS]
            part = room[: len(some)]
            np.copyto(part, some)
            np.dot(part, self._turned, out=found[start : start + len(some)])
        found *= steps
        return found

    def slack(self, step: float, length: float) -> float:
        """How far a product may be off, of vectors with at most this step and length."""
        chance = ((step * self._length) ** 2 + (self._step * length) ** 2) / 12
        worst = step * float(np.abs(self._turned).sum())
        worst += self._step * len(self._turned) ** 0.5 * (length + step * len(self._turned) ** 0.5)
        rounding = _SINGLE * self._length * length
        return float(min(_DEVIATIONS * chance**0.5, worst / 2)) + rounding


@lru_cache(maxsize=1)
def _kernel() -> Any:
    """What multiplies bytes, four times as fast as numpy; it has no wheels for rarer machines."""
    if sys.byteorder != "little":
        return None
    try:
        from numkong import dot
    except ImportError:
        return None
    return dot
