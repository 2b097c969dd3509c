"""The page as HTML, before or without its script: the frame, the hits of a search, a document.
Whatever a document says is escaped, or comes as the tree that `rendering` makes."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from knowbase.http.page.bundle import address, needed
from knowbase.rendering.tree import tree_html
from knowbase.text.snippets import END_MARK, MARK

if TYPE_CHECKING:
    from knowbase.errors import KnowbaseError
    from knowbase.rendering import Rendered
    from knowbase.search.answer import Answer, Hit
    from knowbase.values.documents import Document

SCREENS = (
    ("Search", "/"), ("Graph", "/g"), ("Timeline", "/t"), ("Inbox", "/inbox"),
    ("Health", "/health-page"), ("Settings", "/settings"),
)  # fmt: skip
PAGE = 20  # hits


WHOLE_BASE = ("/health-page",)  # nothing for who is held to a project


def whole(title: str, path: str, main: str, *, is_held: bool = False) -> str:
    """The document that every address of the page gives."""
    current = "/" + path.strip("/").partition("/")[0]
    items = "".join(
        f'<a href="{where}"{_current(where == current)}><span>{name}</span></a>'
        for name, where in SCREENS
        if not (is_held and where in WHOLE_BASE)
    )
    ahead = "".join(f'<link rel="modulepreload" href="{one}">' for one in needed())
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title[:120])} · knowbase</title>"
        f'<link rel="icon" href="{address("icon")}" type="image/svg+xml">'
        f'<link rel="stylesheet" href="{address("style")}">'
        f'{ahead}<script type="module" src="{address("app")}"></script></head><body><div id="app">'
        '<a class="skip" href="#main">Skip to the content</a>'
        '<header class="top"><a class="brand" href="/">'
        '<span class="glyph" aria-hidden="true">kb</span>knowbase</a>'
        f'<nav aria-label="Screens">{items}</nav></header>'
        f'<main id="main" tabindex="-1">{main}</main></div></body></html>'
    )


def _current(is_it: bool) -> str:
    return ' aria-current="page"' if is_it else ""


def box(query: str) -> str:
    return (
        '<form class="box" role="search" action="/" method="get">'
        f'<input id="q" name="q" type="search" value="{escape(query)}" aria-label="Search"'
        ' placeholder="Words, a question, tag:ops, path:docs/ …" autocomplete="off" dir="auto">'
        "</form>"
    )


def beginning(documents: "Sequence[Document]", total: int) -> str:
    """Before anything is asked: the newest documents."""
    items = "".join(
        f'<li><a href="{_place(one.code)}" dir="auto">{escape(one.title)}</a>'
        f'<span class="faint"><span class="code">{escape(one.code)}</span>'
        f" <bdi>{escape(one.path or one.type)}</bdi></span></li>"
        for one in documents
    )
    head = f"<h2>Newest of {total:,} documents</h2>" if total else "<h2>This base is empty</h2>"
    more = "" if total else "<p>Begin in a terminal: <code>kb add FOLDER</code></p>"
    return (
        f'<div class="search empty"><h1 class="unseen">Search</h1><div class="ask">{box("")}'
        '<div class="meaning"></div></div><div class="start"><section>'
        f'{head}{more}<ul class="plain newest">{items}</ul></section></div></div>'
    )


def hits(answer: "Answer", when: str | None = None) -> str:
    """The answer to a search; one of another moment leads to what was then."""
    told = f"{answer.returned} of {answer.total} · {round(answer.query_time_ms)} ms"
    notices = "".join(f'<p class="notice">{escape(one)}</p>' for one in answer.notices)
    listed = "".join(_hit(one, answer.query, when) for one in answer.hits)
    found = f'<ol class="hits">{listed}</ol>' if listed else "<h2>Nothing fits</h2>"
    more = f"<p>{_next(answer)}</p>" if answer.next_cursor else ""
    return _searching(
        answer.query,
        f'<section class="list" aria-label="Hits"><div class="status"><p class="number">{told}</p>'
        f"</div>{notices}{found}{more}</section>",
    )


def _searching(query: str, below: str) -> str:
    return (
        f'<div class="search"><h1 class="unseen">Search</h1><div class="ask">{box(query)}'
        f'<div class="meaning"></div></div><div class="narrow"></div>{below}</div>'
    )


def _next(answer: "Answer") -> str:
    asked = urlencode({"q": answer.query, "offset": answer.offset + answer.returned})
    return f'<a href="/?{escape(asked)}">More hits</a>'


def _hit(hit: "Hit", query: str, when: str | None) -> str:
    slug = hit.section.removeprefix(hit.code + ":")
    anchor = "" if slug.startswith("_") else slug
    path = f'<span class="path"><bdi>{escape(hit.path)}</bdi>:{hit.line}</span>' if hit.path else ""
    heading = (
        f'<span class="heading" dir="auto">{escape(hit.heading)}</span>' if hit.heading else ""
    )
    place = _place(_of_then(hit.code, when), query, anchor)
    kind = " is-code" if hit.type == "code" else ""
    return (
        '<li class="stack"><article class="hit">'
        f'<h2 dir="auto"><a href="{place}">{escape(hit.title)}</a></h2>'
        f'<p class="where"><span class="code">{escape(hit.code)}</span>{heading}{path}</p>'
        f'<p class="snippet{kind}" dir="auto">{_marked(hit.snippet)}</p></article></li>'
    )


def _of_then(code: str, when: str | None) -> str:
    return code if when is None else f"{code}@{when}"


def _marked(snippet: str) -> str:
    """The snippet's marks as elements; everything else of it is text."""
    shown = escape(snippet)
    return shown.replace(escape(MARK), MARK).replace(escape(END_MARK), END_MARK)


def _place(code: str, query: str = "", anchor: str = "") -> str:
    asked = f"?{urlencode({'q': query})}" if query else ""
    return escape(f"/d/{quote(code, safe='@')}{asked}{'#' + quote(anchor) if anchor else ''}")


def document(shown: "Rendered", query: str) -> str:
    """A document with its front matter and its outline."""
    back = f'<p><a href="/?{escape(urlencode({"q": query}))}">← {escape(query)}</a></p>'
    path = f'<span class="path"><bdi>{escape(shown.path)}</bdi></span>' if shown.path else ""
    return (
        f'<div class="document">{_outline(shown)}<article><header class="head">'
        f'{back if query else ""}<h1 dir="auto">{escape(shown.title)}</h1>'
        f'<p class="where"><span class="code">{escape(shown.code)}</span>'
        f"<span>{escape(shown.language or shown.type)}</span>{path}</p></header>"
        f"{_moment(shown)}{_front_matter(shown.front_matter)}"
        f'<div class="text {escape(shown.kind)}" dir="auto">{tree_html(shown.tree)}</div>'
        f"{_parts(shown, query)}</article></div>"
    )


def _moment(shown: "Rendered") -> str:
    """What is not shown as it is says so."""
    if shown.when is None:
        return ""
    now = f'<a href="{_place(shown.code)}">As it is now</a>'
    return f'<p class="notice">As it was at {escape(shown.when)}. {now}</p>'


def _parts(shown: "Rendered", query: str) -> str:
    """Of a long document a part is shown: where it goes on."""
    if not shown.truncated:
        return ""
    told = f"From line {shown.first_line:,} on, of {shown.total_lines:,}."
    more = urlencode({**({"q": query} if query else {}), "line": shown.next_line or 1})
    reference = quote(_of_then(shown.code, shown.when), safe="@")
    link = f'<a href="/d/{reference}?{escape(more)}">Go on</a>'
    return f'<p class="notice">{told} {link if shown.next_line else ""}</p>'


def _outline(shown: "Rendered") -> str:
    items = "".join(
        f'<li class="level-{one.level}"><a href="#{escape(quote(one.anchor))}" dir="auto">'
        f"{escape(one.title)}</a></li>"
        for one in shown.outline
    )
    if len(shown.outline) < 2:
        return '<div class="outline"></div>'
    return f'<nav class="outline" aria-label="Outline"><ul>{items}</ul></nav>'


def _front_matter(rows: Iterable[tuple[str, str]]) -> str:
    lines = "".join(
        f'<tr><th scope="row">{escape(key)}</th><td dir="auto">{escape(value)}</td></tr>'
        for key, value in rows
    )
    return f'<table class="front"><tbody>{lines}</tbody></table>' if lines else ""


def failed(error: "KnowbaseError", query: str = "") -> str:
    """What the server says that is wrong, in the page."""
    hint = f"<p>{escape(error.hint)}</p>" if error.hint else ""
    said = f'<div class="failure" role="alert"><p><strong>{escape(error.message)}</strong></p>'
    return _searching(query, f'<section class="list">{said}{hint}</div></section>')


def closed() -> str:
    """For who has not said yet who they are: nothing of the base."""
    return (
        '<div class="page"><h1>A token is wanted</h1><noscript><p>This page asks for it by its '
        "script. Without one: <code>curl -H 'Authorization: Bearer TOKEN'</code>.</p></noscript>"
        "</div>"
    )


def nowhere() -> str:
    """At an address that there is not."""
    return '<div class="page"><h1>There is no such page</h1><p><a href="/">Search</a></p></div>'


def by_script(title: str) -> str:
    """A screen that its script makes."""
    return (
        f'<div class="page"><h1>{escape(title)}</h1><noscript><p>This screen is made by a script; '
        'searching and reading work without: <a href="/">Search</a>. What it shows, <code>kb</code>'
        " and the API say too.</p></noscript></div>"
    )
