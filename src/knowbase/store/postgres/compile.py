"""Conditions as PostgreSQL's SQL."""

from collections.abc import Callable
from typing import Any, TypeAlias

from psycopg import sql

from knowbase.query.conditions import (
    Condition,
    InRole,
    InSession,
    Meta,
    OneOf,
    Tagged,
    Under,
    ascii_lower,
)
from knowbase.store.compile import Compiled, Compiler
from knowbase.text.analysis import Word
from knowbase.text.paths import PathPattern, expression

Statement: TypeAlias = tuple[sql.Composable, list[Any]]
"""An SQL expression that can be put into a statement, and its parameters."""

Apart: TypeAlias = Callable[[Compiled], Compiled]
"""What to say instead of a test that a worker of a cluster cannot make: it is made first."""


def _as_it_is(test: Compiled) -> Compiled:
    return test


class _PostgresCompiler(Compiler):
    place = "%s"
    true, false = "true", "false"

    def __init__(
        self,
        having: Callable[[Word], Compiled] | None = None,
        apart: Apart | None = None,
    ) -> None:
        self._having = having
        self._apart = apart or _as_it_is

    def one_of(self, condition: OneOf) -> Compiled:
        column = self.column(condition.field)
        test = f"({column} IS NOT NULL AND {column} = ANY(%s))"
        return Compiled(test, [list(condition.values)])

    def meta(self, condition: Meta) -> Compiled:
        found = [_meta_at(keys, condition) for keys in condition.keys]
        return self._apart(self._joined(found, "OR"))

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
        names = [[ascii_lower(name) for name in condition.names]]
        if condition.direct:
            return self._apart(Compiled(f"d.seq IN (SELECT seq FROM ({children}) c)", names))
        walk = Compiled(
            f"d.seq IN (WITH RECURSIVE below AS ({children} UNION"
            " SELECT e.base_id, e.seq, e.code_key, lower(e.id), lower(e.path) FROM below b"
            " JOIN documents e ON e.base_id = b.base_id"
            " AND e.parent_key IN (b.code_key, b.id, b.path)) SELECT seq FROM below)",
            names,
        )
        return self._apart(walk)

    def place_in(self, subject: str) -> str:
        return f"strpos({subject}, %s)"

    def like_path(self, pattern: PathPattern) -> Compiled:
        test = f"(d.path IS NOT NULL AND ({self.path_subject(pattern)}) ~ %s)"
        return Compiled(test, [expression(pattern, atomic=False)])

    def in_session(self, condition: InSession) -> Compiled:
        test = "u.usage = 'created'" if condition.made else "u.session = %s"
        used = Compiled(
            "EXISTS (SELECT 1 FROM uses u WHERE u.base_id = d.base_id AND u.document = d.seq"
            f" AND {test})",
            [] if condition.made else [condition.session],
        )
        return self._apart(used)

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


def compile_condition(condition: Condition, apart: Apart | None = None) -> Statement:
    """The condition over `documents AS d`."""
    compiled = _PostgresCompiler(apart=apart).condition(condition)
    return sql.SQL(compiled.sql), compiled.values


def compile_for_chunks(
    condition: Condition,
    having: Callable[[Word], Compiled],
    apart: Apart | None = None,
) -> Statement:
    """The condition over `chunks AS c`; `having` says which chunks have a word."""
    compiled = _PostgresCompiler(having, apart).for_chunks(condition)
    return sql.SQL(compiled.sql), compiled.values


def _meta_at(keys: tuple[str, ...], condition: Meta) -> Compiled:
    """Each key is looked for in what the one before holds."""
    sources = ["jsonb_each(d.metadata::jsonb) m0"]
    for depth in range(1, len(keys)):
        above = f"m{depth - 1}.value"
        inside = _if(above, "object", above, "'{}'")
        sources.append(f"LATERAL jsonb_each({inside}) m{depth}")
    last = f"m{len(keys) - 1}.value"
    items = _if(last, "array", last, f"jsonb_build_array({last})")
    named = " AND ".join(f'lower(m{depth}.key COLLATE "C") = %s' for depth in range(len(keys)))
    test, given = _meta_test(condition)
    return Compiled(
        f"EXISTS (SELECT 1 FROM {', '.join(sources)},"
        f" LATERAL jsonb_array_elements({items}) i WHERE {named} AND {test})",
        [*keys, *given],
    )


def _if(value: str, kind: str, then: str, otherwise: str) -> str:
    return f"CASE WHEN jsonb_typeof({value}) = '{kind}' THEN {then} ELSE {otherwise} END"


def _meta_test(condition: Meta) -> tuple[str, list[str]]:
    """A test of `i.value`, and its parameters."""
    text = "(i.value #>> '{}') COLLATE \"C\""
    if condition.operator == "present":
        return "jsonb_typeof(i.value) <> 'null'", []
    if not isinstance(condition.value, str):
        # As text: no number is too large for it, and none loses a digit on its way.
        number = f"(i.value #>> '{{}}')::numeric {condition.operator} %s::numeric"
        return _if("i.value", "number", number, "false"), [repr(condition.value)]
    if condition.operator != "=":
        test = f"{text} ~ '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}' AND {text} {condition.operator} %s"
        return f"(jsonb_typeof(i.value) = 'string' AND {test})", [condition.value]
    kinds = "jsonb_typeof(i.value) IN ('string', 'boolean')"
    return f"({kinds} AND lower({text}) = %s)", [ascii_lower(condition.value)]
