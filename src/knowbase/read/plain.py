"""Plain text: one section, titled by its first line."""

import io
import re
from itertools import islice

from knowbase.read.file import File
from knowbase.values.reading import Reading, Section

_LONGEST_TITLE = 100
_FIRST_LINES = 20
# "# Title", "// what it is for", "/* … */", "== Title ==", a line of nothing but marks.
_MARKS = re.compile(
    r"^\s*(?:#+|//+|/\*+|\*+|;+|--+|=+|~+|<!--+|%+|\.\.)(?=\s|$)|[\s=*~-]+(?:\*/|--+>)?\s*$"
)


def read_plain_file(file: File) -> Reading:
    """A text of which nothing more is known."""
    return read_plain(file.text, file.stem)


def read_plain(text: str, fallback_title: str) -> Reading:
    """The whole text as one section, titled by its first line when that is short."""
    return Reading("text", _title(text) or fallback_title, whole(text))


def _title(text: str) -> str | None:
    """The first line that says something, without the marks of a comment or a heading."""
    for line in islice(io.StringIO(text), _FIRST_LINES):
        words = "" if line.startswith("#!") else _MARKS.sub("", line).strip()
        if words:
            return words if len(words) <= _LONGEST_TITLE else None
    return None


def whole(text: str) -> tuple[Section, ...]:
    """The one section of a text without parts; none when there is only white space."""
    return (Section("_preamble", None, "", text, 1),) if text.strip() else ()
