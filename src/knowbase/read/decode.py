"""From bytes to text: which encoding it is, or that it is no text at all."""

import codecs
import re

from knowbase.errors import ReadError

_SAMPLE = 65536
_MAX_CONTROL_SHARE = 0.05
# Tab, line ends, form feed, backspace and escape do occur in logs and manual pages.
_CONTROL = re.compile("[\x01-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_LINE_END = re.compile(r"\r\n?")
_UTF32_BOMS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class BinaryFile(ReadError):
    """The data is no text."""

    code = "binary_file"


def decode(data: bytes) -> str:
    """The text in `data`, with LF line ends and no byte order mark."""
    text = _to_text(data)
    if _looks_binary(text):
        raise BinaryFile("The file is binary, not text.")
    return _LINE_END.sub("\n", text)


def _to_text(data: bytes) -> str:
    wide = _wide_encoding(data)
    if wide:
        return _strictly(data, wide).removeprefix("\ufeff")
    if b"\0" in data:
        raise BinaryFile("The file is binary, not text.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return _eight_bit(data)


def _wide_encoding(data: bytes) -> str | None:
    if data.startswith(_UTF32_BOMS):
        return "utf-32"
    if data.startswith(_UTF16_BOMS):
        return "utf-16"
    return _utf16_by_zeros(data[:_SAMPLE])


def _utf16_by_zeros(sample: bytes) -> str | None:
    """UTF-16 without a mark: most Latin letters have a zero as their other half."""
    if len(sample) < 4 or len(sample) % 2:
        return None
    half = len(sample) // 2
    first, second = sample[0::2].count(0), sample[1::2].count(0)
    if first == 0 and second > half * 0.6:
        return "utf-16-le"
    if second == 0 and first > half * 0.6:
        return "utf-16-be"
    return None


def _strictly(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise BinaryFile("The file is binary, not text.") from error


def _eight_bit(data: bytes) -> str:
    """UTF-8 with a few broken bytes, Windows-1252, or Latin-1."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    broken = text.count("\ufffd")
    whole = sum(char > "\x7f" for char in text) - broken
    if whole > 4 * broken:
        return text
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _looks_binary(text: str) -> bool:
    if "\0" in text:
        return True
    sample = text[:_SAMPLE]
    return len(_CONTROL.findall(sample)) > len(sample) * _MAX_CONTROL_SHARE
