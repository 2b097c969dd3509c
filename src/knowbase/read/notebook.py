"""Notebooks (.ipynb): cells with the text of what they print, under the headings above them."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from knowbase.errors import ReadError
from knowbase.read.file import File
from knowbase.read.markdown import headings_in, read_markdown
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Reading, Section

_LONGEST_OUTPUT = 2000  # characters: what follows is mostly more of the same
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FENCE = "```"


class _Cell(NamedTuple):
    kind: str
    text: str
    outputs: tuple[str, ...]


class _Piece(NamedTuple):
    heading: str
    text: str


def read_notebook(file: File) -> Reading:
    """A notebook of Jupyter and others."""
    try:
        found = json.loads(file.text)
        cells = list(_cells(found))
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        raise ReadError("The notebook is damaged and cannot be read.") from error
    prose = read_markdown(
        "\n\n".join(cell.text for cell in cells if cell.kind == "markdown"), file.stem
    )
    pieces = list(_pieces(cells, _language(found)))
    slugs = unique_slugs(piece.heading for piece in pieces)
    sections = tuple(
        Section(slug, piece.heading, "", piece.text, 1)
        for slug, piece in zip(slugs, pieces, strict=True)
    )
    return Reading("notebook", prose.title, sections, prose.stated, prose.links, prose.warnings)


def _cells(notebook: Mapping[str, Any]) -> Iterator[_Cell]:
    sheets = notebook.get("worksheets") or [notebook]  # before 2015, cells lay in sheets
    for sheet in sheets:
        for cell in sheet.get("cells", ()):
            text = _joined(cell.get("source") or cell.get("input"))
            outputs = (_output(output) for output in cell.get("outputs") or ())
            kept = tuple(output for output in outputs if output.strip())
            if text.strip() or kept:
                yield _Cell(_kind(cell), text, kept)


def _kind(cell: Mapping[str, Any]) -> str:
    kind = str(cell.get("cell_type"))
    return "markdown" if kind in ("markdown", "heading", "raw") else "code"


def _joined(source: Any) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")


def _output(output: Mapping[str, Any]) -> str:
    """What it shows as text: of a picture, nothing."""
    data = output.get("data") or output
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename')}: {output.get('evalue')}"[:_LONGEST_OUTPUT]
    text = _joined(data.get("text/plain") or data.get("text/markdown") or output.get("text"))
    text = _ESCAPES.sub("", text)
    if re.fullmatch(r"<[\w.]+ [^<>]*>", text.strip()):  # <Figure size 640x480 with 1 Axes>
        return ""
    return text if len(text) <= _LONGEST_OUTPUT else text[:_LONGEST_OUTPUT] + "\n…"


def _language(notebook: Mapping[str, Any]) -> str:
    about = notebook.get("metadata") or {}
    spec = about.get("kernelspec") or {}
    info = about.get("language_info") or {}
    return str(info.get("name") or spec.get("language") or "")


def _pieces(cells: list[_Cell], language: str) -> Iterator[_Piece]:
    """A piece ends with each cell of code, and before each heading."""
    heading, gathered = "", ""
    for number, cell in enumerate(cells, 1):
        if cell.kind == "code":
            yield _Piece(heading or f"Cell {number}", gathered + _code(cell, language))
            gathered = ""
            continue
        headings = {found.start: found.text for found in headings_in(cell.text)}
        for at, line in enumerate(cell.text.split("\n")):
            if at in headings:
                if gathered.strip():
                    yield _Piece(heading or f"Cell {number}", gathered)
                heading, gathered = headings[at], ""
            gathered += line + "\n"
        gathered += "\n"
    if gathered.strip():
        yield _Piece(heading or f"Cell {len(cells)}", gathered)


def _code(cell: _Cell, language: str) -> str:
    parts = [f"{_FENCE}{language}\n{cell.text.rstrip()}\n{_FENCE}\n"] if cell.text.strip() else []
    parts += [f"{_FENCE}\n{output.rstrip()}\n{_FENCE}\n" for output in cell.outputs]
    return "\n".join(parts)
