"""`kb compact`: less disk, the same answers, and what takes how much."""

from pathlib import Path

import pytest

from conftest import Kb


@pytest.fixture(scope="module")
def emptied(handbook: Kb, tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """A base that had more than it has."""
    kb = Kb(tmp_path_factory.mktemp("emptied"))
    for number in range(4):
        for page in sorted((handbook.folder / "handbook").rglob("*.md"))[:12]:
            kb.write(f"pages/{number}/{page.name}", f"{page.read_text()}\n\nCopy {number}.\n")
    kb("init")
    kb("add", "pages")
    kb("rm", *(f"pages/{number}" for number in range(3)), "--yes")
    kb("history", "prune", "--keep", "off", "--yes")
    return kb


def hits(kb: Kb) -> list[object]:
    found = kb.json("search", "how is a release deployed")["hits"]
    return [(hit["section"], hit["score"]) for hit in found]


def test_a_base_with_holes_becomes_smaller_and_answers_the_same(emptied: Kb) -> None:
    before, dry = hits(emptied), emptied.json("compact", "--dry-run")
    assert dry["before"] == dry["after"]
    done = emptied.json("compact")
    assert done["after"] < 0.6 * done["before"]
    assert Path(emptied.base).stat().st_size == done["after"] == sum(done["parts"].values())
    assert {"vectors", "texts", "words", "documents"} <= set(done["parts"])
    assert done["parts"]["free"] == 0
    assert hits(emptied) == before
    assert emptied("check", "--deep").out.rstrip().endswith("sound")
    assert "bytes a chunk" in emptied("compact", "--dry-run").out
