"""A page of the web: what it is about, without what stands around it on every page of its site.

The page's own marks count first (<main>, <article>), then where most of its running text stands.
What is left is read as any HTML is.
"""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import urldefrag, urljoin

from knowbase.read.about import moment
from knowbase.read.decode import decoded
from knowbase.read.html import read_html
from knowbase.read.scrub import without_binary
from knowbase.values.reading import Reading

LEAST = 200  # characters of running text that make a main part
MOST_LINKS = 50
MOST_DATA = 1 << 20  # characters of what a page says of itself to programs
_LONGEST = 500
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
})  # fmt: skip
_SILENT = frozenset({"script", "style", "template", "noscript", "svg", "head", "title"})
_AROUND = frozenset({"nav", "aside", "form", "button", "dialog", "footer", "iframe", "select"})
_ROLES_AROUND = frozenset({
    "navigation", "banner", "complementary", "contentinfo", "search", "dialog", "menu", "alert",
})  # fmt: skip
_NAMED_AROUND = re.compile(
    r"(?:^|[\s_-])(?:cookie|consent|newsletter|subscribe|share|sharing|social|sidebar|breadcrumbs?"
    r"|related|comments?|advert(?:isement)?|promo|menu|navbar|skip|pagination|popup|banner)(?:$|[\s_-])",
    re.I,
)
_HOLDERS = frozenset({"div", "section", "td", "article", "main", "body"})
_DATES = ("article:published_time", "datepublished", "date", "dc.date", "dcterms.created",
          "publish-date", "publication_date", "parsely-pub-date")  # fmt: skip
_CHANGED = ("article:modified_time", "og:updated_time", "datemodified", "last-modified",
            "dcterms.modified")  # fmt: skip


def read_webpage(data: bytes, address: str, charset: str | None = None) -> Reading:
    """The page at an address as a document."""
    text = decoded(data, charset).text
    survey = _Survey(text)
    main = survey.main()
    reading = without_binary(read_html(survey.without_around(main), address))
    if not reading.sections:  # everything looked like something around it
        main = Span(0, len(text))
        reading = without_binary(read_html(text, address))
    about = survey.about
    title = about.get("og:title") or about.get("twitter:title") or about.get("headline")
    heading = survey.heading_in(main)
    named = heading or title or survey.title or reading.title
    metadata = {
        "author": about.get("author") or about.get("article:author") or about.get("dc.creator"),
        "site": about.get("og:site_name"),
        "description": about.get("description") or about.get("og:description"),
        "references": [f"[[{one}]]" for one in survey.links_in(main, address)],
    }
    stated: dict[str, Any] = {
        "metadata": {name: value for name, value in metadata.items() if value},
        "tags": (),  # what a site calls its keywords is seldom about the page
    }
    published, changed = _first(about, _DATES) or survey.time, _first(about, _CHANGED)
    if published:
        stated["created_at"] = published
    if changed or published:
        stated["updated_at"] = changed or published
    return Reading("web", named[:_LONGEST], reading.sections, stated, warnings=reading.warnings)


def _first(about: dict[str, str], names: tuple[str, ...]) -> str | None:
    found = (moment(about[name]) for name in names if name in about)
    return next((one for one in found if one is not None), None)


class Span(NamedTuple):
    """A stretch of the page's source."""

    start: int
    end: int


class _Element:
    """An element, and how much of its text is running text, and how much links."""

    __slots__ = ("around", "end", "links", "name", "parent", "role", "running", "start", "text")

    def __init__(self, name: str, start: int, parent: "_Element | None") -> None:
        self.name, self.start, self.parent = name, start, parent
        self.end = start
        self.text = self.links = self.running = 0
        self.role = ""
        self.around = False

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


class _Survey(HTMLParser):
    """Where what stands, found in one pass."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.about: dict[str, str] = {}
        self.title = ""
        self.time: str | None = None
        self._source = text
        self._lines = [0]
        self._lines += [found.end() for found in re.finditer("\n", text)]
        self._elements: list[_Element] = []
        self._open: list[_Element] = []
        self._count: dict[str, int] = {}
        self._links: list[tuple[int, str]] = []
        self._headings: list[tuple[int, list[str]]] = []
        self._data = ""  # what a script says in JSON
        self._is_data = False
        self.feed(text)
        while self._open:
            self._close_last(len(text))

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: ARG002
        """Browsers take `<![ … >` for a comment; the base class gives up on it."""
        return int(self.parse_bogus_comment(i))

    def _at(self) -> int:
        line, column = self.getpos()
        return self._lines[min(line, len(self._lines)) - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "meta":
            self._meta(given)
        elif tag == "time" and self.time is None:
            self.time = moment(given.get("datetime"))
        if tag in _VOID:
            return
        if self._open and self._open[-1].name == "p" and tag in (*_HOLDERS, "p", "ul", "table"):
            self._close_last(self._at())
        element = _Element(tag, self._at(), self._open[-1] if self._open else None)
        element.role = given.get("role", "").lower()
        element.around = _is_around(tag, given)
        self._elements.append(element)
        self._open.append(element)
        self._count[tag] = self._count.get(tag, 0) + 1
        self._is_data = tag == "script" and given.get("type", "").lower() == "application/ld+json"
        if tag == "a" and given.get("href"):
            self._links.append((element.start, given["href"]))
        elif tag == "h1":
            self._headings.append((element.start, []))

    def handle_endtag(self, tag: str) -> None:
        if not self._count.get(tag):
            return
        at = self._at()
        if tag == "script" and self._is_data:
            self._take_data()
        while self._open:
            name = self._open[-1].name
            self._close_last(at)
            if name == tag:
                return

    def _close_last(self, at: int) -> None:
        element = self._open.pop()
        element.end = at
        self._count[element.name] -= 1
        above = element.parent
        if above is not None:
            above.text += element.text
            above.links += element.text if element.name == "a" else element.links
            if element.name in ("p", "pre", "li", "blockquote"):
                above.running += element.text - element.links
            elif not element.around:
                above.running += element.running // 2

    def handle_data(self, data: str) -> None:
        if self._is_data:
            if len(self._data) < MOST_DATA:
                self._data += data
            return
        if not self._open:
            return
        name = self._open[-1].name
        if name == "title" and not self._count.get("svg"):
            self.title = self.title or " ".join(data.split())
        if name not in _SILENT:
            self._open[-1].text += len(" ".join(data.split()))
        if self._count.get("h1") and self._headings and not self._open[-1].around:
            self._headings[-1][1].append(data)

    def _meta(self, given: dict[str, str]) -> None:
        name = (given.get("property") or given.get("name") or given.get("itemprop") or "").lower()
        content = " ".join(given.get("content", "").split())
        if name and content:
            self.about.setdefault(name, content[:_LONGEST])

    def _take_data(self) -> None:
        """What the page tells search engines: the first date, author and headline."""
        self._is_data, text = False, self._data
        self._data = ""
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            return
        for one in _objects(told):
            for name in ("datePublished", "dateModified", "headline"):
                if isinstance(one.get(name), str):
                    self.about.setdefault(name.lower(), one[name][:_LONGEST])
            author = one.get("author")
            author = author[0] if isinstance(author, list) and author else author
            author = author.get("name") if isinstance(author, dict) else author
            if isinstance(author, str):
                self.about.setdefault("author", author[:_LONGEST])

    def main(self) -> Span:
        """Where the page says what it is about."""
        whole = Span(0, len(self._source))
        marked = [one for one in self._elements if one.name == "main" or one.role == "main"]
        articles = [one for one in self._elements if one.name == "article" and not one.around]
        longest = max(articles, key=lambda one: one.text, default=None)
        most = sum(one.text for one in articles) / 2  # else the page is a list of articles
        if longest is not None and longest.text > max(LEAST, most):
            return longest.span
        best = max(marked, key=lambda one: one.text, default=None)
        if best is not None and best.text >= LEAST:
            return best.span
        holders = (one for one in self._elements if one.name in _HOLDERS and not one.around)
        chosen = max(holders, key=_score, default=None)
        return chosen.span if chosen is not None and _score(chosen) >= LEAST else whole

    def without_around(self, main: Span) -> str:
        """The main part without navigation, forms, notices …"""
        text = sum(one.text for one in self._elements if one.span == main) or len(self._source)
        pieces: list[str] = []
        at = main.start
        for one in self._elements:
            if one.around and at <= one.start and one.end <= main.end and one.text * 2 < text:
                pieces.append(self._source[at : one.start])
                at = one.end
        return "".join([*pieces, self._source[at : main.end]])

    def heading_in(self, main: Span) -> str:
        """The one heading of the first rank."""
        found = [pieces for at, pieces in self._headings if main.start <= at <= main.end]
        return " ".join("".join(found[0]).split()) if len(found) == 1 else ""

    def links_in(self, main: Span, address: str) -> Iterator[str]:
        """Where the main part leads, each place once."""
        seen = {address}
        for at, href in self._links:
            if not main.start <= at <= main.end or len(seen) > MOST_LINKS:
                continue
            try:
                found = urldefrag(urljoin(address, href.strip())).url
            except ValueError:
                continue
            fits = found.startswith(("http://", "https://")) and len(found) <= _LONGEST
            if fits and found not in seen and not re.search(r"[\[\]|^\s]", found):
                seen.add(found)
                yield found


def _score(element: _Element) -> float:
    share = element.links / element.text if element.text else 1.0
    return element.running * (1 - min(1.0, share))


def _is_around(tag: str, given: dict[str, str]) -> bool:
    if tag in ("html", "body", "main", "article"):
        return False
    if tag in _AROUND or given.get("role", "").lower() in _ROLES_AROUND:
        return True
    if "hidden" in given or given.get("aria-hidden", "").lower() == "true":
        return True
    return bool(_NAMED_AROUND.search(f"{given.get('class', '')} {given.get('id', '')}"))


def _objects(told: Any) -> Iterator[dict[str, Any]]:
    """The objects of JSON-LD: alone, in a list, or in a graph."""
    for one in told if isinstance(told, list) else [told]:
        if isinstance(one, dict):
            yield one
            graph = one.get("@graph")
            yield from (
                (part for part in graph if isinstance(part, dict))
                if isinstance(graph, list)
                else ()
            )
