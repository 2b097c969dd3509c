"""Workbooks (.xlsx): sheets by rows, under the header of each."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from knowbase.errors import ReadError
from knowbase.read.about import properties
from knowbase.read.archive import Archive
from knowbase.read.file import File
from knowbase.read.inserted import relations
from knowbase.read.markup import Element, events, optional_tree, outermost
from knowbase.read.tables import (
    MOST_COLUMNS,
    Budget,
    Group,
    Row,
    grouped,
    has_own_name,
    sections_of,
)
from knowbase.values.reading import Reading

WHAT = "workbook"
_BOOK = "xl/workbook.xml"
_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_CELL = re.compile(r"([A-Z]{1,3})\d+")
_START = datetime(1899, 12, 30)
_FOUR_YEARS = 1462  # days between the two days that workbooks count from
_MOST_STRINGS = 40_000_000  # characters that cells share
_BOOLEANS = {"1": "TRUE", "0": "FALSE"}


def read_sheets(file: File) -> Reading:
    """A workbook."""
    archive = Archive(file.data, WHAT)
    title, stated = properties(archive.read("docProps/core.xml"))
    book = optional_tree(archive.read(_BOOK), WHAT)
    targets = relations(archive, _BOOK, WHAT)
    sheets = [(one.get("name"), targets.get(one.get("id"))) for one in book.all("sheet")]
    if not sheets:
        raise ReadError("The workbook is damaged and cannot be read.")
    cells = _Cells(archive, book)
    budget = Budget(file.most_data)
    groups: list[Group] = []
    number = 0
    for name, target in sheets:
        number += 1
        if target is not None and target[0] == "worksheet":
            rows = cells.rows(archive, target[1])
            groups += grouped(rows, budget, name if len(sheets) > 1 or has_own_name(name) else "")
        if budget.is_spent or (file.most is not None and len(groups) > file.most):
            break
    warnings = []
    if budget.is_spent:
        last = groups[-1].heading if groups else "nothing"
        warnings.append(budget.told(f"its rows as far as {last}"))
    elif number < len(sheets):
        warnings.append(f"only its first {number:,} of {len(sheets):,} sheets are read")
    kept = tuple(group._replace(line=1) for group in groups)
    return Reading(
        "office", title or file.stem, sections_of(kept), stated, warnings=tuple(warnings)
    )


class _Cells:
    """What the cells of a workbook show: they name shared texts and formats by number."""

    def __init__(self, archive: Archive, book: Element) -> None:
        self._texts = _shared(archive)
        self._dates = _date_styles(optional_tree(archive.read("xl/styles.xml"), WHAT))
        later = next(book.all("workbookPr"), None)
        is_later = later is not None and later.get("date1904") in ("1", "true")
        self._start = _START + timedelta(days=_FOUR_YEARS if is_later else 0)

    def rows(self, archive: Archive, sheet: str) -> Iterator[Row]:
        found = outermost(events(archive.pieces(sheet), WHAT), frozenset({"row"}))
        for count, row in enumerate(found, 1):
            number = row.get("r")
            cells = self._row(row)
            yield Row(int(number) if number.isdecimal() else count, cells)

    def _row(self, row: Element) -> list[str]:
        shown: list[str] = []
        for cell in row.elements:
            column = _column(cell.get("r")) if cell.get("r") else len(shown)
            if column >= MOST_COLUMNS:
                break
            shown += [""] * (column - len(shown))
            shown.append(self._shown(cell))
        return shown

    def _shown(self, cell: Element) -> str:
        kind = cell.get("t")
        if kind == "inlineStr":
            return _string(cell)
        value = cell.find("v")
        text = value.text if value is not None else ""
        if kind == "s":
            number = int(text) if text.isdecimal() else -1
            return self._texts[number] if 0 <= number < len(self._texts) else ""
        if kind == "b":
            return _BOOLEANS.get(text, text)
        if kind in ("", "n"):
            return self._date(text) if cell.get("s") in self._dates else _number(text)
        return text

    def _date(self, text: str) -> str:
        try:
            days = float(text)
            found = self._start + timedelta(days=days)
        except (ValueError, OverflowError):
            return text
        found = (found + timedelta(milliseconds=500)).replace(microsecond=0)
        if days < 1:
            return found.strftime("%H:%M:%S")
        is_day = found.hour == found.minute == found.second == 0
        return found.date().isoformat() if is_day else found.isoformat(" ")


def _shared(archive: Archive) -> list[str]:
    found, size = [], 0
    parts = events(archive.pieces("xl/sharedStrings.xml"), WHAT)
    if "xl/sharedStrings.xml" not in archive.names:
        return []
    for one in outermost(parts, frozenset({"si"})):
        found.append(_string(one))
        size += len(found[-1])
        if size > _MOST_STRINGS:
            raise ReadError("The workbook holds more text than can be read.")
    return found


def _string(element: Element) -> str:
    """Its runs together, without what says how to pronounce them."""
    spoken = {id(text) for one in element.all("rPh") for text in one.all("t")}
    return "".join(text.text for text in element.all("t") if id(text) not in spoken)


def _date_styles(styles: Element) -> frozenset[str]:
    """The numbers of the cell styles that show a date or a time."""
    codes = {
        one.get("numFmtId"): _QUOTED.sub("", one.get("formatCode")).lower()
        for one in styles.all("numFmt")
    }
    own = {name for name, code in codes.items() if re.search("[ymdhs]", code)}
    cells = next(styles.all("cellXfs"), None)
    return frozenset(
        str(number)
        for number, one in enumerate(cells.elements if cells is not None else ())
        if one.get("numFmtId") in own or _is_builtin_date(one.get("numFmtId"))
    )


def _is_builtin_date(name: str) -> bool:
    return name.isdecimal() and int(name) in _DATES


def _column(reference: str) -> int:
    match = _CELL.fullmatch(reference)
    number = 0
    for letter in match[1] if match else "A":
        number = number * 26 + ord(letter) - 64
    return number - 1


def _number(text: str) -> str:
    """As a person would write it: 0.1, not 0.10000000000000001."""
    try:
        return f"{float(text):.15g}" if "." in text or "E" in text else text
    except ValueError:
        return text
