"""Reading what others wrote, in a process that can be killed: a file has a time and memory limit,
and says so much and no more."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.errors import KnowbaseError, ReadError
from knowbase.read.scanned import Scanner, Told
from knowbase.values.reading import Link, Part, Reading, Section

if TYPE_CHECKING:
    from knowbase.process.child import Call, ChildFailed, Children

JOB = "knowbase.read.confined:read_for_parent"
SECONDS_A_MEGABYTE = 2.0  # beside what every file may take
SHORT = 2_000  # characters of a note: whatever they are, they are read in a moment
LONGEST_NAME = 500  # characters of a title or heading: every chunk carries both
MOST_LINKS = 20_000
MOST_TAGS = 2_000
SETTINGS = {"overstayed": "read.timeout", "overgrown": "read.memory_mb"}


class ReadLimits(NamedTuple):
    """What reading one file may take and give."""

    seconds: float = 20.0
    memory_mb: int = 1024
    chunks: int = 20_000
    data_kb: int = 1024


def _silent(_page: int, _pages: int) -> None:
    """For those who need not know how far it is."""


class Reader:
    """Reads files and notes, for any thread."""

    def __init__(
        self,
        limits: ReadLimits = ReadLimits(),  # noqa: B008 - a value
        scanner: Scanner = Scanner(),  # noqa: B008 - a value
    ) -> None:
        self.limits = limits
        self.scanner = scanner

    def start(self) -> None:
        """Have the process ready by the time that something is to be read."""
        self._children().start()

    def file(self, path: str, data: bytes) -> Reading:
        """What a file says; ReadError when that is nothing, or not within the limits."""
        return self.begin(path, data).result()

    def begin(self, path: str, data: bytes) -> "BeingRead":
        """The same, for somebody who has other work meanwhile."""
        limits = self.limits
        facts = {"path": path, "chunks": limits.chunks, "data": limits.data_kb << 10}
        return self._begin(facts, data)

    def page(self, address: str, data: bytes, charset: str | None) -> Reading:
        """What a page of the web is about."""
        facts = {"address": address, "charset": charset, "chunks": self.limits.chunks}
        return self._begin(facts, data).result()

    def note(self, text: str) -> Reading:
        """What a note says, all of it. A short one is not worth a process."""
        if _is_quick(text):
            from knowbase.read.markdown import read_markdown

            return _named_shortly(read_markdown(text, ""))
        facts = {"path": None, "chunks": self.limits.chunks}
        return self._begin(facts, text.encode("utf-8", "surrogatepass")).result()

    def _begin(self, facts: Mapping[str, Any], data: bytes) -> "BeingRead":
        from knowbase.process.child import ChildFailed

        try:
            more = len(data) / 1e6 * SECONDS_A_MEGABYTE
            return BeingRead(self._children().begin(facts, data, more), data, self.scanner)
        except ChildFailed as error:
            raise _unreadable(error) from error

    def _children(self) -> "Children":
        from knowbase.process.child import Limits, children

        return children(JOB, Limits(self.limits.seconds, self.limits.memory_mb))


class BeingRead:
    """A file that the process has before it."""

    def __init__(self, call: "Call", data: bytes, scanner: Scanner) -> None:
        self._call = call
        self._data = data
        self._scanner = scanner

    def result(self, tell: Told = _silent) -> Reading:
        """What it says; pictures in it are looked at now, and how far that is told."""
        from knowbase.process.child import ChildFailed

        try:
            reading = _from_plain(self._call.result())
            if reading.scans and self._scanner.is_on:
                return self._scanner.scan(reading, self._data, tell)
            return reading
        except ChildFailed as error:
            raise _unreadable(error) from error
        except KnowbaseError as error:
            if type(error) is KnowbaseError:  # a kind that only the reader there knows
                raise ReadError(error.message, hint=error.hint) from error
            raise

    def stop(self) -> None:
        """Nobody waits for it any more."""
        self._call.stop()


def _is_quick(text: str) -> bool:
    """Whether reading it takes a moment, whatever it says. A table is filled up to as many cells a
    row as its first one has."""
    if len(text) > SHORT:
        return False
    lines = text.split("\n")
    return len(lines) * max(line.count("|") for line in lines) <= SHORT


def _unreadable(error: "ChildFailed") -> ReadError:
    setting = SETTINGS.get(error.why)
    hint = f"raise {setting}, then kb sync --verify" if setting else None
    return ReadError(f"reading it {error.told}", hint=hint)


def read_for_parent(facts: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """What the process does: bytes come in, a reading goes out as plain data."""
    from knowbase.read import read
    from knowbase.read.markdown import read_markdown

    if "address" in facts:
        from knowbase.read.webpage import read_webpage

        reading = read_webpage(data, facts["address"], facts["charset"])
        return _plain(_bounded(reading, int(facts["chunks"])))
    path, most = facts["path"], int(facts["chunks"])
    if path is None:
        reading = read_markdown(data.decode("utf-8", "surrogatepass"), "")
        bounded = _bounded(reading, most)
        if bounded.warnings != reading.warnings:  # nobody has the rest of a note elsewhere
            raise ReadError(f"the text is too long: {bounded.warnings[-1]}", field="text")
        return _plain(bounded)
    return _plain(_bounded(read(path, data, most, int(facts["data"])), most))


def _bounded(reading: Reading, most: int) -> Reading:
    """As much of it as a base should hold, and what was left out said."""
    reading = _named_shortly(reading)
    said = list(reading.warnings)
    if len(reading.sections) > most:
        said.append(left_out(most))
        reading = reading._replace(sections=reading.sections[:most])
    if len(reading.links) > MOST_LINKS:
        said.append(f"only its first {MOST_LINKS} links are followed")
        reading = reading._replace(links=reading.links[:MOST_LINKS])
    if len(reading.tags) > MOST_TAGS:
        said.append(f"only its first {MOST_TAGS} tags are kept")
        reading = reading.stating(tags=reading.tags[:MOST_TAGS])
    parts = tuple(part._replace(reading=_bounded(part.reading, most)) for part in reading.parts)
    return reading._replace(warnings=tuple(said), parts=parts)


def left_out(most: int) -> str:
    """What is said of a text that has more chunks than a file may have."""
    return f"only its first {most} chunks are stored, the rest is left out; read.max_chunks"


def _named_shortly(reading: Reading) -> Reading:
    """Titles and headings of a length that can be repeated with every chunk."""
    long = any(len(one.heading or "") > LONGEST_NAME for one in reading.sections)
    if not long and len(reading.title) <= LONGEST_NAME:
        return reading
    return reading._replace(
        title=_short(reading.title),
        sections=tuple(
            one._replace(heading=_short(one.heading)) if one.heading else one
            for one in reading.sections
        ),
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _plain(reading: Reading) -> dict[str, Any]:
    parts = [(part.name, _plain(part.reading)) for part in reading.parts]
    return reading._asdict() | {"parts": parts}  # other named tuples are lists in JSON


def _from_plain(told: Mapping[str, Any]) -> Reading:
    stated = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in told["stated"].items()
    }
    return Reading(
        told["type"],
        told["title"],
        tuple(Section(*section) for section in told["sections"]),
        stated,
        tuple(Link(*link) for link in told["links"]),
        tuple(told["warnings"]),
        tuple(Part(name, _from_plain(part)) for name, part in told["parts"]),
        tuple(told["scans"]),
        told["pictures"],
    )
