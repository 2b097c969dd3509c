"""Conditions as SQL: structure from us, every value a parameter."""

from collections.abc import Callable
from typing import Any, TypeAlias

from psycopg import sql

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
from knowbase.text.analysis import Word

Compiled: TypeAlias = tuple[sql.Composable, list[Any]]
"""An SQL expression over `documents AS d`, and its parameters."""

SQL = sql.SQL
_COMPARE = {sign: SQL(sign) for sign in ("=", "<", "<=", ">", ">=")}


def compile_condition(condition: Condition) -> Compiled:
    """The condition as an expression that is never NULL."""
    return _COMPILERS[type(condition)](condition)


def _compare(condition: Compare) -> Compiled:
    column = _column(condition.field)
    if condition.operator == "present":
        return SQL("{} IS NOT NULL").format(column), []
    test = SQL("({0} IS NOT NULL AND {0} {1} %s)").format(column, _COMPARE[condition.operator])
    return test, [condition.value]


def _one_of(condition: OneOf) -> Compiled:
    test = SQL("({0} IS NOT NULL AND {0} = ANY(%s))").format(_column(condition.field))
    return test, [list(condition.values)]


def _tagged(condition: Tagged) -> Compiled:
    sign = SQL("@>") if condition.match == "all" else SQL("&&")
    return SQL("d.tags {} %s::text[]").format(sign), [list(condition.tags)]


def _in_role(condition: InRole) -> Compiled:
    return SQL("d.roles && %s::text[]"), [[condition.role, "all"]]


def _under(condition: Under) -> Compiled:
    """UNION drops what was seen before, so that a cycle ends."""
    children = (
        "SELECT base_id, seq, code_key, lower(id) AS id, lower(path) AS path FROM documents"
        " WHERE base_id = d.base_id AND parent_key = ANY(%s)"
    )
    names = [[_lower(name) for name in condition.names]]
    if condition.direct:
        return SQL(f"d.seq IN (SELECT seq FROM ({children}) c)"), names
    return (
        SQL(
            f"d.seq IN (WITH RECURSIVE below AS ({children} UNION"
            " SELECT e.base_id, e.seq, e.code_key, lower(e.id), lower(e.path) FROM below b"
            " JOIN documents e ON e.base_id = b.base_id"
            " AND e.parent_key IN (b.code_key, b.id, b.path)) SELECT seq FROM below)"
        ),
        names,
    )


def _lower(text: str) -> str:
    """ASCII letters alone, as both engines compare codes."""
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


def _in_session(condition: InSession) -> Compiled:
    return (
        SQL(
            "EXISTS (SELECT 1 FROM uses u WHERE u.base_id = d.base_id AND u.document = d.seq"
            " AND u.session = %s)"
        ),
        [condition.session],
    )


def _visible(condition: Visible) -> Compiled:
    return compile_condition(Not(hidden(condition)))


def _not(condition: Not) -> Compiled:
    test, values = compile_condition(condition.part)
    return SQL("NOT {}").format(test), values


def _joined(word: str, when_empty: str) -> Callable[[AllOf | AnyOf], Compiled]:
    def join(condition: AllOf | AnyOf) -> Compiled:
        compiled = [compile_condition(part) for part in condition.parts]
        return _together(compiled, word, when_empty)

    return join


def _together(compiled: list[Compiled], word: str, when_empty: str) -> Compiled:
    if not compiled:
        return SQL(when_empty), []
    tests = SQL(word).join([test for test, _ in compiled])
    return SQL("({})").format(tests), [value for _, values in compiled for value in values]


def _column(field: str) -> sql.Composable:
    if field not in FIELDS:
        raise ValueError(field)
    return SQL("d.{}").format(sql.Identifier(field))


_COMPILERS: dict[type, Callable[[Any], Compiled]] = {
    Compare: _compare,
    OneOf: _one_of,
    Tagged: _tagged,
    InRole: _in_role,
    Under: _under,
    InSession: _in_session,
    Visible: _visible,
    Not: _not,
    AllOf: _joined(" AND ", "true"),
    AnyOf: _joined(" OR ", "false"),
}


def compile_for_chunks(condition: Condition, having: Callable[[Word], Compiled]) -> Compiled:
    """The condition over `chunks AS c`; `having` says which chunks have a word."""
    if not has_text(condition):
        test, values = compile_condition(condition)
        return (
            SQL(
                "EXISTS (SELECT 1 FROM documents d WHERE d.base_id = c.base_id"
                " AND d.seq = c.document AND {})"
            ).format(test),
            values,
        )
    if isinstance(condition, Contains):
        return having(condition.word)
    if isinstance(condition, Not):
        test, values = compile_for_chunks(condition.part, having)
        return SQL("NOT {}").format(test), values
    compiled = [compile_for_chunks(part, having) for part in condition.parts]  # type: ignore[union-attr]
    return _together(compiled, " AND " if isinstance(condition, AllOf) else " OR ", "true")
