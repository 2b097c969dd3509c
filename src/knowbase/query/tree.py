"""What a query says, as a tree. Each node knows where it stands in the text."""

from typing import NamedTuple, TypeAlias


class Text(NamedTuple):
    """A word as it was typed; `prefix` for word*."""

    text: str
    at: int
    prefix: bool = False


class Phrase(NamedTuple):
    """Words in quotes: they must stand together."""

    text: str
    at: int


class Operator(NamedTuple):
    """name:value, or #tag."""

    name: str
    value: str
    at: int


class Without(NamedTuple):
    """NOT part, -part."""

    part: "Node"


class Must(NamedTuple):
    """+part."""

    part: "Node"


class And(NamedTuple):
    parts: tuple["Node", ...]


class Or(NamedTuple):
    parts: tuple["Node", ...]


class Together(NamedTuple):
    """Parts side by side: the profile says whether all of their words are needed."""

    parts: tuple["Node", ...]


Node: TypeAlias = Text | Phrase | Operator | Without | Must | And | Or | Together


class Problem(NamedTuple):
    """What is wrong with a query, where, and what was done instead."""

    message: str
    at: int
    instead: str

    def point_out(self, query: str) -> str:
        """For a person: the message, and a caret under the place."""
        line = query.replace("\n", " ").replace("\t", " ")
        start = max(0, self.at - 60)
        shown = line[start : start + 80]
        return f"{self.message}; {self.instead}\n  {shown}\n  {' ' * (self.at - start)}^"


def shown(node: Node, depth: int = 0) -> str:
    """The tree for a person, a node a line."""
    indent = "  " * depth
    if isinstance(node, Text):
        return f"{indent}word {node.text}{'*' if node.prefix else ''}"
    if isinstance(node, Phrase):
        return f'{indent}phrase "{node.text}"'
    if isinstance(node, Operator):
        return f"{indent}{node.name}: {node.value}"
    name = {Without: "not", Must: "must", And: "and", Or: "or", Together: "together"}[type(node)]
    parts = (node.part,) if isinstance(node, Without | Must) else node.parts
    return "\n".join([indent + name, *(shown(part, depth + 1) for part in parts)])
