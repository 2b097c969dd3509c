"""AsciiDoc: headings, text without its attributes and macros, links."""

import posixpath
import re

from knowbase.read.about import moment, stated
from knowbase.read.blocks import Paragraphs, reading_of
from knowbase.read.file import File
from knowbase.read.links import document_link
from knowbase.values.reading import Link, Reading

_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)\s*=*$")
_ATTRIBUTE = re.compile(r":!?([\w-]+)!?:(?:\s+(.*))?$")
_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|={4,}|\*{4,}|_{4,}|/{4,}|`{3,}\w*|--|[|!,:]={3,})\s*$")
_VERBATIM = ("-", ".", "+", "`", "/")
_DROPPED = re.compile(
    r"(?:\[[^\]]*\]|//.*|(?:ifdef|ifndef|ifeval|endif|toc|image|video)::.*|'''|<<<|\+)\s*$"
)
_INCLUDE = re.compile(r"include::([^\[\]]+)\[[^\]]*\]\s*$")
_MACRO = re.compile(
    r"(xref|link|mailto|image|footnote|kbd|btn|anchor):([^\s\[\]]{0,500})\[([^\]]{0,500})\]"
)
_URL = re.compile(r"(?:\blink:)?(https?://[^\s\[\]]{1,500})\[([^\]]{0,500})\]")
_CROSS = re.compile(r"<<([^<>,\n]{1,500})(?:,\s*([^<>]{1,500}))?>>")
_EMPHASIS = re.compile(r"(?<!\w)(\*\*?|__?|``?|\+\+?|##?)(?=[^\s*_`+#])(.+?)(?<=\S)\1(?!\w)")
_BLOCK_TITLE = re.compile(r"\.(?=[^\s.])")
_ANCHOR = re.compile(r"\[\[[^\[\]]{0,500}\]\]|\[#[^\[\]]{0,500}\]")
# Antora: docs/modules/NAME/pages/x.adoc; version@component:module:family$x.adoc
_MODULE = re.compile(r"(?P<top>(?:.*/)?modules)/(?P<module>[^/]+)/.+")
_RESOURCE = re.compile(
    r"(?:[^@:$]*@)?(?:[\w.-]*:(?=[\w.-]*:))?(?:(?P<module>[\w.-]*):)?"
    r"(?:(?P<family>page|partial|example|attachment)\$)?(?P<path>[^:$]+)"
)
_REFERENCE = re.compile(r"\{([\w-]+)\}")


def read_asciidoc(file: File) -> Reading:
    """An AsciiDoc file."""
    text = _Text(file.path)
    for number, line in enumerate(file.text.split("\n"), 1):
        text.take(line, number)
    text.paragraphs.end()
    said = text.attributes
    fields = stated(
        {"author": said.get("author"), "date": said.get("revdate") or said.get("date")},
        said.get("keywords", ""),
        moment(said.get("revdate")),
    )
    reading = reading_of("text", text.paragraphs.blocks, None, file.called)
    return reading._replace(stated=fields, links=tuple(dict.fromkeys(text.links)))


class _Text:
    """Goes through the lines, and knows in which block each stands."""

    def __init__(self, path: str) -> None:
        self._path = path.replace("\\", "/")
        self.paragraphs = Paragraphs()
        self.attributes: dict[str, str] = {}
        self.links: list[Link] = []
        self._fence = ""

    def take(self, line: str, number: int) -> None:
        fence = _FENCE.fullmatch(line)
        if fence and (not self._fence or self._fence == fence[1].rstrip()):
            self._fence = "" if self._fence else fence[1].rstrip()
            self.paragraphs.end()
        elif self._fence and self._fence[0] == "/":
            return
        elif self._fence and self._fence[0] in _VERBATIM and self._fence != "--":
            # An empty line is no end of a paragraph here.
            self.paragraphs.add(line or " ", number) if line.strip() else None
        elif match := _HEADING.fullmatch(line):
            self.paragraphs.heading(
                _EMPHASIS.sub(r"\2", self._shown(match[2])), len(match[1]), number
            )
        elif match := _ATTRIBUTE.fullmatch(line):
            self.attributes[match[1].lower()] = match[2] or ""
        elif match := _INCLUDE.fullmatch(line):
            named = "$" in match[1]  # else as files lie
            self._link(_page_of(self._path, match[1]) if named else match[1])
        elif not _DROPPED.fullmatch(line):
            titled = _BLOCK_TITLE.match(line)  # ".Procedure"
            self.paragraphs.add(self._shown(line[1:] if titled else line), number)

    def _shown(self, text: str) -> str:
        text = _ANCHOR.sub("", text)
        text = _REFERENCE.sub(lambda match: self.attributes.get(match[1].lower(), match[0]), text)
        text = _URL.sub(lambda match: match[2].rstrip("^") or match[1], text)
        text = _MACRO.sub(self._macro, text)
        return _CROSS.sub(self._cross, text)

    def _macro(self, match: re.Match[str]) -> str:
        kind, target, shown = match.groups()
        if kind == "link":
            self._link(target)
        elif kind == "xref" and ".adoc" in target:  # else a place in this text
            self._link(_page_of(self._path, target))
        if kind == "footnote":
            return f" ({shown})"
        return "" if kind in ("image", "anchor") else shown or target

    def _cross(self, match: re.Match[str]) -> str:
        if ".adoc" in match[1]:
            self._link(_page_of(self._path, match[1]))
        return match[2] or match[1].partition("#")[0]

    def _link(self, target: str) -> None:
        link = document_link(target)
        if link is not None:
            self.links.append(link)


def _page_of(path: str, target: str) -> str:
    """Where a file lies that another one names, in a folder of Antora by module and family."""
    around, named = _MODULE.fullmatch(path), _RESOURCE.fullmatch(target)
    if around is None or named is None:
        return target
    family = f"{named['family'] or 'page'}s"
    place = posixpath.join(
        around["top"], named["module"] or around["module"], family, named["path"]
    )
    return posixpath.relpath(place, posixpath.dirname(path))
