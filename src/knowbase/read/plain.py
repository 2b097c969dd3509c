"""Plain text: one section, titled by its first line."""

import io
import re
from itertools import islice

from knowbase.read.file import File
from knowbase.values.reading import Reading, Section

_LONGEST_TITLE = 100
_FIRST_LINES = 20
_NO_TITLES = ("BEGIN:VCALENDAR", "BEGIN:VCARD")  # of files that many programs write
# "# Title", "// what it is for", "/* … */", "== Title ==", a line of nothing but marks.
_MARKS = re.compile(
    r"^\s*(?:#+|//+|/\*+|\*+|;+|--+|=+|~+|<!--+|%+|\.\.)(?=\s|$)|[\s=*~-]+(?:\*/|--+>)?\s*$"
)
# What is written for a program: tags, macros, requests of roff, places of a template, blocks.
_MARKUP = re.compile(
    r"<[!?/A-Za-z]|\{|\$[\w({]|\.[A-Za-z]{1,2}\b|[^\s:]*\\[A-Za-z\"'`]|.*[{;]$|(?:[^|]*\|){2}"
)
_ROFF_COMMENT = ('.\\"', "'\\\"", '\\"')
_MANUAL_PAGE = re.compile(r'\.TH "?([^\s"]+)"?')


def read_plain_file(file: File) -> Reading:
    """A text of which nothing more is known. What programs log is data, and read in part."""
    text = file.text
    if file.extension != "log" or len(text) <= file.most_data:
        return read_plain(text, file.stem)
    kept = text[: file.most_data].rpartition("\n")[0]
    told = f"only its first {len(kept.splitlines()):,} lines are read, the rest is left out"
    return read_plain(kept, file.stem)._replace(warnings=(f"{told}; read.max_data_kb",))


def read_plain(text: str, fallback_title: str) -> Reading:
    """The whole text as one section, titled by its first line when that is short."""
    return Reading("text", _title(text) or fallback_title, whole(text))


def _title(text: str) -> str | None:
    """The first line that says something, without the marks of a comment or a heading."""
    if text.startswith(_NO_TITLES):
        return None
    for line in islice(io.StringIO(text), _FIRST_LINES):
        if line.startswith(("#!", *_ROFF_COMMENT)):
            continue
        page = _MANUAL_PAGE.match(line)
        words = page[1] if page else _MARKS.sub("", line).strip()
        if any(map(str.isalnum, words)):
            is_title = len(words) <= _LONGEST_TITLE and not _MARKUP.match(words)
            return words if is_title else None
    return None


def whole(text: str) -> tuple[Section, ...]:
    """The one section of a text without parts; none when there is only white space."""
    return (Section("_preamble", None, "", text, 1),) if text.strip() else ()
