"""Books (.epub): their chapters in the order of reading."""

import posixpath
from urllib.parse import unquote

from knowbase.errors import ReadError
from knowbase.read.about import stated
from knowbase.read.archive import Archive
from knowbase.read.blocks import Block, reading_of
from knowbase.read.decode import decode
from knowbase.read.file import File
from knowbase.read.html import blocks_of
from knowbase.read.markup import Element, optional_tree
from knowbase.values.reading import Reading

WHAT = "book"


def read_epub(file: File) -> Reading:
    """A book."""
    archive = Archive(file.data, WHAT)
    package = _package(archive)
    book = optional_tree(archive.read(package), WHAT)
    chapters = _chapters(book, posixpath.dirname(package))
    if not chapters:
        raise ReadError("The book is damaged or something else, and cannot be read.")
    locked = _locked(archive)
    if locked & set(chapters):
        raise ReadError("The book is encrypted; its publisher lets only some programs read it.")
    blocks: list[Block] = []
    for number, chapter in enumerate(chapters, 1):
        found, _ = blocks_of(decode(archive.read(chapter)))
        if found and not any(block.level in (1, 2) for block in found):
            # A chapter that has only a smaller heading, or none, still begins somewhere.
            found = [block._replace(level=min(block.level, 2)) for block in found]
        blocks += [block._replace(line=1, page=None) for block in found]
        if file.most is not None and number > file.most:
            break
    title, fields = _about(book)
    return reading_of("book", blocks, title, file.stem)._replace(stated=fields)


def _package(archive: Archive) -> str:
    container = optional_tree(archive.read("META-INF/container.xml"), WHAT)
    root = next(container.all("rootfile"), None)
    return root.get("full-path") if root is not None else "content.opf"


def _chapters(book: Element, folder: str) -> list[str]:
    """The names of the chapters in the archive, in order."""
    manifest = {one.get("id"): one for one in book.all("item")}
    found = []
    for reference in book.all("itemref"):
        one = manifest.get(reference.get("idref"))
        if one is not None and "nav" not in one.get("properties").split():
            path = posixpath.join(folder, unquote(one.get("href")))
            found.append(posixpath.normpath(path))
    return found


def _locked(archive: Archive) -> set[str]:
    """What is encrypted; fonts often are, and do not matter."""
    told = optional_tree(archive.read("META-INF/encryption.xml"), WHAT)
    return {unquote(one.get("URI")) for one in told.all("CipherReference")}


def _about(book: Element) -> tuple[str | None, dict[str, object]]:
    def values(name: str) -> list[str]:
        return [text for one in book.all(name) if (text := one.line_text)]

    def first(name: str) -> str | None:
        return next(iter(values(name)), None)

    metadata = {
        "author": ", ".join(values("creator")),
        "publisher": first("publisher"),
        "date": first("date"),
        "language": first("language"),
        "description": first("description"),
    }
    return first("title"), stated(metadata, ",".join(values("subject")))
