"""XML as an outline of its elements, and the texts of a drawing (.svg)."""

from collections.abc import Iterator

from knowbase.read.blocks import Block, sections_at
from knowbase.read.file import File
from knowbase.read.markup import End, Event, NotXml, Start, events, outermost
from knowbase.read.plain import whole
from knowbase.read.tables import GROUP, Budget
from knowbase.values.reading import Reading

_DRAWN = frozenset({"text", "title", "desc", "flowRoot"})
_DEEPEST_INDENT = 12


def read_svg(file: File) -> Reading:
    """The words in a drawing, and nothing of its lines."""
    found = outermost(_whole_events(file), _DRAWN)
    texts = [(one.name, _spaced(one.line_text), one.line) for one in found]
    title = next((text for name, text, _ in texts if name == "title" and text), file.stem)
    lines = dict.fromkeys(text for name, text, _ in texts if text)
    return Reading("text", title, whole("".join(f"{line}\n" for line in lines)))


def read_xml(file: File) -> Reading:
    """Its elements, indented, with their texts; what is not XML after all, as it is."""
    budget = Budget(file.most_data)
    try:
        blocks = list(_outline(events((_utf8(file),), "XML"), budget))
    except NotXml:
        text = file.text[: file.most_data]
        broken = "it is not well-formed XML; read as plain text"
        return Reading("text", file.name, whole(text), warnings=(broken,))
    starts = list(_starts(blocks))
    named = [block._replace(level=0) for block in blocks]
    for start in starts:
        named[start] = Block(blocks[start].text.strip()[:80], blocks[start].line, 2)
        named[start] = named[start]._replace(text=named[start].text.rstrip(":"))
    told = (budget.told(f"its first {len(blocks)} elements"),) if budget.is_spent else ()
    return Reading("text", file.name, sections_at(named, starts), warnings=told)


def _utf8(file: File) -> bytes:
    """As the file's own declaration of its encoding would have it; expat knows only a few."""
    head, sep, rest = file.text.partition("?>")
    body = rest if sep and head.lstrip("\ufeff \n").startswith("<?xml") else file.text
    return (body if body is not rest else "\n" * head.count("\n") + body).encode()


def _whole_events(file: File) -> Iterator[Event]:
    """As far as it is well-formed: drawings are often cut off."""
    try:
        yield from events((_utf8(file),), "drawing")
    except NotXml:
        return


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _outline(found: Iterator[Event], budget: Budget) -> Iterator[Block]:
    """A block an element that says something: its name, attributes and text; level: its depth."""
    depth, pending, text = 0, None, ""
    for event in found:
        if isinstance(event, str):
            text += event
            continue
        if pending is not None or text.strip():
            block = _block(pending, depth, text)
            if not budget.take(block.text):
                return
            yield block
        text, pending = "", None
        if isinstance(event, Start):
            pending = event
            depth += 1
        elif isinstance(event, End):
            depth -= 1


def _block(start: Start | None, depth: int, text: str) -> Block:
    indent = "  " * min(max(depth - (start is not None), 0), _DEEPEST_INDENT)
    shown = _spaced(text)
    if start is None:
        return Block(indent + shown, tight=True)
    said = ", ".join(f"{key}={value}" for key, value in start.attributes.items())
    name = f"{start.name} ({said})" if said else start.name
    return Block(f"{indent}{name}: {shown}".rstrip(), start.line, depth, tight=True)


def _starts(blocks: list[Block]) -> Iterator[int]:
    """Where sections begin: at elements right below the top, when enough stands before them."""
    size = 0
    for number, block in enumerate(blocks):
        if block.level == 2 and size > GROUP:
            yield number
            size = 0
        size += len(block.text)
