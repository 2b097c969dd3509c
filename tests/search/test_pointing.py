"""A short passage that refers to a page gives way to that page."""

from pathlib import Path

import pytest

import knowbase
from knowbase import Answer, SearchRequest
from postgres import new_base

LONG = "The package has to be fetched, unpacked and put where the shell looks for programs. " * 4
FILES = {
    "start.md": "# Start\n\n## Guides\n\nInstall on Ubuntu: [see there]({target}).\n",
    "ubuntu.md": f"# Linux\n\nTo install it on Ubuntu, install on Ubuntu this. {LONG}\n",
    "other.md": f"# Other systems\n\nNothing of the kind. {LONG}\n",
}


def answer(place: str, folder: Path, target: str = "ubuntu.md", **changed: str) -> Answer:
    folder.mkdir()
    for name, text in {**FILES, **changed}.items():
        (folder / name).write_text(text.replace("{target}", target), encoding="utf-8")
    with knowbase.create(place) as base:
        base.add(str(folder), defer=True)
        return base.search("install on Ubuntu", mode="keyword", explain=True)


def names(found: Answer) -> list[str]:
    return [Path(hit.path or "").name for hit in found.hits]


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_page_stands_before_the_passage_that_refers_to_it(engine: str, tmp_path: Path) -> None:
    place = new_base() if engine == "postgres" else str(tmp_path / "base.db")
    found = answer(place, tmp_path / "in")
    assert names(found)[:2] == ["ubuntu.md", "start.md"]
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    explanation = found.hits[0].explanation
    assert explanation is not None
    assert "link" in [part.leg for part in explanation.contributions]


def test_without_a_link_the_passage_stays(tmp_path: Path) -> None:
    found = answer(str(tmp_path / "base.db"), tmp_path / "in", target="other.md")
    assert names(found)[:2] == ["start.md", "ubuntu.md"]


def test_a_passage_of_many_words_stays(tmp_path: Path) -> None:
    text = FILES["start.md"] + "Install on Ubuntu with apt, or from source. " * 12
    found = answer(str(tmp_path / "base.db"), tmp_path / "in", **{"start.md": text})
    assert names(found)[:2] == ["start.md", "ubuntu.md"]


def test_code_that_a_page_shows_stays_behind_it(tmp_path: Path) -> None:
    code = f'"""How to install it on Ubuntu."""\n# {LONG}\n'
    changed = {"install.py": code, "ubuntu.md": "# Linux\n\nNothing here.\n"}
    found = answer(str(tmp_path / "base.db"), tmp_path / "in", target="install.py", **changed)
    assert names(found)[:2] == ["start.md", "install.py"]


def test_a_profile_may_leave_the_order_alone(tmp_path: Path) -> None:
    (tmp_path / "kb.toml").write_text("[profiles.best]\nleads_on = 0\n", encoding="utf-8")
    found = answer(str(tmp_path / "base.db"), tmp_path / "in")
    assert names(found)[:2] == ["start.md", "ubuntu.md"]


def test_why_not_knows_who_gave_way(tmp_path: Path) -> None:
    place = str(tmp_path / "base.db")
    answer(place, tmp_path / "in")
    request = SearchRequest("install on Ubuntu", mode="keyword", top=1)
    with knowbase.open(place) as base:
        codes = {Path(one.path or "").name: one.code for one in base.documents().documents}
        page, passage = (base.why_not(codes[one], request) for one in ("ubuntu.md", "start.md"))
    assert (page.stage, passage.stage) == ("hit", "limit")
    assert passage.needed == page.score


def test_short_notes_that_name_each_other_stay(tmp_path: Path) -> None:
    changed = {
        "ubuntu.md": "# Linux\n\nTo install it on Ubuntu, install on Ubuntu this and that.\n"
    }
    found = answer(str(tmp_path / "base.db"), tmp_path / "in", **changed)
    without = answer(str(tmp_path / "b.db"), tmp_path / "out", target="other.md", **changed)
    assert names(found)[:2] == names(without)[:2]
