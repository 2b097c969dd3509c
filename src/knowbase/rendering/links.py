"""Links in a tree: each leads to the document that the graph knows by its name, or nowhere."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from knowbase.rendering.tree import Node, element
from knowbase.text.names import Named, mentions_of, names_of_document
from knowbase.text.slugs import slugify
from knowbase.values.documents import Document
from knowbase.values.reading import Link
from knowbase.values.visible import one_line


class Place(NamedTuple):
    """A document that a name leads to, and how certain that is."""

    certainty: int
    seq: int
    code: str
    title: str


class Names:
    """The documents that a document's links can lead to, by every name that they have."""

    def __init__(self, document: Document, targets: Iterable[Document]) -> None:
        self._document = _named(document)._replace(parent=None, superseded_by=None)
        self._places: dict[str, list[Place]] = {}
        for one in targets:
            for name, certainty in names_of_document(_named(one)).items():
                place = Place(certainty, one.seq, one.code, one.title)
                self._places.setdefault(name, []).append(place)

    def place(self, kind: str, target: str) -> Place | None:
        """What a link leads to: the file beside it, then the most certain one, then the oldest."""
        for mention in mentions_of(self._document, (Link(target, kind),)):
            places = self._places.get(mention.name, ())
            reached = [one for one in places if one.certainty <= mention.reach]
            if reached:
                return min(reached)
        return None


def _named(document: Document) -> Named:
    return Named(
        document.id,
        document.code,
        document.title,
        document.path,
        document.parent,
        document.superseded_by,
        document.metadata,
    )


def address_of(code: str, anchor: str = "") -> str:
    """Where a page shows a document."""
    return f"/d/{quote(code, safe='')}" + (f"#{slugify(anchor)}" if anchor.strip() else "")


def has_names(nodes: Sequence[Node]) -> bool:
    """Whether a link in the tree names a document."""
    return next(_named_in(nodes), None) is not None


def resolve(nodes: Sequence[Node], names: Names) -> None:
    """Let each link of the tree lead where it means; one that leads nowhere is no link."""
    for node in _named_in(nodes):
        kind, target = node.pop("named")
        place = names.place(kind, target)
        if place is None:
            node.update(element("span", node["c"], class_="dead", title="leads nowhere"))
            continue
        anchor = target.partition("#")[2]
        href, title = address_of(place.code, anchor), one_line(f"{place.code}: {place.title}")
        node.update(element("a", node["c"], href=href, title=title[:500]))


def _named_in(nodes: Sequence[Node]) -> Any:
    waiting: list[Node] = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            continue
        if "named" in node:
            yield node
        waiting += reversed(node["c"])


def front_matter(fields: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """What stands before a text, as a person reads it."""
    return tuple((one_line(name), _told(value)) for name, value in fields.items())


def _told(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_told, value))
    text = str(value).lower() if isinstance(value, bool) else one_line(str(value))
    return text if len(text) <= 500 else text[:499] + "…"
