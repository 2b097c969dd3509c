"""Conditions and words as SQLite's SQL."""

from collections.abc import Sequence

from knowbase.query.conditions import (
    Compare,
    Condition,
    InRole,
    InSession,
    Meta,
    OneOf,
    Tagged,
    Under,
    ascii_lower,
)
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.compile import Compiled, Compiler
from knowbase.store.sqlite.packing import digest
from knowbase.text.analysis import Word
from knowbase.text.paths import PathPattern


class SqliteCompiler(Compiler):
    def _compare(self, condition: Compare) -> Compiled:
        if (condition.field, condition.operator) != ("content_hash", "="):
            return super()._compare(condition)
        wanted = digest(str(condition.value))  # found by its first bytes, as a chunk's is
        test = "(substr(d.content_hash, 1, 8) = ? AND d.content_hash = ?)"
        return Compiled(test, [wanted[:8], wanted])

    def one_of(self, condition: OneOf) -> Compiled:
        column, places = self.column(condition.field), _places(len(condition.values))
        test = f"({column} IS NOT NULL AND {column} IN ({places}))"  # as indexes can be asked
        return Compiled(test, list(condition.values))

    def meta(self, condition: Meta) -> Compiled:
        found = [_meta_at(keys, condition) for keys in condition.keys]
        return self._joined(found, "OR")

    def tagged(self, condition: Tagged) -> Compiled:
        sql, values = _having_tags(condition)
        return Compiled(f"d.seq IN ({sql})", values)

    def in_role(self, condition: InRole) -> Compiled:
        sql = "EXISTS (SELECT 1 FROM json_each(d.roles) WHERE value IN (?, 'all'))"
        return Compiled(sql, [condition.role])

    def under(self, condition: Under) -> Compiled:
        """UNION drops what was seen before, so that a cycle ends."""
        names = _places(len(condition.names))
        children = f"SELECT seq, code, id, path FROM documents WHERE parent IN ({names})"
        if condition.direct:
            return Compiled(f"d.seq IN (SELECT seq FROM ({children}))", list(condition.names))
        return Compiled(
            f"d.seq IN (WITH RECURSIVE below(seq, code, id, path) AS ({children} UNION"
            " SELECT e.seq, e.code, e.id, e.path FROM below b JOIN documents e"
            " ON e.parent IN (b.code, b.id, b.path)) SELECT seq FROM below)",
            list(condition.names),
        )

    def place_in(self, subject: str) -> str:
        return f"instr({subject}, ?)"

    def like_path(self, pattern: PathPattern) -> Compiled:
        test = "(d.path IS NOT NULL AND path_matches(?, d.path))"
        return Compiled(test, [str(pattern)])

    def in_session(self, condition: InSession) -> Compiled:
        if condition.made:
            return Compiled("d.seq IN (SELECT document FROM uses WHERE usage = 'created')", [])
        sql = "d.seq IN (SELECT document FROM uses WHERE session = ?)"
        return Compiled(sql, [condition.session])

    def of_document(self, condition: Compiled) -> Compiled:
        sql = f"c.document IN (SELECT d.seq FROM documents d WHERE {condition.sql})"
        return Compiled(sql, condition.values)

    def containing(self, word: Word) -> Compiled:
        sql = "c.id IN (SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?)"
        return Compiled(sql, [match_expression(KeywordQuery((word,)))])


_COMPILER = SqliteCompiler()


def compile_condition(condition: Condition) -> Compiled:
    """The condition over `documents AS d`."""
    return _COMPILER.condition(condition)


def listing(condition: Condition) -> Compiled:
    """The query for the documents that meet a condition, out of an index where one has them."""
    if isinstance(condition, Tagged):
        return _having_tags(condition)
    if isinstance(condition, OneOf):  # never NULL is asked of what may be denied
        column, places = _COMPILER.column(condition.field), _places(len(condition.values))
        test = Compiled(f"{column} IN ({places})", list(condition.values))
    else:
        test = compile_condition(condition)
    return Compiled(f"SELECT d.seq AS seq FROM documents d WHERE {test.sql}", test.values)


def compile_for_chunks(condition: Condition) -> Compiled:
    """The condition over `chunks AS c`."""
    return _COMPILER.for_chunks(condition)


def match_expression(query: KeywordQuery) -> str:
    """The query for FTS5; each word reaches the index only as a quoted string."""
    joint = " AND " if query.match == "all" else " OR "
    return expression([word for word, _ in query.weighed], joint)


def expression(words: Sequence[Word], joint: str = " OR ") -> str:
    return joint.join(_quoted(word.surface) + "*" * word.prefix for word in words)


def by_column(weights: FieldWeights) -> tuple[float, ...]:
    """In the order of the text index: the text is first, where FTS5 need not say in which column
    a word stands."""
    return weights.text, weights.title, weights.heading, weights.terms


def _quoted(text: str) -> str:
    """FTS5 reads a query as a C string: a NUL would end it."""
    return '"' + text.replace('"', '""').replace("\0", " ") + '"'


def _meta_at(keys: tuple[str, ...], condition: Meta) -> Compiled:
    """Each key is looked for in what the one before holds; json_each lists an object."""
    sources = ["json_each(d.metadata) m0"]
    for depth in range(1, len(keys)):
        above = f"m{depth - 1}"
        sources.append(f"json_each(iif({above}.type = 'object', {above}.value, '{{}}')) m{depth}")
    last = f"m{len(keys) - 1}"
    itself, given = _meta_test(last, condition)
    item, _ = _meta_test("i", condition)
    named = " AND ".join(f"lower(m{depth}.key) = ?" for depth in range(len(keys)))
    items = f"json_each(iif({last}.type = 'array', {last}.value, '[]')) i"
    return Compiled(
        f"EXISTS (SELECT 1 FROM {', '.join(sources)} WHERE {named}"
        f" AND ({itself} OR EXISTS (SELECT 1 FROM {items} WHERE {item})))",
        [*keys, *given, *given],
    )


def _meta_test(row: str, condition: Meta) -> tuple[str, list[str | float]]:
    """A test of a row of json_each, and its parameters."""
    if condition.operator == "present":
        nothing = "('null')" if row == "i" else "('null', 'array')"
        return f"{row}.type NOT IN {nothing}", []
    if not isinstance(condition.value, str):
        test = f"{row}.type IN ('integer', 'real') AND {row}.value {condition.operator} ?"
        return f"({test})", [condition.value]
    if condition.operator != "=":
        day = "GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'"
        test = f"{row}.value {day} AND {row}.value {condition.operator} ?"
        return f"({row}.type = 'text' AND {test})", [condition.value]
    text = ascii_lower(condition.value)
    flags = f"({row}.type IN ('true', 'false') AND {row}.type = ?)"
    return f"({row}.type = 'text' AND lower({row}.value) = ? OR {flags})", [text, text]


def _having_tags(condition: Tagged) -> Compiled:
    names = sorted(set(condition.tags))
    wanted = len(names) if condition.match == "all" else 1
    sql = f"SELECT document AS seq FROM tags WHERE name IN ({_places(len(names))})"
    if len(names) == 1:
        return Compiled(sql, names)
    return Compiled(f"{sql} GROUP BY document HAVING count(*) >= ?", [*names, wanted])


def _places(number: int) -> str:
    return ", ".join("?" * number)
