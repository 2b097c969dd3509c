"""Adding files.

New files: chunks per second of `Base.add` on folders of Markdown files, against the bare
embedder on exactly the texts that it is given there. Each round is a folder of its own, so
that the two are measured within seconds of each other. "All but embedding" is the same
`Base.add` with vectors that cost nothing.

Unchanged files: adding a folder again of which nothing has changed, against walking it
with os.walk and os.stat.
"""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import corpus
from corpus import Clustered, Shape
from knowbase.base import Base
from knowbase.embed.granite import Granite
from measure import (
    Row,
    arguments,
    differences,
    interleaved,
    milliseconds,
    ratios,
    report,
    seconds,
)

NEW_FILES, NEW_SHAPE = 75, Shape(sections=2, words=80)  # a round
OLD_FILES, OLD_SHAPE = 1500, Shape(sections=1, words=60)
OLD_ROUNDS = 15


class Part(NamedTuple):
    """A folder to add, the texts that are embedded for it, and the seconds all else takes."""

    tree: Path
    texts: list[str]
    rest: float


def new_files(folder: Path, granite: Granite, rounds: int) -> list[Row]:
    """Folders into a base, each against embedding its chunks."""
    parts = _parts(folder, granite, rounds)
    with corpus.new_base(folder / "home", granite) as base:
        add, embed = iter(parts), iter(parts)
        taken = interleaved(
            rounds,
            {
                "add": lambda: seconds(_adding(base, next(add).tree)),
                "embed": lambda: seconds(_embedding(granite, next(embed).texts)),
            },
        )
    chunks = [float(len(part.texts)) for part in parts]
    return [
        Row("new: files", [rounds * NEW_FILES]),
        Row("new: chunks", [sum(chunks)]),
        Row("new: Base.add", ratios(chunks, taken["add"]), "chunks/s"),
        Row("new: bare embedder", ratios(chunks, taken["embed"]), "chunks/s"),
        Row("new: ratio", ratios(taken["embed"], taken["add"]), "", "at least 0.85"),
        Row("new: all but embedding", ratios([p.rest for p in parts], taken["add"]), "of Base.add"),
    ]


def _parts(folder: Path, granite: Granite, rounds: int) -> list[Part]:
    free = Clustered(granite)
    parts = []
    with corpus.new_base(folder / "free", free) as base:
        for number in range(rounds):
            first = number * NEW_FILES
            tree = corpus.write_tree(folder / f"new-{number}", NEW_FILES, NEW_SHAPE, first)
            free.embedded.clear()
            rest = seconds(_adding(base, tree))
            parts.append(Part(tree, list(free.embedded), rest))
    return parts


def _adding(base: Base, tree: Path) -> Callable[[], object]:
    return lambda: base.add([str(tree)])


def _embedding(granite: Granite, texts: list[str]) -> Callable[[], object]:
    return lambda: list(granite.embed_documents(texts))


def unchanged_files(folder: Path, granite: Granite) -> list[Row]:
    """A folder that has been added before, against walking it."""
    tree = corpus.write_tree(folder / "old", OLD_FILES, OLD_SHAPE)
    with corpus.new_base(folder / "old-home", Clustered(granite)) as base:
        base.add([str(tree)])
        taken = interleaved(
            OLD_ROUNDS,
            {
                "add": lambda: seconds(_adding(base, tree)),
                "walk": lambda: seconds(lambda: _walk(tree)),
            },
        )
    more = differences(taken["add"], taken["walk"])
    return [
        Row("unchanged: files", [OLD_FILES]),
        Row("unchanged: Base.add", milliseconds(taken["add"]), "ms"),
        Row("unchanged: os.walk and os.stat", milliseconds(taken["walk"]), "ms"),
        Row("unchanged: more", milliseconds(more), "ms", "under 2000 ms"),
    ]


def _walk(tree: Path) -> list[os.stat_result]:
    return [
        os.stat(os.path.join(folder, name)) for folder, _, names in os.walk(tree) for name in names
    ]


def main() -> None:
    given = arguments(__doc__, rounds=6)
    granite = Granite()
    with TemporaryDirectory() as name:
        rows = new_files(Path(name), granite, given.rounds)
        rows += unchanged_files(Path(name), granite)
    report("add", rows, as_json=given.json)


if __name__ == "__main__":
    main()
