"""The default store: one SQLite file with texts, words (FTS5) and vectors."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, EFBIG, ENOSPC
from typing import TYPE_CHECKING

import apsw

from knowbase.errors import BaseError, BaseReadOnly, DiskFull
from knowbase.process import sync_names
from knowbase.store.sqlite import rows, schema
from knowbase.store.sqlite.beside import index_of, remove_all, remove_journals
from knowbase.store.sqlite.connection import BaseFile, Connections, translated
from knowbase.store.sqlite.parts import SqliteParts
from knowbase.store.sqlite.vectors import INDEX_AFTER
from knowbase.values.characters import storable
from knowbase.values.documents import Document

if TYPE_CHECKING:
    from knowbase.store.sqlite.as_of import SqliteAsOf
    from knowbase.store.sqlite.history import SqliteHistory
    from knowbase.store.sqlite.keeping import SqliteKeeping
    from knowbase.store.sqlite.then_connections import Moments
    from knowbase.values.changes import Changes

BUSY_TIMEOUT = 5.0


def create(path: str) -> "SqliteStore":
    """Make a new base; an existing one is opened."""
    with translated():
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            folder = os.path.dirname(os.path.abspath(path))
            _make_folder(folder)
            _make_file(path)
            for place in (folder, os.path.dirname(folder)):
                sync_names(place)
    return SqliteStore(path)


def _make_file(path: str) -> None:
    """A whole base appears at once, its owner's alone; whoever is second finds the first one's."""
    new = f"{path}.{os.getpid()}.new"
    remove_all(new)  # of a process that was killed and had our number
    connection = None
    try:
        _make_private(new)
        connection = apsw.Connection(new)
        schema.create(connection, _relink)
        connection.close()
        with _alone(os.path.dirname(new) or os.curdir):
            _put(new, path)
    except OSError as error:
        raise _unwritable(error) from error
    finally:
        if connection is not None:
            with suppress(apsw.Error):
                connection.close(True)
        remove_all(new)


@contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Of those who make bases in a folder one at a time, where a folder can be locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some networks' file systems
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _put(new: str, path: str) -> None:
    """Give a new base its name, unless another one has it. The journal of a base that was removed
    may have stayed: SQLite would read it as the new one's."""
    is_free = not os.path.exists(path)
    if not is_free and os.path.getsize(path) > 0:
        return
    remove_journals(path)
    if is_free:
        with suppress(FileExistsError):
            os.link(new, path)
    else:
        os.replace(new, path)


def _make_private(path: str) -> None:
    """An empty file that only its owner can open; what SQLite puts beside it is as it is."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _make_folder(path: str) -> None:
    """The folder of a base, its owner's alone unless it was there before."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
    except OSError as error:
        raise BaseReadOnly(
            f"no folder can be made there: {error.strerror}", hint="choose another --base"
        ) from error


def _unwritable(error: OSError) -> BaseError:
    if error.errno in (ENOSPC, EDQUOT, EFBIG):
        return DiskFull("there is no space for a base", hint="free some space")
    return BaseReadOnly(
        f"no base can be made there: {error.strerror}", hint="choose another --base"
    )


def _check(connection: apsw.Connection) -> None:
    schema.check(connection, _relink)


def _relink(connection: apsw.Connection) -> None:
    from knowbase.store.sqlite import links

    links.relink(connection)


class SqliteStore(SqliteParts):
    """See `knowbase.store.contract.Store` for what each method promises."""

    def __init__(
        self, path: str, busy_timeout: float = BUSY_TIMEOUT, index_after: int = INDEX_AFTER
    ) -> None:
        self.path = path
        self._index_after = index_after
        self._busy_timeout = busy_timeout
        self._moments: Moments | None = None
        with translated():
            self._file = BaseFile(path, _check)
            self._connections = Connections(self._file, busy_timeout)

    def close(self) -> None:
        self._connections.close()

    def copy_to(self, path: str) -> None:
        """The whole base as a new file, as it is at this moment."""
        with translated():
            if not os.path.exists(path):
                _make_private(path)
            target = apsw.Connection(path)
            try:
                with target.backup("main", self._connections.get(), "main") as backup:
                    backup.step()
            finally:
                target.close()

    def compact(self) -> bool:
        """With what lies beside it: an index has words of what is gone, too."""
        if not super().compact():
            return False
        if os.path.isdir(index_of(self.path)):
            self.renew_index(anew=True)
        return True

    def apply(self, changes: "Changes", now: str, *, wait: bool = True) -> list[Document]:
        from knowbase.store.rules import check_chain, check_codes
        from knowbase.store.sqlite import write
        from knowbase.values.changes import with_erased

        changes = with_erased(storable(changes))
        with translated():
            with self._connections.writing(wait=wait, sync=wait) as connection:
                for edit in changes.edits:
                    check_chain(edit, self.find)
                model = self._model_id(connection, changes.model)
                keeping = self._keeping(connection, changes, now)
                seqs = write.apply(connection, changes, model, now, keeping)
                written = self._written(connection, seqs)
                check_codes(changes.drafts, written)
            if changes.sources:
                # Whatever becomes of the journal: where to find the files again stays known.
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            return written

    def _keeping(
        self, connection: apsw.Connection, changes: "Changes", now: str
    ) -> "SqliteKeeping | None":
        """None for what a search writes: it has no time to load what keeps nothing of it."""
        from knowbase.values.changes import concerns_documents

        if not concerns_documents(changes):
            return None
        from knowbase.store.sqlite.keeping import SqliteKeeping

        return SqliteKeeping(connection, now, self.keeps)

    def history(self) -> "SqliteHistory":
        from knowbase.store.sqlite.history import SqliteHistory

        return SqliteHistory(self._connections)

    def as_of(self, number: int) -> "SqliteAsOf":
        from knowbase.store.sqlite.as_of import SqliteAsOf
        from knowbase.store.sqlite.then_connections import Moments

        if self._moments is None:
            self._moments = Moments(self._file, self._busy_timeout)
        return SqliteAsOf(self, self, self._moments, number)

    def _written(self, connection: apsw.Connection, seqs: list[int]) -> list[Document]:
        from knowbase.store.sqlite.links import numbers

        if not seqs:
            return []
        sql = (
            f"SELECT {rows.DOCUMENT} FROM json_each(?) wanted"
            " CROSS JOIN documents d ON d.seq = wanted.value"
        )
        found = map(rows.document, connection.execute(sql, (numbers(seqs),)).fetchall())
        by_seq = {document.seq: document for document in found}
        return [by_seq[seq] for seq in seqs]
