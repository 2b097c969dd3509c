"""Markdown as a tree; HTML in it is shown as the text that it is."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.read.links import document_link, wiki_link, wiki_parts
from knowbase.read.markdown import new_parser
from knowbase.rendering.highlight import code_lines, grammar_named
from knowbase.rendering.tree import ELEMENTS, Node, element, host_of, outside, shown, texts_in
from knowbase.text.slugs import slugify
from knowbase.values.visible import one_line

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

LONGEST_CODE = 100_000  # characters of one block that are coloured
_ALIGNED = re.compile(r"text-align:\s*(left|right|center)")
_OWN_IDS = re.compile(r"(?:p|L)\d+")  # passages and lines have these
DEEPEST = 40  # blocks within each other; what lies deeper is one paragraph
_QUOTES = re.compile(r"^[> \t]+", re.MULTILINE)
MARKED = {"em": "em", "strong": "strong", "s": "s"}


class Heading(NamedTuple):
    """A heading of a document, and where it leads to."""

    level: int
    title: str
    anchor: str
    line: int


class Piece(NamedTuple):
    """A text that is parsed as one, and where its lines stand in the file."""

    text: str
    starts: tuple[tuple[int, int, str], ...]  # line here, line in the file, slug of the section
    slug: str = ""  # of the section that it is, if it is one
    heading: str = ""  # shown above it

    def line(self, here: int) -> int:
        """The line in the file of a line of the text, both of them from 0 and 1."""
        start, line, _ = self._start(here)
        return line + here - start

    def slug_at(self, here: int) -> str:
        """The slug of the section that begins at this line."""
        start, _, slug = self._start(here)
        return slug if start == here else ""

    def _start(self, here: int) -> tuple[int, int, str]:
        from bisect import bisect_right

        at = bisect_right(self.starts, here, key=lambda one: one[0])
        return self.starts[max(0, at - 1)]


class MarkdownTree:
    """Makes the tree of one document, piece by piece."""

    def __init__(self, taken: Sequence[str] = ()) -> None:
        self.outline: list[Heading] = []
        self._slugs = set(taken)  # of sections: theirs, wherever they stand
        self._given: set[str] = set()
        self._numbers: dict[str, int] = {}  # how far each title has been counted

    def nodes(self, piece: Piece) -> list[Node]:
        """The nodes of a text."""
        root = element("div")
        stack = [root]
        for token in _parser().parse(piece.text):
            self._block(token, stack, piece)
        return list(root["c"])

    def _block(self, token: "Token", stack: list[dict[str, Any]], piece: Piece) -> None:
        if token.nesting < 0:
            if not token.hidden and len(stack) > 1:
                self._close(stack.pop())
        elif token.type == "inline":
            stack[-1]["c"] += _inline(token.children or [])
        elif token.nesting > 0:
            if not token.hidden:
                made = _opened(token, piece)
                stack[-1]["c"].append(made)
                stack.append(made)
        else:
            stack[-1]["c"].append(_leaf(token, piece))

    def _close(self, made: dict[str, Any]) -> None:
        if made["e"] == "blockquote":
            _call_out(made)
        if re.fullmatch("h[1-6]", made["e"]):
            title = one_line("".join(texts_in(made["c"])))
            line = int(made["a"].get("data-line", 1))
            anchor = self.anchor(title, made["a"].pop("id", ""))
            made["a"]["id"] = anchor
            self.outline.append(Heading(int(made["e"][1]), title, anchor, line))

    def anchor(self, title: str, slug: str = "") -> str:
        """An id that nothing else has; a section keeps its slug."""
        base = slug or slugify(title)
        if _OWN_IDS.fullmatch(base):
            base = f"section-{base}"
        found, number = base, self._numbers.get(base, 1)
        while found in self._given or (not slug and found in self._slugs):
            number += 1
            found = f"{base}-{number}"
        self._numbers[base] = number
        self._given.add(found)
        return found


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    """One that keeps what is nested too deeply, which others leave out."""
    made = new_parser()
    made.options["maxNesting"] = DEEPEST + 3  # a list and its item are two at once
    made.block.ruler.before("table", "too_deep", _too_deep)
    return made


def _too_deep(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """The parser's rule for all that is left of a block which lies too deep."""
    if state.level < DEEPEST or silent:
        return False
    opened = state.push("paragraph_open", "p", 1)
    opened.map = [start, end]
    inline = state.push("inline", "", 0)
    inline.content = _QUOTES.sub("", state.getLines(start, end, state.blkIndent, False)).strip()
    inline.map = [start, end]
    inline.children = []
    state.push("paragraph_close", "p", -1)
    state.line = end
    return True


def _opened(token: "Token", piece: Piece) -> dict[str, Any]:
    name = token.tag if token.tag in ELEMENTS else "div"
    line = piece.line(token.map[0]) if token.map else None
    slug = piece.slug_at(token.map[0]) if token.map and name[0] == "h" else ""
    aligned = _ALIGNED.search(str(token.attrs.get("style", "")))
    return element(
        name,
        line=line,
        id=slug,
        start=token.attrs.get("start") if name == "ol" else None,
        align=aligned[1] if aligned else None,
    )


def _call_out(quote: dict[str, Any]) -> None:
    """A quotation that begins with a bold line is a callout, and that line is its title."""
    first = quote["c"][0] if quote["c"] else None
    if not isinstance(first, dict) or first["e"] != "p" or not first["c"]:
        return
    title, *rest = first["c"]
    is_alone = not rest or (isinstance(rest[0], str) and rest[0].startswith("\n"))
    if not isinstance(title, dict) or title["e"] != "strong" or not is_alone:
        return
    line = int(first["a"].get("data-line", 1))
    quote["a"]["class"] = "callout"
    if rest:
        first["c"] = [title]
        rest[0] = str(rest[0]).removeprefix("\n")
        quote["c"].insert(1, element("p", filter(None, rest), line=line + 1))


def _leaf(token: "Token", piece: Piece) -> Node:
    here = token.map[0] if token.map else 0
    if token.type == "hr":
        return element("hr")
    if token.type in ("fence", "code_block"):
        is_fence = token.type == "fence"
        words = token.info.split() if is_fence else []
        grammar = grammar_named(words[0].strip("{.}")) if words else None
        coloured = grammar if len(token.content) <= LONGEST_CODE else None
        return block_of_code(token.content, coloured, piece.line(here + is_fence))
    return element("pre", [shown(token.content)], class_="html", line=piece.line(here))


def block_of_code(text: str, grammar: str | None, first: int) -> dict[str, Any]:
    """Code with its lines; what it is written in is said by its class."""
    name = f"code lang-{slugify(grammar.partition(':')[0])}" if grammar else "code"
    return element("pre", [element("code", code_lines(text, grammar, first))], class_=name)


def _inline(tokens: Sequence["Token"]) -> list[Node]:
    root = element("span")
    stack = [root]
    for token in tokens:
        if token.nesting > 0:
            made = _marked(token)
            stack[-1]["c"].append(made)
            stack.append(made)
        elif token.nesting < 0:
            if len(stack) > 1:
                stack.pop()
        else:
            stack[-1]["c"] += _word(token)
    return list(root["c"])


def _marked(token: "Token") -> dict[str, Any]:
    if token.type == "link_open":
        return link_to(str(token.attrs.get("href", "")), str(token.attrs.get("title", "")))
    return element(MARKED.get(token.tag, "span"))


def link_to(href: str, title: str = "") -> dict[str, Any]:
    """A link; one that names a document is to be resolved by who knows them."""
    if href.startswith("#"):
        return element("a", href=f"#{slugify(href[1:])}") if href[1:].strip() else element("span")
    found = outside(href)
    if found is not None:
        return element("a", href=found, title=host_of(found), class_="outside")
    link = document_link(href)
    if link is None:
        return element("span", class_="foreign", title=one_line(title))
    return to_be_resolved("markdown", link.target)


def to_be_resolved(kind: str, target: str) -> dict[str, Any]:
    """A link that names a document: `named` is no attribute that anybody is shown."""
    return {"e": "a", "a": {}, "c": [], "named": [kind, target]}


def _word(token: "Token") -> Iterator[Node]:
    if token.type == "softbreak":
        yield "\n"
    elif token.type == "hardbreak":
        yield element("br")
    elif token.type == "code_inline":
        yield element("code", [shown(token.content)])
    elif token.type == "image":
        yield _image(token)
    elif token.type == "wiki_link":
        yield _wiki(token.content)
    elif text := shown(token.content):  # HTML too: as it is written
        yield text


def _image(token: "Token") -> Node:
    """No picture is ever loaded: its text stands for it, and leads there if it is on the web."""
    source = outside(str(token.attrs.get("src", "")))
    told = shown(token.content) or "picture"
    if source is None:
        return element("span", [told], class_="image")
    return element("a", [told], href=source, title=host_of(source), class_="image outside")


def _wiki(inside: str) -> Node:
    link = wiki_link(inside)
    told = shown(wiki_parts(inside)[1])
    if link is None:  # [[#a heading of this page]]
        return {**link_to(inside.partition("|")[0].strip()), "c": [told.lstrip("#")]}
    return {**to_be_resolved("wiki", link.target), "c": [told]}
