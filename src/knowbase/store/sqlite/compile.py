"""Conditions and words as SQL: structure from us, every value a parameter."""

from collections.abc import Callable
from typing import Any, TypeAlias

from knowbase.query.conditions import (
    FIELDS,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Contains,
    InRole,
    InSession,
    Not,
    OneOf,
    Tagged,
    Under,
    Visible,
    has_text,
    hidden,
)
from knowbase.query.words import KeywordQuery

Compiled: TypeAlias = tuple[str, list[Any]]
LONG_CHAIN = 16
"""An SQL expression over `documents AS d`, and its parameters."""


def compile_condition(condition: Condition) -> Compiled:
    """The condition as an expression that is never NULL."""
    return _COMPILERS[type(condition)](condition)


def _compare(condition: Compare) -> Compiled:
    column = _column(condition.field)
    if condition.operator == "present":
        return f"{column} IS NOT NULL", []
    return f"({column} IS NOT NULL AND {column} {condition.operator} ?)", [condition.value]


def _one_of(condition: OneOf) -> Compiled:
    places = ", ".join("?" * len(condition.values))
    return f"coalesce({_column(condition.field)} IN ({places}), 0)", list(condition.values)


def _tagged(condition: Tagged) -> Compiled:
    names = sorted(set(condition.tags))
    wanted = len(names) if condition.match == "all" else 1
    return (
        f"d.seq IN (SELECT document FROM tags WHERE name IN ({', '.join('?' * len(names))})"
        " GROUP BY document HAVING count(*) >= ?)",
        [*names, wanted],
    )


def _in_role(condition: InRole) -> Compiled:
    return "EXISTS (SELECT 1 FROM json_each(d.roles) WHERE value IN (?, 'all'))", [condition.role]


def _under(condition: Under) -> Compiled:
    """UNION drops what was seen before, so that a cycle ends."""
    names = ", ".join("?" * len(condition.names))
    children = f"SELECT seq, code, id, path FROM documents WHERE parent IN ({names})"
    if condition.direct:
        return f"d.seq IN (SELECT seq FROM ({children}))", list(condition.names)
    return (
        f"d.seq IN (WITH RECURSIVE below(seq, code, id, path) AS ({children} UNION"
        " SELECT e.seq, e.code, e.id, e.path FROM below b JOIN documents e"
        " ON e.parent IN (b.code, b.id, b.path)) SELECT seq FROM below)",
        list(condition.names),
    )


def _in_session(condition: InSession) -> Compiled:
    return "d.seq IN (SELECT document FROM uses WHERE session = ?)", [condition.session]


def _visible(condition: Visible) -> Compiled:
    return compile_condition(Not(hidden(condition)))


def _not(condition: Not) -> Compiled:
    sql, values = compile_condition(condition.part)
    return f"NOT {sql}", values


def _joined(word: str, when_empty: str) -> Callable[[AllOf | AnyOf], Compiled]:
    def join(condition: AllOf | AnyOf) -> Compiled:
        compiled = [compile_condition(part) for part in condition.parts]
        if not compiled:
            return when_empty, []
        values = [value for _, part in compiled for value in part]
        return _chain([sql for sql, _ in compiled], f" {word} "), values

    return join


def _chain(parts: list[str], joint: str) -> str:
    """Parts in brackets; many of them in halves, since SQLite bounds how deep an expression is
    and takes a chain for one level a part."""
    if len(parts) > LONG_CHAIN:
        half = len(parts) // 2
        parts = [_chain(parts[:half], joint), _chain(parts[half:], joint)]
    return "(" + joint.join(parts) + ")"


def _column(field: str) -> str:
    if field not in FIELDS:
        raise ValueError(field)
    return f"d.{field}"


_COMPILERS: dict[type, Callable[[Any], Compiled]] = {
    Compare: _compare,
    OneOf: _one_of,
    Tagged: _tagged,
    InRole: _in_role,
    Under: _under,
    InSession: _in_session,
    Visible: _visible,
    Not: _not,
    AllOf: _joined("AND", "1"),
    AnyOf: _joined("OR", "0"),
}


def compile_for_chunks(condition: Condition) -> Compiled:
    """The condition over `chunks AS c`; what concerns documents alone becomes a subquery."""
    if not has_text(condition):
        sql, values = compile_condition(condition)
        return f"c.document IN (SELECT d.seq FROM documents d WHERE {sql})", values
    if isinstance(condition, Contains):
        match = match_expression(KeywordQuery((condition.word,)))
        return "c.id IN (SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?)", [match]
    if isinstance(condition, Not):
        sql, values = compile_for_chunks(condition.part)
        return f"NOT {sql}", values
    joined = " AND " if isinstance(condition, AllOf) else " OR "
    parts = [compile_for_chunks(part) for part in condition.parts]  # type: ignore[union-attr]
    values = [value for _, part in parts for value in part]
    return _chain([sql for sql, _ in parts], joined), values


def match_expression(query: KeywordQuery) -> str:
    """The query for FTS5; each word reaches the index only as a quoted string."""
    joint = " AND " if query.match == "all" else " OR "
    return joint.join(_quoted(word.surface) + "*" * word.prefix for word in query.words)


def _quoted(text: str) -> str:
    """FTS5 reads a query as a C string: a NUL would end it."""
    return '"' + text.replace('"', '""').replace("\0", " ") + '"'
