"""PDF: one section a page."""

import re
import threading
from itertools import islice
from typing import TYPE_CHECKING

from knowbase.errors import ReadError
from knowbase.read.about import stated
from knowbase.read.file import File
from knowbase.values.reading import Reading, Section

if TYPE_CHECKING:
    import pypdfium2

# The library keeps global state and must not be entered twice at once.
_PDFIUM = threading.Lock()
_HYPHENATED = re.compile("[\ufffe\x02]\n?")
_UNPRINTABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# Two or three letters as one: of Unicode, and as fonts of TeX have them, where no character is.
_LIGATURES = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
    "\ufb05": "st", "\ufb06": "st",
}  # fmt: skip
_TEX = {"\x0b": "ff", "\x0c": "fi", "\r": "fl", "\x0e": "ffi", "\x0f": "ffl"}
_IN_TEX = re.compile(r"(?<=[A-Za-z])[\x0b\x0e\x0f]|[\x0b\x0c\x0e\x0f\r](?=[a-z])")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>")
_LONGEST_TITLE = 200
_STAMP = 150  # characters of a page: "Page 3", or what a court stamps on each
_MOSTLY, _SOME = 0.5, 0.02  # of a page that a picture covers
_DEEPEST, _MOST_PICTURES = 5, 1000
_ABOUT = ("title", "author", "subject", "keywords")
# What word processors and scanners write when nobody has given a title.
_NO_TITLE = re.compile(
    r"untitled.*|title|document\d*|microsoft \w+ - .*|\S+\.[a-z]{2,5}"
    r"|scan(?:ned document)?[\W\d_]*|[\W\d_]*",
    re.IGNORECASE,
)


def read_pdf_file(file: File) -> Reading:
    """A PDF."""
    return read_pdf(file.data, file.called)


def read_pdf(data: bytes, fallback_title: str) -> Reading:
    """The pages of a PDF that have text."""
    with _PDFIUM:
        about, pages, scans = _extract(data)
    sections = tuple(
        Section(f"page-{number}", f"Page {number}", "", text, 1, number)
        for number, text in enumerate(pages, 1)
        if text
    )
    if not sections and not scans:
        raise ReadError("No text found, nor a scanned page for OCR.")
    fields = {name: _printable(about[name]) for name in ("author", "subject", "keywords")}
    title = _sensible(about["title"]) or fallback_title
    return Reading("pdf", title, sections, stated(fields), scans=scans)


def _extract(data: bytes) -> tuple[dict[str, str], list[str], tuple[int, ...]]:
    """What the PDF says of itself, the text of each page, and which pages are pictures."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _cannot_open(error) from error
    try:
        about = {name: document.get_metadata_value(name.capitalize()) for name in _ABOUT}
        pages = [_page(document, index) for index in range(len(document))]
        scans = tuple(number for number, (_, is_scan) in enumerate(pages, 1) if is_scan)
        return about, [text for text, _ in pages], scans
    except pypdfium2.PdfiumError as error:
        raise ReadError("The PDF is damaged and cannot be read.") from error
    finally:
        document.close()


def _cannot_open(error: Exception) -> ReadError:
    reason = str(error).lower()
    if "password" in reason or "security" in reason:
        return ReadError("The PDF is encrypted; remove its password to have it read.")
    return ReadError("The PDF is damaged and cannot be read.")


def _page(document: "pypdfium2.PdfDocument", index: int) -> tuple[str, bool]:
    """Its text, and whether it is a picture that hides more of it."""
    page = document[index]
    try:
        textpage = page.get_textpage()
        try:
            text = _tidy(textpage.get_text_bounded())
        finally:
            textpage.close()
        return text, len(text) < _STAMP and _is_scan(page, has_text=bool(text))
    finally:
        page.close()


def _is_scan(page: "pypdfium2.PdfPage", *, has_text: bool) -> bool:
    """A page with a picture and without text. What was stamped on it or written by the scanner is
    not its text, when the picture is most of the page."""
    from pypdfium2 import raw

    width, height = page.get_size()
    pictures = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=_DEEPEST)
    for picture in islice(pictures, _MOST_PICTURES):
        left, bottom, right, top = picture.get_bounds()
        share = (right - left) * (top - bottom) / max(width * height, 1.0)
        if share > (_MOSTLY if has_text else _SOME):
            return True
    return False


def _tidy(text: str) -> str:
    """Text with LF line ends, words whole that were split at a line's end, and a final LF."""
    text = _unligated(text)
    text = _HYPHENATED.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _UNPRINTABLE.sub("", text).strip()
    return text + "\n" if text else ""


def _unligated(text: str) -> str:
    if any(mark in text for mark in "\x0b\x0c\x0e\x0f"):
        text = _IN_TEX.sub(lambda match: _TEX[match[0]], text)
    for one, letters in _LIGATURES.items():
        text = text.replace(one, letters)
    return text


def _printable(text: str) -> str:
    return " ".join(_UNPRINTABLE.sub("", text).split())


def _sensible(title: str) -> str | None:
    title = _printable(_MARKUP.sub("", title))
    return None if len(title) > _LONGEST_TITLE or _NO_TITLE.fullmatch(title) else title
