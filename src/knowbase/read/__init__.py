"""Readers: from a file's bytes to a title, sections, tags and links. They do no I/O."""

from importlib import import_module
from typing import Any

from knowbase.errors import ReadError
from knowbase.read.decode import BinaryFile, NeedsReader
from knowbase.read.file import MOST_DATA, File
from knowbase.read.formats import PLAIN, Format, format_of, has_name, why_unread
from knowbase.values.reading import Link, Part, Reading, Section

__all__ = [
    "BinaryFile", "File", "Link", "NeedsReader", "Part", "ReadError", "Reading", "Section", "read",
    "read_file",
    "type_of",
]  # fmt: skip


# Files whose content lies elsewhere.
_POINTERS = (
    (b"version https://git-lfs.github.com/spec/", "not fetched yet: git lfs pull"),
    (b"/annex/objects/", "not fetched yet: git annex get"),
)


def read(path: str, data: bytes, most: int | None = None, most_data: int = MOST_DATA) -> Reading:
    """What the file at `path` with the content `data` says; ReadError when that is nothing.
    With `most`, no more headings than it takes to have that many sections; of tables and records,
    no more than `most_data` characters.
    """
    return read_file(File(path, data, most, most_data))


def read_file(file: File) -> Reading:
    """The same for a file that may lie in another one."""
    from knowbase.read.outside import outside_reader
    from knowbase.read.scrub import without_binary

    if not file.data:
        return Reading(type_of(file.path), file.called, ())
    reader = outside_reader(file.extension)
    if reader is not None:
        return _titled(without_binary(reader(file)), file)
    chosen, told = _chosen(file)
    reading = _reader(chosen)(file, *((read_file,) if chosen.holds and _is_mail(chosen) else ()))
    warnings = (*told, *file.warnings, *reading.warnings)
    if chosen.type in ("office", "book"):
        from knowbase.read.archive import pictures_in

        reading = reading._replace(pictures=pictures_in(file.data))
    return _titled(without_binary(reading._replace(warnings=warnings)), file)


def _titled(reading: Reading, file: File) -> Reading:
    """A page that says what it is and nothing more is found by that. A PDF without text is not:
    what it says stands in its pictures. A title that nobody can see is none."""
    if not any(one.isprintable() and not one.isspace() for one in reading.title):
        reading = reading._replace(title=file.called)
    says = reading.title not in ("", file.name, file.stem, file.called) or any(
        reading.stated.values()
    )
    if reading.sections or reading.parts or not says or reading.type in ("pdf", "image"):
        return reading
    alone = Section("_preamble", None, "", reading.title + "\n", 1)
    return reading._replace(sections=(alone,))


def type_of(path: str) -> str:
    """The type of document that a file of this name is read as."""
    return format_of(path).type


def _is_mail(chosen: Format) -> bool:
    return chosen.type == "mail"


def _chosen(file: File) -> tuple[Format, tuple[str, ...]]:
    """The format by name, unless the content says otherwise; and what is to be said of that."""
    from knowbase.read.content import is_ole, signature_of

    if stands_for := next((one for mark, one in _POINTERS if file.data.startswith(mark)), None):
        raise NeedsReader(stands_for)
    named = format_of(file.path)
    by_content = signature_of(file.data)
    if by_content is not None and by_content is not named and _may_differ(named, by_content):
        article = "an" if by_content.name[0] in "AEIOaeio" else "a"
        told = (f"its name says otherwise, but it is {article} {by_content.name}",)
        return by_content, told if has_name(file.path) else ()
    told_why = why_unread(file.path)
    if told_why is not None and (is_ole(file.data) or not _is_text(file)):
        raise NeedsReader(told_why)
    return (_of_text(file), ()) if named is PLAIN else (named, ())


def _is_text(file: File) -> bool:
    try:
        return bool(file.text) or not file.data
    except BinaryFile:
        return False


def _may_differ(named: Format, by_content: Format) -> bool:
    """Markup may stand in any text: a template, a note that begins with a page."""
    return by_content.type != "html" or named.type in ("office", "pdf", "book")


def _of_text(file: File) -> Format:
    """What a text is that its name does not tell."""
    from knowbase.read import formats

    if file.data.startswith(b"From ") and not file.path.endswith(".txt"):
        from knowbase.read.mail import looks_like_mail

        if looks_like_mail(file.data.partition(b"\n")[2]):
            return formats.MBOX
    if file.data[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<?xml"):
        return formats.XML
    if file.text.startswith("Content-Type: text/x-zim-wiki"):
        return formats.ZIM
    if file.text[:100].lstrip()[:1] in (".", "'"):
        from knowbase.read.roff import looks_like_roff

        if looks_like_roff(file.text):
            return formats.MANUAL
    if file.extension == "txt":
        from knowbase.read.rst import looks_like_rst

        if looks_like_rst(file.text):
            return formats.RST
    return PLAIN


def _reader(chosen: Format) -> Any:
    module, _, function = chosen.reader.partition(":")
    return getattr(import_module(f"knowbase.read.{module}"), function)
