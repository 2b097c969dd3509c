"""Tokens as a tree. Whatever the text, there is a tree: what is wrong is read as it makes sense."""

from typing import NamedTuple

from knowbase.query.lexer import Token, tokens
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

MAX_DEPTH = 40
MAX_TOKENS = 512


class Parsed(NamedTuple):
    """The tree (none for an empty query), and what was wrong."""

    tree: Node | None
    problems: tuple[Problem, ...]


def parse(text: str) -> Parsed:
    """The tree of a query; never raises, and takes bounded time and depth."""
    found, problems = tokens(text)
    if len(found) > MAX_TOKENS:
        at = found[MAX_TOKENS].at
        message = f"the query has {len(found):,} parts, {MAX_TOKENS} are read"
        problems.append(Problem(message, at, "the rest is left out"))
    parser = _Parser(found[:MAX_TOKENS], problems)
    tree = parser.whole() or (Text(text, 0) if text else None)
    return Parsed(tree, tuple(sorted(parser.problems, key=lambda problem: problem.at)))


class _Parser:
    def __init__(self, found: list[Token], problems: list[Problem]) -> None:
        self._tokens = found
        self._place = 0
        self._depth = 0
        self.problems = problems

    def whole(self) -> Node | None:
        parts: list[Node] = []
        while self._place < len(self._tokens):
            node = self._either()
            if node is not None:
                parts.append(node)
            closing = self._take("close")
            if closing is not None:
                self._wrong("this ) closes nothing", closing, "it is left out")
        return _joined(Together, parts)

    def _either(self) -> Node | None:
        """parts OR parts …"""
        sides: list[Node] = []
        first = self._side_by_side()
        sides += [first] if first is not None else []
        while (word := self._take("or")) is not None:
            side = self._side_by_side()
            if side is None or not sides:
                self._wrong("OR needs something on both sides", word, "it is left out")
            sides += [side] if side is not None else []
        return _joined(Or, sides)

    def _side_by_side(self) -> Node | None:
        parts: list[Node] = []
        while (token := self._peek()) is not None and token.kind not in ("or", "close"):
            part = self._both()
            if part is not None:
                parts.append(part)
        return _joined(Together, parts)

    def _both(self) -> Node | None:
        """part AND part …"""
        parts: list[Node] = []
        first = self._single()
        parts += [first] if first is not None else []
        while (word := self._take("and")) is not None:
            part = self._single() if self._starts_part() else None
            if part is None or not parts:
                self._wrong("AND needs something on both sides", word, "it is left out")
            parts += [part] if part is not None else []
        return _joined(And, parts)

    def _starts_part(self) -> bool:
        token = self._peek()
        return token is not None and token.kind not in ("or", "and", "close")

    def _single(self) -> Node | None:
        token = self._peek()
        if token is None or token.kind in ("or", "and", "close"):
            return None
        self._place += 1
        if token.kind in ("not", "minus", "plus"):
            return self._marked(token)
        if token.kind == "open":
            return self._group(token)
        return _leaf(token)

    def _marked(self, token: Token) -> Node | None:
        self._depth += 1
        part = self._single() if self._depth < MAX_DEPTH else None
        self._depth -= 1
        if part is None:
            self._wrong(f"{token.text} has nothing behind it", token, "it is left out")
            return None
        return Must(part) if token.kind == "plus" else Without(part)

    def _group(self, opening: Token) -> Node | None:
        if self._depth >= MAX_DEPTH:
            self._wrong("groups are nested too deeply", opening, "this bracket is left out")
            return None
        self._depth += 1
        inside = self._either()
        self._depth -= 1
        if self._take("close") is None:
            self._wrong("this ( is never closed", opening, "it is read as closed at the end")
        elif inside is None:
            self._wrong("this group is empty", opening, "it is left out")
        return inside

    def _peek(self) -> Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _take(self, kind: str) -> Token | None:
        token = self._peek()
        if token is None or token.kind != kind:
            return None
        self._place += 1
        return token

    def _wrong(self, message: str, token: Token, instead: str) -> None:
        self.problems.append(Problem(message, token.at, instead))


def _leaf(token: Token) -> Node | None:
    if token.kind == "operator":
        return Operator(token.text, token.value, token.at)
    if token.kind == "phrase":
        return Phrase(token.text, token.at) if token.text.strip() else None
    if token.text.endswith("*") and token.text[:-1].isalnum():
        return Text(token.text[:-1], token.at, prefix=True)
    return Text(token.text, token.at) if token.text else None


def _joined(kind: type[And] | type[Or] | type[Together], parts: list[Node]) -> Node | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else kind(tuple(parts))
