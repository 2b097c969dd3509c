"""Asking the process that an earlier search left behind (`cli/daemon.py`), which has all loaded.

Nothing of ours is imported here, and little else: this is all that a command loads when it is
answered. Whatever is not as it should be gives None, and the command does its work alone: nothing
is printed before the whole answer is there. `docs/decisions/0025` says why it is done so.
"""

import os
import sys

TYPE_CHECKING = False  # the module of that name takes as long to load as all of this
if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable

TALK = "mcp"
"""A command that talks with its own client for as long as that wishes."""
COMMANDS = ("search", TALK)
SWITCH = "KB_DAEMON"  # of the environment, before any setting
ON, OFF = "on", "off"
BROKEN_OFF = 1  # exit code
PATIENCE = 1.0  # seconds until somebody takes the request
LONGEST = 10.0  # seconds for an answer; then it is made here
LONGEST_PATH = 100  # bytes: what the name of a socket may have, on every system
LENGTH = 4  # bytes of a length
_BOOT = (
    "import sys; sys.path[:] = sys.argv[4:]; from knowbase.cli.daemon import main;"
    " main(sys.argv[1], float(sys.argv[2]), sys.argv[3])"
)
READY, GO, DONE, ALONE = b"R", b"G", b"D", b"A"
STATUS, STOP = "?", "!"  # asked instead of a command

when_opened: "Callable[[object], None] | None" = None
"""What a child of the process that was left behind does with the base that a command opened."""
is_absent = False
"""Whether somebody was looked for, and there was nobody."""


def answer(arguments: list[str]) -> int | None:
    """The exit code of a command that somebody else has run; None when nobody has."""
    if arguments[:1] == ["--base"]:  # kb --base X search … is kb search --base X …
        arguments = [*arguments[2:3], *arguments[:2], *arguments[3:]]
    if not arguments or arguments[0] not in COMMANDS or not _may_ask():
        return None
    if arguments[0] == TALK and not {"--http", "install"}.isdisjoint(arguments):
        return None
    connection = connected()
    if connection is None:
        return None
    try:
        return _asked(connection, arguments)
    except (OSError, ValueError, AttributeError):  # it is gone, late, or talks nonsense
        return None
    finally:
        connection.close()


def _may_ask() -> bool:
    """Not where it is switched off, nor where somebody looks at this very process."""
    said = os.environ.get(SWITCH) or (OFF if os.environ.get("CI") else "")
    return said != OFF and not sys.warnoptions and not sys.flags.dev_mode


def folder() -> str:
    """Where the socket lies: the user's folder for what runs, else one of their own in /tmp."""
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(given):
        return os.path.join(given, "knowbase")
    usual = f"/run/user/{os.geteuid()}"
    if os.access(usual, os.W_OK):
        return os.path.join(usual, "knowbase")
    shared = os.environ.get("TMPDIR", "/tmp") if sys.platform == "darwin" else "/tmp"  # noqa: S108 - looked at by is_private
    return os.path.join(shared, f"knowbase-{os.geteuid()}")


def socket_path() -> str | None:
    """One for each installation and version, so that two of them are not in each other's way."""
    import zlib

    import knowbase

    python = sorted(item for item in os.environ.items() if item[0].startswith("PYTHON"))
    kind = (knowbase.__version__, knowbase.__file__, sys.executable, sys.version, python)
    whole = (*kind, sys.getfilesystemencoding(), sys.flags.utf8_mode, sys.flags.optimize)
    path = os.path.join(folder(), f"{zlib.crc32(repr(whole).encode()):08x}.sock")
    return path if len(os.fsencode(path)) <= LONGEST_PATH else None


def file_of(base: object) -> str:
    """The file of a base, which is looked for later on; nothing for one that has none."""
    path = getattr(base, "path", "")
    return "" if not path or "://" in path else os.path.abspath(path)


def is_wanted(setting: str) -> bool:
    """By itself only where that is known to do no harm: not where what is left behind is waited
    for, nor where a process that has loaded much must not fork."""
    said = os.environ.get(SWITCH) or setting
    by_itself = sys.platform == "linux" and not os.environ.get("CI")
    return said == ON or (said != OFF and by_itself)


def start(idle_seconds: float, base: str) -> None:
    """Leave a process behind, that takes nothing of this one along but its environment."""
    import knowbase

    path = socket_path()
    if path is None:
        return
    own = os.path.dirname(os.path.dirname(knowbase.__file__))
    here = os.getcwd()  # `python -m` looks there first; a server should not
    modules = [one for one in sys.path if os.path.isabs(one) and (one != here or one == own)]
    given = [path, str(idle_seconds), base, *modules]
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    command = [sys.executable, "-X", f"utf8={sys.flags.utf8_mode}", "-c", _BOOT, *given]
    try:
        os.posix_spawn(sys.executable, command, os.environ, file_actions=nothing)
    except OSError:
        return  # no process can be had: then there is none


def is_private(place: str) -> bool:
    """Whether a folder is this user's own, and nobody else's to look into."""
    found = os.lstat(place)
    is_folder = found.st_mode & 0o170000 == 0o040000
    return is_folder and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def peer_of(connection: "_socket.socket") -> int:
    """The user at the other end."""
    import _socket

    if hasattr(_socket, "SO_PEERCRED"):
        told = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    else:  # LOCAL_PEERCRED of macOS and the BSDs
        told = connection.getsockopt(0, 1, 76)
    return int.from_bytes(told[4:8], sys.byteorder)


def has_sockets() -> bool:
    import _socket

    return hasattr(_socket, "AF_UNIX") and hasattr(os, "fork")


def connected() -> "_socket.socket | None":
    """A connection to whoever was left behind by this user."""
    global is_absent
    import _socket

    path = socket_path() if has_sockets() else None
    if path is None:
        return None
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(PATIENCE)
        if not is_private(os.path.dirname(path)):
            raise PermissionError(path)
        connection.connect(path)
        if peer_of(connection) == os.geteuid():
            return connection
    except (FileNotFoundError, ConnectionRefusedError):
        is_absent = True
    except OSError:
        pass
    connection.close()
    return None


def world() -> list[bytes]:
    """What has to be the same on both sides, so that the same files are seen with the same rights:
    the folders, the namespaces, the groups, the limits."""
    import resource

    limits = (resource.RLIMIT_FSIZE, resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_CPU)
    told = [repr([resource.getrlimit(one) for one in limits])]
    for place in ("/", "."):
        found = os.stat(place)
        told.append(f"{found.st_dev}:{found.st_ino}")
    for name in ("mnt", "net", "user"):
        try:
            told.append(os.readlink(f"/proc/self/ns/{name}"))
        except OSError:
            told.append("")
    told.append(repr((os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups())))
    return [one.encode() for one in told]


def send_request(connection: "_socket.socket", arguments: list[str]) -> None:
    """The command, and all of this process that its answer may depend on; no part has a NUL."""
    mask = os.umask(0o077)
    os.umask(mask)
    streams = [f"{one.encoding} {one.errors}" for one in (sys.stdin, sys.stdout, sys.stderr)]
    facts = [os.getcwd(), str(mask), str(os.getpriority(os.PRIO_PROCESS, 0)), *streams]
    environment = [name + b"=" + value for name, value in os.environb.items()]
    words = [os.fsencode(one) for one in arguments]
    parts = [os.fsencode(one) for one in facts] + world()
    body = b"\0".join([b"%d" % len(words), *words, *parts, *environment])
    connection.sendall(len(body).to_bytes(LENGTH, "big") + body)


def _asked(connection: "_socket.socket", arguments: list[str]) -> int | None:
    send_request(connection, arguments)
    if connection.recv(1) != READY:
        return None
    is_talk = arguments[0] == TALK
    connection.settimeout(None if is_talk else LONGEST)
    if is_talk:
        _leave_interrupts()
    _go(connection, is_talk)
    said = connection.recv(1)
    if not said and is_talk:
        return BROKEN_OFF  # the client has been answered in part: nobody can go on from there
    if said != DONE:
        return None
    code = receive(connection, 1)[0]
    return _shown(_parts(receive_whole(connection)), code)


def _go(connection: "_socket.socket", is_talk: bool) -> None:
    """Only now are streams lent, and of a search only terminals, to be measured: who reads a pipe
    must never wait for somebody who holds it and hangs."""
    import _socket

    nothing = os.open(os.devnull, os.O_RDWR)
    lent = [one if is_talk or os.isatty(one) else nothing for one in (0, 1, 2)]
    told = b"".join(one.to_bytes(4, sys.byteorder) for one in lent)
    connection.sendmsg([GO], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, told)])
    os.close(nothing)


def _leave_interrupts() -> None:
    """As `kb mcp` does by itself: it ends at once, and whoever talks for it with it."""
    import signal

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _parts(whole: bytes) -> list[tuple[int, bytes]]:
    """What was written to which stream, in its order."""
    parts = []
    while whole:
        stream, size = whole[0], int.from_bytes(whole[1 : 1 + LENGTH], "big")
        text, whole = whole[1 + LENGTH : 1 + LENGTH + size], whole[1 + LENGTH + size :]
        if stream not in (1, 2) or len(text) != size:
            raise ValueError("that is not an answer")
        parts.append((stream, text))
    return parts


def _shown(parts: list[tuple[int, bytes]], code: int) -> int:
    for stream, text in parts:
        try:
            while text:
                text = text[os.write(stream, text) :]
        except BrokenPipeError:
            return 0  # nobody reads any more
    return code


def receive_whole(connection: "_socket.socket") -> bytes:
    return receive(connection, int.from_bytes(receive(connection, LENGTH), "big"))


def receive(connection: "_socket.socket", size: int) -> bytes:
    """So many bytes, and no fewer."""
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 16))
        if not part:
            raise ConnectionResetError("it has ended")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
