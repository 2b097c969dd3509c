"""Reading documents, and what a base holds of them."""

from collections.abc import Collection, Hashable, Sequence
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Composable

from knowbase.query.conditions import EVERYTHING, FORGOTTEN, Condition, Not, both, is_everything
from knowbase.store.postgres import gathering, rows
from knowbase.store.postgres.cluster import apart, together
from knowbase.store.postgres.compile import compile_condition
from knowbase.store.postgres.connection import Connected, find_model
from knowbase.store.postgres.vector_tables import vector_table
from knowbase.values.documents import Counts, Document, Page, Passage, seq_of
from knowbase.values.vectors import Model

_ORDERS = {
    "newest": SQL("d.updated_at DESC, d.seq"),
    "created": SQL("d.created_at, d.seq"),
    "created last": SQL("d.created_at DESC, d.seq DESC"),
    "expires": SQL("d.expires_at, d.seq"),
}
_DOCUMENTS = f"SELECT {rows.DOCUMENT} FROM documents d WHERE d.base_id = %s AND "
_CHUNKS = "chunks c JOIN documents d ON d.base_id = c.base_id AND d.seq = c.document"
MOST_ROWS = 2**62


class PostgresDocuments(Connected):
    """The reading of `knowbase.store.contract.DocumentStore`."""

    _covered_at: tuple[tuple[int, Model], str] | None = None  # when every chunk had a vector

    def find(self, reference: str) -> Document | None:
        found = self._read(
            SQL(
                _DOCUMENTS + "(d.id = %s OR d.code_key = lower(%s) OR d.path = %s OR d.seq = %s)"
                " ORDER BY (d.id = %s) DESC, (d.code_key = lower(%s)) DESC,"
                " coalesce(d.path = %s, false) DESC LIMIT 1"
            ),
            (
                *(self._base, reference, reference, reference),
                seq_of(reference),
                *(reference, reference, reference),
            ),
        )
        return rows.document(found[0]) if found else None

    def documents(self, condition: Condition, page: Page) -> list[Document]:
        test, values = compile_condition(condition)
        query = SQL(_DOCUMENTS + "{} ORDER BY {} LIMIT %s OFFSET %s")
        found = self._read(
            query.format(test, _ORDERS[page.order]),
            (self._base, *values, min(page.limit, MOST_ROWS), page.offset),
        )
        return [rows.document(row) for row in found]

    def count(self, condition: Condition) -> int:
        test, values = compile_condition(condition)
        query = SQL("SELECT count(*) FROM documents d WHERE d.base_id = %s AND {}").format(test)
        return int(self._read(query, (self._base, *values))[0][0])

    def chunks(self, document: str) -> list[Passage]:
        found = self._read(
            SQL(
                f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM documents d JOIN chunks c"
                " ON c.base_id = d.base_id AND c.document = d.seq"
                " WHERE d.base_id = %s AND d.id = %s ORDER BY c.position"
            ),
            (self._base, document),
        )
        return [rows.passage(row) for row in found]

    def codes(self) -> list[str]:
        found = self._read(
            SQL(
                "SELECT code FROM documents WHERE base_id = %s AND deleted_at IS NULL ORDER BY seq"
            ),
            (self._base,),
        )
        return [code for (code,) in found]

    def tags(self, condition: Condition) -> list[tuple[str, int]]:
        test, values = compile_condition(condition)
        query = SQL(
            "SELECT tag, count(*) FROM documents d, unnest(d.tags) AS tag"
            " WHERE d.base_id = %s AND {} GROUP BY tag ORDER BY count(*) DESC, tag"
        )
        return [
            (tag, number) for tag, number in self._read(query.format(test), (self._base, *values))
        ]

    def projects(self, condition: Condition) -> list[tuple[str, int]]:
        test, values = compile_condition(condition)
        query = SQL(
            "SELECT d.project, count(*) FROM documents d WHERE d.base_id = %s"
            " AND d.project IS NOT NULL AND {} GROUP BY d.project"
            " ORDER BY count(*) DESC, d.project"
        )
        return [
            (name, number) for name, number in self._read(query.format(test), (self._base, *values))
        ]

    def meta_keys(self, condition: Condition) -> list[tuple[str, int]]:
        test, values = compile_condition(condition)
        query = SQL(
            "SELECT m.key, count(*) FROM documents d, jsonb_object_keys(d.metadata::jsonb) m(key)"
            " WHERE d.base_id = %s AND {} GROUP BY m.key"
            ' ORDER BY count(*) DESC, m.key COLLATE "C"'
        )
        return [
            (name, number) for name, number in self._read(query.format(test), (self._base, *values))
        ]

    def openings(self, documents: Collection[str]) -> dict[str, str]:
        wanted = (self._base, list(documents))

        def read(connection: Connection) -> dict[str, str]:
            known = connection.execute(
                "SELECT id, '' FROM documents WHERE base_id = %s AND id = ANY(%s)", wanted
            ).fetchall()
            first = connection.execute(
                "SELECT DISTINCT ON (d.seq) d.id, c.text FROM documents d JOIN chunks c"
                " ON c.base_id = d.base_id AND c.document = d.seq"
                " WHERE d.base_id = %s AND d.id = ANY(%s) ORDER BY d.seq, c.position",
                wanted,
            ).fetchall()
            return dict(known) | dict(first)

        return self._connections.consistently(read)

    def heads(self, documents: Collection[str]) -> dict[str, Document]:
        """Each chain is followed by names, as front matter has them; UNION ends a circle."""
        named = (
            "(SELECT n.seq FROM documents n WHERE n.base_id = %s"
            " AND (n.id = {0} OR n.code_key = lower({0}) OR n.path = {0})"
            " ORDER BY (n.id = {0}) DESC, (n.code_key = lower({0})) DESC LIMIT 1)"
        )
        found = self._read(
            SQL(
                "WITH RECURSIVE chain (start, seq, next) AS ("
                " SELECT d.id, d.seq, d.superseded_by FROM documents d WHERE d.base_id = %s"
                " AND d.id = ANY(%s) AND d.superseded_by IS NOT NULL"
                " UNION SELECT c.start, e.seq, e.superseded_by FROM chain c JOIN documents e"
                f" ON e.base_id = %s AND e.seq = {named.format('c.next')})"
                f" SELECT c.start, {rows.DOCUMENT} FROM chain c JOIN documents d"
                " ON d.base_id = %s AND d.seq = c.seq WHERE d.id <> c.start"
                " AND d.deleted_at IS NULL"
                f" AND {named.format('c.next')} IS NULL"
            ),
            (self._base, list(documents), self._base, self._base, self._base, self._base),
        )
        return {row[0]: rows.document(row[1:]) for row in found}

    def heaviest(self, condition: Condition, limit: int) -> list[tuple[str, int]]:
        query = SQL(
            "SELECT d.id, count(*), d.seq FROM chunks c JOIN documents d ON d.base_id = c.base_id"
            " AND d.seq = c.document WHERE d.base_id = %s AND {} GROUP BY d.seq, d.id"
            " ORDER BY count(*) DESC, d.seq LIMIT %s"
        )

        def read(connection: Connection) -> list[tuple[str, int]]:
            test, values = compile_condition(condition, apart(connection, self._base))
            found = gathering.rows(connection, query.format(test), (self._base, *values, limit))
            found.sort(key=lambda row: (-row[1], row[2]))
            return [(document, number) for document, number, _ in found[:limit]]

        return self._connections.run(read)

    def counts(self, condition: Condition = EVERYTHING) -> Counts:
        shown = both(Not(FORGOTTEN), condition)
        documents, forgotten = self.count(shown), self.count(both(FORGOTTEN, condition))
        chunks, embedded = self._covered(condition)
        test, values = compile_condition(shown)
        where = SQL("WHERE d.base_id = %s AND {}").format(test)
        tags = self._read(
            SQL("SELECT count(DISTINCT t) FROM documents d, unnest(d.tags) AS t {}").format(where),
            (self._base, *values),
        )[0][0]
        types = self._read(
            SQL("SELECT d.type, count(*) FROM documents d {} GROUP BY 1 ORDER BY 2 DESC, 1").format(
                where
            ),
            (self._base, *values),
        )
        return Counts(documents, chunks, embedded, tags, dict(types), forgotten)

    def generation(self) -> Hashable:
        """Every writer renews the row of its base, or the one of its graph, and nobody sees that
        before it is committed."""
        query = SQL(
            "SELECT b.xmin::text, g.xmin::text FROM bases b LEFT JOIN graph g ON g.base_id = b.id"
            " WHERE b.id = %s"
        )
        return tuple(map(tuple, self._read(query, (self._base,))))

    def digest(self, condition: Condition = EVERYTHING) -> str:
        test, values = compile_condition(condition)
        query = SQL(
            "SELECT coalesce(md5(string_agg(concat_ws(' ', d.seq, d.updated_at,"
            " encode(d.seal, 'hex'), encode(d.text_seal, 'hex')), ',' ORDER BY d.seq)), '')"
            " FROM documents d WHERE d.base_id = %s AND {}"
        ).format(test)
        return str(self._read(query, (self._base, *values))[0][0])

    def semantic_coverage(self, condition: Condition = EVERYTHING) -> float:
        chunks, embedded = self._covered(condition)
        return embedded / chunks if chunks else 1.0

    def _covered(self, condition: Condition) -> tuple[int, int]:
        """How many chunks pass, and how many of them have a vector of the active model."""

        def covered(connection: Connection) -> tuple[int, int]:
            known = find_model(connection, self._base)
            chunks = self._chunk_count(connection, condition)
            if known is None:
                return chunks, 0
            if not is_everything(condition):
                return chunks, self._embedded_by(connection, *known, condition)
            state = (known, self._written(connection))
            if state == self._covered_at:
                return chunks, chunks
            embedded = self._embedded_by(connection, *known)
            if state[1] and embedded == chunks and not gathering.is_partial(connection):
                self._covered_at = state
            return chunks, embedded

        return self._connections.consistently(covered)

    def _written(self, connection: Connection) -> str:
        """Another one after each change of chunks, without which no vector is lost: their counts
        are kept in this row. To count all vectors for each search takes longer than the search.
        Nothing where that cannot be told."""
        row = connection.execute(
            "SELECT xmin::text FROM bases WHERE id = %s", (self._base,)
        ).fetchone()
        return str(row[0]) if row else ""

    def _chunk_count(self, connection: Connection, condition: Condition) -> int:
        if is_everything(condition) and not gathering.is_partial(connection):
            query = "SELECT chunks FROM bases WHERE id = %s"
            row = connection.execute(query, (self._base,)).fetchone()
            return int(row[0]) if row else 0
        test, found = compile_condition(condition, apart(connection, self._base))
        statement = SQL(f"SELECT count(*) FROM {_CHUNKS} WHERE c.base_id = %s AND {{}}")
        return _number(connection, statement.format(test), (self._base, *found))

    def _embedded_by(
        self, connection: Connection, number: int, model: Model, condition: Condition = EVERYTHING
    ) -> int:
        """How many of the chunks that pass have a vector of this model."""
        table, values = vector_table(model.dimensions), (self._base, number)
        where = "WHERE v.base_id = %s AND v.model = %s"
        if is_everything(condition):
            statement = SQL(f"SELECT count(*) FROM {{}} v {where}").format(table)
            return _number(connection, statement, values)
        test, found = compile_condition(condition, apart(connection, self._base))
        statement = SQL(
            f"SELECT count(*) FROM {_CHUNKS} JOIN {{}} v ON v.base_id = c.base_id"
            f" AND v.chunk = c.id{{}} {where} AND {{}}"
        ).format(table, together(connection, "v", "c"), test)
        return _number(connection, statement, (*values, *found))


def _number(connection: Connection, statement: Composable, values: Sequence[Any]) -> int:
    return sum(int(row[0]) for row in gathering.rows(connection, statement, values))
