"""Conditions as SQL, for every engine: structure from us, every value a parameter."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from knowbase.query.conditions import (
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Contains,
    InPath,
    InRole,
    InSession,
    Meta,
    Not,
    OneOf,
    Tagged,
    Under,
    Visible,
    has_text,
    hidden,
)
from knowbase.text.analysis import Word
from knowbase.text.paths import PathPattern, spelled
from knowbase.values.documents import FIELDS

LONG_CHAIN = 16


class Compiled(NamedTuple):
    """An SQL expression, and its parameters."""

    sql: str
    values: list[Any]


class Compiler(ABC):
    """Compiles conditions over `documents AS d` to expressions that are never NULL. What engines
    say differently is a method that each has of its own."""

    place = "?"
    true, false = "1", "0"

    def condition(self, condition: Condition) -> Compiled:
        """The condition on a document."""
        compiled: Compiled = getattr(self, _METHODS[type(condition)])(condition)
        return compiled

    def for_chunks(self, condition: Condition) -> Compiled:
        """The condition over `chunks AS c`; what concerns documents alone becomes a subquery."""
        if not has_text(condition):
            return self.of_document(self.condition(condition))
        if isinstance(condition, Contains):
            return self.containing(condition.word)
        if isinstance(condition, Not):
            return _negated(self.for_chunks(condition.part))
        if isinstance(condition, AllOf | AnyOf):
            word = "AND" if isinstance(condition, AllOf) else "OR"
            return self._joined(list(map(self.for_chunks, condition.parts)), word)
        raise TypeError(condition)

    def _visible(self, condition: Visible) -> Compiled:
        return self.condition(Not(hidden(condition)))

    def _not(self, condition: Not) -> Compiled:
        return _negated(self.condition(condition.part))

    def _all(self, condition: AllOf) -> Compiled:
        return self._joined(list(map(self.condition, condition.parts)), "AND")

    def _any(self, condition: AnyOf) -> Compiled:
        return self._joined(list(map(self.condition, condition.parts)), "OR")

    def _compare(self, condition: Compare) -> Compiled:
        column = self.column(condition.field)
        if condition.operator == "present":
            return Compiled(f"{column} IS NOT NULL", [])
        test = f"({column} IS NOT NULL AND {column} {condition.operator} {self.place})"
        return Compiled(test, [condition.value])

    def _in_path(self, condition: InPath) -> Compiled:
        return self._joined([self._in_one_path(one) for one in spelled(condition.pattern)], "OR")

    def _in_one_path(self, pattern: PathPattern) -> Compiled:
        if not pattern.is_plain:
            return self.like_path(pattern)
        test = f"{self.place_in(self.path_subject(pattern))} {'=' if pattern.anchored else '>='} 1"
        return Compiled(f"(d.path IS NOT NULL AND {test})", [pattern.needle])

    def path_subject(self, pattern: PathPattern) -> str:
        """A document's path as text/paths.py compares it."""
        end = "" if pattern.folder else " || '/'"
        return f"'/' || ltrim(replace(lower(d.path), '\\', '/'), '/'){end}"

    def _joined(self, parts: list[Compiled], word: str) -> Compiled:
        if not parts:
            return Compiled(self.true if word == "AND" else self.false, [])
        values = [value for part in parts for value in part.values]
        return Compiled(_chain([part.sql for part in parts], f" {word} "), values)

    def column(self, field: str) -> str:
        """The column of a field; only what the field table declares is one."""
        if field not in FIELDS:
            raise ValueError(field)
        return f"d.{field}"

    @abstractmethod
    def one_of(self, condition: OneOf) -> Compiled:
        """That a field is one of some values."""

    @abstractmethod
    def meta(self, condition: Meta) -> Compiled:
        """That the front matter says something."""

    @abstractmethod
    def tagged(self, condition: Tagged) -> Compiled:
        """That a document has all, or any, of some tags."""

    @abstractmethod
    def in_role(self, condition: InRole) -> Compiled:
        """That it is meant for a role, or for all."""

    @abstractmethod
    def under(self, condition: Under) -> Compiled:
        """That it lies below another one."""

    @abstractmethod
    def place_in(self, subject: str) -> str:
        """Where a text stands in another one, from 1; 0 for nowhere."""

    @abstractmethod
    def like_path(self, pattern: PathPattern) -> Compiled:
        """That its path is one that a pattern with wildcards means."""

    @abstractmethod
    def in_session(self, condition: InSession) -> Compiled:
        """That it took part in a session."""

    @abstractmethod
    def of_document(self, condition: Compiled) -> Compiled:
        """A condition on a chunk's document."""

    @abstractmethod
    def containing(self, word: Word) -> Compiled:
        """That a chunk has a word."""


_METHODS = {
    Compare: "_compare",
    Meta: "meta",
    OneOf: "one_of",
    Tagged: "tagged",
    InRole: "in_role",
    Under: "under",
    InPath: "_in_path",
    InSession: "in_session",
    Visible: "_visible",
    Not: "_not",
    AllOf: "_all",
    AnyOf: "_any",
}


def _negated(part: Compiled) -> Compiled:
    return Compiled(f"NOT {part.sql}", part.values)


def _chain(parts: list[str], joint: str) -> str:
    """Parts in brackets; many of them in halves, since SQLite bounds how deep an expression is
    and takes a chain for one level a part."""
    if len(parts) > LONG_CHAIN:
        half = len(parts) // 2
        parts = [_chain(parts[:half], joint), _chain(parts[half:], joint)]
    return "(" + joint.join(parts) + ")"
