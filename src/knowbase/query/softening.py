"""A query with what it requires taken as mere words: quotes and pluses."""

from typing import NamedTuple

from knowbase.query.tree import And, Must, Node, Or, Phrase, Text, Together
from knowbase.text.stopwords import STOP_WORDS


class Softened(NamedTuple):
    """The tree without its requirements, and these."""

    tree: Node
    required: tuple[Phrase | Text, ...]


def soften(tree: Node) -> Softened | None:
    """None when nothing is required but what AND, filters and exclusions say, which stay."""
    required: list[Phrase | Text] = []
    softer = _softer(tree, required)
    return Softened(softer, tuple(required)) if required else None


def requires_phrase(tree: Node) -> bool:
    """Whether nothing is found without what it has in quotes, more than words of every text."""
    if isinstance(tree, Phrase):
        words = (word.lower() for word in tree.text.split() if any(map(str.isalnum, word)))
        return any(word not in STOP_WORDS for word in words)
    if isinstance(tree, Must):
        return requires_phrase(tree.part)
    if isinstance(tree, Or):
        return all(requires_phrase(part) for part in tree.parts)
    return isinstance(tree, And | Together) and any(requires_phrase(part) for part in tree.parts)


def as_typed(leaf: Phrase | Text) -> str:
    return f'"{leaf.text}"' if isinstance(leaf, Phrase) else f"+{leaf.text}"


def _softer(node: Node, required: list[Phrase | Text]) -> Node:
    if isinstance(node, Phrase):
        required.append(node)
        return Together(tuple(Text(word, node.at) for word in node.text.split()))
    if isinstance(node, Must):
        before = len(required)
        part = _softer(node.part, required)
        if isinstance(node.part, Text):
            required.append(node.part)
        elif len(required) == before:
            return node  # a group of words or a filter, which nobody requires by mistake
        return part
    if isinstance(node, And | Or | Together):
        return node._replace(parts=tuple(_softer(part, required) for part in node.parts))
    return node
