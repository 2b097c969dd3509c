"""Binary that stands in a text as letters: it is left out, for it has no words."""

import re

from knowbase.values.reading import Reading

LEFT_OUT = "…"
_URI = r"data:[a-z]{2,20}/[\w.+-]{1,60}(?:;[\w=.-]{1,60})*(?:;base64,[\w+/=%-]+|,[^\s\"')>]{80,})"
_SIGNED = r"\beyJ[\w-]{16,}\.[\w-]{16,}\.[\w-]{16,}"
# A long run alone is not enough: a path or a sequence of genes has not all kinds of letters.
_RUN = r"(?<![\w+/=])(?=[a-z+/]{0,80}[A-Z0-9])(?=[A-Z0-9+/]{0,80}[a-z])[A-Za-z0-9+/]{120,}={0,2}"
_LINES = r"(?:^[ \t>\"']{0,20}[A-Za-z0-9+/]{60,100}={0,2}[\"',\\ ]{0,4}$\n?){4,}"
_BLOB = re.compile(f"{_URI}|{_SIGNED}|{_LINES}|{_RUN}", re.MULTILINE | re.ASCII)
_KINDS = (re.compile("[A-Z]"), re.compile("[a-z]"), re.compile("[0-9]"))
_SHORTEST = 60  # characters: what has no run so long has no blob
_LONG_RUN = re.compile(rf"[\w+/=.%-]{{{_SHORTEST}}}", re.ASCII)


def without_blobs(reading: Reading) -> Reading:
    """The reading without base64, data URIs and tokens; every line keeps its number."""
    if not any(_may_have(section.text) for section in reading.sections):
        return reading
    sections = tuple(one._replace(text=_cut(one.text)) for one in reading.sections)
    return reading._replace(sections=sections)


def _may_have(text: str) -> bool:
    return "data:" in text or _LONG_RUN.search(text) is not None


def _cut(text: str) -> str:
    return _BLOB.sub(_left_out, text)


def _left_out(match: re.Match[str]) -> str:
    found = match[0]
    is_named = found.startswith(("data:", "eyJ"))
    if not is_named and not all(kind.search(found) for kind in _KINDS):
        return found
    return LEFT_OUT + "\n" * found.count("\n")
