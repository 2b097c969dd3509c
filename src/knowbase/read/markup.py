"""XML that nobody trusts: no entities of its own, no files from elsewhere, a bounded depth."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from xml.parsers import expat

from knowbase.errors import ReadError

_DEEPEST = 1000
_SPACES = re.compile(r"\s+")


class Start(NamedTuple):
    """An element begins. Names are without their namespaces; of two attributes that are called
    alike, the one that had a namespace counts."""

    name: str
    attributes: dict[str, str]
    line: int = 1


class End(NamedTuple):
    """An element ends."""

    name: str


class NotXml(ReadError):
    """It is not well-formed."""

    code = "not_xml"


Event = Start | End | str


def events(pieces: Iterable[bytes], what: str) -> Iterator[Event]:
    """Elements and texts in order; NotXml at the first mistake, after what stands before it."""
    found: list[Event] = []
    parser = _parser(found)
    try:
        for piece in pieces:
            parser.Parse(piece, False)
            yield from found
            found.clear()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        yield from found
        raise NotXml(f"The {what} is damaged: {expat.ErrorString(error.code)}.") from error
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        yield from found
        raise NotXml(f"The {what} is damaged: {error}.") from error
    yield from found


def _parser(found: list[Event]) -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise ReadError(f"Its elements lie more than {_DEEPEST} deep in each other.")
        own = {key: value for key, value in attributes.items() if " " not in key}
        local = own | {_local(key): v for key, v in attributes.items() if " " in key}
        found.append(Start(_local(name), local, parser.CurrentLineNumber))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        found.append(End(_local(name)))

    def entity(*_: object) -> None:
        raise ReadError("It declares entities of its own, which are not followed.")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = found.append
    parser.EntityDeclHandler = entity
    return parser


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


class Element:
    """An element with all that lies in it, for what is known to be small."""

    __slots__ = ("attributes", "children", "line", "name")

    def __init__(self, name: str, attributes: dict[str, str], line: int = 1) -> None:
        self.name = name
        self.attributes = attributes
        self.line = line
        self.children: list[Element | str] = []

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    @property
    def elements(self) -> list["Element"]:
        return [child for child in self.children if isinstance(child, Element)]

    def find(self, *path: str) -> "Element | None":
        """The first element that lies there."""
        here: Element | None = self
        for name in path:
            if here is None:
                return None
            here = next((child for child in here.elements if child.name == name), None)
        return here

    def all(self, *names: str) -> Iterator["Element"]:
        """Every element of these names, at any depth, in order."""
        stack = [self]
        while stack:
            here = stack.pop()
            if here.name in names:
                yield here
            stack.extend(reversed(here.elements))

    @property
    def text(self) -> str:
        """All text in it."""
        parts: list[str] = []
        stack: list[Element | str] = [self]
        while stack:
            here = stack.pop()
            if isinstance(here, str):
                parts.append(here)
            else:
                stack.extend(reversed(here.children))
        return "".join(parts)

    @property
    def line_text(self) -> str:
        """All text in it, as one line."""
        return _SPACES.sub(" ", self.text).strip()


def tree(pieces: Iterable[bytes], what: str) -> Element:
    """The whole as elements in elements; an empty one for nothing at all."""
    top = Element("", {})
    stack = [top]
    for event in events(pieces, what):
        if isinstance(event, Start):
            element = Element(event.name, event.attributes, event.line)
            stack[-1].children.append(element)
            stack.append(element)
        elif isinstance(event, End):
            stack.pop()
        else:
            stack[-1].children.append(event)
    return top


def optional_tree(data: bytes, what: str) -> Element:
    """The same for what may be missing or broken without harm."""
    try:
        return tree((data,), what) if data else Element("", {})
    except NotXml:
        return Element("", {})


def _seen(found: Iterable[Event], unseen: frozenset[str]) -> Iterator[Event]:
    hidden = 0
    for event in found:
        if isinstance(event, (Start, End)) and event.name in unseen:
            hidden += 1 if isinstance(event, Start) else -1
        elif not hidden:
            yield event


def outermost(
    found: Iterable[Event], names: frozenset[str], unseen: frozenset[str] = frozenset()
) -> Iterator[Element]:
    """Each outermost element of these names with its content, one after the other: no more than
    one of them is held. Nothing in `unseen` counts."""
    stack: list[Element] = []
    for event in _seen(found, unseen) if unseen else found:
        if isinstance(event, Start):
            if not stack and event.name not in names:
                continue
            element = Element(event.name, event.attributes, event.line)
            if stack:
                stack[-1].children.append(element)
            stack.append(element)
        elif isinstance(event, End):
            if stack:
                done = stack.pop()
                if not stack:
                    yield done
        elif stack:
            stack[-1].children.append(event)
