"""Texts in lines that fit a terminal; matched words stay marked."""

import re
from collections.abc import Iterable
from unicodedata import combining, east_asian_width

from knowbase.text.snippets import END_MARK, MARK

LEAST_WIDTH = 20
MOST_LINES = 12  # of code
_PIECE = re.compile(f"{MARK}|{END_MARK}|[^<]+|<")


def width_of(text: str) -> int:
    """How many columns a text takes; marks take none."""
    bare = text.replace(MARK, "").replace(END_MARK, "")
    return len(bare) if bare.isascii() else sum(map(_columns, bare))


def _columns(letter: str) -> int:
    return 0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines, broken between words; one that is longer than a line, in itself."""
    width = max(width, LEAST_WIDTH)
    lines: list[str] = []
    line, taken = "", 0
    for word in text.split():
        size = width_of(word)
        if line and taken + 1 + size > width:
            lines.append(line)
            line, taken = "", 0
        while size > width:
            head = _fitting(word, width)
            lines.append(head)
            word = word[len(head) :]
            size = width_of(word)
        line, taken = (f"{line} {word}", taken + 1 + size) if line else (word, size)
    return _balanced([*lines, line] if line else lines)


def code_lines(text: str, width: int) -> list[str]:
    """Lines as they stand, less the indent that all have; what is too long for one is cut."""
    width = max(width, LEAST_WIDTH)
    lines = [line.expandtabs(4).rstrip() for line in text.strip("\n").split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    indents = [_indent(line) for line in lines if line]
    most = min(indents, default=0)
    kept = _balanced(_without_indent(line, most) for line in lines[:MOST_LINES])
    cut = [line if width_of(line) <= width else _cut(line, width) for line in kept]
    return [*cut, *(["…"] if len(lines) > MOST_LINES else [])]


def _indent(line: str) -> int:
    bare = line.replace(MARK, "")
    return len(bare) - len(bare.lstrip(" "))


def _without_indent(line: str, number: int) -> str:
    return line[number:] if not line[:number].strip(" ") else line


def _fitting(text: str, width: int) -> str:
    """The start of a text that is as wide; a mark is never cut."""
    kept, taken = "", 0
    for piece in _PIECE.findall(text):
        if piece in (MARK, END_MARK):
            kept += piece
            continue
        for letter in piece:
            taken += _columns(letter)
            if taken > width:
                return kept
            kept += letter
    return kept


def _cut(line: str, width: int) -> str:
    [start] = _balanced([_fitting(line, width - 1)])
    return start + "…"


def _balanced(lines: Iterable[str]) -> list[str]:
    """A mark that goes on in the next line ends in one and begins again in the other."""
    found = []
    is_open = False
    for line in lines:
        begun = MARK * is_open + line
        is_open = begun.rfind(MARK) > begun.rfind(END_MARK)
        found.append(begun + END_MARK * is_open)
    return found
