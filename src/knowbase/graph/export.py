"""The graph as a file for other programs: graphqlite, GraphML, JSON, DOT."""

import json
import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from knowbase.errors import InvalidInput
from knowbase.graph.network import Network
from knowbase.graph.nodes import properties
from knowbase.values.edges import Edge

FORMATS = ("graphqlite", "graphml", "json", "dot")
_ENDINGS = {
    ".db": "graphqlite", ".sqlite": "graphqlite", ".sqlite3": "graphqlite", ".graphml": "graphml",
    ".xml": "graphml", ".json": "json", ".dot": "dot", ".gv": "dot",
}  # fmt: skip
_KNOWBASE = b"know"  # what a base has at byte 68, where SQLite keeps the application's id


class Exported(NamedTuple):
    """What was written, and where."""

    path: str
    format: str
    documents: int
    links: int


def export(network: Network, path: str, format: str | None) -> Exported:  # noqa: A002
    """Write the graph; the format is what is said, else what the name ends in."""
    kind = format or _format_of(path)
    if kind not in (*_WRITERS, "graphqlite"):
        hint = "one of " + ", ".join((*_WRITERS, "graphqlite"))
        raise InvalidInput(f"format cannot be {kind!r}", field="format", hint=hint)
    if kind == "graphqlite":
        from knowbase.graph.cypher import write

        replaced(path, lambda new: write(network, new))
    else:
        text = _WRITERS[kind](network)
        replaced(path, lambda new: write_text(new, text))
    return Exported(path, kind, len(network.documents), len(network.edges))


def _format_of(path: str) -> str:
    """The format that the name's ending stands for: none is guessed."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in _ENDINGS:
        raise InvalidInput(
            f"no format is known for {os.path.basename(path)!r}",
            field="path",
            hint=f"a name that ends in {', '.join(_ENDINGS)}, or a format",
        )
    return _ENDINGS[ending]


def replaced(path: str, write: Callable[[str], None]) -> None:
    """Write a file at once or not at all; a base is never written over."""
    if _is_base(path):
        raise InvalidInput(f"{path} is a knowbase base", field="path", hint="choose another file")
    new = f"{path}.{os.getpid()}.new"
    try:
        write(new)
        os.replace(new, path)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}", field="path", hint="choose another file"
        ) from error
    finally:
        if os.path.exists(new):
            os.remove(new)


def _is_base(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(72)[68:] == _KNOWBASE
    except OSError:
        return False


def write_text(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _json(network: Network) -> str:
    nodes = [{**properties(one), "tags": list(one.tags)} for one in network.documents]
    links = [edge._asdict() for edge in network.edges]
    return json.dumps({"nodes": nodes, "links": links}, ensure_ascii=False, indent=1) + "\n"


_KEYS = (
    *((name, "node", "string") for name in ("code", "short_code", "title", "type")),
    *((name, "node", "string") for name in ("phase", "path", "project")),
    ("number", "node", "long"),
    ("relation", "edge", "string"),
    ("weight", "edge", "double"),
    ("origin", "edge", "string"),
)


def _graphml(network: Network) -> str:
    keys = [
        f'<key id="{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>'
        for name, owner, kind in _KEYS
    ]
    nodes = [
        f'<node id="{xml(one.id)}">{_data(properties(one))}</node>' for one in network.documents
    ]
    links = [
        f'<edge source="{xml(edge.source)}" target="{xml(edge.target)}">'
        + _data({"relation": edge.relation, "weight": edge.weight, "origin": edge.origin})
        + "</edge>"
        for edge in network.edges
    ]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *keys,
        '<graph edgedefault="directed">',
        *nodes,
        *links,
        "</graph>",
        "</graphml>",
    ]
    return "\n".join(lines) + "\n"


def _data(values: Mapping[str, object]) -> str:
    return "".join(
        f'<data key="{key}">{xml(str(value))}</data>'
        for key, value in values.items()
        if key != "id"
    )


def xml(text: str) -> str:
    """A text for XML: its signs escaped; characters that XML does not have become a mark."""
    legal = "".join(c if c in "\t\n" or _is_legal(ord(c)) else "\ufffd" for c in text)
    for sign, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        legal = legal.replace(sign, escaped)
    return legal


def _is_legal(code: int) -> bool:
    return 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def _dot(network: Network) -> str:
    lines = ["digraph knowbase {", "  node [shape=box];"]
    lines += [
        f"  {_quoted(one.id)} [label={_quoted(f'{one.code}: {one.title}')}];"
        for one in network.documents
    ]
    lines += [f"  {_dot_edge(edge)}" for edge in network.edges]
    return "\n".join((*lines, "}")) + "\n"


def _dot_edge(edge: Edge) -> str:
    return (
        f"{_quoted(edge.source)} -> {_quoted(edge.target)}"
        f" [label={_quoted(edge.relation)}, weight={edge.weight:g}];"
    )


def _quoted(text: str) -> str:
    plain = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


_WRITERS: dict[str, Callable[[Network], str]] = {
    "json": _json,
    "graphml": _graphml,
    "dot": _dot,
}
