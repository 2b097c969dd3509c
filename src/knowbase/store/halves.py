"""Vectors at half precision, as every store keeps them; by numpy where that is loaded."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowbase.values.vectors import Vector


def halved(vector: "Vector") -> bytes:
    """Numbers as little-endian half precision, each the nearest one."""
    if "numpy" in sys.modules:
        import numpy as np

        with np.errstate(over="ignore"):  # what is too large is infinite
            return np.frombuffer(vector, "<f4").astype("<f2").tobytes()
    import struct

    number = len(vector) // 4
    return struct.pack(f"<{number}e", *struct.unpack(f"<{number}f", vector))


def whole(half: bytes) -> "Vector":
    """The same numbers as float32."""
    if "numpy" in sys.modules:
        import numpy as np

        return np.frombuffer(half, "<f2").astype("<f4").tobytes()
    import struct

    number = len(half) // 2
    return struct.pack(f"<{number}f", *struct.unpack(f"<{number}e", half))


def halved_all(vectors: "Sequence[Vector]") -> "list[tuple[bytes, Vector]]":
    """Of each, its halves, and what they are as float32."""
    if "numpy" not in sys.modules or len(set(map(len, vectors))) != 1:
        return [(half := halved(vector), whole(half)) for vector in vectors]
    import numpy as np

    with np.errstate(over="ignore"):
        halves = np.frombuffer(b"".join(vectors), "<f4").astype("<f2")
    kept = halves.astype("<f4").reshape(len(vectors), -1)
    return [
        (half.tobytes(), one.tobytes())
        for half, one in zip(halves.reshape(len(vectors), -1), kept, strict=True)
    ]


def as_kept(vector: "Vector") -> "Vector":
    """A vector as every store gives it back: two bytes a number tell texts apart as well as four
    (docs/benchmarks.md), and all stores round alike, so that their answers are the same."""
    return whole(halved(vector))
