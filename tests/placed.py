"""A base whose texts lie where they say: for trials of exact scores through what users call."""

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import knowbase
from knowbase import Base, Note
from knowbase.values.documents import Document
from knowbase.values.vectors import Model
from stores import similarity, vector

DAY = 86_400.0
QUERY = vector(1, 0, 0, 0)


class Placed:
    """An embedder for tests: a text that says `cos0.80` has that similarity to every query."""

    model = Model("placed", "1", 4)
    max_tokens = 512

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[bytes]:
        return map(self._at, texts)

    def embed_query(self, text: str) -> bytes:
        return QUERY

    def _at(self, text: str) -> bytes:
        said = re.search(r"cos(-?\d\.\d+)", text)
        return placed_at(float(said[1]) if said else 0.0)


def placed_at(cosine: float) -> bytes:
    return vector(cosine, math.sqrt(1 - cosine * cosine), 0, 0)


def seen_at(cosine: float) -> float:
    """The similarity that a search sees of a text that was placed there."""
    return similarity(QUERY, placed_at(cosine))


class Clock:
    """A clock that is told the time."""

    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


def placed_base(folder: Path, clock: Clock | None = None, profile: str | None = None) -> Base:
    """A new base with that embedder."""
    path = knowbase.create(str(folder / "placed.db"), profile=profile).path
    return Base(path, embedder=Placed(), clock=clock or Clock())


def write(base: Base, code: str, text: str, cosine: float = 0.0, **fields: Any) -> Document:
    """A note that has a similarity to every query; its words are the text's and its own code."""
    fields = {"title": code, **fields}
    return base.note(Note(f"{text} cos{cosine:.3f}", code=code, **fields))
