"""Writing: a document, its chunks, words and vectors change together.

What a batch of documents meets is asked for once, and each kind of row is written once for all
of them: the number of statements does not depend on how many there are.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from knowbase.store.keeping import Keeps
from knowbase.store.postgres import rows
from knowbase.store.postgres.bulk import copy_rows, numbers
from knowbase.store.postgres.chunks import Chunks, Planned
from knowbase.store.postgres.cluster import is_distributed
from knowbase.store.postgres.compile import compile_condition
from knowbase.store.postgres.keeping import PostgresKeeping
from knowbase.store.postgres.links import Linking
from knowbase.store.postgres.register import Known, Register
from knowbase.store.postgres.sealing import columns as seals
from knowbase.store.postgres.sealing import read_back, seal, seal_fields, seal_use
from knowbase.store.rows import in_order
from knowbase.store.rules import check_chain, check_unchanged, known_text
from knowbase.values.changes import Changes, Draft, assigned_codes, is_said, renamed
from knowbase.values.copies import ChunkCopy, Copy
from knowbase.values.documents import DEFAULT_SALIENCE, Document
from knowbase.values.files import FileRecord, Source
from knowbase.values.reading import Link
from knowbase.values.vectors import Model

if TYPE_CHECKING:
    from knowbase.store.postgres.counting import Counted


_FILE_KINDS = {
    "size": "bigint", "mtime_ns": "bigint", "inode": "bigint", "ctime_ns": "bigint",
    "excluded": "boolean",
}  # fmt: skip


class _Written(NamedTuple):
    """What became of drafts."""

    seqs: list[int]  # of each one's document
    changed: set[int]  # those that were written


class Writing(Chunks):
    """One transaction; the base's row is locked for as long as it takes."""

    def __init__(
        self,
        connection: Connection,
        base: int,
        now: str,
        model: tuple[int, Model] | None,
        keeps: Keeps | None = None,
    ) -> None:
        super().__init__(connection, base, now)
        self.keeping: PostgresKeeping | None = PostgresKeeping(connection, base, now, keeps)
        self._model = model
        row = connection.execute(
            "SELECT next_seq, next_chunk, next_word, chunks FROM bases WHERE id = %s FOR UPDATE",
            (base,),
        ).fetchone()
        counters = map(int, row or (1, 1, 1, 0))
        self._next_seq, self._next_chunk, self._next_word, self._before = counters
        self._linking = Linking(connection, base)
        self._register = Register(connection, base)
        self._planned: dict[int, Planned] = {}
        self._unlinked: set[int] = set()  # documents whose vectors changed
        self._unindexed: set[int] = set()  # chunks whose words are to be forgotten
        self._lost: Counter[str] = Counter()
        self._indexed: dict[int, Counted] = {}
        self._documents: dict[int, int] = {}
        self._chunks = self._length = 0  # how many more there are
        self.new: dict[int, Copy] = {}  # those written with their seals, as they will be read

    def apply(self, changes: Changes) -> list[int]:
        """Everything in `changes`; returns the seq of each draft's document."""
        for edit in changes.edits:
            check_chain(edit, self._find)
        if self.keeping is not None:
            self.keeping.keep_written(changes)
        self._remove(changes.removed)
        ids: dict[str, str] = {}
        written, changed = self._write_drafts(changes.drafts, ids)
        self._write_files(changes.files, ids)
        self._many(
            "DELETE FROM files WHERE base_id = %s AND path = %s", [(p,) for p in changes.forgotten]
        )
        self._write_sources(changes.sources)
        self._many(
            "DELETE FROM sources WHERE base_id = %s AND path = %s",
            [(path,) for path in changes.dropped_sources],
        )
        self._write_words()
        said = renamed(changes, ids)
        if self.keeping is not None:
            self.keeping.keep_said(said, changed)
        self.record(said)
        if is_said(changes):
            self.new.clear()
        touched = self._link(said, changed)
        if self.keeping is not None:
            self.keeping.new = self.new
            self.keeping.finish(said, changed)
        seal(self._connection, self._base, changed - self.new.keys())
        seal_fields(self._connection, self._base, touched - changed)
        seal_use(self._connection, self._base, self._used(changes) - changed - touched)
        return written

    def _used(self, changes: Changes) -> set[int]:
        """The numbers of the documents that `changes` says were of use, or not."""
        named = {one.document for one in changes.reinforced}
        named |= {one.document for one in changes.verdicts}
        return self._seqs(named) if named else set()

    def _seqs(self, ids: Iterable[str]) -> set[int]:
        found = self._connection.execute(
            "SELECT seq FROM documents WHERE base_id = %s AND id = ANY(%s)", (self._base, [*ids])
        )
        return {seq for (seq,) in found}

    def _find(self, reference: str) -> Document | None:
        """A document by its id, code or path, as this transaction sees it."""
        statement = SQL(
            f"SELECT {rows.DOCUMENT} FROM documents d WHERE d.base_id = %s"
            " AND (d.id = %s OR d.code_key = lower(%s) OR d.path = %s)"
            " ORDER BY (d.id = %s) DESC, (d.code_key = lower(%s)) DESC LIMIT 1"
        )
        row = self._connection.execute(statement, (self._base, *[reference] * 5)).fetchone()
        return rows.document(row) if row else None

    def _link(self, changes: Changes, written: Collection[int]) -> set[int]:
        """Bring the links in step, and note which documents are to be compared; those whose
        links may have changed."""
        self._linking.write_codes(changes.codes)
        self._linking.note_forgotten(
            [one.document for one in changes.edits if "deleted_at" in one.values]
        )
        ends = (*changes.relations, *changes.dropped_relations)
        touched = [one.document for one in changes.edits]
        touched += [one.document for one in changes.codes]
        touched += [one.source for one in ends]
        documents = {*written, *(self._seqs(touched) if touched else ())}
        if written or changes.removed:
            self._linking.changed()
        if documents or changes.removed:
            self._linking.refresh(documents, self.new)
        if self._unlinked:
            self._connection.execute(
                "INSERT INTO unlinked (base_id, document) SELECT %s, unnest(%s::bigint[])"
                " ON CONFLICT DO NOTHING",
                (self._base, numbers(sorted(self._unlinked))),
            )
        return documents

    # documents

    def _remove(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        chunks = self._connection.execute(
            "SELECT c.id, c.length, c.document FROM chunks c JOIN documents d"
            " ON d.base_id = c.base_id AND d.seq = c.document"
            " WHERE d.base_id = %s AND d.id = ANY(%s)",
            (self._base, list(ids)),
        ).fetchall()
        self._forget_chunks({chunk: length for chunk, length, _ in chunks})
        if is_distributed(self._connection):  # over its nodes no key leads to documents
            self._drop_chunks({document for _, _, document in chunks})
        self._linking.note_loss(ids)
        self._linking.forget(ids)
        self._connection.execute(
            "DELETE FROM documents WHERE base_id = %s AND id = ANY(%s)", (self._base, list(ids))
        )

    def _write_drafts(self, drafts: Sequence[Draft], ids: dict[str, str]) -> _Written:
        """Plan all, asking for what is there once; then write what was planned, kind by kind."""
        written, changed = [], set()
        if drafts:
            self._register.load(drafts, self._next_seq)
        for given in drafts:
            known = self._known(given) if given.once else None
            if known is not None:
                ids[given.id], seq = known
                written.append(seq)
                continue
            draft = self._adopted(given)
            ids[given.id] = draft.id
            written.append(self._plan(draft))
            changed.add(written[-1])
        self._write_planned()
        return _Written(written, changed)

    def _known(self, draft: Draft) -> tuple[str, int] | None:
        """The id and seq of a document that has the draft's text already."""
        if draft.mark:
            there = self._register.by_id(draft.id)
            return (there.id, there.seq) if there else None
        self._write_planned()  # one of them may be it
        test, values = compile_condition(known_text(draft, self._now))
        statement = SQL(
            "SELECT d.id, d.seq FROM documents d WHERE d.base_id = %s AND {} ORDER BY d.seq LIMIT 1"
        ).format(test)
        row = self._connection.execute(statement, (self._base, *values)).fetchone()
        return (row[0], row[1]) if row else None

    def _adopted(self, draft: Draft) -> Draft:
        """The draft under the id of the document that its path has already, if there is one."""
        known = self._register.by_path(draft.path)
        if known is None or known.id == draft.id:
            return draft
        if self._register.by_id(draft.id) is None:
            return draft._replace(id=known.id)
        self._write_planned()
        self._remove([known.id])  # the path now belongs to the one that moved there
        self.new.pop(known.seq, None)
        self._register.forget([known.id])
        return draft

    def _plan(self, draft: Draft) -> int:
        """Note what is to be written of a document; its seq."""
        reading = draft.reading
        values = {name: rows.written(name, value) for name, value in reading.stored().items()}
        values |= {
            "path": draft.path,
            "updated_at": draft.updated_at,
            "tags": sorted(set(reading.tags)),
        }
        known = self._register.by_id(draft.id)
        if known is not None and known.seq in self._planned:
            self._write_planned()  # the same document twice
        seq = known.seq if known else self._next_seq
        code = self._code_of(seq, known, reading.value("code"))
        if known is None:
            self._next_seq += 1
            new = {"base_id": self._base, "seq": seq, "id": draft.id, "code": code}
            values = {**new, "created_at": self._now, "salience": DEFAULT_SALIENCE, **values}
        else:
            check_unchanged(draft, known.updated_at)
            values |= known.said
            values["code"] = code
        said = known.said if known else {}
        self._register.note(Known(seq, draft.id, draft.path, code, draft.updated_at, said))
        self._planned[seq] = Planned(seq, code, known is None, draft, values)
        return seq

    def _code_of(self, seq: int, known: Known | None, wanted: str | None) -> str:
        """The wanted one unless another document has it: then the one it had, or the next free."""
        if wanted is not None and self._register.is_free(wanted, seq):
            return wanted
        if known is not None:
            return known.code
        return next(code for code in assigned_codes(seq) if self._register.is_free(code, seq))

    def _write_planned(self) -> None:
        """Known documents first, in their order: what they give up may be a new one's."""
        planned, self._planned = [*self._planned.values()], {}
        if not planned:
            return
        chunks = self._planned_chunks(planned)
        self._update_documents([one for one in planned if not one.is_new])
        self._copy_documents([one for one in planned if one.is_new], chunks.copies)
        self._write_links(planned)
        self._write_chunks(chunks)

    def _copy_documents(
        self, documents: Sequence[Planned], chunks: Mapping[int, Sequence[ChunkCopy]]
    ) -> None:
        """New ones, sealed as they are."""
        new: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
        for one in documents:
            links = in_order(set(one.draft.reading.links))
            copy = Copy(read_back(one.values), {}, links, (), tuple(chunks.get(one.seq, ())))
            self.new[one.seq] = copy
            values = {**one.values, **seals(copy)}
            new.setdefault(tuple(values), []).append(tuple(values.values()))
        for columns, lines in new.items():
            copy_rows(self._connection, "documents", columns, lines)

    def _update_documents(self, documents: Sequence[Planned]) -> None:
        """Each says other things: one statement a document, all in one round trip."""
        if not documents:
            return
        for one in documents:
            self.new.pop(one.seq, None)
        with self._connection.pipeline():
            for one in documents:
                settings = SQL(", ").join(
                    SQL("{} = %s").format(Identifier(name)) for name in one.values
                )
                self._connection.execute(
                    SQL("UPDATE documents SET {} WHERE base_id = %s AND seq = %s").format(settings),
                    (*one.values.values(), self._base, one.seq),
                )

    def _write_links(self, documents: Sequence[Planned]) -> None:
        known = [one.seq for one in documents if not one.is_new]
        if known:
            self._connection.execute(
                "DELETE FROM links WHERE base_id = %s AND document = ANY(%s)", (self._base, known)
            )
        self._copy_links((one.seq, link) for one in documents for link in one.draft.reading.links)

    def _copy_links(self, links: Iterable[tuple[int, Link]]) -> None:
        """Those of documents that have none; equal ones are one."""
        lines = {(self._base, seq, link.target, link.kind): None for seq, link in links}
        copy_rows(self._connection, "links", ("base_id", "document", "target", "kind"), [*lines])

    # files

    def _write_files(self, files: Iterable[FileRecord], ids: dict[str, str]) -> None:
        """Of several records of a path, the last one counts."""
        by_path = {record.path: record for record in files}
        kinds = [f"%s::{_FILE_KINDS.get(name, 'text')}[]" for name in FileRecord._fields]
        settings = ", ".join(f"{name} = excluded.{name}" for name in FileRecord._fields[1:])
        lines = [
            record._replace(document=ids.get(record.document or "", record.document))
            for record in by_path.values()
        ]
        if lines:
            self._connection.execute(
                SQL(
                    f"INSERT INTO files (base_id, {', '.join(FileRecord._fields)})"
                    f" SELECT %s, * FROM unnest({', '.join(kinds)})"
                    f" ON CONFLICT (base_id, path) DO UPDATE SET {settings}"
                ),
                (self._base, *map(list, zip(*lines, strict=True))),
            )

    def _write_sources(self, sources: Iterable[Source]) -> None:
        self._many(
            "INSERT INTO sources (base_id, path, tags, parent, tree) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (base_id, path) DO UPDATE SET tags = excluded.tags,"
            " parent = excluded.parent, tree = excluded.tree",
            [(s.path, list(s.tags), s.parent, s.tree) for s in sources],
        )
