"""Where the definitions in a program are: its syntax tree's functions and types."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Language, Node

# The names of node types differ so much between the grammars that one table serves them all.
_LEAVES = frozenset({
    "abstract_method_signature", "compact_constructor_declaration", "concept_definition",
    "constructor_declaration", "function_declaration", "function_definition", "function_item",
    "function_signature", "function_signature_item", "generator_function_declaration",
    "macro_definition", "method_declaration", "method_definition", "type_alias",
    "type_alias_declaration", "type_alias_statement", "type_definition", "type_item", "type_spec",
})  # fmt: skip
_CLASSES = frozenset({
    "abstract_class_declaration", "annotation_type_declaration", "class_declaration",
    "class_definition", "class_specifier", "enum_declaration", "enum_item", "enum_specifier",
    "impl_item", "interface_declaration", "internal_module", "mod_item", "module",
    "record_declaration", "struct_item", "struct_specifier", "trait_item", "union_item",
    "union_specifier",
})  # fmt: skip
# A mere mention ("struct point p;", "mod tests;") has no body.
_NEED_BODY = frozenset({
    "class_specifier", "enum_specifier", "mod_item", "struct_specifier", "union_specifier",
})  # fmt: skip
# These stand around a definition, and it starts where they start.
_WRAPPERS = frozenset({
    "ambient_declaration", "declaration", "decorated_definition", "export_statement",
    "field_declaration", "lexical_declaration", "template_declaration", "type_declaration",
    "variable_declaration",
})  # fmt: skip
_CONTAINERS = frozenset({
    "ERROR", "annotation_type_body", "block", "class_body", "declaration_list", "elif_clause",
    "else_clause", "enum_body", "enum_body_declarations", "except_clause", "expression_statement",
    "field_declaration_list", "finally_clause", "foreign_mod_item", "if_statement",
    "interface_body", "linkage_specification", "namespace_definition", "preproc_elif",
    "preproc_else", "preproc_if", "preproc_ifdef", "statement_block", "try_statement",
    "with_statement",
})  # fmt: skip
_HOLDERS = frozenset({
    "export_statement", "field_definition", "public_field_definition", "variable_declarator",
})  # fmt: skip
_HELD = frozenset({"arrow_function", "class", "function_expression", "generator_function"})
_REMARKS = frozenset({"attribute_item", "block_comment", "comment", "decorator", "line_comment"})

LONGEST_NAME = 200


class Definition(NamedTuple):
    """A function or type: its qualified name, and the line from 0 where it starts."""

    name: str
    row: int


class _Visit(NamedTuple):
    node: "Node"
    prefix: str
    around: "Node | None"  # the wrapper at which the next definition starts


class Found(NamedTuple):
    """A definition before the remarks above it are counted in."""

    name: str
    row: int
    column: int


def outline(source: bytes, grammar: str) -> list[Definition]:
    """The definitions in a source text, in order and with their comments and decorators."""
    from tree_sitter import Parser

    root = Parser(language(grammar)).parse(source).root_node
    found: list[Found] = []
    remarks: dict[int, int] = {}
    lines = Lines(source)
    # A stack instead of recursion: nothing limits how deep a source file nests.
    stack = [_Visit(root, "", None)]
    while stack:
        visit = stack.pop()
        around = visit.around
        inner: list[_Visit] = []
        for child in visit.node.children:
            if child.type in _REMARKS:
                remarks.update(remark_rows(child, lines))
                continue
            definition = _definition(child, visit.prefix, around)
            if definition:
                found.append(definition)
                around = None
            inner.extend(_inside(child, visit.prefix, definition, around))
        stack.extend(reversed(inner))
    return starts_of(found, remarks)


@lru_cache(maxsize=16)
def language(grammar: str) -> "Language":
    """A grammar by its package; ImportError when that is not installed."""
    from tree_sitter import Language

    module, _, function = grammar.partition(":")
    return Language(getattr(import_module(f"tree_sitter_{module}"), function or "language")())


class Lines:
    """Where the text of each line begins and ends, looked for once a line."""

    def __init__(self, source: bytes) -> None:
        self._lines = source.split(b"\n")
        self._texts: dict[int, tuple[int, int]] = {}

    def text(self, row: int) -> tuple[int, int]:
        if row not in self._texts:
            line = self._lines[row]
            self._texts[row] = len(line) - len(line.lstrip()), len(line.rstrip())
        return self._texts[row]

    def length(self, row: int) -> int:
        return len(self._lines[row])


def remark_rows(node: "Node", lines: Lines) -> Iterator[tuple[int, int]]:
    """The rows on which only a comment or attribute stands, each with its first column."""
    (first, column), (last, end) = node.start_point, node.end_point
    if end == 0 and last > first:  # some grammars count the line end in
        last -= 1
        end = lines.length(last)
    alone = lines.text(first)[0] >= column and lines.text(last)[1] <= end
    if alone:
        yield from ((row, column) for row in range(first, last + 1))


def _definition(node: "Node", prefix: str, around: "Node | None") -> Found | None:
    if not _is_definition(node):
        return None
    name = _name(node)
    if not name:
        return None
    row, column = (around or node).start_point
    return Found(f"{prefix}.{name}" if prefix else name, row, column)


def _is_definition(node: "Node") -> bool:
    if node.type in _HOLDERS:
        value = node.child_by_field_name("value")
        return value is not None and value.type in _HELD
    if node.type in _NEED_BODY:
        return node.child_by_field_name("body") is not None
    if node.type == "type_definition":
        kind = node.child_by_field_name("type")
        return kind is not None and kind.child_by_field_name("body") is not None
    # An unnamed "module" is the keyword, not the declaration.
    return node.is_named and (node.type in _LEAVES or node.type in _CLASSES)


def _inside(
    node: "Node", prefix: str, definition: Found | None, around: "Node | None"
) -> Iterator[_Visit]:
    """What to look into next: containers and the bodies of classes, but no function's body."""
    if definition:
        holder = node.child_by_field_name("value") if node.type in _HOLDERS else node
        # No person nests this deep: names that grow with each level would fill the memory.
        if holder is not None and _is_class(holder) and len(definition.name) <= LONGEST_NAME:
            yield _Visit(holder, _scope(node, definition.name), None)
    elif node.type in _WRAPPERS:
        yield _Visit(node, prefix, around or node)
    elif node.type == "namespace_definition":
        name = _field_text(node, "name")
        inner = ".".join(part for part in (prefix, name) if part)
        yield _Visit(node, inner if len(inner) <= LONGEST_NAME else prefix, None)
    elif node.type in _CONTAINERS:
        yield _Visit(node, prefix, None)


def _is_class(node: "Node") -> bool:
    return node.type in _CLASSES or node.type == "class"


def _scope(node: "Node", name: str) -> str:
    """The prefix of what stands inside: an impl block's methods belong to its type."""
    if node.type != "impl_item":
        return name
    outer = name[: -len(_name(node))]
    return outer + _field_text(node, "type")


def _name(node: "Node") -> str:
    if node.type == "impl_item":
        trait, kind = _field_text(node, "trait"), _field_text(node, "type")
        return f"impl {trait} for {kind}" if trait else f"impl {kind}"
    if node.type == "export_statement":
        return "default"
    if node.type in ("function_definition", "type_definition"):
        declarator = node.child_by_field_name("declarator")
        if declarator is not None:
            return _declared(declarator)
    receiver = node.child_by_field_name("receiver")
    name = _field_text(node, "name") or _field_text(node, "left") or _field_text(node, "property")
    return f"{_receiver_type(receiver)}.{name}" if receiver is not None else name


def _field_text(node: "Node", field: str) -> str:
    child = node.child_by_field_name(field)
    return _clean(child) if child is not None else ""


def _clean(node: "Node") -> str:
    """A name as one word path: no type arguments, '.' between its parts."""
    name = " ".join((node.text or b"").decode("utf-8", "replace").split())
    if "operator" not in name:
        name = _without_generics(name)
    return name.replace("::", ".")[:LONGEST_NAME]


def _without_generics(name: str) -> str:
    """What stands in no pair of angles; one without its other half stays."""
    kept: list[str] = []
    opened: list[int] = []
    for part in re.split("([<>])", name):
        if part == ">" and opened:
            del kept[opened.pop() :]
            continue
        if part == "<":
            opened.append(len(kept))
        kept.append(part)
    return "".join(kept)


def _declared(node: "Node") -> str:
    """The name inside a C declarator: that of f in `*(*f(int))[3]`."""
    while True:
        inner = node.child_by_field_name("declarator") or _nested_declarator(node)
        if inner is None:
            return _clean(node)
        node = inner


def _nested_declarator(node: "Node") -> "Node | None":
    # References and parentheses hold their declarator without naming the field.
    if not node.type.endswith("_declarator"):
        return None
    return next((child for child in node.named_children if "declarator" in child.type), None)


def _receiver_type(receiver: "Node") -> str:
    match = re.search(rb"\(\s*(?:\w+\s+)?\*?\s*(\w+)", receiver.text or b"")
    return match.group(1).decode("utf-8", "replace") if match else "?"


def starts_of(found: Iterable[Found], remarks: dict[int, int]) -> list[Definition]:
    """The definitions in order, each moved up over the remarks directly above it."""
    starts: dict[int, str] = {}
    for name, row, column in sorted(found, key=lambda item: item.row):
        while remarks.get(row - 1) == column:
            row -= 1
        starts.setdefault(row, name)
    return [Definition(name, row) for row, name in sorted(starts.items())]
