"""A sync that is stopped says what it did."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from knowbase import Base
from knowbase.values.changes import Changes
from wordy import ENGINES, eight_pages, words_alone


@pytest.fixture(params=ENGINES)
def base(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Base]:
    with words_alone(request.param, tmp_path, monkeypatch) as made:
        yield made


@pytest.mark.parametrize("is_done", [True, False])
def test_what_was_removed_when_it_stopped_is_said(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_done: bool
) -> None:
    """Ctrl-C comes as the removal is written, or just before."""
    folder = eight_pages(tmp_path)
    base.add(folder)
    (folder / "3.md").unlink()
    write = base.store.apply

    def interrupted(changes: Changes, *more: Any) -> Any:
        if not changes.removed:
            return write(changes, *more)
        if is_done:
            write(changes, *more)
        raise KeyboardInterrupt

    monkeypatch.setattr(base.store, "apply", interrupted)
    report = base.sync()
    assert report.interrupted
    assert report.removed == (("notes/3.md",) if is_done else ())
    monkeypatch.undo()
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")
    assert len(base.sync().removed) == (not is_done)
