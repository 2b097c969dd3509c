"""Markdown: sections at the top-level headings, front matter, tags and links."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from knowbase.read.dialects import anchor_of, cleaned, plain_title
from knowbase.read.file import File
from knowbase.read.frontmatter import Matter, front_matter
from knowbase.read.hashtags import tags_in
from knowbase.read.links import document_link, typed_link, wiki_link, wiki_parts
from knowbase.read.observations import categories, inlines
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Link, Reading, Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

    BlockRule = Callable[[StateBlock, int, int, bool], bool]

# The same line ends as the parser's, so that its line numbers fit.
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
# Headings by the look of a line; some that look so stand in a block of code.
_HEADING_LINE = re.compile(r" {0,3}(?:#{1,6}(?:\s|$)|=+\s*$|-+\s*$)")
_LOOK_LIKE_ONE = 4
# Below text: of a heading, or of the first row of a table; in quotations and lists, too.
_UNDERLINE = re.compile(r"\n[ \t>]*[-=:|][-=:| \t]*(?:\n|\Z)")
_WORD = re.compile(r"[^\W_]+")
_SHORT = 2  # letters of a word that says nothing of what a page is about
_HREF = re.compile(r"""<a\s[^<>]{0,500}?\bhref\s*=\s*(["'])([^"'<>]{1,500})\1""", re.IGNORECASE)
_MARK = re.compile(r"[\\`*_~\[!<&]")  # what may be more than text, within a line
DEEPEST = 100  # levels of lists and quotes; what lies deeper is lost (a list's level is two)
_LONGEST_FORMULA = 300  # lines
_LONG_PARAGRAPH = 2000  # characters


class Heading(NamedTuple):
    """A heading, and the lines that it takes."""

    text: str
    level: int
    start: int  # line in the body, from 0
    end: int
    anchor: str | None = None  # the slug that it names itself


def read_markdown_file(file: File) -> Reading:
    """A Markdown file."""
    name = file.stem if file.has_telling_name else None
    return read_markdown(file.text, file.called, file.most, mdx=file.extension == "mdx", name=name)


def read_markdown(
    text: str,
    fallback_title: str,
    most: int | None = None,
    *,
    mdx: bool = False,
    name: str | None = None,
) -> Reading:
    """A Markdown text as a document; with `most`, as far as that many sections may go, and with
    the `name` of its file, where that says what it is about."""
    lines = _lines_of(text)
    matter = front_matter(lines)
    warnings = list(matter.warnings)
    body = _lines_of(cleaned("".join(lines[matter.lines :]), mdx=mdx))
    if most is not None and (end := _far_enough(body, most * _LOOK_LIKE_ONE)) < len(body):
        warnings.append(f"only its first {end} lines are read: it has too many headings")
        body = body[:end]
    tokens = parser().parse("".join(body))
    every = list(_headings(tokens))
    headings = [heading for heading in every if heading.level <= 2]
    title = _title(every, body, name)
    # The title belongs to what follows it; it would be a section without content otherwise.
    if headings and headings[0].level == 1 and title is not None:
        headings = headings[1:]
    sections = _described(_sections(body, headings, matter.lines), matter)
    reading = _reading(matter, title or fallback_title, sections, tokens)
    return reading._replace(warnings=tuple(warnings))


def _lines_of(text: str) -> list[str]:
    """With their ends."""
    if "\r" in text:
        return _LINE.findall(text)
    *lines, last = text.split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def headings_in(text: str) -> Iterator[Heading]:
    """The headings of a text, whatever their level."""
    return _headings(parser().parse(text))


def _far_enough(lines: list[str], most: int) -> int:
    """The line of the heading after so many: each takes memory before it can be counted."""
    if len(lines) <= most:
        return len(lines)
    seen = 0
    for number, line in enumerate(lines):
        seen += _HEADING_LINE.match(line) is not None
        if seen > most:
            return number
    return len(lines)


def _reading(
    matter: Matter, title: str, sections: tuple[Section, ...], tokens: Sequence["Token"]
) -> Reading:
    stated = dict(matter.stated)
    running = [token.children or [] for token in tokens if token.type == "inline"]
    stated_tags = stated.get("tags", ())
    found = tags_in(running, tags_elsewhere=bool(stated_tags))
    tags = tuple(dict.fromkeys((*stated_tags, *found)))
    if (observed := categories(tokens)) and "observations" not in stated.get("metadata", {}):
        stated["metadata"] = {**stated.get("metadata", {}), "observations": observed}
    return Reading(
        stated.pop("type", "markdown"),
        plain_title(stated.pop("title", title)) or title,
        sections,
        {**stated, **({"tags": tags} if tags else {})},
        tuple(dict.fromkeys((*matter.links, *_links(tokens)))),
    )


def _described(sections: tuple[Section, ...], matter: Matter) -> tuple[Section, ...]:
    """With what the front matter says the document is about, where the text does not say it."""
    about = plain_title(matter.description) if matter.description else ""
    if not about or (sections and about in " ".join(sections[0].text.split())):
        return sections
    # Two line ends, which the front matter had too: every line keeps its number.
    first = Section("_preamble", None, "", f"{about}\n\n", max(1, matter.lines - 1))
    if sections and sections[0].slug == "_preamble" and sections[0].heading is None:
        return (first._replace(text=first.text + sections[0].text), *sections[1:])
    return (first, *sections)


def _title(headings: Sequence[Heading], body: Sequence[str], name: str | None) -> str | None:
    """The first heading of the first level; else one that stands above all text and headings.
    Where several are of the first level ("Paper", "Summary"), they head sections, unless the
    file is named like the first, or does not say what it is about."""
    tops = [heading.text for heading in headings if heading.level == 1]
    if tops:
        return tops[0] if len(tops) == 1 or name is None or _is_like(tops[0], name) else None
    if not headings:
        return None
    first, *others = headings
    above = all(other.level > first.level for other in others)
    return first.text if above and not any(map(str.strip, body[: first.start])) else None


def _is_like(heading: str, name: str) -> bool:
    """Whether one has a word of the other, however it is written."""
    texts = heading.casefold(), name.casefold()
    words, others = (list(_WORD.findall(text)) for text in texts)
    joined, joined_others = "".join(words), "".join(others)
    return any(len(word) > _SHORT and word in joined_others for word in words) or any(
        len(word) > _SHORT and word in joined for word in others
    )


@lru_cache(maxsize=1)
def parser() -> "MarkdownIt":
    from markdown_it.rules_block import paragraph
    from markdown_it.token import Token

    made = new_parser()
    made.core.ruler.at("normalize", _normal_rule)
    made.core.ruler.at("inline", partial(_inline_rule, Token))
    made.block.ruler.before("table", "plain_paragraph", partial(_paragraph_rule, paragraph))
    return made


def new_parser() -> "MarkdownIt":
    """CommonMark with tables, strikethrough and wiki links."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    # Joined, an escaped "\#" could no longer be told from a tag's "#".
    parser.disable("text_join")
    ends = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.before("fence", "formula", _formula_rule, {"alt": ends})
    parser.inline.ruler.before("link", "wiki_link", _wiki_rule)
    parser.inline.ruler.before("image", "wiki_embed", _wiki_rule)
    return parser


def _formula_rule(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """The parser's rule for formulas from $$ to $$: a line with "=" in one makes no heading."""
    first = _line_at(state, start)
    if not first.startswith("$$") or "$$" in first[2:] or state.is_code_block(start):
        return False
    last = next(
        (line for line in range(start + 1, min(end, start + _LONGEST_FORMULA))
         if "$$" in _line_at(state, line)),
        None,
    )  # fmt: skip
    if last is None:
        return False
    if not silent:
        state.push("formula", "math", 0).map = [start, last + 1]
        state.line = last + 1
    return True


def _line_at(state: "StateBlock", line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _paragraph_rule(
    paragraph: "BlockRule", state: "StateBlock", start: int, end: int, silent: bool
) -> bool:
    """The parser's rule for what begins with a letter, and has no line below that would make more
    of it: no other rule would have it."""
    at = state.bMarks[start] + state.tShift[start]
    if not state.src[at : at + 1].isalpha() or state.is_code_block(start):
        return False
    blank = state.src.find("\n\n", at, at + _LONG_PARAGRAPH) + 1 or len(state.src)
    if blank - at > _LONG_PARAGRAPH or _UNDERLINE.search(state.src, at, blank):
        return False
    return paragraph(state, start, end, silent)


def _normal_rule(state: "StateCore") -> None:
    """The parser's rule for line ends and NULs, where there are such."""
    if "\r" in state.src or "\0" in state.src:
        from markdown_it.rules_core import normalize

        normalize(state)


def _inline_rule(token_of: "type[Token]", state: "StateCore") -> None:
    """The parser's rule for running text, which most of the time is nothing but text: what has no
    mark that another rule looks for is not given to them all, letter by letter."""
    for token in state.tokens:
        if token.type == "inline":
            if _MARK.search(token.content):
                token.children = []
                state.md.inline.parse(token.content, state.md, state.env, token.children)
            else:
                token.children = list(_lines_of_text(token.content, token_of))


def _lines_of_text(content: str, token_of: "type[Token]") -> Iterator["Token"]:
    *lines, last = content.split("\n")
    for number, line in enumerate(lines):
        begun = line.lstrip(" \t") if number else line
        text = begun.rstrip(" ")
        if text:
            yield token_of("text", "", 0, content=text)
        yield token_of("hardbreak" if len(begun) - len(text) > 1 else "softbreak", "br", 0)
    if last := last.lstrip(" \t") if lines else last:
        yield token_of("text", "", 0, content=last)


def _wiki_rule(state: "StateInline", silent: bool) -> bool:
    """The parser's rule for [[Target|shown]] and ![[Target]], which shows the target itself."""
    embeds = state.src.startswith("![[", state.pos)
    if not embeds and not state.src.startswith("[[", state.pos):
        return False
    start = state.pos + 2 + embeds
    end = state.src.find("]]", start, min(state.posMax, start + 1000))
    inside = state.src[start:end]
    if end < 0 or not inside.strip() or any(char in "[]\n" for char in inside):
        return False
    if not silent:
        state.push("wiki_link", "", 0).content = inside
    state.pos = end + 2
    return True


def _headings(tokens: Sequence["Token"]) -> Iterator[Heading]:
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            text, anchor = anchor_of(_plain(inline.children or []))
            # Nothing that it could be called by, or a formula that begins and does not end.
            if not text.strip() or inline.content.count("$$") % 2:
                continue
            start, end = token.map
            yield Heading(" ".join(text.split()), int(token.tag[1:]), start, end, anchor)


def _plain(tokens: Iterable["Token"]) -> str:
    """What a reader sees of inline tokens: their text without the markup."""
    return "".join(_shown(token) for token in tokens)


def _shown(token: "Token") -> str:
    if token.type == "wiki_link":
        return wiki_parts(token.content)[1]
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "html_inline":
        return ""
    return _plain(token.children) if token.children else token.content


def _sections(body: list[str], headings: list[Heading], offset: int) -> tuple[Section, ...]:
    first = headings[0].start if headings else len(body)
    preamble = "".join(body[:first])
    slugs = unique_slugs(heading.anchor or heading.text for heading in headings)
    ends = [*(heading.start for heading in headings), len(body)][1:]
    found = [Section("_preamble", None, "", preamble, offset + 1)] if preamble.strip() else []
    for heading, slug, end in zip(headings, slugs, ends, strict=True):
        header = _header("".join(body[heading.start : heading.end]))
        text = "".join(body[heading.end : end])
        found.append(Section(slug, heading.text, header, text, offset + heading.start + 1))
    return tuple(found)


def _header(source: str) -> str:
    """The heading's lines without its attributes."""
    if "{" not in source:
        return source
    first, end, rest = source.partition("\n")
    return anchor_of(first)[0].rstrip(" \t") + end + rest


def _links(tokens: Sequence["Token"]) -> Iterator[Link]:
    """Every link; one that stands behind the name of a relation is of that kind."""
    yield from _links_in_html(token.content for token in tokens if token.type == "html_block")
    for inline in inlines(tokens):
        relations = inline.relations()
        line = 0
        for token in inline.token.children or []:
            line += token.type in ("softbreak", "hardbreak")
            link = _link(token)
            if link and link.kind == "wiki" and line < len(relations):
                link = typed_link(link, relations[line])
            if link:
                yield link


def _links_in_html(pieces: Iterable[str]) -> Iterator[Link]:
    links = (document_link(unescape(match[2])) for one in pieces for match in _HREF.finditer(one))
    return (link for link in links if link is not None)


def _link(token: "Token") -> Link | None:
    if token.type == "html_inline":
        return next(_links_in_html([token.content]), None)
    if token.type == "wiki_link":
        return wiki_link(token.content)
    if token.type == "link_open":
        return document_link(str(token.attrs.get("href", "")))
    return None
