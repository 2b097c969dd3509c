"""One file never stops the rest, whatever is wrong with it."""

import errno
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw
import pytest

from knowbase import Base, create
from knowbase.embed.granite import Granite
from knowbase.errors import BaseLocked, DiskFull, TookTooLong
from knowbase.ingest.report import Report
from knowbase.ingest.watch import watch
from knowbase.process import close_idle
from knowbase.values.vectors import Vector

PACKAGED = Granite()


class Stumbling:
    """The packaged model, which stumbles over a text: when it is split, or when it is embedded."""

    model, max_tokens = PACKAGED.model, PACKAGED.max_tokens
    embed_query = PACKAGED.embed_query

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        if "unsplittable" in text:
            raise RuntimeError("nobody thought of this")
        return PACKAGED.token_spans(text)

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        if any("unembeddable" in text for text in texts):
            raise RuntimeError("nor of this")
        return PACKAGED.embed_documents(texts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "a": "fine",
        "b": "unsplittable",
        "c": "also fine",
        "d": "unembeddable",
        "e": "fine too",
    }.items():
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{text}\n")
    return tmp_path


def test_what_cannot_be_drafted_or_written_is_one_files_problem(folder: Path) -> None:
    with Base(create(str(folder)).path, embedder=Stumbling()) as base:
        report = base.add([str(folder)])
        assert report.added == ("a.md", "c.md", "e.md")
        assert {problem.path for problem in report.failed} == {"b.md", "d.md"}
        assert {problem.reason for problem in report.failed} == {
            "could not be stored (RuntimeError)"
        }
        assert report.chunks_embedded == 3
        again = base.sync()
        assert (again.unchanged, len(again.failed)) == (3, 2)
        (folder / "d.md").write_text("# d\n\nmended\n")
        assert base.sync().added == ("d.md",)


def test_a_file_that_cannot_be_written_any_more_keeps_what_was_read_before(folder: Path) -> None:
    (folder / "d.md").write_text("# d\n\nonce fine\n")
    with Base(create(str(folder)).path, embedder=Stumbling()) as base:
        base.add([str(folder)])
        (folder / "d.md").write_text("# d\n\nunembeddable now\n")
        assert [problem.path for problem in base.sync().failed] == ["b.md", "d.md"]
        assert "once fine" in base.get("d.md").text
        (folder / "d.md").rename(folder / "moved.md")
        base.sync()
        assert "once fine" in base.get("d.md").text


def test_what_the_database_refuses_of_one_file_is_that_files_problem(folder: Path) -> None:
    """A real refusal, by the database itself."""
    path = create(str(folder)).path
    with apsw.Connection(path) as connection:
        connection.execute(
            "CREATE TRIGGER refusing BEFORE INSERT ON documents WHEN new.title = 'c' BEGIN"
            " SELECT RAISE(ABORT, 'not this one'); END"
        )
    with Base(path, embedder=PACKAGED) as base:
        report = base.add([str(folder)])
        assert report.added == ("a.md", "b.md", "d.md", "e.md")
        assert [problem.path for problem in report.failed] == ["c.md"]


def test_a_file_for_which_there_is_no_process_is_read_by_the_next_sync(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, "no more processes")

    with Base(create(str(folder)).path, embedder=PACKAGED) as base:
        close_idle()
        with monkeypatch.context() as patched:
            patched.setattr(subprocess, "Popen", refused)
            report = base.add([str(folder)])
        assert report.added == ()
        assert {problem.reason for problem in report.failed} == {
            "no process could be started: no more processes"
        }
        assert len(base.sync().added) == 5


def test_a_base_that_is_locked_stops_everything_as_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_STORE_BUSY_TIMEOUT", "0.1")
    path = create(str(folder)).path
    with Base(path, embedder=PACKAGED) as base:
        other = apsw.Connection(path)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BaseLocked):
            base.add([str(folder)])
        other.execute("ROLLBACK")
        assert len(base.add([str(folder)]).added) == 5


def test_a_watch_outlives_a_round_that_fails(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    errors = RuntimeError("odd"), DiskFull("no space"), TookTooLong("no time")
    rounds: list[Exception | None] = [None, *errors, None]

    def sync() -> Report:
        error = rounds.pop(0)
        if error is not None:
            raise error
        return Report(interrupted=not rounds)

    told: list[str] = []
    for report in watch(sync, [str(tmp_path)], ()):
        told += report.warnings
        (tmp_path / "a.md").write_text("a" * len(told))
    assert [warning.partition(";")[0] for warning in told] == [
        "this round failed (RuntimeError)",
        "no space",
        "no time",
    ]
