"""Whether a SQLite base is sound: what SQLite finds, and whether its tables are in step."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import apsw

from knowbase.errors import BaseDamaged
from knowbase.store.sqlite.connection import translated
from knowbase.store.sqlite.damage import is_damage
from knowbase.store.sqlite.packing import TERMS
from knowbase.store.sqlite.vector_tables import vector_table
from knowbase.values.findings import DAMAGE, PROBLEM, Finding

_MOST = 20  # messages of one kind
_REPAIR = "kb repair"

_IN_STEP = (
    (
        "words", "chunks that the text index does not know",
        "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT id FROM chunks_fts_docsize)",
    ),
    (
        "words", "entries of the text index without a chunk",
        "SELECT count(*) FROM chunks_fts_docsize WHERE id NOT IN (SELECT id FROM chunks)",
    ),
    (
        "links", "documents without names",
        "SELECT count(*) FROM documents WHERE deleted_at IS NULL"
        " AND seq NOT IN (SELECT document FROM names)",
    ),
    (
        "links", "names, mentions or edges of documents that are not there",
        "SELECT (SELECT count(*) FROM names WHERE document NOT IN (SELECT seq FROM documents))"
        " + (SELECT count(*) FROM mentions WHERE document NOT IN (SELECT seq FROM documents))"
        " + (SELECT count(*) FROM edges WHERE source NOT IN (SELECT seq FROM documents)"
        " OR target NOT IN (SELECT seq FROM documents))",
    ),
    (
        "documents", "rows of documents that are not there",
        "SELECT count(*) FROM pragma_foreign_key_check",
    ),
    (
        "links", "states of the graph beside the one that there is",
        "SELECT abs((SELECT count(*) FROM graph) - 1)",
    ),
)  # fmt: skip


def findings(connection: apsw.Connection, *, deep: bool) -> Iterator[Finding]:
    yield from _integrity(connection, deep=deep)
    for part, what, sql in _IN_STEP:
        yield from _counted(connection, part, what, sql)
    try:
        models = [number for (number,) in connection.execute("SELECT id FROM models").fetchall()]
    except Exception as error:
        yield _failed("vectors", error)
        return
    for number in models:
        yield from _vectors(connection, number)
    yield from _history(connection, deep=deep)
    if deep:
        yield from _words(connection)


def _history(connection: apsw.Connection, *, deep: bool) -> Iterator[Finding]:
    """Texts that no version has any more: something erased would still be there. And whether
    what is kept is what was written."""
    from knowbase.store.sqlite import past
    from knowbase.store.versions import told

    try:
        found = past.leftovers(connection)
        changed = past.unlike(connection) if deep else 0
    except Exception as error:
        yield _failed("history", error)
        return
    yield from told(found, changed)


def _integrity(connection: apsw.Connection, *, deep: bool) -> Iterator[Finding]:
    """SQLite looks at every page and record, and FTS5 at its index."""
    pragma = "integrity_check" if deep else "quick_check"
    try:
        found = connection.execute(f"PRAGMA {pragma}({_MOST})").fetchall()
    except Exception as error:
        yield _failed("file", error)
        return
    for (said,) in found:
        if said != "ok":
            yield Finding("file", DAMAGE, f"SQLite: {said}", _REPAIR)


def _counted(connection: apsw.Connection, part: str, what: str, sql: str) -> Iterator[Finding]:
    try:
        number = connection.execute(sql).get
    except Exception as error:
        yield _failed(part, error)
        return
    if number:
        yield Finding(part, PROBLEM, f"{number} {what}", _REPAIR)


def _vectors(connection: apsw.Connection, number: Any) -> Iterator[Finding]:
    if not isinstance(number, int):
        yield Finding("vectors", DAMAGE, "a model cannot be read", _REPAIR)
        return
    table = vector_table(number)
    yield from _counted(
        connection,
        "vectors",
        "vectors without a chunk, or chunks without their vector",
        f"SELECT (SELECT count(*) FROM {table} WHERE chunk_id NOT IN"
        f" (SELECT chunk FROM embedded WHERE model = {number:d})) + (SELECT count(*) FROM embedded"
        f" WHERE model = {number:d} AND chunk NOT IN (SELECT chunk_id FROM {table}))",
    )


def _words(connection: apsw.Connection) -> Iterator[Finding]:
    """The index keeps no text: it is made once more, aside, and both are compared."""
    kept, anew = connection.cursor(), connection.cursor()
    try:
        _index_anew(connection)
        kept.execute("SELECT term, doc, col, offset FROM temp.kept_words")
        anew.execute("SELECT term, doc, col, offset FROM temp.new_words")
        same = all(one == other for one, other in zip(kept, anew, strict=True))
    except ValueError:  # one of them is longer; or it has bytes that are no text
        same = False
    except Exception as error:
        yield _failed("words", error)
        return
    finally:
        kept.close(force=True)
        anew.close(force=True)
        for table in ("kept_words", "new_words", "anew"):
            with suppress(apsw.Error):
                connection.execute(f"DROP TABLE IF EXISTS temp.{table}")
    if not same:
        yield Finding("words", DAMAGE, "the text index is not that of the texts", _REPAIR)


def _index_anew(connection: apsw.Connection) -> None:
    connection.execute(
        "CREATE VIRTUAL TABLE temp.anew USING fts5 (text, title, heading, terms, content = '',"
        " contentless_delete = 1, tokenize = 'porter unicode61');"
        "INSERT INTO temp.anew (rowid, title, heading, text, terms)"
        f" SELECT id, title, coalesce(heading, ''), plain(text), {TERMS} FROM chunks c;"
        "CREATE VIRTUAL TABLE temp.kept_words USING fts5vocab(main, chunks_fts, instance);"
        "CREATE VIRTUAL TABLE temp.new_words USING fts5vocab(temp, anew, instance)"
    )


def _failed(part: str, error: Exception) -> Finding:
    """A question that the file cannot answer, though a sound base can: these questions are
    always the same. What has nothing to do with damage, such as a lock, is raised."""
    if not isinstance(error, (ValueError, apsw.SQLError, BaseDamaged)) and not is_damage(error):
        with translated():
            raise error
    return Finding(part, DAMAGE, f"SQLite cannot read it: {error}", _REPAIR)
