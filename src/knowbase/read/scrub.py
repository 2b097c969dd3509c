"""Pictures and keys that are written out as letters are no words; where a word may be parted, it
is one word all the same."""

import re

from knowbase.values.reading import Reading, Section

_DATA_URI = re.compile(
    r"(data:[\w.+-]{1,60}/[\w.+-]{1,60}(?:;[\w.=-]{1,60}){0,4},)[\w+/=%.~-]{24,}"
)
_RUN = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/]{200,}={0,2}(?![\w+/=-])")
_SHORTEST = 56  # letters of a line of data
_PIECE = rf"[A-Za-z0-9+/]{{{_SHORTEST},160}}"
_LINES = re.compile(  # of the length at which programs break them, and the shorter last one
    rf"(?<![\w+/=-]){_PIECE}(?:[\"',\\]*\s[ \t>\"']*{_PIECE}){{3,}}"
    r"(?:[\"',\\]*\s[ \t>\"']*[A-Za-z0-9+/]{1,160}={1,2})?(?![\w+/=-])"
)
_SHAPE = re.sub(rb"[A-Za-z0-9+/]", b"x", bytes(range(256)))
_SIGNED = re.compile(r"\beyJ[\w-]{16,}\.[\w-]{16,}\.[\w-]{16,}", re.ASCII)  # a web token
_SOFT_HYPHEN = "\u00ad"  # not seen, but a search would take it for the end of a word
_KINDS = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile(r"\d"))


def without_binary(reading: Reading) -> Reading:
    """The same with data of pictures and the like left out; as many lines as before."""
    sections = tuple(_scrubbed(section) for section in reading.sections)
    parts = tuple(part._replace(reading=without_binary(part.reading)) for part in reading.parts)
    return reading._replace(sections=sections, parts=parts, title=_text(reading.title))


def _scrubbed(section: Section) -> Section:
    if section.heading and _SOFT_HYPHEN in section.header + section.heading:
        heading = section.heading.replace(_SOFT_HYPHEN, "")
        section = section._replace(heading=heading, header=section.header.replace(_SOFT_HYPHEN, ""))
    text = _text(section.text)
    return section if text is section.text else section._replace(text=text)


def _text(text: str) -> str:
    text = text.replace(_SOFT_HYPHEN, "")
    if len(text) < 64:
        return text
    found = _DATA_URI.sub(r"\1…", text) if "data:" in text else text
    found = _SIGNED.sub("…", found) if "eyJ" in found else found
    if not _has_run(found):
        return found
    found = _RUN.sub(lambda match: "…" if _is_coded(match[0]) else match[0], found)
    return _LINES.sub(_blank, found)


def _has_run(text: str) -> bool:
    """Whether as many letters stand together as in a line of data: most texts are spared more."""
    shape = text.encode("utf-8", "replace").translate(_SHAPE)
    return b"x" * _SHORTEST in shape


def _is_coded(run: str) -> bool:
    """Whether it has what words do not: capitals, small letters and digits in any order."""
    return all(kind.search(run) for kind in _KINDS)


def _blank(match: re.Match[str]) -> str:
    if not _is_coded(match[0]):
        return match[0]
    return "…" + "\n" * match[0].count("\n")
