"""The default store: one SQLite file with FTS5 and sqlite-vec."""

import os
from typing import TYPE_CHECKING

import apsw

from knowbase.errors import BaseReadOnly
from knowbase.store.sqlite import rows, schema
from knowbase.store.sqlite.connection import BaseFile, Connections, translated
from knowbase.store.sqlite.documents import SqliteDocuments
from knowbase.store.sqlite.files import SqliteFiles
from knowbase.store.sqlite.graph import SqliteGraph
from knowbase.store.sqlite.retrieval import SqliteRetrieval
from knowbase.store.sqlite.saved import SqliteSavedSearches
from knowbase.store.sqlite.sessions import SqliteSessions
from knowbase.store.sqlite.vectors import SqliteVectors
from knowbase.values.documents import Document

if TYPE_CHECKING:
    from knowbase.store.sqlite.copying import SqliteCopying
    from knowbase.values.changes import Changes

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
    from knowbase.store.sqlite import links

    links.relink(connection)


class SqliteStore(
    SqliteDocuments,
    SqliteRetrieval,
    SqliteSessions,
    SqliteGraph,
    SqliteFiles,
    SqliteSavedSearches,
    SqliteVectors,
):
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

    def copying(self) -> "SqliteCopying":
        from knowbase.store.sqlite.copying import SqliteCopying

        return SqliteCopying(self._connections)

    def _document(self, connection: apsw.Connection, seq: int) -> Document:
        sql = f"SELECT {rows.DOCUMENT} FROM documents d WHERE d.seq = ?"
        return rows.document(connection.execute(sql, (seq,)).fetchall()[0])
