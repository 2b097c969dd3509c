"""How much of a query is looked for: every engine has a limit to what it can be asked at once."""

from collections.abc import Iterable

from knowbase.query.tree import (
    And,
    Must,
    Node,
    Operator,
    Or,
    Phrase,
    Problem,
    Text,
    Together,
    Without,
)
from knowbase.query.words import MAX_WORDS
from knowbase.text.analysis import prefix_words, required_words

MAX_EXCLUDED = 128
MAX_OF_ONE = 16  # conditions of one word as it was typed, such as a/very/long/path


def bounded(tree: Node) -> tuple[Node | None, list[Problem]]:
    """The tree with each word once in its place, and no more words than can be asked for."""
    bounds = _Bounds()
    return bounds.kept(tree), bounds.problems()


class _Bounds:
    """Counts the words, those that are looked for and those that are left out apart:
    a long text must not lose what stands behind it with a minus."""

    def __init__(self) -> None:
        self._most = {False: MAX_WORDS, True: MAX_EXCLUDED}
        self._seen = {False: 0, True: 0}
        self._first_left: int | None = None

    def kept(self, node: Node, excluded: bool = False) -> Node | None:
        if isinstance(node, Text | Phrase):
            return self._leaf(node, excluded)
        if isinstance(node, Without | Must):
            part = self.kept(node.part, excluded != isinstance(node, Without))
            return None if part is None else node._replace(part=part)
        if isinstance(node, And | Or | Together):
            found = (self.kept(part, excluded) for part in _distinct(node.parts))
            parts = tuple(part for part in found if part is not None)
            return node._replace(parts=parts) if len(parts) > 1 else next(iter(parts), None)
        return node

    def _leaf(self, leaf: Text | Phrase, excluded: bool) -> Text | Phrase | None:
        has_room = self._seen[excluded] < self._most[excluded]
        self._seen[excluded] += _size(leaf)
        if not has_room and self._first_left is None:
            self._first_left = leaf.at
        return leaf if has_room else None

    def problems(self) -> list[Problem]:
        if self._first_left is None:
            return []
        excluded = self._seen[True] > MAX_EXCLUDED
        kind, most = ("excluded words", MAX_EXCLUDED) if excluded else ("words", MAX_WORDS)
        message = f"the query has {self._seen[excluded]:,} {kind}, {most} are looked for"
        return [Problem(message, self._first_left, "the rest is left out")]


def _size(leaf: Text | Phrase) -> int:
    if isinstance(leaf, Phrase):
        return 1
    found = prefix_words(leaf.text) if leaf.prefix else required_words(leaf.text)
    return min(len(found), MAX_OF_ONE)


def _distinct(parts: Iterable[Node]) -> list[Node]:
    """What is said twice is looked for once."""
    kept: dict[object, Node] = {}
    for part in parts:
        if isinstance(part, Text | Phrase | Operator):
            kept.setdefault((type(part), part._replace(at=0)), part)
        else:
            kept[id(part)] = part
    return list(kept.values())
