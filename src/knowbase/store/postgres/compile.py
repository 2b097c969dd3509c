"""Conditions as PostgreSQL's SQL."""

from collections.abc import Callable
from typing import Any, TypeAlias

from psycopg import sql

from knowbase.query.conditions import Condition, InRole, InSession, OneOf, Tagged, Under
from knowbase.store.compile import Compiled, Compiler
from knowbase.text.analysis import Word
from knowbase.text.paths import PathPattern, expression

Statement: TypeAlias = tuple[sql.Composable, list[Any]]
"""An SQL expression that can be put into a statement, and its parameters."""


class _PostgresCompiler(Compiler):
    place = "%s"
    true, false = "true", "false"

    def __init__(self, having: Callable[[Word], Compiled] | None = None) -> None:
        self._having = having

    def one_of(self, condition: OneOf) -> Compiled:
        column = self.column(condition.field)
        test = f"({column} IS NOT NULL AND {column} = ANY(%s))"
        return Compiled(test, [list(condition.values)])

    def tagged(self, condition: Tagged) -> Compiled:
        sign = "@>" if condition.match == "all" else "&&"
        return Compiled(f"d.tags {sign} %s::text[]", [list(condition.tags)])

    def in_role(self, condition: InRole) -> Compiled:
        return Compiled("d.roles && %s::text[]", [[condition.role, "all"]])

    def under(self, condition: Under) -> Compiled:
        """UNION drops what was seen before, so that a cycle ends."""
        children = (
            "SELECT base_id, seq, code_key, lower(id) AS id, lower(path) AS path FROM documents"
            " WHERE base_id = d.base_id AND parent_key = ANY(%s)"
        )
        names = [[_lower(name) for name in condition.names]]
        if condition.direct:
            return Compiled(f"d.seq IN (SELECT seq FROM ({children}) c)", names)
        return Compiled(
            f"d.seq IN (WITH RECURSIVE below AS ({children} UNION"
            " SELECT e.base_id, e.seq, e.code_key, lower(e.id), lower(e.path) FROM below b"
            " JOIN documents e ON e.base_id = b.base_id"
            " AND e.parent_key IN (b.code_key, b.id, b.path)) SELECT seq FROM below)",
            names,
        )

    def place_in(self, subject: str) -> str:
        return f"strpos({subject}, %s)"

    def like_path(self, pattern: PathPattern) -> Compiled:
        test = f"(d.path IS NOT NULL AND ({self.path_subject(pattern)}) ~ %s)"
        return Compiled(test, [expression(pattern, atomic=False)])

    def in_session(self, condition: InSession) -> Compiled:
        return Compiled(
            "EXISTS (SELECT 1 FROM uses u WHERE u.base_id = d.base_id AND u.document = d.seq"
            " AND u.session = %s)",
            [condition.session],
        )

    def of_document(self, condition: Compiled) -> Compiled:
        return Compiled(
            "EXISTS (SELECT 1 FROM documents d WHERE d.base_id = c.base_id"
            f" AND d.seq = c.document AND {condition.sql})",
            condition.values,
        )

    def containing(self, word: Word) -> Compiled:
        if self._having is None:
            raise TypeError("this compiler knows documents alone")
        return self._having(word)


_COMPILER = _PostgresCompiler()


def compile_condition(condition: Condition) -> Statement:
    """The condition over `documents AS d`."""
    compiled = _COMPILER.condition(condition)
    return sql.SQL(compiled.sql), compiled.values


def compile_for_chunks(condition: Condition, having: Callable[[Word], Compiled]) -> Statement:
    """The condition over `chunks AS c`; `having` says which chunks have a word."""
    compiled = _PostgresCompiler(having).for_chunks(condition)
    return sql.SQL(compiled.sql), compiled.values


def _lower(text: str) -> str:
    """ASCII letters alone, as both engines compare codes."""
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)
