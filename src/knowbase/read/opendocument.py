"""OpenDocument (.odt, .ods, .odp): texts, sheets and slides of LibreOffice and others."""

from collections.abc import Iterable, Iterator

from knowbase.errors import ReadError
from knowbase.read.about import properties
from knowbase.read.archive import Archive
from knowbase.read.blocks import Block, item, reading_of, row, sections_at
from knowbase.read.file import File
from knowbase.read.markup import Element, events, optional_tree, outermost
from knowbase.read.tables import MOST_COLUMNS, Budget, Group, Row, grouped, sections_of
from knowbase.values.reading import Reading

WHAT = "OpenDocument file"
_BODY = frozenset({"h", "p", "list", "table"})
_UNSEEN = frozenset(
    {"annotation", "forms", "master-styles", "sequence-decls", "styles", "tracked-changes"}
)
_MOST_REPEATED = 100  # rows that stand for themselves so often


def read_text(file: File) -> Reading:
    """A text document."""
    content, title, stated = _opened(file)
    blocks = [block for element in _elements(content, _BODY) for block in _blocks(element, 0)]
    named = next((block.text for block in blocks if block.level == _TITLE), None)
    return reading_of("office", blocks, named or title, file.stem)._replace(stated=stated)


def read_sheets(file: File) -> Reading:
    """A workbook."""
    content, title, stated = _opened(file)
    budget = Budget(file.most_data)
    groups: list[Group] = []
    for sheet in _elements(content, frozenset({"table"})):
        groups += grouped(_rows(sheet), budget, sheet.get("name"))
        if budget.is_spent:
            break
    told = (
        (budget.told(f"its rows as far as {groups[-1].heading}"),)
        if budget.is_spent and groups
        else ()
    )
    kept = [group._replace(line=1) for group in groups]
    return Reading("office", title or file.stem, sections_of(kept), stated, warnings=told)


def read_slides(file: File) -> Reading:
    """A presentation."""
    content, title, stated = _opened(file)
    blocks: list[Block] = []
    for number, page in enumerate(_elements(content, frozenset({"page"})), 1):
        blocks += _slide(page, number)
    starts = [number for number, block in enumerate(blocks) if block.level]
    first = next((block.text for block in blocks if block.level and ": " in block.text), "")
    named = title or first.partition(": ")[2] or file.stem
    return Reading("office", named, sections_at(blocks, starts), stated)


_TITLE = 1  # and a heading of level 1 is a 2, so that a title stands above all of them


def _opened(file: File) -> tuple[Iterable[bytes], str | None, dict[str, object]]:
    """Its content in pieces, its title, and what it says of itself."""
    if file.data[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return (file.data,), *properties(file.data)  # .fodt: all of it in one file
    archive = Archive(file.data, WHAT)
    manifest = optional_tree(archive.read("META-INF/manifest.xml"), WHAT)
    if next(manifest.all("encryption-data"), None) is not None:
        raise ReadError(f"The {WHAT} is encrypted; remove its password to have it read.")
    if "content.xml" not in archive.names:
        raise ReadError(f"The {WHAT} is damaged or something else, and cannot be read.")
    return archive.pieces("content.xml"), *properties(archive.read("meta.xml"))


def _elements(content: Iterable[bytes], names: frozenset[str]) -> Iterator[Element]:
    return outermost(events(content, WHAT), names, _UNSEEN)


def _blocks(element: Element, depth: int) -> Iterator[Block]:
    if element.name == "list":
        for entry in element.elements:
            yield from _item(entry, depth)
    elif element.name == "table":
        for line in element.all("table-row"):
            cells = [text_in(cell) for cell in line.elements if cell.name == "table-cell"]
            if any(cell.strip() for cell in cells):
                yield row(cells)
    elif text := text_in(element).strip():
        yield Block(text if not _level(element) else " ".join(text.split()), level=_level(element))


def _level(element: Element) -> int:
    if element.get("style-name") in ("Title", "P_Title"):
        return _TITLE
    if element.name != "h":
        return 0
    level = element.get("outline-level")
    return 1 + (int(level) if level.isdecimal() else 1)


def _item(entry: Element, depth: int) -> Iterator[Block]:
    for part in entry.elements:
        if part.name == "list":
            yield from _blocks(part, depth + 1)
        elif text := text_in(part).strip():
            yield item(text, depth)


def text_in(element: Element) -> str:
    """What a person reads of it; spaces and breaks are elements."""
    parts: list[str] = []
    stack: list[Element | str] = [element]
    while stack:
        here = stack.pop()
        if isinstance(here, str):
            parts.append(here)
        elif here.name == "s":
            count = here.get("c")
            parts.append(" " * min(int(count) if count.isdecimal() else 1, 100))
        elif here.name in ("tab", "line-break"):
            parts.append("\t" if here.name == "tab" else "\n")
        elif here.name == "note":
            body = here.find("note-body")
            parts.append(f" [{body.line_text}]" if body is not None else "")
        elif here.name not in ("notes", "image"):
            if here.name == "p" and parts:
                parts.append("\n")
            stack.extend(reversed(here.children))
    return "".join(parts)


def _rows(sheet: Element) -> Iterator[Row]:
    number = 0
    for line in sheet.all("table-row"):
        cells = _cells(line)
        times = _times(line, "number-rows-repeated")
        if any(cells):
            for copy in range(min(times, _MOST_REPEATED)):
                yield Row(number + copy + 1, cells)
        number += times


def _cells(line: Element) -> list[str]:
    cells: list[str] = []
    for cell in line.elements:
        if not cell.name.endswith("table-cell"):
            continue
        times = _times(cell, "number-columns-repeated")
        cells += [text_in(cell).strip()] * min(times, MOST_COLUMNS - len(cells))
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _times(element: Element, name: str) -> int:
    number = element.get(name)
    return int(number) if number.isdecimal() and len(number) < 9 else 1


def _slide(page: Element, number: int) -> list[Block]:
    title, blocks = "", []
    for frame in page.elements:
        text = [line for part in frame.all("p") if (line := text_in(part).strip())]
        if frame.name == "notes":
            told = [line for line in text if not line.isdecimal() and line != "<number>"]
            blocks += [Block("Notes: " + "\n".join(told))] if told else []
        elif frame.get("class") == "title" and not title:
            title = " ".join(" ".join(text).split())
        elif (table := next(frame.all("table"), None)) is not None:
            blocks += _blocks(table, 0)
        elif frame.get("class") not in ("date-time", "footer", "header", "page-number"):
            blocks += [item(line) for line in text]
    if not title and not blocks:
        return []
    heading = f"Slide {number}: {title}" if title else f"Slide {number}"
    return [Block(heading, level=2, page=number), *blocks]
