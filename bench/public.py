"""Real collections: whether questions that were written before find the files that answer them.

    python bench/public.py FOLDER [QUESTIONS]

FOLDER is a checkout of what bench/collections/sources.json names, or of anything else; its base
is made in FOLDER/.kb, or brought in step when it is there. QUESTIONS is a file of judged questions
(bench/collections/NAME.jsonl by the folder's name): a JSON object a line, with the paths of all
files that answer it.

Printed: how many questions the first hit answers, and one of the first three; chunks, and how many
of them come from files that nobody would ask for; tags, and those that are none; titles and
headings that show markup. `--misses` lists each of these.
"""

import argparse
import json
import re
import sqlite3
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from knowbase.base import Base, create

QUESTIONS = Path(__file__).parent / "collections"
_MARKUP = re.compile(
    r"\{\{|\{%|\}\}|\{#|\{:|\]\(|\[\[|\]\]|\*\*|^[=~^\"'#*-]{3,}$|^\.\. |:\w+:`|``|^#+ |^\+\+\+"
    r"|</?[A-Za-z]+[^>]*>|&(?:amp|lt|gt|quot|nbsp|#\d+);|\\[a-z]+\{|^[\"'].*[\"']$|^[-*] "
)
# A color, a number, what C and styles write behind a hash, an anchor.
_JUNK = re.compile(
    r"[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8}|[\d_/-]+|include|define|ifdef|ifndef|endif|pragma|region"
    r"|.*[%=&{}<>].*|[a-z]+(?:-[a-z]+){4,}",
    re.IGNORECASE,
)


class Question(NamedTuple):
    """What somebody asks, and the files that answer it."""

    query: str
    relevant: tuple[str, ...]


class Asked(NamedTuple):
    """What the first hits were."""

    question: Question
    paths: tuple[str, ...]

    def is_hit(self, depth: int) -> bool:
        return any(path in self.question.relevant for path in self.paths[:depth])


class Shape(NamedTuple):
    """What a base holds beside its answers."""

    documents: int
    chunks: int
    noise: list[tuple[str, int]]  # files that nobody would ask for, and their chunks
    tags: int
    junk: list[str]
    markup: list[tuple[str, str]]  # files, and what they or one of their sections are called


def questions_in(path: Path) -> list[Question]:
    """The questions of a file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Question(row["query"], tuple(row["relevant"])) for row in rows]


def ask(base: Base, questions: list[Question]) -> list[Asked]:
    """Each question as `kb search` asks it."""
    return [
        Asked(one, tuple(hit.document.path or "" for hit in base.search(one.query, top=3).hits))
        for one in questions
    ]


def shape_of(path: str, noise: list[str]) -> Shape:
    """What stands in the base's file."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        documents = db.execute(
            "SELECT d.path, d.title, count(c.id) FROM documents d LEFT JOIN chunks c"
            " ON c.document = d.seq GROUP BY d.seq"
        ).fetchall()
        headings = db.execute(
            "SELECT DISTINCT d.path, c.heading FROM chunks c JOIN documents d ON c.document = d.seq"
            " WHERE c.heading IS NOT NULL AND d.type != 'code'"
        ).fetchall()
        tags = [tag for (tag,) in db.execute("SELECT DISTINCT name FROM tags")]
    named = [(path, title) for path, title, _ in documents] + headings
    return Shape(
        len(documents),
        sum(count for *_, count in documents),
        [(p, n) for p, _, n in documents if any(fnmatch(p or "", glob) for glob in noise)],
        len(tags),
        sorted(tag for tag in tags if _JUNK.fullmatch(tag)),
        [(path, name) for path, name in named if _MARKUP.search(name)],
    )


def _row(name: str, asked: list[Asked], shape: Shape) -> str:
    first, third = (sum(one.is_hit(depth) for one in asked) for depth in (1, 3))
    noise = sum(count for _, count in shape.noise)
    return (
        f"| {name} | {first}/{len(asked)} | {third}/{len(asked)} | {shape.documents:,}"
        f" | {shape.chunks:,} | {100 * noise / max(1, shape.chunks):.1f} % | {shape.tags}"
        f" | {len(shape.junk)} | {len(shape.markup)} |"
    )


def _details(asked: list[Asked], shape: Shape) -> None:
    for one in asked:
        if not one.is_hit(1):
            print(f"{'second or third' if one.is_hit(3) else 'MISS'}: {one.question.query}")
            for path in one.paths:
                print(f"    {'+' if path in one.question.relevant else ' '} {path}")
    for tag in shape.junk:
        print("tag:", tag)
    for path, name in shape.markup:
        print("markup:", path, "·", name)
    for path, count in sorted(shape.noise, key=lambda pair: -pair[1])[:10]:
        print("noise:", path, count)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", type=Path, nargs="?")
    parser.add_argument("--misses", action="store_true", help="list what is not as it should be")
    given = parser.parse_args()
    folder = given.folder.resolve()
    sources = json.loads((QUESTIONS / "sources.json").read_text(encoding="utf-8"))
    noise = sources.get(folder.name, {}).get("noise", [])
    with create(folder) as base:
        report = base.add([str(folder)])
        asked = ask(base, questions_in(given.questions or QUESTIONS / f"{folder.name}.jsonl"))
        shape = shape_of(base.path, noise)
    print("| collection | hit@1 | hit@3 | documents | chunks | noise | tags | junk | markup |")
    print("|---|---|---|---|---|---|---|---|---|")
    print(_row(folder.name, asked, shape))
    if given.misses:
        _details(asked, shape)
        for failure in report.failed:
            print("not read:", failure)


if __name__ == "__main__":
    main()
