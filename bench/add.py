"""Adding files.

New files: chunks per second of `Base.add` on a folder of Markdown files, against the bare
embedder on exactly the texts that it is given there. What is left of the embedder's speed
is the ratio; "all but embedding" is the same `Base.add` with vectors that cost nothing.

Unchanged files: adding a folder again of which nothing has changed, against walking it
with os.walk and os.stat.
"""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import corpus
from corpus import Clustered, Shape
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

NEW_FILES, NEW_SHAPE = 300, Shape(sections=2, words=90)
OLD_FILES, OLD_SHAPE = 1500, Shape(sections=1, words=60)
OLD_ROUNDS = 7


def new_files(folder: Path, granite: Granite, rounds: int) -> list[Row]:
    """A folder into an empty base, against embedding its chunks."""
    tree = corpus.write_tree(folder / "new", NEW_FILES, NEW_SHAPE)
    free = Clustered(granite)
    add = _adder(folder / "bases", tree)
    add(free)
    texts = list(free.embedded)
    taken = interleaved(
        rounds,
        {
            "add": lambda: add(granite),
            "embed": lambda: seconds(lambda: list(granite.embed_documents(texts))),
            "rest": lambda: add(free),
        },
    )
    return [
        Row("new: files", [NEW_FILES]),
        Row("new: chunks", [len(texts)]),
        Row("new: Base.add", [len(texts) / one for one in taken["add"]], "chunks/s"),
        Row("new: bare embedder", [len(texts) / one for one in taken["embed"]], "chunks/s"),
        Row("new: ratio", ratios(taken["embed"], taken["add"]), "", "at least 0.85"),
        Row("new: all but embedding", taken["rest"], "s"),
    ]


def _adder(homes: Path, tree: Path) -> Callable[[Clustered | Granite], float]:
    """How long it takes to add the tree to a new base, with an embedder."""
    numbers = count()

    def add(embedder: Clustered | Granite) -> float:
        home = homes / str(next(numbers))
        return seconds(lambda: corpus.build(home, embedder, tree).close())

    return add


def unchanged_files(folder: Path, granite: Granite) -> list[Row]:
    """A folder that has been added before, against walking it."""
    tree = corpus.write_tree(folder / "old", OLD_FILES, OLD_SHAPE)
    with corpus.build(folder / "home", Clustered(granite), tree) as base:
        taken = interleaved(
            OLD_ROUNDS,
            {
                "add": lambda: seconds(lambda: base.add([str(tree)])),
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
        os.stat(os.path.join(folder, name))
        for folder, _, names in os.walk(tree)
        for name in names
    ]


def main() -> None:
    given = arguments(__doc__, rounds=5)
    granite = Granite()
    with TemporaryDirectory() as name:
        rows = new_files(Path(name), granite, given.rounds)
        rows += unchanged_files(Path(name), granite)
    report("add", rows, as_json=given.json)


if __name__ == "__main__":
    main()
