"""Plain text: one section, titled by its first line."""

from knowbase.read.file import File
from knowbase.values.reading import Reading, Section

_LONGEST_TITLE = 100


def read_plain_file(file: File) -> Reading:
    """A text of which nothing more is known."""
    return read_plain(file.text, file.stem)


def read_plain(text: str, fallback_title: str) -> Reading:
    """The whole text as one section, titled by its first line when that is short."""
    first = text.lstrip().split("\n", 1)[0].strip()
    title = first if 0 < len(first) <= _LONGEST_TITLE else fallback_title
    return Reading("text", title, whole(text))


def whole(text: str) -> tuple[Section, ...]:
    """The one section of a text without parts; none when there is only white space."""
    return (Section("_preamble", None, "", text, 1),) if text.strip() else ()
