"""Org files: headings, text without drawers and keywords, tags, links."""

import re
from typing import Any

from knowbase.read.about import moment, stated
from knowbase.read.blocks import Paragraphs, reading_of
from knowbase.read.dialects import plain_title
from knowbase.read.file import File
from knowbase.read.links import document_link, wiki_link
from knowbase.values.reading import Link, Reading

_HEADING = re.compile(r"(\*+)\s+(.*?)(?:\s+:([\w@#%:]+):)?\s*$")
_NOT_SAID = re.compile(r"\[#\w\]|\[\d*(?:/\d*|%)\]|(?<!<)<<[^<>]+>>(?!>)")  # what Org itself needs
_RADIO = re.compile(r"<<<?([^<>]+)>>>?")
_EMPHASIS = re.compile(r"(?<![^\s(\[{'\"-])([=~*/_+])(?=\S)([^=~\n]*?\S)\1(?![^\s)\]}'\".,;:!?-])")
_ITS_OWN = frozenset(("noexport", "export", "ignore", "attach", "archive", "crypt"))  # tags
_KEYWORD = re.compile(r"\s*#\+(\w+):\s*(.*)$")
_BLOCK = re.compile(r"\s*#\+(?:begin|end)_?\w*\b.*$|\s*#\+\w+(?:\[.*\])?:?.*$", re.IGNORECASE)
_DRAWER = re.compile(r"\s*:(?!END:)[\w-]+:\s*$", re.IGNORECASE)
_END = re.compile(r"\s*:END:\s*$", re.IGNORECASE)
_PROPERTY = re.compile(r"\s*:(ID|ROAM_ALIASES):\s+(\S.*?)\s*$", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"]+)"|(\S+)')
_LINK = re.compile(r"\[\[([^\[\]]+)\](?:\[([^\[\]]+)\])?\]")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?)$", re.IGNORECASE)
_RULE = re.compile(r"\s*\|[-+]+\|?\s*$")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_org(file: File) -> Reading:
    """An Org file."""
    paragraphs = Paragraphs()
    said: dict[str, str] = {}
    tags: list[str] = []
    links: list[Link] = []
    names: dict[str, list[str]] = {}  # what links and people call it: id, aliases
    in_drawer = False

    def shown(text: str) -> str:
        return _LINK.sub(lambda match: _linked(match, links), text)

    for number, line in enumerate(shown(file.text).split("\n"), 1):
        if in_drawer:
            in_drawer = not _END.match(line)
            if match := _PROPERTY.match(line):
                _note(names, match[1].lower(), match[2])
        elif _DRAWER.match(line):
            in_drawer = True
        elif match := _HEADING.match(line):
            paragraphs.heading(_said(match[2]), len(match[1]), number)
            tags += (match[3] or "").split(":")
        elif match := _KEYWORD.match(line):
            key = match[1].lower()
            said[key] = f"{said[key]} {match[2]}" if key in said else match[2]
        elif not (_BLOCK.match(line) or _RULE.match(line) or line.startswith("# ")):
            paragraphs.add(line, number)
    paragraphs.end()
    tags += re.split(r"[:\s]+", said.get("filetags", ""))
    tags = [tag for tag in tags if tag.lower() not in _ITS_OWN and not tag.lstrip("#").isdecimal()]
    keywords = said.get("keywords", "")
    tags += re.split(r"[,;]" if re.search(r"[,;]", keywords) else r"\s", keywords)
    date = _DATE.search(said.get("date", ""))
    fields: dict[str, Any] = stated(
        {"author": said.get("author"), "date": said.get("date")},
        ",".join(tags),
        moment(date[0]) if date else None,
    )
    if names:
        fields["metadata"] = {**fields.get("metadata", {}), **names}
    reading = reading_of("text", paragraphs.blocks, _said(said.get("title", "")), file.called)
    return reading._replace(stated=fields, links=tuple(dict.fromkeys(links)))


def _said(heading: str) -> str:
    """A heading as it is shown: without priorities, counts, targets and marks of emphasis."""
    text = " ".join(_NOT_SAID.sub("", heading).split())
    text = _RADIO.sub(r"\1", text or heading)
    return plain_title(_EMPHASIS.sub(r"\2", text))


def _note(names: dict[str, list[str]], key: str, value: str) -> None:
    """What a property calls the file, or a heading of it."""
    if key == "id":
        names.setdefault("id", []).append(value)
    else:
        found = (match[1] or match[2] for match in _QUOTED.finditer(value))
        names.setdefault("aliases", []).extend(found)


def _linked(match: re.Match[str], links: list[Link]) -> str:
    """What a link shows. A picture without a description is shown in its place: it is no link."""
    scheme, _, named = match[1].partition(":")
    target = match[1].removeprefix("file:").partition("::")[0]
    if scheme in ("id", "roam"):
        link = wiki_link(named)
    elif match[1].startswith(("*", "#")) or (match[2] is None and _PICTURE.search(target)):
        link = None
    else:
        link = document_link(target)
    if link is not None:
        links.append(link)
    return match[2] or (named if scheme == "roam" else target)
