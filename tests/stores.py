"""What the store tests share: every backend, and documents made from few words."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from knowbase.query.words import Frequencies
from knowbase.store.contract import Store
from knowbase.store.plain import PlainStore
from knowbase.store.postgres import create as create_postgres
from knowbase.store.sqlite import SqliteStore, create
from knowbase.text.splitting import Limits, chunks_of
from knowbase.values.changes import Changes, Draft
from knowbase.values.documents import Candidate
from knowbase.values.reading import Reading, Section
from knowbase.values.vectors import Model, Vector, normalize_embedding, pack
from postgres import new_base

MODEL = Model("test", "1", 4)
NOW = "2026-01-01T00:00:00.000000Z"


class AlwaysIndexed(SqliteStore):
    """Brings its indexes in step before each search."""

    def semantic(self, *given: Any) -> list[Candidate]:
        self.renew_index()
        return super().semantic(*given)

    def keyword(self, *given: Any) -> list[Candidate]:
        self.renew_index()
        return super().keyword(*given)

    def frequencies(self, *given: Any) -> Frequencies:
        self.renew_index()
        return super().frequencies(*given)


def with_index(path: str) -> Store:
    """A base whose index has any number of vectors, and is there once it is asked for; with
    KB_TEST_INDEX set, always."""
    create(path).close()
    kind = AlwaysIndexed if os.environ.get("KB_TEST_INDEX") else SqliteStore
    return kind(path, index_after=1)


BACKENDS: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: PlainStore(),
    "sqlite": lambda folder: with_index(str(folder / "base.db")),
    "postgres": lambda _: create_postgres(new_base()),
}


def spans(text: str) -> list[tuple[int, int]]:
    """A tokenizer for tests: a token a word."""
    found, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        found.append((start, at))
    return found


def section(text: str, slug: str = "_preamble", heading: str | None = None) -> Section:
    return Section(slug, heading, f"## {heading}\n" if heading else "", text, 1)


def vector(*numbers: float) -> Vector:
    return pack(normalize_embedding(numbers))


def similarity(query: Vector, stored: Vector) -> float:
    """What a search has to say of a query and a vector that is stored."""
    return float(np.frombuffer(query, "<f4").astype("<f8") @ np.frombuffer(as_kept(stored), "<f4"))


def as_kept(given: Vector) -> Vector:
    """Each number in two bytes, as stores keep it."""
    return np.frombuffer(given, "<f4").astype("<f2").astype("<f4").tobytes()


def draft(
    identity: str,
    *sections: Section,
    vectors: tuple[Vector | None, ...] | None = None,
    path: str | None = None,
    updated_at: str = NOW,
    **fields: object,
) -> Draft:
    """A document with these sections, each one chunk, each with a vector of its own."""
    own = {name: value for name, value in fields.items() if name in Reading._fields}
    stated = {name: value for name, value in fields.items() if name not in own}
    reading = Reading("markdown", identity.title(), sections, stated)._replace(**own)  # type: ignore[arg-type]
    chunks = chunks_of(reading, spans, Limits())
    given = (
        vectors if vectors is not None else tuple(vector(1, i, 0, 0) for i in range(len(chunks)))
    )
    return Draft(identity, reading, path, updated_at, chunks, given)


def copy_into(target: Store, source: Store) -> None:
    """Make one store a copy of another one."""
    whole, copy = source.copying(), target.copying()
    copy.start("a test", whole.frame())
    copy.paste(whole.copies(whole.seqs()))
    copy.paste_shared(whole.shared())
    copy.paste_history(whole.history())
    copy.end()


def fill(store: Store, number: int, dimensions: int = 4) -> None:
    """Documents with words, tags, roles and vectors around a few centres."""
    chance = random.Random(7)
    drafts = []
    for n in range(number):
        centre = n % 10
        numbers = [
            chance.gauss(1.0 if axis == centre % 4 else 0.2, 0.3) for axis in range(dimensions)
        ]
        drafts.append(
            draft(
                f"d{n}",
                section(f"document number {n} about topic{n % 50} and word{n}"),
                vectors=(vector(*numbers),),
                tags=(f"tag{n % 40}",),
                roles=("dev",) if n % 100 == 0 else ("qa",),
            )
        )
    store.apply(Changes(drafts=tuple(drafts)), NOW)
