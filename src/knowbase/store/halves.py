"""Vectors at half precision, as every store keeps them; by numpy where that is loaded."""

import sys

from knowbase.values.vectors import Vector


def halved(vector: Vector) -> bytes:
    """Numbers as little-endian half precision, each the nearest one."""
    if "numpy" in sys.modules:
        import numpy as np

        with np.errstate(over="ignore"):  # what is too large is infinite
            return np.frombuffer(vector, "<f4").astype("<f2").tobytes()
    import struct

    number = len(vector) // 4
    return struct.pack(f"<{number}e", *struct.unpack(f"<{number}f", vector))


def whole(half: bytes) -> Vector:
    """The same numbers as float32."""
    if "numpy" in sys.modules:
        import numpy as np

        return np.frombuffer(half, "<f2").astype("<f4").tobytes()
    import struct

    number = len(half) // 2
    return struct.pack(f"<{number}f", *struct.unpack(f"<{number}e", half))


def as_kept(vector: Vector) -> Vector:
    """A vector as every store gives it back: two bytes a number tell texts apart as well as four
    (docs/benchmarks.md), and all stores round alike, so that their answers are the same."""
    return whole(halved(vector))
