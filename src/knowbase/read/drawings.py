"""Drawings of draw.io and Excalidraw: the words in them, from top to bottom, and nothing else."""

import base64
import json
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from knowbase.errors import ReadError
from knowbase.read.file import File
from knowbase.read.html import blocks_of
from knowbase.read.markup import Element, tree
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Reading, Section

_LARGEST = 16 << 20  # bytes that one packed page unpacks to


def read_drawio(file: File) -> Reading:
    """A section a page; pages may be packed."""
    pages = list(tree((file.text.encode(),), "drawing").all("diagram", "mxGraphModel"))
    named = [page for page in pages if page.name == "diagram"] or pages[:1]
    slugs = unique_slugs(page.get("name") or "page" for page in named)
    sections = tuple(
        Section(slug, page.get("name") or None, "", text, page.line)
        for slug, page in zip(slugs, named, strict=True)
        if (text := "".join(f"{line}\n" for line in _labels(page)))
    )
    return Reading("text", file.called, sections)


def _labels(page: Element) -> Iterator[str]:
    """What stands at shapes and arrows, as a reader sees it; each once."""
    packed = page.text.strip()
    inside = tree((_unpacked(packed),), "drawing") if packed else page
    found: dict[str, None] = {}
    for cell in inside.all("mxCell", "object", "UserObject"):
        blocks, _ = blocks_of(cell.get("value") or cell.get("label"))
        found |= dict.fromkeys(" ".join(block.text.split()) for block in blocks)
    yield from (text for text in found if text)


def _unpacked(packed: str) -> bytes:
    try:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        data = inflater.decompress(base64.b64decode(packed), _LARGEST)
    except (ValueError, zlib.error) as error:
        raise ReadError("The drawing is damaged and cannot be read.") from error
    if inflater.unconsumed_tail:
        raise ReadError(f"The drawing unpacks to more than {_LARGEST >> 20} MB.")
    return unquote(data.decode("utf-8", "replace")).encode()


def read_excalidraw(file: File) -> Reading:
    """Its texts from top to bottom."""
    try:
        board = json.loads(file.text)
    except (ValueError, RecursionError) as error:
        raise ReadError("The drawing is not valid JSON.") from error
    elements = board.get("elements") if isinstance(board, dict) else None
    texts = [one for one in elements or () if isinstance(one, dict) and _text(one)]
    texts.sort(key=lambda one: [_number(one.get("y")), _number(one.get("x"))])
    told = "\n\n".join(dict.fromkeys(_text(one) for one in texts))
    sections = (Section("_preamble", None, "", f"{told}\n", 1),) if told else ()
    return Reading("text", file.called, sections)


def _text(element: dict[str, Any]) -> str:
    return str(element.get("text") or "").strip() if not element.get("isDeleted") else ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
