"""What only a terminal gets: colours, links, a progress bar."""

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from knowbase.errors import KnowbaseError
from knowbase.values.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from knowbase.ingest.embedding import Step
    from knowbase.ingest.report import Progress
    from knowbase.values.documents import Document

_STYLES = {"bold": "1", "dim": "2", "mark": "1;33", "red": "31", "green": "32", "cyan": "36"}
_FRAME = 0.1  # seconds between two drawings of the bar


@contextmanager
def written() -> "Iterator[None]":
    """What is printed within it, or an error that says why it could not be."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise KnowbaseError(f"the answer could not be written: {reason}") from error


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def counted(number: int, noun: str) -> str:
    """1 document, 2 documents."""
    return f"{number} {noun}{ending(number)}"


def ending(number: int) -> str:
    """Of the noun behind a number."""
    return "" if number == 1 else "s"


def width_of(stream: TextIO) -> int:
    """How many letters fit on a line: as COLUMNS says, else as the terminal does."""
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdecimal() and int(said) > 0:
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def safe(text: str) -> str:
    """Text from a document on one line, without what cannot be seen: it cannot steer the
    terminal, nor pass for a line of ours."""
    return visible(text).replace("\n", " ")


def minute(moment: str | None) -> str:
    """A moment as a base keeps it, for a person; Z says that it is UTC."""
    return f"{moment[:10]} {moment[11:16]}Z" if moment else ""


def hashtag(tag: str) -> str:
    """A tag as a search takes it."""
    tag = safe(tag)
    return f'#"{tag}"' if " " in tag else f"#{tag}"


def states_of(document: "Document") -> list[str]:
    """What hides a document at this moment, in a word each."""
    from knowbase.values.documents import STATES, is_in
    from knowbase.values.times import timestamp

    now = timestamp(time.time())
    forgotten = ["forgotten"] if document.deleted_at is not None else []
    return forgotten + [state for state in STATES if is_in(document, state, now)]


def safe_lines(text: str) -> str:
    """Like `safe`, with line ends kept."""
    return visible(text)


class Painter:
    """Styles text on a terminal; leaves it plain elsewhere. Stored paths start from `home`; those
    of another machine, which has none here, are shown as they are and lead nowhere."""

    def __init__(self, stream: TextIO, home: str) -> None:
        self._on = is_terminal(stream)
        self.home = home
        self.width = width_of(stream) if stream.isatty() else 0  # 0: nobody looks at it

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._on else text

    def path(self, stored: str) -> str:
        """A stored path as it is called from here."""
        return safe(self.file(stored))

    def file(self, stored: str) -> str:
        """The same as a program opens it, whatever its name has in it."""
        whole = os.path.join(self.home, stored)
        shown = os.path.relpath(whole) if self.home else whole
        return whole if shown.startswith("../../..") else shown

    def link(self, text: str, path: str) -> str:
        """A place that a click opens."""
        if not self._on or not self.home:
            return text
        from urllib.parse import quote

        return f"\x1b]8;;file://{quote(path)}\x1b\\{text}\x1b]8;;\x1b\\"


class ProgressBar:
    """One line on standard error, redrawn in place; silent when that is no terminal. Terminals
    that show progress in the taskbar are told, too."""

    def __init__(self, *, quiet: bool = False) -> None:
        from knowbase.ingest.workload import Pace, share_of

        self._share = share_of
        self._on = sys.stderr.isatty() and not quiet
        self._taskbar = self._on and has_taskbar(os.environ)
        self._new_pace = Pace
        self._pace = Pace()
        self._drawn = 0.0
        self._stage = ""

    def __call__(self, progress: "Progress | Step") -> None:
        now = time.monotonic()
        if progress.unit != self._stage:  # another kind of work has another pace
            self._stage, self._pace = progress.unit, self._new_pace()
        left = self._pace.left(now, progress)
        if not self._on or now - self._drawn < _FRAME:
            return
        self._drawn = now
        share = self._share(progress)
        filled = round(share * 24)
        remaining = f" · {_duration(left)} left" if left is not None else ""
        line = f"{'█' * filled}{'░' * (24 - filled)} {progress.text}{remaining}{safe(progress.now)}"
        taskbar = f"\x1b]9;4;1;{int(share * 100)}\x1b\\" if self._taskbar else ""
        sys.stderr.write(f"{taskbar}\r\x1b[2K{line[: width_of(sys.stderr) - 1]}")
        sys.stderr.flush()

    def close(self) -> None:
        if self._on:
            sys.stderr.write("\x1b]9;4;0\x1b\\" * self._taskbar + "\r\x1b[2K")
            sys.stderr.flush()


def has_taskbar(environment: "Mapping[str, str]") -> bool:
    """Whether the terminal is known to take OSC 9;4 for progress: others show it as a message."""
    if "TMUX" in environment or environment.get("TERM", "").startswith(("screen", "tmux")):
        return False
    if "WT_SESSION" in environment or "ConEmuPID" in environment:
        return True
    version = environment.get("TERM_PROGRAM_VERSION", "")
    since = {"ghostty": "", "WezTerm": "20250209", "iTerm.app": "3.6.6"}
    program = environment.get("TERM_PROGRAM", "")
    if program in since:
        return _numbers(version) >= _numbers(since[program])
    vte = environment.get("VTE_VERSION", "")
    return vte.isdecimal() and int(vte) >= 8000


def _numbers(version: str) -> list[int]:
    parts = version.replace("-", ".").split(".")
    return [int(part) for part in parts if part.isdecimal()]


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
