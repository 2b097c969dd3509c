"""Bases in which words are enough, on either engine, and a folder for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import knowbase
from knowbase import Base
from knowbase.base.services import Opened
from knowbase.store.postgres import create as create_postgres
from postgres import new_base

ENGINES = ("sqlite", "postgres")


@contextmanager
def words_alone(engine: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Base]:
    """A new base for the files of this folder, where the test then is."""
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")
    monkeypatch.chdir(folder)
    path = str(folder / "base.db")
    if engine == "sqlite":
        knowbase.create(path).close()
        made = Base(path)
    else:
        made = Base(path, opened=Opened(create_postgres(new_base())))
    with made:
        yield made


def eight_pages(folder: Path) -> Path:
    """`notes` in this folder."""
    notes = folder / "notes"
    notes.mkdir()
    for number in range(8):
        (notes / f"{number}.md").write_text(f"# Page {number}\n\nTide tables of port {number}.\n")
    return notes
