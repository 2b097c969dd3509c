"""Tables of rows: groups that fit a chunk, each under the header, as far as data is read."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from knowbase.read.file import File
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Reading, Section

GROUP = 1000  # characters of rows that stand under one header
MOST_COLUMNS = 256
LONGEST_CELL = 4000
_NUMBER = re.compile(r"[-+]?[\d.,:/\s%€$£-]+")
_UNNAMED = re.compile(
    r"(?:sheet|table|tabelle|feuil(?:le)?|hoja|foglio|planilha|folha|blad|ark|arkusz|лист|シート"
    r"|工作表|시트)[ _]?1",
    re.IGNORECASE,
)
_DELIMITERS = {"tsv": "\t", "tab": "\t", "psv": "|"}
_LOOKED_AT = 20  # lines, to find out how they are separated


class Row(NamedTuple):
    """The cells of a row, and where it stands, from 1."""

    number: int
    cells: Sequence[str]


class Budget:
    """How many characters of data may still be taken."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.left = most
        self.is_spent = False

    def take(self, text: str) -> bool:
        """Whether there is room for it; once there was none, there is none for anything."""
        if self.is_spent or len(text) > self.left:
            self.is_spent = True
            return False
        self.left -= len(text)
        return True

    def told(self, what: str) -> str:
        """What is said of data that did not all fit."""
        return f"only {what} are read, the rest is left out: it is data; read.max_data_kb"


class Group(NamedTuple):
    """Rows under their header."""

    heading: str
    text: str
    line: int


def read_table(file: File) -> Reading:
    """A file of rows whose cells are separated by commas, tabs, semicolons."""
    lines = file.text.split("\n")
    delimiter = _DELIMITERS.get(file.extension) or _delimiter(lines[:_LOOKED_AT])
    csv.field_size_limit(1 << 27)
    found = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    budget = Budget(file.most_data)
    groups = list(grouped(_rows(found), budget))
    reading = Reading("text", file.name, sections_of(groups))
    if not budget.is_spent:
        return reading
    last = groups[-1].heading.rpartition("–")[2] if groups else "0"
    return reading._replace(warnings=(budget.told(f"its first {last} of {len(lines)} lines"),))


def _rows(found: Iterable[Sequence[str]]) -> Iterator[Row]:
    try:
        yield from (Row(number, cells) for number, cells in enumerate(found, 1))
    except csv.Error:
        return


def _delimiter(lines: Sequence[str]) -> str:
    """The character that stands equally often in most lines."""
    best, score = ",", 0.0
    filled = [line for line in lines if line.strip()]
    for one in ",;\t|":
        counts = [line.count(one) for line in filled]
        most = max(set(counts), key=counts.count, default=0)
        if most and (fit := counts.count(most) * min(most, 8)) > score:
            best, score = one, fit
    return best


def has_own_name(sheet: str) -> bool:
    """Whether somebody named the sheet: Sheet1, Tabelle1 or 工作表1 is what a program calls it."""
    return bool(sheet) and _UNNAMED.fullmatch(sheet) is None


def grouped(rows: Iterable[Row], budget: Budget, name: str = "") -> Iterator[Group]:
    """The rows in groups, each with the header above it; what stands above the header first."""
    coming = (row._replace(cells=_clean(row.cells)) for row in rows)
    filled = (row for row in coming if any(row.cells))
    head = list(islice(filled, _LOOKED_AT))
    at = _header(head)
    header = " | ".join(head[at].cells) if at is not None else ""
    above = [" | ".join(row.cells) for row in head[: at or 0]]
    header = "\n".join((*above, header))
    rest = _chain(head[at + 1 if at is not None else 0 :], filled)
    group: list[str] = []
    first = last = head[at].number if at is not None else 1
    for row in rest:
        text = " | ".join(row.cells)
        if not budget.take(text):
            break
        if group and sum(map(len, group)) + len(text) > GROUP:
            yield _group(name, header, group, first, last)
            header, group = header.rpartition("\n")[2], []
        first = first if group else row.number
        group.append(text)
        last = row.number
    if group or header:
        yield _group(name, header, group, first, last)


def _chain(*parts: Iterable[Row]) -> Iterator[Row]:
    for part in parts:
        yield from part


def _group(name: str, header: str, rows: Sequence[str], first: int, last: int) -> Group:
    span = f"Rows {first}–{last}"
    text = "\n".join((*((header,) if header else ()), *rows)) + "\n"
    return Group(f"{name}, {span.lower()}" if name else span, text, first)


def _clean(cells: Sequence[str]) -> list[str]:
    kept = [" ".join(cell[:LONGEST_CELL].split()) for cell in cells[:MOST_COLUMNS]]
    while kept and not kept[-1]:
        kept.pop()
    return kept


def _header(rows: Sequence[Row]) -> int | None:
    """Which of the first rows names the columns: the first that is as wide as most, all words."""
    if not rows:
        return None
    widths = [len(row.cells) for row in rows]
    usual = max(set(widths), key=widths.count)
    for number, row in enumerate(rows[:5]):
        words = [cell for cell in row.cells if cell and not _NUMBER.fullmatch(cell)]
        if len(row.cells) >= max(2, usual - 1) and len(words) == len(row.cells):
            return number
    return None


def sections_of(groups: Sequence[Group]) -> tuple[Section, ...]:
    slugs = unique_slugs(group.heading for group in groups)
    return tuple(
        Section(slug, group.heading, "", group.text, group.line)
        for slug, group in zip(slugs, groups, strict=True)
    )
