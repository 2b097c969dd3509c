"""Source code as lines of marked words, by the grammars that are installed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from knowbase.read.code import FURTHER, GRAMMARS
from knowbase.rendering.tree import Node, element, shown

if TYPE_CHECKING:
    from tree_sitter import TreeCursor

MOST_MARKED = 60_000  # words; what follows is shown without colours
_NUMBERS = ("number", "integer", "float", "int_literal", "decimal")
_CONSTANTS = frozenset({"true", "false", "none", "null", "nil", "null_literal", "boolean"})
_NAMES = {
    "golang": "go", "shell": "bash", "console": "bash", "c++": "cpp", "c#": "c_sharp",
    "csharp": "c_sharp", "js": "javascript", "py": "python", "python3": "python",
    "typescript": "typescript:language_typescript", "terraform": "hcl",
    "php": "php:language_php", "ocaml": "ocaml:language_ocaml",
}  # fmt: skip
_KNOWN = {name.partition(":")[0]: name for name in (*GRAMMARS.values(), *FURTHER.values())}


class _Span(NamedTuple):
    """A word of a source text, in bytes."""

    start: int
    end: int
    kind: str


def grammar_named(language: str) -> str | None:
    """The grammar of what a block of code says it is written in."""
    name = language.strip().lower()
    return _NAMES.get(name) or GRAMMARS.get(name) or FURTHER.get(name) or _KNOWN.get(name)


def code_lines(text: str, grammar: str | None, first: int) -> list[Node]:
    """A `span` a line, each with its number in the file."""
    source = text.encode("utf-8", "surrogatepass")
    spans = _spans(source, grammar) if grammar else []
    lines: list[Node] = []
    at, number, last = 0, 0, len(spans)
    for row, line in enumerate(source.split(b"\n")):
        start, end = at, at + len(line)
        parts: list[Node] = []
        here = start
        while number < last and spans[number].start < end:
            span = spans[number]
            begin, stop = max(span.start, start), min(span.end, end)
            parts += _text(source[here:begin])
            parts += (element("span", _text(source[begin:stop]), class_=f"tok-{span.kind}"),)
            here = stop
            if span.end > end:  # it goes on in the next line
                break
            number += 1
        parts += _text(source[here:end])
        at = end + 1
        lines.append(element("span", [*parts, "\n"], class_="line", line=first + row))
    if len(lines) > 1 and lines[-1]["c"] == ["\n"]:  # type: ignore[index]  # behind the last line end
        lines.pop()
    return lines


def _text(source: bytes) -> list[Node]:
    text = shown(source.decode("utf-8", "replace")).replace("\n", " ")
    return [text] if text else []


def _spans(source: bytes, grammar: str) -> list[_Span]:
    from knowbase.read.outline import language

    try:
        from tree_sitter import Parser

        tree = Parser(language(grammar)).parse(source)
    except (ImportError, ValueError):  # not installed, or too new for the parser
        return []
    found: list[_Span] = []
    for span in _marked(tree.walk()):
        if len(found) >= MOST_MARKED:
            break
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found


def _marked(cursor: "TreeCursor") -> Iterator[_Span]:
    """The words with a meaning, in order; without recursion, however deep a program nests."""
    parents: list[str] = []
    while True:
        node = cursor.node
        assert node is not None
        kind = _kind(node.type, node.is_named, node.child_count, cursor.field_name, parents)
        if kind:
            yield _Span(node.start_byte, node.end_byte, kind)
        elif cursor.goto_first_child():
            parents.append(node.type)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            parents.pop()


def _kind(name: str, is_named: bool, children: int, field: str | None, parents: list[str]) -> str:
    """What a node is to a reader; nothing for most."""
    if "comment" in name:
        return "comment"
    if not is_named:
        return "keyword" if name[:1].isalpha() else ""
    if ("string" in name or "char_literal" in name) and "concat" not in name:
        return "string"
    if name in _CONSTANTS:
        return "constant"
    if children:
        return ""
    if any(one in name for one in _NUMBERS):
        return "number"
    return _named(name, field, parents[-1] if parents else "")


def _named(name: str, field: str | None, parent: str) -> str:
    if field == "name" and any(one in parent for one in ("function", "method")):
        return "function"
    if field == "name" and any(one in parent for one in ("class", "struct", "enum", "interface")):
        return "type"
    if field == "function" and "call" in parent:
        return "function"
    return "type" if "type" in name else ""
