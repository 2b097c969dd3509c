"""Markdown: sections at the top-level headings, front matter, tags and links."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.read.file import File
from knowbase.read.frontmatter import front_matter_lines, parse_front_matter
from knowbase.read.links import document_link, wiki_link
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Link, Reading, Section

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

# The same line ends as the parser's, so that its line numbers fit.
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_URL = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://\S+|\bwww\.\S+", re.IGNORECASE)
_TAG_START = re.compile(r"""(?:^|(?<=[\s(\[{,;"'“‘«]))#(?=[^\W\d_])""")
_NOT_TEXT = "\ufffc"
# Headings by the look of a line; some that look so stand in a block of code.
_HEADING_LINE = re.compile(r" {0,3}(?:#{1,6}(?:\s|$)|=+\s*$|-+\s*$)")
_LOOK_LIKE_ONE = 4


class _Heading(NamedTuple):
    text: str
    level: int
    start: int  # line in the body, from 0
    end: int


def read_markdown_file(file: File) -> Reading:
    """A Markdown file."""
    return read_markdown(file.text, file.stem, file.most)


def read_markdown(text: str, fallback_title: str, most: int | None = None) -> Reading:
    """A Markdown text as a document; with `most`, as far as that many sections may go."""
    lines = _LINE.findall(text)
    skip = front_matter_lines(lines)
    matter = parse_front_matter("".join(lines[1 : skip - 1])) if skip else None
    offset = skip if matter is not None else 0
    body = lines[offset:]
    unread = skip > 0 and matter is None
    warnings = ["its front matter is not valid YAML; read as text"] if unread else []
    if most is not None and (end := _far_enough(body, most * _LOOK_LIKE_ONE)) < len(body):
        warnings.append(f"only its first {end} lines are read: it has too many headings")
        body = body[:end]
    tokens = _parser().parse("".join(body))
    headings = [heading for heading in _headings(tokens) if heading.level <= 2]
    sections = _sections(body, headings, offset)
    reading = _reading(matter or {}, _title(headings) or fallback_title, sections, tokens)
    return reading._replace(warnings=tuple(warnings))


def _far_enough(lines: list[str], most: int) -> int:
    """The line of the heading after so many: each takes memory before it can be counted."""
    seen = 0
    for number, line in enumerate(lines):
        seen += _HEADING_LINE.match(line) is not None
        if seen > most:
            return number
    return len(lines)


def _reading(
    stated: dict[str, Any], title: str, sections: tuple[Section, ...], tokens: Sequence["Token"]
) -> Reading:
    inlines = [token.children or [] for token in tokens if token.type == "inline"]
    tags = tuple(dict.fromkeys((*stated.get("tags", ()), *_tags(inlines))))
    return Reading(
        stated.pop("type", "markdown"),
        stated.pop("title", title),
        sections,
        {**stated, **({"tags": tags} if tags else {})},
        tuple(dict.fromkeys(_links(inlines))),
    )


def _title(headings: Iterable[_Heading]) -> str | None:
    return next((heading.text for heading in headings if heading.level == 1), None)


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    # Joined, an escaped "\#" could no longer be told from a tag's "#".
    parser.disable("text_join")
    parser.inline.ruler.before("link", "wiki_link", _wiki_rule)
    return parser


def _wiki_rule(state: "StateInline", silent: bool) -> bool:
    """The parser's rule for [[Target|shown]]."""
    if not state.src.startswith("[[", state.pos):
        return False
    start = state.pos + 2
    end = state.src.find("]]", start, min(state.posMax, start + 1000))
    inside = state.src[start:end]
    if end < 0 or not inside.strip() or any(char in "[]\n" for char in inside):
        return False
    if not silent:
        state.push("wiki_link", "", 0).content = inside
    state.pos = end + 2
    return True


def _headings(tokens: Sequence["Token"]) -> Iterator[_Heading]:
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            text = " ".join(_plain(inline.children or []).split())
            yield _Heading(text, int(token.tag[1:]), *token.map)


def _plain(tokens: Iterable["Token"]) -> str:
    """What a reader sees of inline tokens: their text without the markup."""
    return "".join(_shown(token) for token in tokens)


def _shown(token: "Token") -> str:
    if token.type == "wiki_link":
        return token.content.rsplit("|", 1)[-1]
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "html_inline":
        return ""
    return _plain(token.children) if token.children else token.content


def _sections(body: list[str], headings: list[_Heading], offset: int) -> tuple[Section, ...]:
    # The title belongs to what follows it; it would be a section without content otherwise.
    if headings and headings[0].level == 1:
        headings = headings[1:]
    first = headings[0].start if headings else len(body)
    preamble = "".join(body[:first])
    slugs = unique_slugs(heading.text for heading in headings)
    ends = [*(heading.start for heading in headings), len(body)][1:]
    found = [Section("_preamble", None, "", preamble, offset + 1)] if preamble.strip() else []
    for heading, slug, end in zip(headings, slugs, ends, strict=True):
        header = "".join(body[heading.start : heading.end])
        text = "".join(body[heading.end : end])
        found.append(Section(slug, heading.text, header, text, offset + heading.start + 1))
    return tuple(found)


def _tags(inlines: Iterable[Sequence["Token"]]) -> Iterator[str]:
    for children in inlines:
        text = _URL.sub(_NOT_TEXT, "".join(_running(token) for token in children))
        for match in _TAG_START.finditer(text):
            yield _tag_at(text, match.end())


def _running(token: "Token") -> str:
    """The part of an inline token in which a tag may stand."""
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    if token.type == "text" or (token.type == "text_special" and "#" not in token.content):
        return token.content
    # Nothing for emphasis, so that **#tag** counts; a placeholder where something stands.
    return _NOT_TEXT if token.content and token.type != "html_inline" else ""


def _tag_at(text: str, start: int) -> str:
    end = start
    while end < len(text) and _in_tag(text[end]):
        end += 1
    return text[start:end].rstrip("-/")


def _in_tag(char: str) -> bool:
    return char.isalnum() or char in "_-/" or unicodedata.category(char) in ("Mn", "Mc")


def _links(inlines: Iterable[Sequence["Token"]]) -> Iterator[Link]:
    for children in inlines:
        for token in children:
            link = _link(token)
            if link:
                yield link


def _link(token: "Token") -> Link | None:
    if token.type == "wiki_link":
        return wiki_link(token.content)
    if token.type == "link_open":
        return document_link(str(token.attrs.get("href", "")))
    return None
