"""HTML: its visible text, split at the top headings as Markdown is."""

import re
from collections.abc import Sequence
from html import unescape
from html.parser import HTMLParser

from knowbase.read.blocks import Block, item, sections_at
from knowbase.read.dialects import without_templates
from knowbase.read.file import File
from knowbase.read.links import document_link
from knowbase.values.reading import Link, Reading, Section

_UNSEEN = frozenset(
    {"annotation", "annotation-xml", "head", "noscript", "script", "style", "svg", "template"}
)
_HEAD_TAGS = frozenset({"base", "head", "html", "link", "meta", "title"}) | _UNSEEN
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header",
    "hr", "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "search", "section",
    "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"menu", "ol", "ul"})
_IN_CELLS = frozenset({"center", "div", "p"})  # around what most programs write into a cell
_MOST_KEYWORDS = 15  # more of them are meant for search engines, not for people
_TAG = re.compile(r"<[^<>]*>")
_Attributes = list[tuple[str, str | None]]


def read_html_file(file: File) -> Reading:
    """An HTML page as a document."""
    return read_html(without_templates(file.text), file.called)


def blocks_of(text: str) -> tuple[list[Block], list[Link]]:
    """What a person sees of a page, and where its links lead."""
    page = _page(text)
    return page.blocks, page.links


def read_html(text: str, fallback_title: str) -> Reading:
    """The text of a page as a document."""
    page = _page(text)
    first = next((block.text for block in page.blocks if block.level == 1), "")
    return Reading(
        "html",
        _named(page.title) or first or fallback_title,
        _sections(page.blocks),
        {"tags": tuple(dict.fromkeys(page.tags))},
        links=tuple(dict.fromkeys(page.links)),
    )


def _named(title: list[str]) -> str:
    """Without what stood between the site's name and a part that a template puts in."""
    return " ".join("".join(title).split()).strip("|·–—- ")


def _page(text: str) -> "_Page":
    page = _Page()
    page.feed(text)
    page.finish()
    return page


class _Page(HTMLParser):
    """Collects the blocks of visible text, and what the page says about itself."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.title: list[str] = []
        self.tags: list[str] = []
        self.links: list[Link] = []
        self._unseen: list[str] = []
        self._open_unseen = dict.fromkeys(_UNSEEN, 0)
        self._in_title = False
        self._pieces: list[str] = []
        self._begun = False
        self._line = 1
        self._heading = ""
        self._pre = 0
        self._lists = 0
        self._item = False
        self._cells = 0
        self._is_line = self._is_told = False  # the first paragraph of a cell: a part of its row

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: ARG002
        """Browsers take `<![ … >` for a comment; the base class gives up on it."""
        return int(self.parse_bogus_comment(i))

    def handle_starttag(self, tag: str, attrs: _Attributes) -> None:
        """Open an element."""
        if self._unseen == ["head"] and tag not in _HEAD_TAGS:
            self._leave("head")
        if tag == "title" and not self._open_unseen["svg"] and not self.title:
            self._in_title = True
        elif tag in _UNSEEN:
            self._unseen.append(tag)
            self._open_unseen[tag] += 1
        elif tag == "meta":
            self._meta(dict(attrs))
        elif not self._unseen:
            self._open(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        """Close an element."""
        if tag == "title":
            self._in_title = False
        elif tag in _UNSEEN:
            self._leave(tag)
        elif not self._unseen:
            self._close(tag)

    def _leave(self, tag: str) -> None:
        """Close what nobody sees, and what was left open in it."""
        closed = None
        while self._open_unseen[tag] and closed != tag:
            closed = self._unseen.pop()
            self._open_unseen[closed] -= 1

    def handle_data(self, data: str) -> None:
        """Take text in."""
        if self._in_title:
            self.title.append(data)
        elif not self._unseen:
            if not self._begun and data.strip():
                self._begun = True
                lead = data[: len(data) - len(data.lstrip())]
                self._line = self.getpos()[0] + lead.count("\n")
            self._pieces.append(data if self._pre else _single_spaced(data))

    def finish(self) -> None:
        """Keep what an unclosed tag or element left behind."""
        # Not close(): on broken markup that takes time with the square of the length.
        self.handle_data(unescape(_TAG.sub(" ", self.rawdata)))
        self._flush()

    def _meta(self, attributes: dict[str, str | None]) -> None:
        if (attributes.get("name") or "").lower() == "keywords":
            words = [one for one in (attributes.get("content") or "").split(",") if one.strip()]
            if len(words) <= _MOST_KEYWORDS:
                self.tags.extend(" ".join(word.split()) for word in words)

    def _open(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "a":
            link = document_link(attributes.get("href") or "")
            self.links.extend([link] if link else [])
        elif tag == "br":
            self._pieces.append("\n")
        elif tag in ("td", "th"):
            self._pieces.append(" | " if self._cells else "")
            self._cells += 1
            self._is_line, self._is_told = True, False
        elif tag in _HEADINGS:
            self._flush()
            self._heading = tag
        elif tag in _BLOCKS:
            self._open_block(tag)

    def _open_block(self, tag: str) -> None:
        # Some pages put a <div> into a heading; anything bigger means it was never closed.
        if self._heading and tag == "div":
            self._pieces.append(" ")
            return
        if self._is_line and not self._is_told and tag in _IN_CELLS:
            return
        self._flush()
        self._pre += tag == "pre"
        self._lists += tag in _LISTS
        self._item = self._item or tag == "li"

    def _close(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._flush()
        elif self._is_line and tag in _IN_CELLS:
            self._is_told = True
        elif tag in _BLOCKS and not (self._heading and tag == "div"):
            self._flush()
            self._pre = max(0, self._pre - (tag == "pre"))
            self._lists = max(0, self._lists - (tag in _LISTS))
            self._item = self._item and tag != "li" and tag not in _LISTS

    def _flush(self) -> None:
        """End the block of text that is being collected."""
        raw = "".join(self._pieces)
        text = raw.strip("\n") if self._pre else _trimmed(raw)
        level = _HEADINGS.get(self._heading, 0)
        if text.strip(" \n|" if self._cells else None):  # and not only what is between cells
            self.blocks.append(self._block(text, level))
            self._item = False
        self._pieces, self._begun, self._heading, self._cells = [], False, "", 0
        self._is_line = False

    def _block(self, text: str, level: int) -> Block:
        if level:
            return Block(" ".join(text.split()), self._line, level)
        if self._item:
            return item(text, self._lists - 1, line=self._line)
        return Block(text, self._line, tight=self._cells > 0)


def _single_spaced(data: str) -> str:
    """White space as a browser shows it: one space, at the ends too."""
    lead = " " if data[:1].isspace() else ""
    trail = " " if data[-1:].isspace() else ""
    return lead + " ".join(data.split()) + trail if data.strip() else " " * bool(data)


def _trimmed(text: str) -> str:
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(lines).strip()


def _sections(blocks: Sequence[Block]) -> tuple[Section, ...]:
    starts = [number for number, block in enumerate(blocks) if block.level in (1, 2)]
    # The title belongs to what follows it, as in Markdown.
    if starts and blocks[starts[0]].level == 1:
        starts = starts[1:]
    return sections_at(blocks, starts)
