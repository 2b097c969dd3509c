"""Presentations (.pptx): a section a slide, with its notes."""

import re

from knowbase.errors import ReadError
from knowbase.read.about import properties
from knowbase.read.archive import Archive
from knowbase.read.blocks import Block, item, row, sections_at
from knowbase.read.file import File
from knowbase.read.inserted import inserted, line_of, relations
from knowbase.read.markup import Element, optional_tree, tree
from knowbase.values.reading import Reading

WHAT = "presentation"
_MOST_SLIDES = 5000
_TITLES = ("title", "ctrTitle")
# What programs call a presentation that nobody gave a title.
_NO_TITLE = re.compile(
    r"powerpoint[ -]presentation|(?:slide|folie|diapositi\w+|dia) ?\d+", re.IGNORECASE
)
_NOT_TEXT = ("dt", "ftr", "hdr", "sldImg", "sldNum")


def read_slides(file: File) -> Reading:
    """A presentation."""
    archive = Archive(file.data, WHAT)
    title, stated = properties(archive.read("docProps/core.xml"))
    names = _slides(archive)
    if not names:
        raise ReadError("The presentation is damaged and cannot be read.")
    blocks: list[Block] = []
    for number, name in enumerate(names[:_MOST_SLIDES], 1):
        blocks += _slide(archive, name, number)
    starts = [number for number, block in enumerate(blocks) if block.level]
    first = next((block.text for block in blocks if block.level and ": " in block.text), "")
    named = title if title and not _NO_TITLE.fullmatch(title.strip()) else None
    reading = Reading(
        "office",
        named or first.partition(": ")[2] or file.stem,
        sections_at(blocks, starts),
        stated,
    )
    if len(names) > _MOST_SLIDES:
        return reading._replace(warnings=(f"only its first {_MOST_SLIDES:,} slides are read",))
    return reading


def _slides(archive: Archive) -> list[str]:
    """The files of the slides, in the order in which they are shown."""
    shown = optional_tree(archive.read("ppt/presentation.xml"), WHAT)
    targets = relations(archive, "ppt/presentation.xml", WHAT)
    ids = [one.get("id") for one in shown.all("sldId")]
    return [targets[one][1] for one in ids if one in targets]


def _slide(archive: Archive, name: str, number: int) -> list[Block]:
    """A heading with the slide's title, then its texts, then its notes."""
    slide = tree(archive.pieces(name), WHAT)
    title, blocks = "", []
    for shape in slide.all("sp", "graphicFrame"):
        kind = _kind(shape)
        if kind in _TITLES and not title:
            title = " ".join("\n".join(_paragraphs(shape)).split())
        elif kind not in _NOT_TEXT:
            blocks += _texts(shape)
    blocks += inserted(archive, name, WHAT)
    for kind, other in relations(archive, name, WHAT).values():
        if kind == "notesSlide":
            blocks += _notes(archive, other)
    if not title and not blocks:
        return []
    heading = f"Slide {number}: {title}" if title else f"Slide {number}"
    return [Block(heading, level=2, page=number), *blocks]


def _notes(archive: Archive, name: str) -> list[Block]:
    notes = optional_tree(archive.read(name), WHAT)
    told = [
        text for shape in notes.all("sp") if _kind(shape) == "body" for text in _paragraphs(shape)
    ]
    return [Block("Notes: " + "\n".join(told))] if told else []


def _kind(shape: Element) -> str:
    holder = next(shape.all("ph"), None)
    return (holder.get("type") or "body") if holder is not None else ""


def _texts(shape: Element) -> list[Block]:
    table = next(shape.all("tbl"), None)
    if table is not None:
        return [
            row([" ".join(_paragraphs(cell)) for cell in line.elements if cell.name == "tc"])
            for line in table.all("tr")
        ]
    found = []
    for paragraph in shape.all("p"):
        text = line_of(paragraph)
        if not text:
            continue
        depth = paragraph.find("pPr")
        level = depth.get("lvl") if depth else ""
        found.append(item(text, int(level) if level.isdecimal() else 0))
    return found


def _paragraphs(element: Element) -> list[str]:
    return [text for paragraph in element.all("p") if (text := line_of(paragraph))]
