"""The process that the first search leaves behind: it has loaded what a search needs, and runs
each command that it is asked for in a child of itself.

A child has the caller's arguments, environment, folder and streams, and runs what the caller would
have run (`cli/run.py`): so the answer is the same. It sees nothing of another's request. Whatever
becomes of it, the caller knows (`process/warm.py`), and does the work alone.
"""

import gc
import io
import os
import select
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from knowbase.process import warm

MOST = 256  # children at a time; who comes then works alone
TICK = 2.0  # seconds between two looks at files
BACKLOG = 128
FACTS = 6  # parts of a request between its words and its world
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE)


class Alone(BaseException):
    """This command is not to be answered here: its settings say so."""


class Asked(NamedTuple):
    """A request, as it came in."""

    words: list[str]
    folder: str
    umask: int
    niceness: int
    streams: list[str]  # encoding and errors of each
    world: list[bytes]
    environment: dict[bytes, bytes]


def main(path: str, idle_seconds: float, first_base: str) -> None:
    """Answer until nobody has asked for so long, or the program or all bases are gone."""
    with suppress(OSError):
        os.setsid()  # no terminal's, and not told when one closes
    os.closerange(3, 1024)  # what the starter was given by others
    os.chdir("/")
    lock = _lock(path)
    if lock is None:
        return
    _load()
    server = _listening(path)
    try:
        _Daemon(server, lock, idle_seconds, first_base).run()
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)


def _lock(path: str) -> int | None:
    """What only one has, for life: the system takes it back from a process that ends, however."""
    import fcntl

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if not warm.is_private(os.path.dirname(path)):
        return None
    lock = os.open(path + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return None
    return lock


def _load() -> None:
    """What every search wants, the model included; what else it wants, the first child says."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads do not survive a fork
    import_module("knowbase.cli.run")
    from knowbase.embed.granite import Granite

    with suppress(Exception):  # who needs it is told so
        Granite().embed_query("warm")


def _listening(path: str) -> socket.socket:
    with suppress(FileNotFoundError):
        os.unlink(path)  # of one that was killed: whoever has the lock is the only one
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    server.bind(path)
    os.umask(mask)
    server.listen(BACKLOG)
    server.setblocking(False)
    return server


class _Daemon:
    def __init__(
        self, server: socket.socket, lock: int, idle_seconds: float, first_base: str
    ) -> None:
        self._server = server
        self._lock = lock
        self._idle = idle_seconds
        self._bases = {first_base} - {""}
        self._answered = 0
        self._started = self._last = time.monotonic()
        self._children: set[int] = set()
        self._reports, self._reporting = os.pipe()
        os.set_blocking(self._reporting, False)
        self._code = _files()

    def run(self) -> None:
        signal.signal(signal.SIGTERM, _end)
        gc.collect()
        gc.freeze()  # children look at none of it: it stays shared
        while not self._is_over():
            left = self._idle - (time.monotonic() - self._last)
            both: list[Any] = [self._server, self._reports]
            ready, _, _ = select.select(both, [], [], max(0.0, min(TICK, left)))
            self._reap()
            if self._reports in ready:
                self._hear()
            if self._server in ready and not self._is_over():
                with suppress(OSError):
                    self._take()

    def _is_over(self) -> bool:
        idle = time.monotonic() - self._last >= self._idle
        homeless = self._bases and not any(map(os.path.exists, self._bases))
        return bool(idle or homeless or _has_changed(self._code))

    def _take(self) -> None:
        connection, _ = self._server.accept()
        with connection:
            if warm.peer_of(connection) != os.geteuid() or len(self._children) >= MOST:
                return
            state = self._state()
            child = os.fork()
            if not child:
                self._server.close()
                os.close(self._reports)
                os.close(self._lock)  # whoever talks for long must not keep it
                _serve(connection, self._reporting, state)
            self._children.add(child)

    def _state(self) -> str:
        now = time.monotonic()
        numbers = (os.getpid(), self._answered, int(now - self._started), int(now - self._last))
        return " ".join(map(str, (*numbers, int(self._idle))))

    def _reap(self) -> None:
        for child in list(self._children):
            with suppress(ChildProcessError):
                if os.waitpid(child, os.WNOHANG)[0]:
                    self._children.discard(child)

    def _hear(self) -> None:
        """What children report: the base that they opened, and what they had to load."""
        self._last = time.monotonic()
        for line in os.read(self._reports, 1 << 16).splitlines():
            what, _, rest = line.partition(b" ")
            if what == b"base":
                self._answered += 1
                self._bases |= {os.fsdecode(rest)} - {""}
            for name in rest.decode().split() if what == b"load" else ():
                with suppress(Exception):
                    import_module(name)
        self._code = {**_files(), **self._code}


def _end(*_: object) -> NoReturn:
    raise SystemExit(0)


def _files() -> dict[str, tuple[int, ...]]:
    """The files of the program and of everything else that is loaded, and what tells that one is
    another: what a child loads later must go with what is loaded now."""
    loaded = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    own = os.path.dirname(os.path.dirname(__file__))
    below = [os.path.join(at, name) for at, _, names in os.walk(own) for name in names]
    paths = {one for one in loaded if one} | {one for one in below if one.endswith(".py")}
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> tuple[int, ...]:
    try:
        told = os.stat(path)
    except OSError:
        return ()
    return told.st_mtime_ns, told.st_size, told.st_ino


def _has_changed(files: dict[str, tuple[int, ...]]) -> bool:
    return any(_stamp(path) != stamp for path, stamp in files.items())


# what follows runs in a child

_reporting = -1


def _serve(connection: socket.socket, reporting: int, state: str) -> NoReturn:
    """Answer one request, and end."""
    for one in _SIGNALS:
        signal.signal(one, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        connection.settimeout(warm.PATIENCE)
        asked = _received(connection)
        if asked.words[0] in (warm.STATUS, warm.STOP):
            _control(connection, asked.words[0], state)
        elif _is_taken_over(asked):
            connection.sendall(warm.READY)
            said, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
            if said == warm.GO and len(descriptors) == 3:
                _lay(descriptors)
                _run(connection, asked, reporting)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _control(connection: socket.socket, what: str, state: str) -> None:
    parent = int(state.split(maxsplit=1)[0])
    if what == warm.STOP and os.getppid() == parent:  # else it has ended just now
        os.kill(parent, signal.SIGTERM)
    connection.sendall(warm.DONE + len(state).to_bytes(warm.LENGTH, "big") + state.encode())


def _received(connection: socket.socket) -> Asked:
    number, *parts = warm.receive_whole(connection).split(b"\0")
    words, rest = parts[: int(number)], parts[int(number) :]
    facts, rest = [os.fsdecode(one) for one in rest[:FACTS]], rest[FACTS:]
    same = len(warm.world())
    pairs = (one.partition(b"=") for one in rest[same:])
    environment = {name: value for name, _, value in pairs}
    return Asked(
        [os.fsdecode(one) for one in words],
        facts[0],
        int(facts[1]),
        int(facts[2]),
        facts[3:],
        rest[:same],
        environment,
    )


def _is_taken_over(asked: Asked) -> bool:
    """Become the caller, as far as that can be; False where it makes a difference."""
    os.chdir(asked.folder)
    if warm.world() != asked.world:
        return False
    own = os.getpriority(os.PRIO_PROCESS, 0)
    if asked.niceness < own:
        return False  # nobody may become quicker
    os.nice(asked.niceness - own)
    os.umask(asked.umask)
    os.environ.clear()
    os.environb.update(asked.environment)
    time.tzset()
    sys.argv[1:] = asked.words
    return True


def _lay(descriptors: list[int]) -> None:
    """The caller's streams where a program has its own."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)


class _Recorder(io.RawIOBase):
    """A stream whose writes are kept, in one list with those of the other one; whoever asks what
    it leads to learns what the caller's does."""

    def __init__(self, number: int, written: list[tuple[int, bytes]]) -> None:
        self._number = number
        self._written = written

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, data: Any) -> int:
        self._written.append((self._number, bytes(data)))
        return len(data)


def _run(connection: socket.socket, asked: Asked, reporting: int) -> None:
    global _reporting
    from knowbase.cli import main

    _reporting, warm.when_opened = reporting, _opened
    loaded = set(sys.modules)
    written: list[tuple[int, bytes]] = []
    talks = asked.words[0] == warm.TALK
    for number, (name, said) in enumerate(
        zip(("stdin", "stdout", "stderr"), asked.streams, strict=True)
    ):
        raw: Any = _Recorder(number, written)
        if number == 0 or talks:
            raw = io.FileIO(number, "w" if number else "r", closefd=False)
        setattr(sys, name, _stream(raw, said, number))
    connection.settimeout(None)
    threading.Thread(target=_end_with_caller, args=(connection,), daemon=True).start()
    try:
        code = main(asked.words)
    except Alone:
        connection.sendall(warm.ALONE)
        return
    sys.stdout.flush()
    sys.stderr.flush()
    if not talks:
        _report("load", " ".join(one for one in [*sys.modules] if one not in loaded))  # in order
    parts = [bytes([one]) + len(text).to_bytes(warm.LENGTH, "big") + text for one, text in written]
    whole = b"".join(parts)
    size = len(whole).to_bytes(warm.LENGTH, "big")
    connection.sendall(warm.DONE + bytes([code & 0xFF]) + size + whole)


def _opened(base: object) -> None:
    """A child says which base it works on; Alone if that one wants none of this."""
    settings = getattr(base, "settings", None)
    said = os.environ.get(warm.SWITCH) or getattr(settings, "search_daemon", "")
    if said == warm.OFF:
        raise Alone
    _report("base", warm.file_of(base))


def _report(what: str, told: str) -> None:
    """In one piece, or cut between two words; whether anybody hears it does not matter."""
    line = f"{what} {told}".encode("utf-8", "surrogateescape").replace(b"\n", b" ")
    if len(line) >= select.PIPE_BUF:
        line = line[: select.PIPE_BUF - 1].rpartition(b" ")[0]
    with suppress(OSError):
        os.write(_reporting, line + b"\n")


def _stream(raw: Any, said: str, number: int) -> io.TextIOWrapper:
    encoding, _, errors = said.partition(" ")
    buffered: Any = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
    is_prompt = number == 2 or (number == 1 and raw.isatty())
    return io.TextIOWrapper(buffered, encoding, errors, line_buffering=is_prompt)


def _end_with_caller(connection: socket.socket) -> NoReturn:
    """Nobody waits for an answer any longer."""
    with suppress(OSError):
        connection.recv(1)
    os._exit(1)
