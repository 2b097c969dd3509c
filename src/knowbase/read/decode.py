"""From bytes to text: which encoding it is, or that it is no text at all."""

import codecs
import re
from typing import NamedTuple

from knowbase.errors import ReadError

_SAMPLE = 65536
_MAX_CONTROL_SHARE = 0.05
# Tab, line ends, form feed, backspace and escape do occur in logs and manual pages.
_CONTROL = re.compile("[\x01-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_LINE_END = re.compile(r"\r\n?")
_UTF32_BOMS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


# Japanese mail and old Unix files: ASCII with escapes between.
_ISO_2022 = re.compile(rb"\x1b(?:\$[@AB]|\$\([CD]|\(J)")
_LATIN = (
    "windows-1252", "windows-1250", "windows-1254", "windows-1257", "windows-1258", "iso8859-2",
    "iso8859-1",
)  # fmt: skip
_OTHERS = (
    "cp932", "euc_jis_2004", "gb18030", "big5hkscs", "cp949", "koi8-r", "koi8-u", "windows-1251",
    "iso8859-5", "cp866", "windows-1253", "iso8859-7", "windows-1255", "windows-1256", "tis-620",
    "windows-1250", "windows-1252",
)  # fmt: skip
# Where HTML, XML, CSS, LaTeX and code say what they are in.
_STATED = re.compile(
    rb"""<meta[^>]{0,200}\bcharset\s*=\s*["']?([\w.:-]{2,40})
    |\A\s*<\?xml[^>]{0,100}\bencoding\s*=\s*["']([\w.:-]{2,40})
    |\A\s*@charset\ "([\w.:-]{2,40})
    |\\usepackage\[([\w.:-]{2,40})\]\{inputenc\}
    |\A(?:[^\n]{0,200}\n)?[^\n\w]{1,20}(?:vim?:[^\n]{0,60})?(?:file)?(?:en)?coding[:=]\s*([\w.:-]{2,40})""",
    re.IGNORECASE | re.VERBOSE,
)
_NAMES = {"ansinew": "windows-1252", "applemac": "mac_roman", "x-sjis": "cp932"}
# What is called so is often the larger one, which browsers read all of them as.
_LARGER = {
    "iso8859-1": "windows-1252", "iso8859-9": "windows-1254", "shift_jis": "cp932",
    "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
_HIGH_LINE = re.compile(rb"[^\n]*[\x80-\xff][^\n]*")
_FEW = 8  # bytes beyond ASCII: too few to tell anything but Western text
_GUESS = "it is not in UTF-8; read as {}, which is a guess"
_GUESSED = 0.012  # what the detector is less sure of than this is said


class Decoded(NamedTuple):
    """A text, and what is to be said of its encoding."""

    text: str
    warning: str | None = None


class BinaryFile(ReadError):
    """The data is no text."""

    code = "binary_file"


class NeedsReader(BinaryFile):
    """What it is is known, but nothing that is installed reads it."""

    code = "needs_reader"


def decode(data: bytes) -> str:
    """The text in `data`, with LF line ends and no byte order mark."""
    return decoded(data).text


def decoded(data: bytes, charset: str | None = None) -> Decoded:
    """The same, and whether its encoding is a guess. A charset that came with it counts unless
    it cannot be."""
    text, warning = _to_text(data, charset)
    if _looks_binary(text):
        raise BinaryFile("The file is binary, not text.")
    return Decoded(_LINE_END.sub("\n", text), warning)


def _to_text(data: bytes, charset: str | None) -> Decoded:
    wide = _wide_encoding(data)
    if wide:
        return Decoded(_strictly(data, wide).removeprefix("\ufeff"))
    if b"\0" in data:
        raise BinaryFile("The file is binary, not text.")
    try:
        if _ISO_2022.search(data):
            return Decoded(data.decode("iso2022_jp_2"))
        return Decoded(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        stated = _as_stated(data, charset) or _as_stated(data, _stated(data))
        return Decoded(stated) if stated else _eight_bit(data)


def _stated(data: bytes) -> str | None:
    found = _STATED.search(data[:4096])
    return found[found.lastindex or 0].decode("ascii") if found else None


def _as_stated(data: bytes, charset: str | None) -> str | None:
    """The text by an encoding that somebody named, if it can be that."""
    try:
        name = codecs.lookup(_NAMES.get(charset.lower(), charset)).name if charset else None
        text = data.decode(_LARGER.get(name, name)) if name else None
    except (LookupError, ValueError):
        return None
    return None if text is None or _CONTROL.search(text) else text


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


def _eight_bit(data: bytes) -> Decoded:
    """UTF-8 with a few broken bytes, or an encoding from before it."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    broken = text.count("\ufffd")
    whole = sum(char > "\x7f" for char in text) - broken
    if whole > 4 * broken:
        return Decoded(text)
    return _detected(data)


def _detected(data: bytes) -> Decoded:
    """What the detector takes it for. Letters beyond ASCII stand alone in Latin scripts, side by
    side in all others, so that only half of the encodings come into question."""
    sample = b"\n".join(_HIGH_LINE.findall(data))[:_SAMPLE]  # the others tell nothing
    high = re.findall(rb"[\x80-\xff]+", sample)
    number = sum(map(len, high))
    is_latin = number < 2 * len(high)
    if number < _FEW and is_latin:
        return Decoded(_western(data), _GUESS.format("Windows-1252"))
    import chardet

    candidates = _LATIN if is_latin else _OTHERS
    found = chardet.detect(sample, include_encodings=candidates)
    encoding, confidence = found["encoding"], found["confidence"] or 0.0
    if encoding is None:
        return Decoded(_western(data))
    text = data.decode(encoding, "replace")
    if text.count("\ufffd") * 20 > len(text):
        raise BinaryFile("The file is binary, not text.")
    told = _GUESS.format(encoding)
    return Decoded(text, told if confidence < _GUESSED or "\ufffd" in text else None)


def _western(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _looks_binary(text: str) -> bool:
    if "\0" in text:
        return True
    sample = text[:_SAMPLE]
    return len(_CONTROL.findall(sample)) > len(sample) * _MAX_CONTROL_SHARE
