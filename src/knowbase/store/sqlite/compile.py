"""Conditions and words as SQL: structure from us, every value a parameter."""

from collections.abc import Callable
from typing import Any, TypeAlias

from knowbase.query.conditions import (
    FIELDS,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Not,
    OneOf,
    Tagged,
    Visible,
    hidden,
)
from knowbase.query.words import KeywordQuery

Compiled: TypeAlias = tuple[str, list[Any]]
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
        return "(" + f" {word} ".join(sql for sql, _ in compiled) + ")", values

    return join


def _column(field: str) -> str:
    if field not in FIELDS:
        raise ValueError(field)
    return f"d.{field}"


_COMPILERS: dict[type, Callable[[Any], Compiled]] = {
    Compare: _compare,
    OneOf: _one_of,
    Tagged: _tagged,
    Visible: _visible,
    Not: _not,
    AllOf: _joined("AND", "1"),
    AnyOf: _joined("OR", "0"),
}


def match_expression(query: KeywordQuery) -> str:
    """The query for FTS5; each word reaches the index only as a quoted string."""
    joint = " AND " if query.match == "all" else " OR "
    return joint.join(_quoted(word.surface) + "*" * word.prefix for word in query.words)


def _quoted(text: str) -> str:
    """FTS5 reads a query as a C string: a NUL would end it."""
    return '"' + text.replace('"', '""').replace("\0", " ") + '"'
