"""What a base takes on the disk, in bytes a chunk, by what it is for.

    python bench/disk.py                       3,000 chunks of made-up articles
    python bench/disk.py --chunks 20000        … more of them
    python bench/disk.py docs FOLDER …         real files, a base each

Compacted, as `kb compact` does. The vectors are made up: they take as much as real ones.
"""

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import corpus
from corpus import Clustered, Shape
from knowbase.embed.granite import Granite
from measure import Row, report

SECTIONS, WORDS = 5, 90


def sizes(home: Path, tree: Path, label: str) -> list[Row]:
    with corpus.new_base(home, Clustered(Granite())) as base:
        base.add([str(tree)])
        base.store.relink()
        base.store.link_similar(0.8)
        base.store.compact()
        store = base.store
        chunks = base.status().chunks
        whole = store.copying()
        text = sum(
            len(c.chunk.text.encode()) for one in whole.copies(whole.seqs()) for c in one.chunks
        )
        space = store.space()
    rows = [Row(f"{label}: chunks", [chunks]), Row("  their text", [text / chunks], "bytes")]
    rows += [Row(f"  {kind}", [size / chunks], "bytes") for kind, size in space.items() if size]
    return [*rows, Row("  all", [sum(space.values()) / chunks], "bytes", "at most 2,200")]


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folders", nargs="*", type=Path, help="real files")
    parser.add_argument("--chunks", type=int, default=3_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    rows = []
    with TemporaryDirectory() as name:
        home = Path(name)
        for number, folder in enumerate(given.folders):
            rows += sizes(home / str(number), folder.resolve(), folder.name)
        if not given.folders:
            shape = Shape(SECTIONS, WORDS)
            tree = corpus.write_tree(home / "articles", given.chunks // SECTIONS, shape)
            rows = sizes(home / "base", tree, "made-up articles")
    report("disk", rows, as_json=given.json)


if __name__ == "__main__":
    main()
