"""Writers of one SQLite file take turns: none is left waiting beside a busy one."""

import subprocess
import sys
from pathlib import Path

from knowbase.store.sqlite import SqliteStore
from knowbase.values.changes import Changes
from stores import BACKENDS, NOW, draft, section

BUSY = """
import sys, time
from knowbase.store.sqlite import SqliteStore
store = SqliteStore(sys.argv[1], busy_timeout=60)
while True:
    with store._connections.writing():
        print("at work", flush=True)
        time.sleep(0.1)  # as on a slow disk
"""
PATIENCE = 3.0  # seconds; alone, a write takes a hundredth of one


def test_nobody_waits_in_vain_beside_writers_that_never_pause(tmp_path: Path) -> None:
    """Each of them would have the lock again before anybody who sleeps could look."""
    BACKENDS["sqlite"](tmp_path).close()
    path = str(tmp_path / "base.db")
    words = [sys.executable, "-c", BUSY, path]
    busy = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(2)]
    store = SqliteStore(path, busy_timeout=PATIENCE)
    try:
        for one in busy:
            assert one.stdout is not None
            assert one.stdout.readline() == b"at work\n"
        for number in range(15):  # a lock that is not left in time raises BaseLocked
            store.apply(Changes(drafts=(draft(f"own-{number}", section("alpha")),)), NOW)
    finally:
        for one in busy:
            one.kill()
            one.wait()
        store.close()
