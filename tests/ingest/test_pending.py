"""What differs between a folder and what is known of it."""

import os
from pathlib import Path

from knowbase.ingest.pending import MANY, Disk, Pending, Scope, pending
from knowbase.ingest.places import Home
from knowbase.ingest.walk import WalkRules
from knowbase.store.plain import PlainStore
from knowbase.values.changes import Changes
from knowbase.values.files import FileRecord, Source

NOW = "2026-01-02T03:04:05Z"


def record(home: Path, path: str, source: str = "docs") -> FileRecord:
    """Of a file that was read."""
    now = os.stat(home / path)
    return FileRecord(
        path, source, now.st_size, now.st_mtime_ns, "abc", path,
        inode=now.st_ino, ctime_ns=now.st_ctime_ns,
    )  # fmt: skip


def compared(home: Path, store: PlainStore, *sources: str) -> list[Pending]:
    disk = Disk(Home(str(home)), WalkRules(include_hidden=False, max_bytes=1_000))
    return pending(store, [Scope(Source(one)) for one in sources], disk)


def write(home: Path, *paths: str) -> None:
    for path in paths:
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text("a note")


def test_of_files_that_are_as_they_were_no_record_is_needed(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs/in/b.md", "docs/in/c.md", "docs/in/d.md")
    store = PlainStore()
    records = [record(tmp_path, f"docs/{name}") for name in ("a.md", "in/b.md", "in/c.md")]
    failed = record(tmp_path, "docs/in/d.md")._replace(document=None, problem="broken")
    store.apply(Changes(files=(*records, failed)), NOW)
    (tmp_path / "docs/in/b.md").write_text("another note")
    (tmp_path / "docs/in/c.md").unlink()
    write(tmp_path, "docs/new.md")
    [work] = compared(tmp_path, store, "docs")
    assert [found.path for found in work.to_read] == [
        str(tmp_path / "docs" / name) for name in ("in/b.md", "in/d.md", "new.md")
    ]
    assert work.missing == (records[2],)
    assert (work.passed, work.unchanged) == (1, 1)
    assert set(work.records) == {"docs/in/b.md", "docs/in/c.md", "docs/in/d.md"}


def test_a_file_that_comes_under_another_source_is_looked_at(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs/in/b.md")
    store = PlainStore()
    records = (record(tmp_path, "docs/a.md"), record(tmp_path, "docs/in/b.md"))
    store.apply(Changes(files=records, sources=(Source("docs"),)), NOW)
    [outer, inner] = compared(tmp_path, store, "docs", "docs/in")
    assert (outer.unchanged, outer.to_read, outer.missing) == (1, (), ())
    assert [found.path for found in inner.to_read] == [str(tmp_path / "docs/in/b.md")]


def test_a_folder_that_is_gone_is_missing_file_by_file(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs/z/b.md")
    store = PlainStore()
    one = record(tmp_path, "docs/a.md")
    gone = [one._replace(path=f"docs/y/{number}.md") for number in range(MANY + 1)]
    store.apply(Changes(files=(one, record(tmp_path, "docs/z/b.md"), *gone)), NOW)
    [work] = compared(tmp_path, store, "docs")
    assert sorted(work.missing) == sorted(gone)
    assert work.unchanged == 2
    os.rename(tmp_path / "docs", tmp_path / "away")
    [work] = compared(tmp_path, store, "docs")
    assert len(work.missing) == MANY + 3
