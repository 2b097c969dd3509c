"""A round of watching looks at what changed, as a look at everything would."""

from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from knowbase import Base, create
from knowbase.embed.granite import Granite
from knowbase.ingest.report import Report
from knowbase.ingest.watch import watch

PACKAGED = Granite()


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Base]:
    (tmp_path / "notes").mkdir()
    for name in ("one", "two", "three"):
        (tmp_path / "notes" / f"{name}.md").write_text(f"# {name}\n\nThe text of {name}.")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "alone.md").write_text("# Alone\n\nA source of its own.")
    path = create(str(tmp_path)).path
    with Base(path, embedder=PACKAGED) as opened:
        opened.add([str(tmp_path / "notes"), str(tmp_path / "alone.md")])
        yield opened


def changed(base: Base, *paths: Path) -> Report | None:
    return base._sync_some([str(path) for path in paths])


def test_only_the_changed_paths_are_looked_at(base: Base, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    for name in ("one", "two"):
        (notes / f"{name}.md").write_text(f"# {name}\n\nAnother text of {name}.")
    report = changed(base, notes / "one.md")
    assert report is not None
    assert (report.changed, report.added) == (("notes/one.md",), ())
    (notes / "new").mkdir()
    (notes / "new" / "four.md").write_text("# Four")
    (notes / "new" / "noise.log").write_text("ignored")
    report = changed(base, notes / "new", notes / "new" / "noise.log", tmp_path / "alone.md")
    assert report is not None
    assert (report.changed, report.added, report.skipped) == ((), ("notes/new/four.md",), ())
    assert base.sync().changed == ("notes/two.md",)


def test_what_cannot_be_told_from_the_paths_is_looked_at_as_a_whole(
    base: Base, tmp_path: Path
) -> None:
    """Files that are gone, rules about others, and what lies in no source."""
    notes = tmp_path / "notes"
    assert changed(base, tmp_path / "elsewhere.md") is None
    (notes / ".kbignore").write_text("two.md")
    assert changed(base, notes / ".kbignore") is None
    (notes / "one.md").rename(notes / "moved.md")
    assert changed(base, notes / "one.md", notes / "moved.md") is None
    assert base.sync().moved == ("notes/moved.md",)


def test_a_watch_hands_over_the_changed_paths(tmp_path: Path) -> None:
    """After a round that left something undone, everything is looked at again."""
    (tmp_path / "a.md").write_text("a")
    rounds: list[Collection[str] | None] = []

    def sync() -> Report:
        rounds.append(None)
        return Report(interrupted=len(rounds) > 5)

    def sync_some(paths: Collection[str]) -> Report | None:
        rounds.append(sorted(paths))
        return Report(warnings=("later",) if len(rounds) == 4 else ())

    for number, _ in enumerate(watch(sync, [str(tmp_path)], (), sync_some)):
        assert number < 20
        if number:
            (tmp_path / "a.md").write_text("a" * number)
        if len(rounds) >= 5:
            break
    assert rounds == [None, None, [str(tmp_path / "a.md")], [str(tmp_path / "a.md")], None]
