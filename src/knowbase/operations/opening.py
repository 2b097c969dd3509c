"""`kb open`: a hit of the last search, or any document, in the program that one works with."""

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.errors import Conflict, KnowbaseError, NotFound
from knowbase.operations.declare import Operation
from knowbase.operations.editors import EXPLORER, at_line, at_page, browser, opener, own_editor
from knowbase.operations.last import LastHit, last_search
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.values.documents import Document

_PROGRAMS = ("office", "book", "pdf", "image")  # types of documents that no editor of texts shows


class Open(NamedTuple):
    reference: Annotated[
        str,
        Param(
            "the number of a hit of the last search; or a code, id, path or file name, :slug"
            " behind it for one section",
            positional=True,
            single=True,
            metavar="HIT",
        ),
    ]
    print: Annotated[bool, Param("show the command, and do not run it")] = False


class Opened(NamedTuple):
    """A file or a page of the web, and the command that shows it."""

    code: str
    path: str  # or the page's address
    line: int
    page: int | None
    command: tuple[str, ...]


class Spot(NamedTuple):
    """Where in a file something stands."""

    line: int = 1
    page: int | None = None


def open_hit(base: "Base", request: Open) -> Opened:
    reference, spot = request.reference, None
    hit = _hit(base, int(reference)) if _is_number(reference) else None
    if hit is not None:
        reference, spot = hit.section, Spot(hit.line, hit.page)
    content = base.get(reference)
    document = content.document
    if spot is None:
        first = content.sections[0] if content.sections else None
        spot = Spot(first.line, first.page) if first is not None else Spot()
    if document.path is None:
        path, spot = _address(document), Spot()
    else:
        path = _on_disk(base, document.path)
    command = _command(path, document.type, spot) if document.path else browser(path)
    opened = Opened(document.code, path, spot.line, spot.page, tuple(command))
    if not request.print:
        _run(command)
    return opened


def _hit(base: "Base", number: int) -> LastHit | None:
    """The hit of that number; without a search, it is a document's number."""
    last = last_search(base)
    if last is None:
        return None
    hit = last.hit(number)
    if hit is None:
        raise NotFound(
            f"there is no hit {number}: {last.told}",
            field="reference",
            hint="a document is named by its code",
        )
    return hit


def _address(document: "Document") -> str:
    """Where a page of the web is; nothing else is handed to a browser."""
    address = str(document.metadata.get("address") or "")
    if not address[:8].lower().startswith(("http://", "https://")):
        raise Conflict(
            f"{document.code} has no file: it was written into the base",
            field="reference",
            hint=f"kb get {document.code} shows it",
        )
    return address


def _is_number(reference: str) -> bool:
    return reference.isascii() and reference.isdecimal() and len(reference) < 10


def _on_disk(base: "Base", stored: str) -> str:
    """The file; of what lies in a mailbox or a bibliography, that."""
    from knowbase.ingest.parts import file_of

    path = os.path.join(base.home, stored)
    if not os.path.exists(path):
        path = os.path.join(base.home, file_of(stored, base.store.files()) or stored)
    if not os.path.exists(path):
        raise NotFound(
            f"the file {stored} is not there", field="reference", hint="kb sync notices that"
        )
    return os.path.abspath(path)


def _command(path: str, kind: str, spot: Spot) -> list[str]:
    if spot.page is not None and path.lower().endswith(".pdf"):
        return at_page(path, spot.page)
    editor = own_editor(os.environ)
    if kind in _PROGRAMS or not editor:
        return opener(path)
    return at_line(editor, path, spot.line)


def _run(command: list[str]) -> None:
    """Its exit code is the program's own: here it would mean something else."""
    import subprocess

    hint = "set VISUAL or EDITOR"
    try:
        ended = subprocess.run(command, check=False).returncode
    except OSError as error:
        told = f"{command[0]!r} could not be started: {error.strerror}"
        raise KnowbaseError(told, hint=hint) from error
    if ended and command[0] != EXPLORER:
        raise KnowbaseError(f"{command[0]!r} failed with exit code {ended}", hint=hint)


OPERATIONS = {
    "open": Operation(
        "open",
        "Open a hit of the last search, or a document, at its line or page",
        Open,
        open_hit,
        local=True,
        examples=("kb open 1", "kb open HB-T-0021:freeze", "kb open deploying.md --print"),
    )
}
