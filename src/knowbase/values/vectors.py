"""Vectors and the models that make them: packed float32, and arithmetic that needs no numpy.

Stores keep them at half precision (`store/halves.py`), and give them back as float32.
"""

import sys
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

Vector: TypeAlias = bytes
"""A unit-length embedding as packed little-endian float32."""

SMALLEST_NORM = 1e-12


class Model(NamedTuple):
    """The identity of an embedding model; vectors of two identities are never compared."""

    name: str
    revision: str
    dimensions: int


class Claim(NamedTuple):
    """Who makes vectors of what it took, and how long it is left to that one."""

    holder: str
    seconds: float


class StoredModel(NamedTuple):
    """A model whose vectors a base holds."""

    model: Model
    source: str  # how to load it; only the embedders understand it
    vectors: int  # chunks that have one
    active: bool  # the one that searches use


class IndexState(NamedTuple):
    """An index of vectors beside a base."""

    vectors: int  # that it has; 0: it cannot be used, and is made anew
    behind: int  # changed since, and read from the base
    segments: int


def normalize_embedding(embedding: Sequence[float]) -> list[float]:
    """S0-09: scaled to unit length; a vector of (nearly) no length is returned unchanged."""
    import math

    norm = math.sqrt(math.fsum(number * number for number in embedding))
    if norm < SMALLEST_NORM:
        return list(embedding)
    return [number / norm for number in embedding]


def pack(embedding: Sequence[float]) -> Vector:
    """Numbers as little-endian float32."""
    from array import array

    numbers = array("f", embedding)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def unpack(vector: Vector) -> list[float]:
    from array import array

    numbers = array("f")
    numbers.frombytes(vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def mean(vectors: Sequence[Vector]) -> Vector:
    """The direction between several vectors, of unit length; nothing for none."""
    if not vectors:
        return b""
    import math

    columns = zip(*map(unpack, vectors), strict=True)
    return pack(normalize_embedding([math.fsum(column) for column in columns]))
