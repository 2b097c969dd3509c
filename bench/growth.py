"""Adding, as a base grows: what is not embedding, in chunks a CPU second, tenth by tenth.

    python bench/growth.py                                   20,000 chunks in files of five
    python bench/growth.py --chunks 100000 --sections 1      files of one chunk, the dearest
    python bench/growth.py --home FOLDER                     keeps the base: write.py takes it

Articles of corpus.py with made-up vectors, whose making is not counted. The CPU time is that of
the process and of those that it starts to read files. Linking similar documents comes at the end
and is counted apart. numpy has one thread, as in every command.
"""

import argparse
import os
import resource
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import corpus
from corpus import Clustered, Shape
from knowbase.embed.granite import Granite
from knowbase.ingest.report import Progress
from knowbase.values.vectors import Vector
from measure import Row, report

TENTHS = 10
WORDS = 90  # of a section


class Free(Clustered):
    """Counts the CPU time that its vectors take."""

    spent = 0.0

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        started = time.thread_time()
        made = list(super().embed_documents(texts))
        self.embedded.clear()
        self.spent += time.thread_time() - started
        return iter(made)


def cpu() -> float:
    """Of this process and its children, those that still run too."""
    gone = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = time.process_time() + gone.ru_utime + gone.ru_stime
    ticks = os.sysconf("SC_CLK_TCK")
    for child in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        used += (int(fields[11]) + int(fields[12])) / ticks
    return used


def grown(home: Path, files: int, sections: int) -> list[Row]:
    tree = corpus.write_tree(home / "articles", files, Shape(sections, WORDS))
    embedder = Free(Granite())
    marks: list[float] = []

    def tell(far: Progress) -> None:
        while far.done >= len(marks) * files / TENTHS:
            marks.append(cpu() - embedder.spent)

    with corpus.new_base(home, embedder) as base:
        tell(Progress(0, files, 0, ""))
        base.add([str(tree)], progress=tell)
        end = cpu() - embedder.spent
        chunks = base.status().chunks
        base.store.relink()
        started = time.process_time()
        base.store.link_similar(0.8)
        links = time.process_time() - started
    each = chunks / TENTHS
    rates = [each / (after - before) for before, after in pairwise(marks)]
    return [
        Row("chunks", [chunks]),
        Row("all but embedding", [chunks / (end - marks[0])], "chunks/CPU s", "at least 2,000"),
        Row("without linking, tenth by tenth", rates, "chunks/CPU s"),
        Row("  the first tenth", rates[:1], "chunks/CPU s"),
        Row("  the last tenth", rates[-1:], "chunks/CPU s"),
        Row("linking similar documents", [links], "s CPU"),
    ]


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--sections", type=int, default=5, help="of a file: its chunks (5)")
    parser.add_argument("--home", type=Path, help="where the base is made and kept")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        files = given.chunks // given.sections
        rows = grown(given.home or Path(name), files, given.sections)
    report("growth", rows, as_json=given.json)


if __name__ == "__main__":
    main()
