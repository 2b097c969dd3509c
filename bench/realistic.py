"""A base of real pages in any size, for what is measured by hand: searching in the page.

The collection's files once, as they are; where these are too few, further documents of its
paragraphs, put together anew, so that words are as frequent as in the collection. Beyond
REAL_VECTORS chunks the vectors are made up, in clusters around real ones: `corpus.Clustered`.
"""

import random
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import corpus
from knowbase.embed.granite import Granite

REAL_VECTORS = 20_000  # chunks; embedding more takes longer than anybody waits
ENDINGS = (".md", ".rst", ".txt", ".html")
SECTIONS, PARAGRAPHS = 6, 3  # of a document that is put together
CHUNKS_OF_ONE = 7  # of such a document, about


def build(home: Path, collections: Sequence[Path], chunks: int) -> str:
    """Fill a base in `home`; the sentence says what it is made of."""
    shutil.rmtree(home, ignore_errors=True)
    texts = home / "texts"
    files = [file for one in collections for file in sorted(_files(one))]
    granite = Granite()
    is_real = chunks <= REAL_VECTORS
    with corpus.new_base(home, granite if is_real else corpus.Clustered(granite)) as base:
        base.add([str(_copied(files, collections, texts))])
        invented, made = _invented(files, home / "put-together"), 0
        while (missing := chunks - base.status().chunks) > 0:
            batch = [next(invented) for _ in range(max(1, missing // CHUNKS_OF_ONE))]
            made += len(batch)
            base.add([str(home / "put-together")])
        base.embed()
        status = base.status()
    vectors = "real vectors" if is_real else "made-up vectors in clusters around real ones"
    return (
        f"{status.chunks:,} chunks of {status.documents - made:,} real pages and of {made:,} that"
        f" were put together of their paragraphs; {vectors}"
    )


def _files(folder: Path) -> Iterator[Path]:
    return (one for one in folder.rglob("*") if one.suffix in ENDINGS and one.is_file())


def _copied(files: Sequence[Path], collections: Sequence[Path], target: Path) -> Path:
    for file in files:
        root = next(one for one in collections if file.is_relative_to(one))
        place = target / root.name / file.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
    return target


def _invented(files: Sequence[Path], folder: Path) -> Iterator[Path]:
    """Documents of paragraphs that a few files of the collection have."""
    chance = random.Random(3)
    paragraphs = {file: _paragraphs(file) for file in files}
    sources = [file for file, found in paragraphs.items() if len(found) >= SECTIONS]
    number = 0
    while True:
        near = [paragraphs[one] for one in chance.sample(sources, 4)]
        parts = []
        for section in range(SECTIONS):
            drawn = [chance.choice(chance.choice(near)) for _ in range(PARAGRAPHS)]
            title = " ".join(re.findall(r"\w+", drawn[0])[:6])
            parts.append(
                f"{'#' if not section else '##'} {title} {number}\n\n" + "\n\n".join(drawn)
            )
        place = folder / f"part-{number // 200:03}" / f"page-{number:05}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n\n".join(parts), "utf-8")
        number += 1
        yield place


def _paragraphs(file: Path) -> list[str]:
    found = re.split(r"\n\s*\n", file.read_text("utf-8", "replace"))
    return [one.strip() for one in found if 80 <= len(one.strip()) <= 1500 and one[0].isalpha()]
