"""Codes such as KB-1 that files ask for, beside those that are given out by number."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase import Base
from knowbase.query.conditions import EVERYTHING
from knowbase.values.documents import ALL
from wordy import ENGINES, words_alone


@pytest.fixture(params=ENGINES)
def base(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Base]:
    with words_alone(request.param, tmp_path, monkeypatch) as made:
        yield made


def codes(base: Base) -> dict[str | None, str]:
    return {one.path: one.code for one in base.store.documents(EVERYTHING, ALL)}


@pytest.mark.parametrize("matter", ["---\ncode: {0}\n---\n", "short_code:: {0}\n\n"])
def test_a_code_that_a_file_asks_for_is_not_given_to_another_one(base: Base, matter: str) -> None:
    Path("in").mkdir()
    for number in range(80):  # more than are written together
        Path("in", f"a{number:02}.md").write_text(f"# A {number}\n\nText {number}.\n")
    Path("in", "b.md").write_text(f"{matter.format('KB-1')}# B\n\nText of B.\n")
    Path("c.md").write_text(f"{matter.format('KB-81')}# C\n\nText of C.\n")
    report = base.add(["in", "c.md"])
    assert (len(report.added), report.warnings) == (82, ())
    found = codes(base)
    assert (found["in/b.md"], found["c.md"]) == ("KB-1", "KB-81")
    assert len(set(found.values())) == 82


def test_a_code_that_somebody_has_is_said(base: Base) -> None:
    Path("a.md").write_text("# A\n\nText of A.\n")
    base.add("a.md")
    Path("b.md").write_text("---\ncode: KB-1\n---\n# B\n\nText of B.\n")
    assert base.add("b.md").warnings == ("b.md: the code KB-1 is taken; this document has KB-2",)
