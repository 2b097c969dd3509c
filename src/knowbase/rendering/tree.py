"""A document as a tree that is shown: nobody ever parses its text as HTML.

A node is a text, or an element: {"e": name, "a": attributes, "c": nodes}. Only what is named here
can be in a tree.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from knowbase.values.visible import one_line, visible

Node: TypeAlias = "str | dict[str, Any]"

ELEMENTS = frozenset({
    "h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "pre", "code", "em", "strong", "s",
    "blockquote", "table", "thead", "tbody", "tr", "th", "td", "a", "hr", "br", "span", "div",
    "mark",
})  # fmt: skip
ATTRIBUTES = ("href", "title", "id", "class", "start", "align", "data-line")
_EMPTY = frozenset({"hr", "br"})
_WEB = re.compile(r"https?://[^\s\\<>\"'`]+", re.IGNORECASE)
_MAIL = re.compile(r"mailto:[^\s\\<>\"'`]+@[^\s\\<>\"'`]+", re.IGNORECASE)
_HOST = re.compile(r"https?://(?:[^/?#]*@)?([^/?#:]+)", re.IGNORECASE)
_OUTWARDS = 'rel="noopener noreferrer nofollow"'
LONGEST_TITLE = 500  # characters of a tooltip


def element(name: str, children: Iterable[Node] = (), **attributes: object) -> dict[str, Any]:
    """An element; `class_` is its class, `line` its line in the file."""
    if name not in ELEMENTS:
        raise ValueError(f"{name} is not shown")
    given = {_ATTRIBUTE_NAMES.get(key, key): value for key, value in attributes.items()}
    kept = {key: str(value) for key, value in given.items() if value not in (None, "")}
    return {"e": name, "a": kept, "c": list(children)}


_ATTRIBUTE_NAMES = {"class_": "class", "line": "data-line"}


def shown(text: str) -> str:
    """A text as a tree has it."""
    return visible(text)


def outside(href: str) -> str | None:
    """An address that a document may lead to; None for any other."""
    href = href.strip()
    return href if _WEB.fullmatch(href) or _MAIL.fullmatch(href) else None


def host_of(href: str) -> str:
    """Where an address really leads, whatever its text says."""
    match = _HOST.match(href)
    return one_line(match[1] if match else href.partition(":")[2])[:LONGEST_TITLE]


def texts_in(nodes: Iterable[Node]) -> Iterator[str]:
    """The texts of a tree in their order."""
    waiting = list(reversed(list(nodes)))
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        else:
            waiting += reversed(node["c"])


def tree_html(nodes: Iterable[Node]) -> str:
    """The tree as HTML, for pages without a script."""
    parts: list[str] = []
    waiting: list[Node | tuple[str]] = list(reversed(list(nodes)))
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            parts.append(f"</{node[0]}>")
        elif isinstance(node, str):
            parts.append(_escaped(node))
        elif node["e"] in ELEMENTS:
            parts.append(_opened(node["e"], node["a"]))
            if node["e"] not in _EMPTY:
                waiting.append((node["e"],))
                waiting += reversed(node["c"])
    return "".join(parts)


def _opened(name: str, attributes: Mapping[str, str]) -> str:
    kept = [
        f'{key}="{_escaped(value)}"'
        for key, value in attributes.items()
        if key in ATTRIBUTES and (key != "href" or is_href(value))
    ]
    if name == "a" and outside(attributes.get("href", "")):
        kept.append(_OUTWARDS)
    return f"<{' '.join((name, *kept))}>"


def is_href(href: str) -> bool:
    """Whether it leads to a document here, to a place in this one, or to the web."""
    inside = href.startswith(("/d/", "#")) and not re.search(r"[\s\\\"'<>]", href)
    return inside or outside(href) is not None


def _escaped(text: str) -> str:
    for mark, name in (("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot"), ("'", "#39")):
        text = text.replace(mark, f"&{name};")
    return text


def blocks_in(nodes: Sequence[Node]) -> Iterator[dict[str, Any]]:
    """The elements with a line that hold no other one with a line, in their order."""
    waiting = list(reversed(list(nodes)))
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            continue
        if "data-line" in node["a"] and not any(_has_line(one) for one in node["c"]):
            yield node
        else:
            waiting += reversed(node["c"])


def _has_line(node: Node) -> bool:
    if isinstance(node, str):
        return False
    return "data-line" in node["a"] or any(_has_line(one) for one in node["c"])
