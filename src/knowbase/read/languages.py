"""Further programming languages: which nodes of their grammars define something."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from knowbase.read.outline import (
    LONGEST_NAME,
    Definition,
    Found,
    Lines,
    language,
    remark_rows,
    starts_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node


class _Language(NamedTuple):
    """Node types: of definitions that others lie in, and of those that nothing lies in."""

    outer: str
    inner: str
    scopes: str = ""  # give a name to what lies in them, and are no definition
    held: str = ""  # an outer one counts only when it holds one of these


_LANGUAGES = {
    "ruby": _Language("module class singleton_class", "method singleton_method"),
    "php": _Language(
        "interface_declaration trait_declaration class_declaration enum_declaration",
        "function_definition method_declaration",
    ),
    "c_sharp": _Language(
        "class_declaration interface_declaration struct_declaration enum_declaration"
        " record_declaration",
        "constructor_declaration method_declaration property_declaration delegate_declaration"
        " local_function_statement operator_declaration",
        "namespace_declaration",
    ),
    "swift": _Language(
        "class_declaration protocol_declaration",
        "init_declaration function_declaration protocol_function_declaration",
    ),
    "kotlin": _Language(
        "class_declaration object_declaration companion_object",
        "function_declaration secondary_constructor",
    ),
    "scala": _Language(
        "class_definition object_definition trait_definition enum_definition",
        "function_definition function_declaration",
    ),
    "bash": _Language("", "function_definition"),
    "lua": _Language("", "function_declaration"),
    "haskell": _Language(
        "class instance", "signature function bind data_type type_synonym newtype"
    ),
    "julia": _Language(
        "module_definition", "struct_definition function_definition macro_definition"
        " abstract_definition",
    ),
    "zig": _Language(
        "variable_declaration", "function_declaration test_declaration",
        held="struct_declaration enum_declaration union_declaration opaque_declaration",
    ),
    "sql": _Language(
        "", "create_table create_view create_function create_materialized_view create_type"
        " create_trigger create_procedure create_schema",
    ),
    "ocaml": _Language(
        "module_definition class_definition", "value_definition type_definition external"
        " exception_definition",
    ),
    "perl": _Language("", "subroutine_declaration_statement method_declaration_statement"),
    "dart": _Language(
        "class_definition mixin_declaration extension_declaration enum_declaration",
        "method_signature function_signature constructor_signature",
    ),
    "objc": _Language(
        "class_interface class_implementation protocol_declaration category_interface"
        " category_implementation",
        "method_declaration method_definition function_definition",
    ),
    "groovy": _Language(
        "class_declaration class_definition interface_declaration",
        "method_declaration function_definition function_declaration",
    ),
    "powershell": _Language("class_statement", "function_statement class_method_definition"),
    "fortran": _Language("module submodule program", "subroutine function"),
    "hcl": _Language("", "block"),
    "elixir": _Language("call", "", held="def"),
}  # fmt: skip
_NAMES = frozenset({
    "alias", "bareword", "class_name", "constant", "function_name", "identifier", "module_name",
    "name", "object_reference", "simple_identifier", "simple_name", "string", "type_constructor",
    "type_identifier", "value_name", "word",
})  # fmt: skip
_REMARKS = frozenset({
    "annotation", "attribute_list", "block_comment", "comment", "documentation_comment", "haddock",
    "line_comment", "multiline_comment", "unary_operator",
})  # fmt: skip
_ELIXIR = {"defmodule", "defprotocol", "defimpl"}
_ELIXIR_INNER = {"def", "defp", "defmacro", "defmacrop", "defguard", "defdelegate"}
_FAR = 4  # levels below a definition at which its name may stand


def definitions(source: bytes, grammar: str) -> list[Definition]:
    """The definitions in a source text, in order and with their comments."""
    from tree_sitter import Parser

    known = _LANGUAGES[grammar.partition(":")[0]]
    kinds = _Kinds(*(frozenset(names.split()) for names in known))
    found: list[Found] = []
    remarks: dict[int, int] = {}
    lines = Lines(source)
    stack = [(Parser(language(grammar)).parse(source).root_node, "")]
    while stack:
        node, prefix = stack.pop()
        inner: list[tuple[Node, str]] = []
        for child in node.named_children:
            if child.type in _REMARKS:
                remarks.update(remark_rows(child, lines))
            kind = kinds.of(child)
            name = _name(child) if kind else ""
            whole = f"{prefix}.{name}" if prefix and name else name or prefix
            if name and kind != "scope":
                found.append(Found(whole, *child.start_point))
            if kind != "inner":
                inner.append((child, whole if len(whole) <= LONGEST_NAME else prefix))
        stack.extend(reversed(inner))
    return starts_of(_without_repeats(found), remarks)


class _Kinds(NamedTuple):
    outer: frozenset[str]
    inner: frozenset[str]
    scopes: frozenset[str]
    held: frozenset[str]

    def of(self, node: "Node") -> str | None:
        """Whether it is an "outer" or "inner" definition, or a "scope"."""
        if "def" in self.held:
            return _elixir(node)
        if node.type in self.inner:
            return "inner"
        if node.type in self.scopes:
            return "scope"
        if node.type not in self.outer:
            return None
        holds = not self.held or any(child.type in self.held for child in node.named_children)
        return "outer" if holds else None


def _elixir(node: "Node") -> str | None:
    """There, a definition is a call."""
    target = node.child_by_field_name("target") if node.type == "call" else None
    called = (target.text or b"").decode("utf-8", "replace") if target is not None else ""
    if called in _ELIXIR:
        return "outer"
    return "inner" if called in _ELIXIR_INNER else None


def _name(node: "Node") -> str:
    if node.type == "block":  # resource "kind" "name"
        parts = [
            child for child in node.named_children if child.type in ("identifier", "string_lit")
        ]
        return " ".join(_text(part).strip('"') for part in parts)
    if node.type == "call":
        called = next((one for one in node.named_children if one.type == "arguments"), None)
        return _nearest(called) if called is not None else ""
    if node.type == "init_declaration":
        return "init"
    return _nearest(node)


def _nearest(node: "Node") -> str:
    """The field "name", or the first thing that is one, as near as can be."""
    level = [node]
    for _ in range(_FAR):
        for one in level:
            named = one.child_by_field_name("name")
            if named is not None:
                return _text(named)
        below = [child for one in level for child in one.named_children]
        first = next((child for child in below if child.type in _NAMES), None)
        if first is not None:
            return _text(first)
        level = below[:50]
    return ""


def _text(node: "Node") -> str:
    text = " ".join((node.text or b"").decode("utf-8", "replace").split())
    return text.replace("::", ".")[:LONGEST_NAME]


def _without_repeats(found: list[Found]) -> Iterator[Found]:
    """A signature and the clauses after it are one definition."""
    last = ""
    for one in sorted(found, key=lambda one: one.row):
        if one.name != last:
            yield one
        last = one.name
