"""The default store: one SQLite file with FTS5 and sqlite-vec."""

import os
from typing import TYPE_CHECKING

import apsw

from knowbase.errors import BaseReadOnly
from knowbase.store.sqlite import rows, schema
from knowbase.store.sqlite.connection import BaseFile, Connections, translated
from knowbase.store.sqlite.documents import Documents
from knowbase.store.sqlite.retrieval import Retrieval
from knowbase.store.sqlite.sessions import Sessions
from knowbase.store.sqlite.vectors import Vectors
from knowbase.values.documents import Document

if TYPE_CHECKING:
    from collections.abc import Collection

    from knowbase.query.conditions import Condition
    from knowbase.store.sqlite.copying import SqliteCopying
    from knowbase.values.changes import Changes, SavedSearch
    from knowbase.values.edges import Edge
    from knowbase.values.reading import Link

BUSY_TIMEOUT = 5.0


def create(path: str) -> "SqliteStore":
    """Make a new base; an existing one is opened."""
    with translated():
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            _make_folder(os.path.dirname(os.path.abspath(path)))
            _make_file(path)
    return SqliteStore(path)


def _make_file(path: str) -> None:
    """A whole base appears at once; whoever is second finds the first one's."""
    new = f"{path}.{os.getpid()}.new"
    connection = apsw.Connection(new)
    try:
        schema.create(connection, _relink)
        connection.close()
        if os.path.exists(path) and os.path.getsize(path) == 0:
            os.replace(new, path)
        else:
            os.link(new, path)
    except FileExistsError:
        pass
    finally:
        connection.close()
        if os.path.exists(new):
            os.remove(new)


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise BaseReadOnly(
            f"no folder can be made there: {error.strerror}", hint="choose another --base"
        ) from error


def _check(connection: apsw.Connection) -> None:
    schema.check(connection, _relink)


def _relink(connection: apsw.Connection) -> None:
    from knowbase.store.sqlite import graph

    graph.relink(connection)


class SqliteStore(Documents, Retrieval, Sessions, Vectors):
    """See `knowbase.store.contract.Store` for what each method promises."""

    def __init__(self, path: str, busy_timeout: float = BUSY_TIMEOUT) -> None:
        self.path = path
        with translated():
            self._connections = Connections(BaseFile(path, _check), busy_timeout)

    def close(self) -> None:
        self._connections.close()

    def copy_to(self, path: str) -> None:
        """The whole base as a new file, as it is at this moment."""
        with translated():
            target = apsw.Connection(path)
            try:
                with target.backup("main", self._connections.get(), "main") as backup:
                    backup.step()
            finally:
                target.close()

    def apply(self, changes: "Changes", now: str, *, wait: bool = True) -> list[Document]:
        from knowbase.store.rules import check_chain
        from knowbase.store.sqlite import write

        with translated():
            if changes.drafts or changes.removed:
                self._connections.with_vectors()
            with self._connections.writing(wait=wait) as connection:
                for edit in changes.edits:
                    check_chain(edit, self.find)
                model = self._model_id(connection, changes.model)
                written = write.apply(connection, changes, model, now)
                return [self._document(connection, seq) for seq in written]

    # what few ask for: its modules are loaded when it is asked for

    def saved_searches(self) -> "list[SavedSearch]":
        from knowbase.store.sqlite import saved

        with translated():
            return saved.searches(self._connections.get())

    def save_search(self, search: "SavedSearch", *, replace: bool = False) -> bool:
        from knowbase.store.sqlite import saved

        with translated(), self._connections.writing() as connection:
            return saved.save(connection, search, replace)

    def drop_search(self, name: str) -> bool:
        from knowbase.store.sqlite import saved

        with translated(), self._connections.writing() as connection:
            return saved.drop(connection, name)

    def copying(self) -> "SqliteCopying":
        from knowbase.store.sqlite.copying import SqliteCopying

        return SqliteCopying(self._connections)

    def edges(self, condition: "Condition") -> "list[Edge]":
        from knowbase.store.sqlite import graph

        with translated():
            return graph.edges(self._connections.get(), condition)

    def edges_around(
        self, documents: "Collection[str]", depth: int, condition: "Condition"
    ) -> "list[Edge]":
        from knowbase.store.sqlite import graph

        with translated():
            return graph.edges_around(self._connections.get(), documents, depth, condition)

    def unresolved(self, document: str) -> "list[Link]":
        from knowbase.store.sqlite import graph

        with translated():
            return graph.unresolved(self._connections.get(), document)

    def sharing_tags(
        self, document: str, least: int, condition: "Condition"
    ) -> list[tuple[str, int]]:
        from knowbase.store.sqlite import graph

        with translated():
            return graph.sharing_tags(self._connections.get(), document, least, condition)

    def link_similar(self, threshold: float) -> int:
        from knowbase.store import similar
        from knowbase.store.sqlite import graph

        def read() -> similar.VectorsDue:
            connection = self._connections.with_vectors()
            with connection:  # one state of the base
                due = graph.vectors_due(connection, self._model_id(connection), threshold)
            return due  # noqa: RET504 - to mypy, the block could swallow an error

        def write(due: similar.VectorsDue, pairs: similar.Similar) -> bool:
            with self._connections.writing() as connection:
                return graph.write_similar(connection, due, pairs, threshold)

        def is_due() -> bool:
            return graph.is_due(self._connections.get(), threshold)

        with translated():
            return similar.link(is_due, read, write, threshold)

    def relink(self) -> None:
        from knowbase.store.sqlite import graph

        with translated(), self._connections.writing() as connection:
            graph.relink(connection)

    def _document(self, connection: apsw.Connection, seq: int) -> Document:
        sql = f"SELECT {rows.DOCUMENT} FROM documents d WHERE d.seq = ?"
        return rows.document(connection.execute(sql, (seq,)).fetchall()[0])
