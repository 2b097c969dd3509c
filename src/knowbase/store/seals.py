"""Seals: a short hash beside what is stored, written with it; what no longer fits was damaged.

They are computed from values, not from an engine's bytes: the same on every engine.
"""

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowbase.values.copies import ChunkCopy, Copy, GivenVerdict
    from knowbase.values.vectors import Vector

SIZE = 8  # bytes: by chance, one damage in 10^19 would fit
OF_USE = ("salience", "access_count", "last_accessed_at", "confirmed")
"""What changes whenever a document is of use: sealed apart, so that a use seals nothing else."""


SEALS = ("seal", "text_seal", "use_seal")
"""The columns of documents that have them."""


class Seals(NamedTuple):
    """Of one document; None: written before there were any."""

    fields: bytes | None
    text: bytes | None
    use: bytes | None


def canonical(value: object) -> bytes:
    """A value as every store holds it: PostgreSQL has no NUL in text."""
    return _stored(repr(value))


def _stored(shown: str) -> bytes:
    return shown.replace("\\x00", "\ufffd").encode("utf-8", "surrogatepass") + b"\n"


def _canonical_chunk(copy: "ChunkCopy") -> bytes:
    """The same of a chunk without its vectors, put together at once: named tuples within others
    each take a call to be shown, and a copy to leave something out."""
    shown = _shown_chunk() % (copy.id, copy.position, *copy.chunk, copy.title, copy.terms)
    return _stored(shown)


@cache
def _shown_chunk() -> str:
    from knowbase.values.documents import Chunk

    chunk = ", ".join(f"{name}=%r" for name in Chunk._fields)
    return f"ChunkCopy(id=%r, position=%r, chunk=Chunk({chunk}), title=%r, terms=%r, vectors=())"


def seals_of(copy: "Copy") -> Seals:
    document = copy.document
    steady = document._replace(salience=0.0, access_count=0, last_accessed_at=None, confirmed=0)
    use = [getattr(document, name) for name in OF_USE]
    return Seals(
        _hash(canonical((steady, dict(copy.said), copy.links))),
        _hash(*map(_canonical_chunk, copy.chunks)),
        use_seal(use, copy.verdicts),
    )


def use_seal(values: "Sequence[object]", verdicts: "Sequence[GivenVerdict]") -> bytes:
    """Of the fields in `OF_USE`, and of what was found of the document."""
    return _hash(canonical((tuple(values), tuple(verdicts))))


def vector_seal(vector: "Vector") -> bytes:
    return _hash(vector)


def _hash(*parts: bytes) -> bytes:
    from hashlib import blake2b

    found = blake2b(digest_size=SIZE)
    for part in parts:
        found.update(part)
    return found.digest()
