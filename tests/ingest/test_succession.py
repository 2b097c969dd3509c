"""Files that name what took their place in a circle: nothing is hidden by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import knowbase
from knowbase import Base


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Base]:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")  # words are enough here
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    with knowbase.create(str(tmp_path / "base.db")) as made:
        yield made


def write(name: str, successor: str | None) -> None:
    line = f"superseded_by: {successor}\n" if successor else ""
    Path("in", f"{name}.md").write_text(f"---\ncode: {name}\n{line}---\n# {name}\n\nwombat\n")


def shown(base: Base) -> list[str]:
    return sorted(hit.code for hit in base.search("wombat", mode="keyword").hits)


def test_a_file_does_not_hide_itself(base: Base) -> None:
    write("CC", "CC")
    Path("in", "p.md").write_text("---\nsuperseded_by: in/p.md\n---\n# P\n\nkoala\n")
    report = base.add("in")
    until = "it is shown until that is mended"
    assert tuple(sorted(report.warnings)) == (
        f"in/CC.md: superseded_by would be a circle (CC → CC); {until}",
        f"in/p.md: superseded_by would be a circle (KB-2 → KB-2); {until}",
    )
    assert shown(base) == ["CC"]
    assert base.sync().warnings == ()  # it is said once


def test_files_do_not_hide_each_other(base: Base) -> None:
    write("A", "B")
    write("B", "C")
    write("C", "A")
    write("X", "A")  # which only leads into the circle
    report = base.add("in")
    assert len(report.warnings) == 3
    assert "A → B → C → A" in sorted(report.warnings)[0]
    assert shown(base) == ["A", "B", "C"]
    write("C", None)
    assert base.sync().warnings == ()
    assert shown(base) == ["C"]


def test_a_circle_that_is_closed_later_leaves_the_last_one_shown(base: Base) -> None:
    for name in "AB":
        write(name, None)
    base.add("in")
    write("A", "B")
    write("B", "A")
    (warning,) = base.sync().warnings
    assert "in/B.md: superseded_by would be a circle (B → A → B)" in warning
    assert shown(base) == ["B"]
    write("A", None)
    base.sync()
    assert shown(base) == ["A"]
