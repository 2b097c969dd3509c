"""Child processes in special circumstances, and a look at what they leave behind."""

import ctypes
import os
import pty
import re
import resource
import sqlite3
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from conftest import COMMAND, Kb, Result, environment

PATIENCE = 30.0  # seconds until something that must happen counts as not happening

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b]8;;[^\x1b\x07]*\x1b\\")


def obey_permissions() -> None:
    """In a child: file permissions count, even for root."""
    libc = ctypes.CDLL(None)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def little_disk(limit: int) -> Callable[[], None]:
    """In a child: no file grows beyond the limit."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


@contextmanager
def permissions(path: Path, mode: int) -> Iterator[None]:
    """The path has these permissions for a while."""
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        yield
    finally:
        path.chmod(before)


def in_terminal(
    kb: Kb,
    *arguments: str,
    typed: bytes = b"",
    env: Mapping[str, str] | None = None,
    columns: int = 0,
) -> Result:
    """Run `kb` at a terminal; `out` is all that appears on it."""
    master, slave = pty.openpty()
    if columns:
        termios.tcsetwinsize(slave, (24, columns))
    if typed:
        os.write(master, typed)
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=kb.folder,
        env=environment(**(env or {})),
        start_new_session=True,
    )
    os.close(slave)
    shown = b""
    try:
        while part := os.read(master, 65536):
            shown += part
    except OSError:  # how Linux says that nobody has the terminal open any more
        pass
    finally:
        os.close(master)
    return Result(process.wait(PATIENCE), shown.decode().replace("\r\n", "\n"), "")


def without_styles(text: str) -> str:
    """The text without colours and links."""
    return _OURS.sub("", text)


def start(
    kb: Kb, *arguments: str, before: Callable[[], object] | None = None
) -> "subprocess.Popen[str]":
    """Start `kb` and do not wait for it."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=kb.folder,
        env=environment(),
        preexec_fn=before,
    )


def wait_until(happened: Callable[[], bool]) -> None:
    """Look again and again, but not for ever."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def stored_paths(kb: Kb) -> set[str]:
    """The paths of the documents in the base, read without knowbase."""
    with closing(sqlite3.connect(kb.base)) as connection:
        return {path for (path,) in connection.execute("SELECT path FROM documents")}


def assert_in_step(base: Path) -> None:
    """The base is sound, and each document has its chunks, index rows and vectors."""
    with closing(apsw.Connection(str(base))) as connection:

        def column(sql: str) -> list[object]:
            return [value for (value,) in connection.execute(sql)]

        assert column("PRAGMA integrity_check") == ["ok"]
        assert column("PRAGMA foreign_key_check") == []
        chunks = column("SELECT id FROM chunks ORDER BY id")
        assert column("SELECT id FROM chunks_fts_docsize ORDER BY id") == chunks
        assert column("SELECT chunk_id FROM chunks_vec_1 ORDER BY chunk_id") == chunks
        with_chunks = column("SELECT DISTINCT document FROM chunks ORDER BY document")
        assert column("SELECT seq FROM documents ORDER BY seq") == with_chunks
        assert column("SELECT path FROM documents WHERE path IS NOT NULL ORDER BY path") == column(
            "SELECT path FROM files WHERE document IS NOT NULL ORDER BY path"
        )
