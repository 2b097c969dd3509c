"""What a file is by its content, when that is plain to see: names are sometimes wrong."""

import io
import zipfile

from knowbase.read import formats
from knowbase.read.formats import Format
from knowbase.read.image import is_image

_IN_ZIP = {
    "word/document.xml": formats.WORD,
    "ppt/presentation.xml": formats.SLIDES,
    "xl/workbook.xml": formats.SHEETS,
}
_MIMETYPES = {
    b"application/epub+zip": formats.EPUB,
    b"application/vnd.oasis.opendocument.text": formats.ODT,
    b"application/vnd.oasis.opendocument.spreadsheet": formats.ODS,
    b"application/vnd.oasis.opendocument.presentation": formats.ODP,
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def signature_of(data: bytes) -> Format | None:
    """The format that the first bytes, or the files in an archive, give away."""
    start = data[:64].lstrip()
    if start.startswith(b"%PDF-"):
        return formats.PDF
    if start.startswith(b"{\\rtf"):
        return formats.RTF
    if start.startswith((b"<!DOCTYPE html", b"<!doctype html", b"<html", b"<HTML")):
        return formats.HTML
    if data.startswith(b"PK\x03\x04"):
        return _of_zip(data)
    return formats.IMAGE if is_image(data) else None


def is_ole(data: bytes) -> bool:
    """Whether it is in the container that office programs used before 2007."""
    return data.startswith(_OLE)


def _of_zip(data: bytes) -> Format | None:
    # The type stands first in the archive, without compression: 30 bytes, the name, the type.
    if data[30:38] == b"mimetype":
        kinds = [kind for kind in _MIMETYPES if data[38:].startswith(kind)]
        if kinds:
            return _MIMETYPES[max(kinds, key=len)]
    try:
        names = set(zipfile.ZipFile(io.BytesIO(data)).namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return None
    return next((found for name, found in _IN_ZIP.items() if name in names), None)
