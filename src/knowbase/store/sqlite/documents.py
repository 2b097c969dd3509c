"""Reading documents, and what a base holds of them."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from knowbase.query.conditions import EVERYTHING, FORGOTTEN, Condition, Not, both, is_everything
from knowbase.store.sqlite import rows
from knowbase.store.sqlite.compile import compile_condition
from knowbase.store.sqlite.connection import Connected, as_json, translated
from knowbase.values.documents import Counts, Document, Page, Passage, seq_of

if TYPE_CHECKING:
    from collections.abc import Hashable

_ORDERS = {
    "newest": "d.updated_at DESC, d.seq",
    "created": "d.created_at, d.seq",
    "created last": "d.created_at DESC, d.seq DESC",
    "expires": "d.expires_at, d.seq",
}


class SqliteDocuments(Connected):
    """The reading of `knowbase.store.contract.DocumentStore`."""

    def find(self, reference: str) -> Document | None:
        tries: list[tuple[str, Any]] = [
            ("d.id = ?", reference), ("d.code = ?", reference), ("d.path = ?", reference),
        ]  # fmt: skip
        if (number := seq_of(reference)) is not None:
            tries.append(("d.seq = ?", number))
        with translated():
            connection = self._connections.get()
            for where, value in tries:
                row = connection.execute(
                    f"SELECT {rows.DOCUMENT} FROM documents d WHERE {where}", (value,)
                ).fetchone()
                if row is not None:
                    return rows.document(row)
        return None

    def documents(self, condition: Condition, page: Page) -> list[Document]:
        sql, values = compile_condition(condition)
        found = self._read(
            f"SELECT {rows.DOCUMENT} FROM documents d WHERE {sql}"
            f" ORDER BY {_ORDERS[page.order]} LIMIT ? OFFSET ?",
            (*values, page.limit, page.offset),
        )
        return [rows.document(row) for row in found]

    def count(self, condition: Condition) -> int:
        sql, values = compile_condition(condition)
        return int(self._read(f"SELECT count(*) FROM documents d WHERE {sql}", values)[0][0])

    def chunks(self, document: str) -> list[Passage]:
        found = self._read(
            f"SELECT c.position, c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM chunks c"
            " JOIN documents d ON d.seq = c.document WHERE d.id = ? ORDER BY c.position",
            (document,),
        )
        return [rows.passage(row[1:]) for row in found]

    def codes(self) -> list[str]:
        return [
            code
            for (code,) in self._read(
                "SELECT code FROM documents WHERE deleted_at IS NULL ORDER BY seq"
            )
        ]

    def tags(self, condition: Condition) -> list[tuple[str, int]]:
        sql, values = compile_condition(condition)
        return [
            (name, number)
            for name, number in self._read(
                "SELECT t.name, count(*) AS number FROM tags t JOIN documents d"
                f" ON d.seq = t.document WHERE {sql} GROUP BY t.name ORDER BY number DESC, t.name",
                values,
            )
        ]

    def projects(self, condition: Condition) -> list[tuple[str, int]]:
        sql, values = compile_condition(condition)
        found = self._read(
            "SELECT d.project, count(*) AS number FROM documents d WHERE d.project IS NOT NULL"
            f" AND {sql} GROUP BY d.project ORDER BY number DESC, d.project",
            values,
        )
        return [(name, number) for name, number in found]

    def meta_keys(self, condition: Condition) -> list[tuple[str, int]]:
        sql, values = compile_condition(condition)
        found = self._read(
            "SELECT m.key, count(*) AS number FROM documents d, json_each(d.metadata) m"
            f" WHERE {sql} GROUP BY m.key ORDER BY number DESC, m.key",
            values,
        )
        return [(name, number) for name, number in found]

    def openings(self, documents: Collection[str]) -> dict[str, str]:
        found = self._read(
            "SELECT d.id,"
            " (SELECT plain(text) FROM chunks WHERE document = d.seq ORDER BY position LIMIT 1)"
            " FROM json_each(?) wanted CROSS JOIN documents d ON d.id = wanted.value",
            (as_json(documents),),
        )
        return {document: text or "" for document, text in found}

    def heads(self, documents: Collection[str]) -> dict[str, Document]:
        """Each chain is followed by names, as front matter has them; UNION ends a circle."""
        found = self._read(
            "WITH RECURSIVE chain (start, seq, id, next) AS ("
            " SELECT d.id, d.seq, d.id, d.superseded_by FROM json_each(?) wanted"
            " CROSS JOIN documents d ON d.id = wanted.value WHERE d.superseded_by IS NOT NULL"
            " UNION SELECT c.start, n.seq, n.id, n.superseded_by FROM chain c"
            " CROSS JOIN documents n ON n.seq = coalesce("
            " (SELECT seq FROM documents WHERE id = c.next),"
            " (SELECT seq FROM documents WHERE code = c.next),"
            " (SELECT seq FROM documents WHERE path = c.next)))"
            f" SELECT c.start, {rows.DOCUMENT} FROM chain c JOIN documents d ON d.seq = c.seq"
            " WHERE c.id <> c.start AND d.deleted_at IS NULL AND NOT EXISTS"
            " (SELECT 1 FROM documents n WHERE n.id = c.next OR n.code = c.next"
            " OR n.path = c.next)",
            (as_json(documents),),
        )
        return {row[0]: rows.document(row[1:]) for row in found}

    def heaviest(self, condition: Condition, limit: int) -> list[tuple[str, int]]:
        sql, values = compile_condition(condition)
        return [
            (document, number)
            for document, number in self._read(
                "SELECT d.id, count(*) AS number FROM chunks c JOIN documents d"
                f" ON d.seq = c.document WHERE {sql} GROUP BY d.seq"
                " ORDER BY number DESC, d.seq LIMIT ?",
                [*values, limit],
            )
        ]

    def counts(self, condition: Condition = EVERYTHING) -> Counts:
        shown = both(Not(FORGOTTEN), condition)
        documents, forgotten = self.count(shown), self.count(both(FORGOTTEN, condition))
        sql, values = compile_condition(shown)
        tags = self._read(
            "SELECT count(DISTINCT t.name) FROM tags t JOIN documents d ON d.seq = t.document"
            f" WHERE {sql}",
            values,
        )[0][0]
        types = self._read(
            f"SELECT d.type, count(*) FROM documents d WHERE {sql} GROUP BY 1 ORDER BY 2 DESC, 1",
            values,
        )
        return Counts(documents, *self._covered(condition), tags, dict(types), forgotten)

    def generation(self) -> "Hashable":
        with translated():
            mark = self._connections.mark()
        return mark, self._read("SELECT generation FROM journal")[0][0]

    def digest(self, condition: Condition = EVERYTHING) -> str:
        from hashlib import blake2b

        sql, values = compile_condition(condition)
        made = blake2b(digest_size=16)
        for row in self._read(
            "SELECT d.seq, d.updated_at, d.seal, d.text_seal FROM documents d"
            f" WHERE {sql} ORDER BY d.seq",
            values,
        ):
            made.update(repr(row).encode())
        return made.hexdigest()

    def semantic_coverage(self, condition: Condition = EVERYTHING) -> float:
        chunks, embedded = (
            self._all_covered() if is_everything(condition) else self._covered(condition)
        )
        return embedded / chunks if chunks else 1.0

    def _all_covered(self) -> tuple[int, int]:
        """Counted once for as long as nobody writes: every answer tells it."""
        return self._kept("covered", lambda: self._covered(EVERYTHING))

    def _covered(self, condition: Condition) -> tuple[int, int]:
        """How many chunks pass, and how many of them have a vector of the active model."""
        embedded = (
            "SELECT count(*) FROM embedded WHERE model = (SELECT id FROM models WHERE active)"
        )
        if is_everything(condition):
            with self._connections.reading():  # one state
                return self._chunks_there(), int(self._read(embedded)[0][0])
        sql, values = compile_condition(condition)
        of = f" WHERE document IN (SELECT d.seq FROM documents d WHERE {sql})"
        found = self._read(
            f"SELECT (SELECT count(*) FROM chunks{of}),"
            f" ({embedded} AND chunk IN (SELECT id FROM chunks{of}))",
            (*values, *values),
        )[0]
        return int(found[0]), int(found[1])
