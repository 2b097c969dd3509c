"""Word documents (.docx): paragraphs, headings by their styles, lists, tables, footnotes."""

import re
from collections.abc import Iterator

from knowbase.read.about import properties
from knowbase.read.archive import Archive
from knowbase.read.blocks import Block, item, reading_of, row
from knowbase.read.file import File
from knowbase.read.inserted import inserted
from knowbase.read.links import document_link
from knowbase.read.markup import Element, events, optional_tree, outermost
from knowbase.values.reading import Link, Reading

WHAT = "Word file"
_MAIN = "word/document.xml"
_BODY = frozenset({"p", "tbl"})
_UNSEEN = frozenset({
    "del", "delText", "Fallback", "instrText", "moveFrom", "pPr", "rPr", "rt", "tblPr", "trPr",
    "tcPr",
})  # fmt: skip
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)


def read_word(file: File) -> Reading:
    """A Word document."""
    archive = Archive(file.data, WHAT)
    levels = _levels(optional_tree(archive.read("word/styles.xml"), WHAT))
    title, stated = properties(archive.read("docProps/core.xml"))
    blocks: list[Block] = []
    main = _main_of(archive)
    for element in outermost(events(archive.pieces(main), WHAT), _BODY):
        for block in _blocks(element, levels):
            if block.level == _TITLE_LEVEL and not any(one.level for one in blocks):
                title = block.text
            blocks.append(block)
    blocks += inserted(archive, main, WHAT)
    blocks += _notes(archive)
    reading = reading_of("office", blocks, title, file.stem)
    return reading._replace(stated=stated, links=_links(archive))


_TITLE_LEVEL = 1  # and a heading 1 is a 2, so that a title stands above all of them


def _main_of(archive: Archive) -> str:
    """Most programs call it the same; the relations say how."""
    if _MAIN in archive.names:
        return _MAIN
    relations = optional_tree(archive.read("_rels/.rels"), WHAT)
    for one in relations.all("Relationship"):
        if one.get("Type").endswith("/officeDocument"):
            return one.get("Target").lstrip("/")
    return _MAIN


def _levels(styles: Element) -> dict[str, int]:
    """The level of the heading that each style makes."""
    known = {style.get("styleId"): style for style in styles.all("style")}
    return {name: level for name in known if (level := _level(name, known))}


def _level(name: str, styles: dict[str, Element]) -> int:
    for _ in range(10):  # a style is based on another one, and some on themselves
        style = styles.get(name)
        if style is None:
            break
        named = style.find("name")
        shown = named.get("val") if named else ""
        if shown.lower() == "title":
            return _TITLE_LEVEL
        if found := _HEADING.fullmatch(shown):
            return int(found[1]) + 1
        outline = style.find("pPr", "outlineLvl")
        if outline is not None and outline.get("val").isdecimal() and outline.get("val") != "9":
            return int(outline.get("val")) + 2
        based = style.find("basedOn")
        name = based.get("val") if based else ""
    return 0


def _blocks(element: Element, levels: dict[str, int]) -> Iterator[Block]:
    if element.name == "tbl":
        for line in element.all("tr"):
            cells = [text_in(cell) for cell in line.elements if cell.name in ("tc", "sdt")]
            if any(cell.strip() for cell in cells):
                yield row(cells)
        return
    text = text_in(element).strip()
    if not text:
        return
    style = element.find("pPr", "pStyle")
    level = levels.get(style.get("val"), 0) if style else 0
    own = element.find("pPr", "outlineLvl")
    if own is not None and own.get("val") in "012345678":
        level = int(own.get("val") or 0) + 2
    depth = element.find("pPr", "numPr", "ilvl")
    if level:
        yield Block(" ".join(text.split()), level=level)
    elif depth is not None:
        yield item(text, int(depth.get("val")) if depth.get("val").isdecimal() else 0)
    else:
        yield Block(text)


def text_in(element: Element) -> str:
    """What a person reads of it: nothing that was deleted, no code of a field."""
    parts: list[str] = []
    stack: list[Element | str] = [element]
    while stack:
        here = stack.pop()
        if isinstance(here, str):
            parts.append(here)
        elif here.name in _BREAKS:
            parts.append(_BREAKS[here.name])
        elif here.name in ("footnoteReference", "endnoteReference"):
            parts.append(f"[{here.get('id')}]")
        elif here.name == "t":
            parts.append(here.text)
        elif here.name not in _UNSEEN:
            if here.name == "p" and parts:
                parts.append("\n")
            stack.extend(["\n"] if here.name == "txbxContent" else [])  # before what follows it
            stack.extend(child for child in reversed(here.elements))
    return "".join(parts)


def _notes(archive: Archive) -> Iterator[Block]:
    for kind in ("footnote", "endnote", "comment"):
        notes = events(archive.pieces(f"word/{kind}s.xml"), WHAT) if _has(archive, kind) else ()
        for note in outermost(notes, frozenset({kind})):
            text = text_in(note).strip()
            if text and not note.get("type"):
                mark = "Comment:" if kind == "comment" else f"[{note.get('id')}]"
                yield Block(f"{mark} {text}")


def _has(archive: Archive, kind: str) -> bool:
    return f"word/{kind}s.xml" in archive.names


def _links(archive: Archive) -> tuple[Link, ...]:
    relations = optional_tree(archive.read("word/_rels/document.xml.rels"), WHAT)
    targets = [
        document_link(one.get("Target"))
        for one in relations.all("Relationship")
        if one.get("Type").endswith("/hyperlink")
    ]
    return tuple(dict.fromkeys(link for link in targets if link))
