"""What differs between a source on disk and what is stored: found by stat alone."""

from typing import NamedTuple

from knowbase.ingest.places import Home, inside
from knowbase.store import Store
from knowbase.types import FileRecord, Source
from knowbase.walk import Found, Skipped, WalkRules, walk


class Problem(NamedTuple):
    """A file, and what is to be said about it."""

    path: str
    reason: str


class Scope(NamedTuple):
    """What to look at: a source, or one path in it, and whether to take it all again."""

    source: Source
    only: str | None = None
    reread: bool = False  # its tags changed: read every file, embed nothing again
    readmit: bool = False  # also what was removed by hand


class Plan(NamedTuple):
    """The work that a sync has before it."""

    scope: Scope
    to_read: tuple[Found, ...]
    missing: tuple[FileRecord, ...]
    records: dict[str, FileRecord]
    unchanged: int
    failed: tuple[Problem, ...]
    skipped: tuple[Problem, ...]


def plan(store: Store, scope: Scope, home: Home, rules: WalkRules) -> Plan:
    """Compare the files with their records; nothing is read."""
    source = scope.source.path
    root = scope.only if scope.only is not None else source
    records = store.files(source)
    nested = [s.path for s in store.sources() if s.path != source and inside(s.path, source)]
    seen: set[str] = set()
    work = _Work([], [], [])
    unchanged = 0
    for item in walk(home.absolute(root), rules):
        path = home.stored(item.path)
        if any(inside(path, folder) for folder in nested):
            continue
        seen.add(path)
        unchanged += _sort(item, path, records.get(path), scope, work)
    missing = [r for p, r in records.items() if p not in seen and inside(p, root)]
    return Plan(
        scope, tuple(work.to_read), tuple(missing), records, unchanged,
        tuple(work.failed), tuple(work.skipped),
    )  # fmt: skip


class _Work(NamedTuple):
    to_read: list[Found]
    failed: list[Problem]
    skipped: list[Problem]


def _sort(
    item: Found | Skipped, path: str, record: FileRecord | None, scope: Scope, work: _Work
) -> bool:
    """Put one item where it belongs; True when there is nothing to do for it."""
    if isinstance(item, Skipped):
        work.skipped.append(Problem(path, item.reason))
    elif record is None or (record.excluded and scope.readmit):
        work.to_read.append(item)
    elif record.excluded:
        work.skipped.append(Problem(path, "removed by hand; kb add it to take it back"))
    elif scope.reread or (item.size, item.mtime_ns) != (record.size, record.mtime_ns):
        work.to_read.append(item)
    elif record.problem is not None:
        work.failed.append(Problem(path, record.problem))
    elif record.document is None:
        work.skipped.append(Problem(path, "binary or empty"))
    else:
        return True
    return False
