"""Conditions and words as SQLite's SQL."""

from knowbase.query.conditions import Condition, InRole, InSession, OneOf, Tagged, Under
from knowbase.query.words import KeywordQuery
from knowbase.store.compile import Compiled, Compiler
from knowbase.text.analysis import Word
from knowbase.text.paths import PathPattern


class _SqliteCompiler(Compiler):
    def one_of(self, condition: OneOf) -> Compiled:
        column, places = self.column(condition.field), _places(len(condition.values))
        return Compiled(f"coalesce({column} IN ({places}), 0)", list(condition.values))

    def tagged(self, condition: Tagged) -> Compiled:
        names = sorted(set(condition.tags))
        wanted = len(names) if condition.match == "all" else 1
        return Compiled(
            f"d.seq IN (SELECT document FROM tags WHERE name IN ({_places(len(names))})"
            " GROUP BY document HAVING count(*) >= ?)",
            [*names, wanted],
        )

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
        sql = "d.seq IN (SELECT document FROM uses WHERE session = ?)"
        return Compiled(sql, [condition.session])

    def of_document(self, condition: Compiled) -> Compiled:
        sql = f"c.document IN (SELECT d.seq FROM documents d WHERE {condition.sql})"
        return Compiled(sql, condition.values)

    def containing(self, word: Word) -> Compiled:
        sql = "c.id IN (SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?)"
        return Compiled(sql, [match_expression(KeywordQuery((word,)))])


_COMPILER = _SqliteCompiler()


def compile_condition(condition: Condition) -> Compiled:
    """The condition over `documents AS d`."""
    return _COMPILER.condition(condition)


def compile_for_chunks(condition: Condition) -> Compiled:
    """The condition over `chunks AS c`."""
    return _COMPILER.for_chunks(condition)


def match_expression(query: KeywordQuery) -> str:
    """The query for FTS5; each word reaches the index only as a quoted string."""
    joint = " AND " if query.match == "all" else " OR "
    return joint.join(_quoted(word.surface) + "*" * word.prefix for word in query.words)


def _quoted(text: str) -> str:
    """FTS5 reads a query as a C string: a NUL would end it."""
    return '"' + text.replace('"', '""').replace("\0", " ") + '"'


def _places(number: int) -> str:
    return ", ".join("?" * number)
