"""Taking in what other programs have kept."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from knowbase.base import Base
from knowbase.exchange.imported import Imported, of_taken
from knowbase.exchange.sources import (
    basic_memory,
    bookmarks,
    chatgpt,
    claude,
    mcp_memory,
    mem0,
    notion,
)
from knowbase.exchange.sources.opening import reading_files
from knowbase.ingest.foreign import Foreign, Left, take
from knowbase.ingest.report import Progress

_FILES = {
    "chatgpt": chatgpt.items,
    "claude": claude.items,
    "mem0": mem0.items,
    "mcp-memory": mcp_memory.items,
    "bookmarks": bookmarks.items,
}
_READING = {"basic-memory": basic_memory.items, "notion": notion.items}


class Wanted(NamedTuple):
    """What is to be taken, and what is to be said of all of it."""

    path: str
    origin: str
    tags: tuple[str, ...] = ()
    project: str | None = None
    dry_run: bool = False


def take_others(
    base: Base, wanted: Wanted, progress: Callable[[Progress], None] = lambda _: None
) -> Imported:
    """Everything that is new or otherwise; what was taken before and is the same stays."""
    services = base.ingest_services()
    items = (_with(one, wanted) for one in _items(base, wanted))
    with reading_files(wanted.path):
        taken = take(services, items, dry_run=wanted.dry_run, progress=progress)
    return of_taken(wanted.path, taken, dry_run=wanted.dry_run)


def _items(base: Base, wanted: Wanted) -> Iterator[Foreign | Left]:
    if wanted.origin in _FILES:
        return _FILES[wanted.origin](wanted.path)
    reader = base.ingest_services().drafter.reader
    most = base.settings.index_max_file_mb << 20
    return _READING[wanted.origin](wanted.path, reader.file, most)


def _with(item: Foreign | Left, wanted: Wanted) -> Foreign | Left:
    if isinstance(item, Left):
        return item
    return item._replace(given={"tags": wanted.tags, "project": wanted.project})
