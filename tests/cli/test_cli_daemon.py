"""The process that a search leaves behind: the same answers, and nobody is kept waiting by it."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import COMMAND, Kb, Result, environment, one_json
from postgres import new_base

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is left behind on Linux alone")

PATIENCE = 30.0
SAME = (
    ("how do I deploy",),
    ("deploy", "--fts-only", "--json"),
    ("deploy", "--format", "grep"),
    ("deploy", "--profile", "nobody", "--json"),
    ("--help",),
    (),
)


class Warm:
    """`kb` in a folder, for a user who has a runtime folder of their own."""

    def __init__(self, kb: Kb, runtime: Path) -> None:
        self.kb, self.runtime = kb, runtime
        self.more = {"XDG_RUNTIME_DIR": str(runtime), "KB_DAEMON": "on"}

    def __call__(self, *words: str, **more: str) -> Result:
        return timeless(self.kb(*words, code=None, env={**self.more, **more}))

    def status(self, what: str = "status") -> dict[str, Any]:
        found: dict[str, Any] = one_json(self("daemon", what, "--json").out)
        return found

    def running(self) -> dict[str, Any]:
        """What it says of itself, as soon as it does."""
        self.until(lambda: bool(self.status()["running"]))
        return self.status()

    def answered(self) -> int:
        return int(self.running()["answered"])

    def started(self) -> dict[str, Any]:
        """A search, and what it leaves behind."""
        self("search", f"warm up {time.time()}")
        return self.running()

    def until(self, happens: Callable[[], bool]) -> Any:
        end = time.monotonic() + PATIENCE
        while not happens():
            assert time.monotonic() < end
            time.sleep(0.05)
        return True


@pytest.fixture(scope="module")
def warm(handbook: Kb) -> Iterator[Warm]:
    runtime = Path(tempfile.mkdtemp())
    one = Warm(handbook, runtime)
    yield one
    one.status("stop")
    shutil.rmtree(runtime)


def timeless(result: Result) -> Result:
    """Without how long it took, which is never the same."""
    return result._replace(
        out=re.sub(r'(?<=_ms":)[\d.]+|(?<=_ms": )[\d.]+|(?<= · )\d+(?= ms)', "0", result.out)
    )


def test_answers_are_the_same_to_the_byte(warm: Warm) -> None:
    before = warm.started()["answered"]
    for words in SAME:
        same = warm("search", *words) == warm("search", *words, KB_DAEMON="off")
        assert same, words
    assert warm.answered() >= before + 3  # that opened the base


def test_the_base_may_be_named_before_the_command(warm: Warm) -> None:
    base = str(warm.kb.folder / ".kb" / "base.db")
    before = warm.started()["answered"]
    words = ("--base", base, "search", "deploy")
    assert warm(*words) == warm(*words, KB_DAEMON="off")
    assert warm.answered() == before + 1


def test_the_socket_is_its_users_alone_and_else_not_trusted(warm: Warm) -> None:
    path = Path(warm.started()["socket"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    answered = warm.answered()
    path.parent.chmod(0o755)
    found = warm("search", "deploy")
    path.parent.chmod(0o700)
    assert found.out
    assert warm.answered() == answered


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_nobody_else_can_talk_to_it(warm: Warm) -> None:
    path = Path(warm.started()["socket"])
    for place in (warm.runtime, path.parent, path):
        place.chmod(0o777)
    asking = (
        "import os, socket, sys; os.setuid(65534);"
        "one = socket.socket(socket.AF_UNIX); one.connect(sys.argv[1]); print(one.recv(1))"
    )
    try:
        told = subprocess.run([sys.executable, "-c", asking, path], capture_output=True, check=True)
    finally:
        for place, mode in ((warm.runtime, 0o700), (path.parent, 0o700), (path, 0o600)):
            place.chmod(mode)
    assert told.stdout == b"b''\n"


def test_a_base_can_do_without_it(warm: Warm, own_handbook: Kb) -> None:
    answered = warm.started()["answered"]
    own_handbook.write("kb.toml", '[search]\ndaemon = "off"\n')
    more = {"XDG_RUNTIME_DIR": str(warm.runtime), "KB_DAEMON": "", "CI": ""}
    assert own_handbook("search", "deploy", env=more).out
    assert warm.answered() == answered


def test_many_ask_at_once(warm: Warm) -> None:
    alone = warm("search", "rollback", "--fts-only", KB_DAEMON="off")
    before = warm.started()["answered"]
    with ThreadPoolExecutor(32) as pool:
        found = pool.map(lambda _: warm("search", "rollback", "--fts-only"), range(32))
        assert set(found) == {alone}
    assert warm.answered() > before


def test_who_is_killed_leaves_nothing_in_the_way(warm: Warm) -> None:
    """Killed, it leaves its socket; the next ones find nobody, and one of them starts another."""
    first = warm.started()["pid"]
    os.kill(first, signal.SIGKILL)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: warm("search", "deploy a new release"), range(4)))
    assert len(set(found)) == 1
    assert found[0].code == 0
    second = warm.started()
    assert second["pid"] != first
    time.sleep(0.5)  # others that were started have seen the lock
    assert left_behind(second["socket"]) == [second["pid"]]


def left_behind(path: str) -> list[int]:
    """The processes that were started for a socket."""
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = one.read_bytes().split(b"\0")
        except OSError:
            continue
        if path.encode() in words:
            found.append(int(one.parent.name))
    return found


def test_who_hangs_is_not_waited_for(warm: Warm) -> None:
    state = warm.started()
    os.kill(state["pid"], signal.SIGSTOP)
    try:
        assert warm("search", "deploy", "--fts-only").code == 0
    finally:
        os.kill(state["pid"], signal.SIGCONT)


def test_nonsense_is_not_an_answer(warm: Warm) -> None:
    alone = warm("search", "deploy", "--fts-only", KB_DAEMON="off")
    path = warm.status("stop")["socket"]
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        for told in (b"", b"R", b"RDzzzzzzzzzz", b"\0" * 64, b"RD\0\0\0\0\4abcd"):
            threading.Thread(target=_say, args=(server, told), daemon=True).start()
            assert warm("search", "deploy", "--fts-only") == alone
    os.unlink(path)


def _say(server: socket.socket, told: bytes) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(1 << 16)
        connection.sendall(told)


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "kb_search", "arguments": {"query": "deploy a release"}},
}


@contextmanager
def talking(warm: Warm, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """`kb mcp` whose client has said hello and asked something."""
    lines = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, CALL]
    with subprocess.Popen(
        [*COMMAND, "mcp"],
        cwd=warm.kb.folder,
        env=environment(**{**warm.more, **more}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as client:
        assert client.stdin
        client.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        client.stdin.flush()
        yield client


def said(client: subprocess.Popen[bytes]) -> Result:
    """The answers, and how it ends when its client leaves."""
    assert client.stdin
    assert client.stdout
    answers = client.stdout.readline() + client.stdout.readline()
    client.stdin.close()
    return timeless(Result(client.wait(), answers.decode(), ""))


def test_agents_are_answered_the_same_and_it_ends_with_its_client(warm: Warm) -> None:
    before = warm.started()["answered"]
    with talking(warm) as client, talking(warm, KB_DAEMON="off") as alone:
        same = said(client) == said(alone)
    assert same
    assert warm.answered() > before
    with talking(warm) as client:
        assert client.stdout
        assert b"protocolVersion" in client.stdout.readline()
        client.kill()
        client.stdout.read()  # until whoever wrote there has ended


def test_agents_are_answered_after_a_search_in_a_database(warm: Warm) -> None:
    """What that search loaded, the process has loaded in the same order."""
    url = new_base()
    knowbase.create(url).close()
    warm.status("stop")
    answered = warm.started()["answered"]
    warm("search", "deploy", "--base", url)
    assert warm.answered() == answered + 1
    with talking(warm) as client, talking(warm, KB_DAEMON="off") as alone:
        assert said(client) == said(alone)


def test_it_ends_when_nobody_asks_and_when_no_base_is_left(warm: Warm, own_handbook: Kb) -> None:
    warm.status("stop")
    warm("search", "idle for a moment", KB_SEARCH_DAEMON_IDLE="1")
    warm.until(lambda: warm.status()["running"])
    warm.until(lambda: not warm.status()["running"])
    Warm(own_handbook, warm.runtime).started()
    shutil.rmtree(own_handbook.folder)
    warm.until(lambda: not warm.status()["running"])


def test_another_program_is_not_answered_by_the_old_one(warm: Warm, tmp_path: Path) -> None:
    source = Path(knowbase.__file__).parent
    shutil.copytree(source, tmp_path / "knowbase", ignore=shutil.ignore_patterns("__pycache__"))
    own = Warm(warm.kb, warm.runtime)
    own.more["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(source.parent)])
    first = own.started()
    changed = tmp_path / "knowbase" / "search" / "search.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "# newer\n", encoding="utf-8")
    assert own("search", "deploy", "--fts-only").code == 0
    assert own.started()["pid"] != first["pid"]
    assert "answered" in own("daemon", "status").out
    assert own("daemon", "stop").out.startswith("ended: process")
    assert own("daemon", "stop").out.startswith("no process waits")


@pytest.mark.parametrize("words", [("search", "deploy", "--fts-only"), ("--help",)])
@pytest.mark.parametrize("switch", ["on", "off"])
def test_where_nothing_can_be_written_that_is_said_in_a_line(
    warm: Warm, words: tuple[str, ...], switch: str
) -> None:
    more = environment(**{**warm.more, "KB_DAEMON": switch})
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, *words], cwd=warm.kb.folder, env=more, stdout=full, stderr=subprocess.PIPE,
            text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "kb: the answer could not be written: No space left on device\n"


@pytest.mark.parametrize("switch", ["on", "off"])
@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_stream_that_its_caller_closed_is_not_missed(
    warm: Warm, stream: int, switch: str
) -> None:
    words, more = ("search", "deploy", "--fts-only", "--json"), {"KB_DAEMON": switch}
    usual = warm(*words, **more)
    done = warm.kb(*words, env={**warm.more, **more}, before=lambda: os.close(stream))
    assert timeless(done)._replace(err="") == usual._replace(
        err="", out="" if stream == 1 else usual.out
    )


def test_where_it_would_be_waited_for_none_is_left(handbook: Kb) -> None:
    """CI is set: then by default nothing stays behind."""
    with tempfile.TemporaryDirectory() as runtime:
        more = {"XDG_RUNTIME_DIR": runtime, "KB_DAEMON": "", "CI": "1"}
        handbook("search", f"not seen before {time.time()}", env=more)
        assert not handbook.json("daemon", "status", env=more)["running"]
        assert os.listdir(runtime) == []
