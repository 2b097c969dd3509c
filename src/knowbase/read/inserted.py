"""What lies in other parts of an office file: diagrams, charts, pages that were inserted."""

import posixpath
from collections.abc import Iterator

from knowbase.read.archive import Archive
from knowbase.read.blocks import Block, item
from knowbase.read.markup import Element, optional_tree


def relations(archive: Archive, name: str, what: str) -> dict[str, tuple[str, str]]:
    """What a part refers to: the kind and the name of the other part, by id."""
    folder, base = posixpath.split(name)
    found = optional_tree(archive.read(f"{folder}/_rels/{base}.rels"), what)
    return {
        one.get("Id"): (
            one.get("Type").rpartition("/")[2],
            posixpath.normpath(posixpath.join("/", folder, one.get("Target"))).lstrip("/"),
        )
        for one in found.all("Relationship")
        if one.get("TargetMode") != "External"
    }


def inserted(archive: Archive, name: str, what: str) -> Iterator[Block]:
    """The words of what a part shows that lies in others, each once."""
    for kind, other in dict.fromkeys(relations(archive, name, what).values()):
        if kind == "diagramData":
            drawn = optional_tree(archive.read(other), what)
            yield from (item(text) for one in drawn.all("p") if (text := line_of(one)))
        elif kind == "chart":
            words = list(_chart(optional_tree(archive.read(other), what)))
            yield from [Block("Chart: " + ", ".join(words))] if words else []
        elif kind == "aFChunk" and other.lower().endswith((".htm", ".html", ".xhtml")):
            yield from _page(archive.read(other))


def line_of(paragraph: Element) -> str:
    """The runs of a paragraph of a drawing together."""
    parts = [" " if one.name == "br" else one.text for one in paragraph.all("t", "br")]
    return "".join(parts).strip()


def _chart(chart: Element) -> Iterator[str]:
    """Its titles, and what its series and categories are called; no numbers."""
    seen = [text for one in chart.all("p") if (text := line_of(one))]
    for named in chart.all("tx", "cat"):
        seen += [value.text.strip() for value in named.all("v") if value.text.strip()]
    yield from dict.fromkeys(seen)


def _page(data: bytes) -> Iterator[Block]:
    from knowbase.read.decode import BinaryFile, decode
    from knowbase.read.html import blocks_of

    try:
        yield from blocks_of(decode(data))[0]
    except BinaryFile:
        return
