"""A new base from what was found of a damaged one; what can be derived is made anew."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw

from knowbase.errors import BaseDamaged
from knowbase.store.halves import as_kept, halved
from knowbase.store.seals import Seals, seals_of, vector_seal
from knowbase.store.sqlite import create, keeping, links, reading, sealing
from knowbase.store.sqlite.connection import translated
from knowbase.store.sqlite.packing import PACKED, digest, name_of, packed, readable, register
from knowbase.store.sqlite.salvage import Found, Salvage, Vectors, columns, fits
from knowbase.store.sqlite.vector_tables import create_vector_table, vector_table
from knowbase.text.indexed import document_terms
from knowbase.text.names import CODE, ID
from knowbase.values.documents import names_of

LOST, GUESSED, OTHER_TEXT, OTHER_FIELDS, TO_BE_READ = (
    "lost", "found without their own row", "text damaged", "fields damaged",
    "to be read again from their files",
)  # fmt: skip
_JSON = {"roles": list, "metadata": dict, "said": dict, "options": dict}
_COUNTED = (
    "documents", "chunks", "sessions", "uses", "verdicts", "relations", "saved", "sources", "files",
)  # fmt: skip
_BELONGING = (
    ("tags", "document"), ("links", "document"), ("verdicts", "document"), ("uses", "document"),
    ("relations", "source"), ("relations", "target"),
)  # fmt: skip


_TO_READ = """
    UPDATE files SET size = -1, mtime_ns = 0, sha256 = ''
    WHERE substr(?1, 1, length(path)) = path AND substr(?1, length(path) + 1, 1) IN ('', '/', '\\')
"""  # the file that a document's path is, or lies in


class Rebuilt(NamedTuple):
    """What became of a damaged base."""

    saved: dict[str, int]  # rows by kind
    lost: dict[str, tuple[str, ...]]  # by what happened: documents
    vectors: int  # that are as they were
    missing_vectors: int


def rebuild(damaged: str, new: str, now: str) -> Rebuilt:
    """Make a new base at `new` from the file `damaged`, which is a copy that can be tried."""
    create(new).close()
    connection = apsw.Connection(new, flags=apsw.SQLITE_OPEN_READWRITE)
    register(connection)
    try:
        with translated():
            connection.execute("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")
            found = _Rebuilding(connection, damaged, now).run()
            connection.execute("COMMIT")
        return found
    finally:
        connection.close()


class _Rebuilding:
    def __init__(self, connection: apsw.Connection, damaged: str, now: str) -> None:
        self._connection = connection
        self._damaged = damaged
        self._now = now
        self._names: dict[int, dict[int, str]] = {}  # of documents: id and code, by number
        self._lost: dict[str, set[str]] = {}
        connection.execute("CREATE TEMP TABLE vectors (model, chunk, seal)")

    def run(self) -> Rebuilt:
        salvage = Salvage(self._damaged)
        try:
            for found in salvage.rows():
                self._take(found)
        finally:
            salvage.close()
        self._add_missing_documents()
        self._connection.execute("UPDATE chunks SET terms = terms")  # some were there before theirs
        self._add_missing_sessions()
        self._drop_what_belongs_to_nothing()
        kept = self._take_vectors()
        self._compare()
        links.relink(self._connection)
        keeping.replace(self._connection, ())  # what it was is not rescued
        self._connection.execute(
            "INSERT OR IGNORE INTO unlinked SELECT seq FROM documents;"
            "UPDATE graph SET similar_above = NULL, version = version + 1"
        )
        counts = {one: self._number(f"SELECT count(*) FROM {one}") for one in _COUNTED}
        missing = self._number("SELECT count(*) FROM chunks") - self._number(
            "SELECT count(DISTINCT chunk) FROM embedded"
        )
        lost = {what: tuple(sorted(names)) for what, names in self._lost.items()}
        return Rebuilt(counts, lost, kept, max(0, missing))

    def _number(self, sql: str) -> int:
        found: Any = self._connection.execute(sql).get
        return int(found)

    def _note(self, what: str, name: object) -> None:
        self._lost.setdefault(what, set()).add(str(name))

    # rows

    def _take(self, found: Found) -> None:
        if found.table == "names":
            values = found.values
            name = name_of(values["name"])
            if fits(found) and values["kind"] in (ID, CODE) and name is not None:
                self._names.setdefault(values["document"], {})[values["kind"]] = name
            return
        if found.table == "embedded":
            wanted = ("model", "chunk", "seal")
            self._insert("temp.vectors", {name: found.values[name] for name in wanted})
            return
        if found.table == "models":
            self._take_model(found)
            return
        self._insert_mended(found)

    def _take_model(self, found: Found) -> None:
        values = found.values
        if not fits(found) or not 0 < values["dimensions"] <= 1 << 16:
            self._note(LOST, "an embedding model")
            return
        if self._insert("models", values):
            create_vector_table(self._connection, values["id"])

    def _insert_mended(self, found: Found) -> None:
        values = dict(found.values)
        for one in columns()[found.table]:
            value = values[one.name]
            is_kind = _JSON.get(one.name)
            if type(value) not in one.types or (is_kind and not _is_json(value, is_kind)):
                values[one.name] = _default(one.default, is_kind)
        if found.table == "chunks":
            values |= _as_kept(values)
        if found.table == "documents":
            self._insert_document(values)
        elif not self._insert(found.table, values) and found.is_reached:
            self._note(LOST, f"a row of {found.table}")

    def _insert_document(self, values: dict[str, Any]) -> None:
        seq = values["seq"]
        if self._connection.execute("SELECT 1 FROM documents WHERE seq = ?", (seq,)).get:
            return
        for name in ("created_at", "updated_at"):
            values[name] = values[name] or self._now
        values["id"] = values["id"] or f"rescued-{seq}"
        values["code"] = values["code"] or f"KB-{seq}"
        values["scope"] = values["scope"] or "global"
        values["type"] = values["type"] or "note"
        values["content_hash"] = _hash(values["content_hash"])
        values["terms"] = _readable(values["terms"])
        if self._insert("documents", values):
            return
        # its id, code or path is another one's by the damage
        values |= {"id": f"rescued-{seq}", "code": f"RESCUED-{seq}", "path": None}
        if not self._insert("documents", values):
            self._note(LOST, f"number {seq}")

    def _insert(self, table: str, values: dict[str, Any]) -> bool:
        names = ", ".join(values)
        places = ", ".join("?" * len(values))
        try:
            self._connection.execute(
                f"INSERT INTO {table} ({names}) VALUES ({places})", tuple(values.values())
            )
        except (apsw.ConstraintError, apsw.MismatchError, apsw.TooBigError):
            return False
        return True

    # what is missing

    def _add_missing_documents(self) -> None:
        """A text whose document's own row is gone stays, under the names that are known of it."""
        found: Any = self._connection.execute(
            "SELECT document, min(title) FROM chunks WHERE document NOT IN"
            " (SELECT seq FROM documents) GROUP BY document"
        ).fetchall()
        for seq, title in found:
            names = self._names.get(seq, {})
            identity = names.get(ID, f"rescued-{seq}")
            path = self._connection.execute(
                "SELECT path FROM files WHERE document = ?", (identity,)
            ).get
            values = {one.name: one.default for one in columns()["documents"]}
            values |= {
                "seq": seq, "id": identity, "code": names.get(CODE, f"KB-{seq}").upper(),
                "title": title, "type": "note", "path": path, "roles": "[]", "metadata": "{}",
                "scope": "global", "created_at": self._now, "updated_at": self._now,
            }  # fmt: skip
            values["terms"] = document_terms("note", names_of(values["code"], path), title)
            self._insert_document(values)
            self._note(GUESSED, f"{values['code']} {title}")

    def _add_missing_sessions(self) -> None:
        self._connection.execute(
            "INSERT INTO sessions (id, started_at) SELECT session, min(used_at) FROM uses"
            " WHERE session NOT IN (SELECT id FROM sessions) GROUP BY session"
        )

    def _drop_what_belongs_to_nothing(self) -> None:
        for table, column in _BELONGING:
            self._connection.execute(
                f"DELETE FROM {table} WHERE {column} NOT IN (SELECT seq FROM documents)"
            )
            if table not in ("tags", "links") and self._connection.changes():
                self._note(LOST, f"{self._connection.changes()} of {table}, with their documents")
        self._connection.execute(
            "UPDATE models SET active = (id = coalesce("
            "(SELECT id FROM models WHERE active LIMIT 1), (SELECT min(id) FROM models)))"
        )

    def _take_vectors(self) -> int:
        """Those that are as they were written; the others are made anew by kb embed."""
        kept = 0
        stored = Vectors(self._damaged)
        models: Any = self._connection.execute("SELECT id, dimensions FROM models")
        sizes = dict(models)
        found: Any = self._connection.execute(
            "SELECT DISTINCT model, chunk, seal FROM temp.vectors WHERE chunk IN"
            " (SELECT id FROM chunks) AND seal IS NOT NULL"
        ).fetchall()
        for model, chunk, seal in found:
            vector = stored.get(model, chunk, sizes[model]) if model in sizes else None
            if vector is None or len(vector) != 4 * sizes[model] or vector_seal(vector) != seal:
                continue
            seal = vector_seal(as_kept(vector))
            if self._insert("embedded", {"model": model, "chunk": chunk, "seal": seal}):
                self._connection.execute(
                    f"INSERT INTO {vector_table(model)} (chunk_id, embedding) VALUES (?, ?)",
                    (chunk, halved(vector)),
                )
                kept += 1
        stored.close()
        return kept

    # what is no longer what was written

    def _compare(self) -> None:
        for seq in reading.seqs(self._connection):
            try:
                self._compare_one(seq)
            except BaseDamaged:
                self._note(LOST, f"number {seq}")
                self._connection.execute(
                    "DELETE FROM chunks WHERE document = ?1; DELETE FROM documents WHERE seq = ?1",
                    (seq,),
                )

    def _compare_one(self, seq: int) -> None:
        wanted = json.dumps([seq])
        copy = next(self._copies(wanted))
        stored: Any = self._connection.execute(
            "SELECT seal, text_seal, use_seal FROM documents WHERE seq = ?", (seq,)
        ).fetchone()
        kept, now = Seals(*stored), seals_of(copy)
        document = copy.document
        name = f"{document.code} {document.title}"
        if kept.text not in (None, now.text) or kept.fields not in (None, now.fields):
            if document.path is not None:
                self._note(TO_BE_READ, document.path)
                self._connection.execute(
                    _TO_READ,
                    (document.path,),
                )
            else:
                is_text = kept.text not in (None, now.text)
                self._note(OTHER_TEXT if is_text else OTHER_FIELDS, name)
        elif kept.text is None and document.path is not None:
            self._connection.execute(
                _TO_READ,
                (document.path,),
            )
        sealing.seal(self._connection, [seq])

    def _copies(self, wanted: str) -> Iterator[Any]:
        heads = reading.heads(self._connection, wanted)
        return iter(reading.with_chunks(heads, self._connection, wanted, {}))


def _as_kept(values: dict[str, Any]) -> dict[str, Any]:
    """The texts of a chunk, and its hash, as a base of today has them."""
    kept = {name: values[name] for name in PACKED}
    texts = {name: _readable(value) for name, value in kept.items()}
    return texts | {"hash": _hash(values["hash"])}


def _readable(text: Any) -> Any:
    return packed(readable(text) if isinstance(text, bytes) else text)


def _hash(value: Any) -> Any:
    return digest(value) if isinstance(value, str) else value


def _is_json(value: Any, kind: type) -> bool:
    try:
        return isinstance(json.loads(value), kind)
    except (ValueError, TypeError, RecursionError):
        return False


def _default(default: Any, kind: type | None) -> Any:
    return default if kind is None else json.dumps(kind())
