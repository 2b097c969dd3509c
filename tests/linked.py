"""A tree of linked notes made for the tests, and the links that it is expected to have."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from knowbase.base import Base, create
from knowbase.values.vectors import Model
from stores import vector

MODEL = Model("test", "1", 4)


class FarApart:
    """An embedder for tests: texts that start alike are alike, all others are not."""

    model = MODEL

    max_tokens = 512

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[bytes]:
        return map(self.embed_query, texts)

    def embed_query(self, text: str) -> bytes:
        chance = random.Random(text.rsplit("\n", maxsplit=1)[-1][:8])
        return vector(*(chance.gauss(0, 1) for _ in range(4)))


def new_base(folder: Path) -> Base:
    """A base in the folder, with an embedder that costs nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = create(str(folder)).path
    return Base(path, embedder=FarApart())


class Tree(NamedTuple):
    """Paths of notes and the pairs that are linked."""

    notes: tuple[str, ...]
    links: frozenset[tuple[str, str]]


def code_of(number: int) -> str:
    return f"TREE-N-{number:04}"


def plant(folder: Path, number: int = 400, seed: int = 7) -> Tree:
    """Notes in folders with about eight links each: by path, by name, by code; some lead
    nowhere, to the note itself, or twice to the same one."""
    chance = random.Random(seed)
    paths = [f"f{i % 20}/note-{i}.md" for i in range(number)]
    pairs = set()
    for i, path in enumerate(paths):
        lines = [f"---\ncode: {code_of(i)}\n---\n# Title of {i}\n"]
        for j in chance.sample(range(number), 8):
            how = chance.randrange(4)
            lines.append(_link(how, i, j))
            if chance.random() < 0.2:
                lines.append(_link(chance.randrange(4), i, j))
            if i != j:
                pairs.add((path, paths[j]))
        lines += [f"[itself](note-{i}.md)", "[[no such note]]", "[gone](../gone/away.md)"]
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("\n\n".join(lines), encoding="utf-8")
    return Tree(tuple(paths), frozenset(pairs))


def _link(how: int, i: int, j: int) -> str:
    if how == 0:
        return f"See [the other](../f{j % 20}/note-{j}.md#part)."
    if how == 1:
        return f"See [[note-{j}|shown]]."
    if how == 2:
        return f"See [[title of {j}]]."
    return f"As {code_of(j)} says."
