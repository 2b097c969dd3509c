"""The documents that a batch of drafts meets: who has which id, path and code."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.rows import from_json
from knowbase.values.changes import Draft, assigned_codes

_KNOWN = "seq, id, path, code, updated_at, said"


class Known(NamedTuple):
    """A document that is there, or is about to be."""

    seq: int
    id: str
    path: str | None
    code: str
    updated_at: str
    said: dict[str, Any]  # what was said of it; its file cannot say otherwise


class Register:
    """Asked once for a whole batch, and kept in step while its documents are planned."""

    def __init__(self, connection: Connection, base: int) -> None:
        self._connection = connection
        self._base = base
        self._by_id: dict[str, Known] = {}
        self._by_path: dict[str, str] = {}
        self._codes: dict[str, int | None] = {}  # of those that were looked up

    def load(self, drafts: Sequence[Draft], next_seq: int) -> None:
        """Whatever these drafts can meet."""
        wanted = [code for one in drafts if (code := one.reading.value("code")) is not None]
        wanted += [next(assigned_codes(next_seq + number)) for number in range(len(drafts))]
        ids = [one.id for one in drafts]
        paths = [one.path for one in drafts if one.path is not None]
        keys = list({key_of(code) for code in wanted})
        self._codes = dict.fromkeys(keys)
        part = f"SELECT {_KNOWN} FROM documents WHERE base_id = %s AND"
        found = self._connection.execute(
            SQL(
                f"{part} id = ANY(%s) UNION ALL {part} path = ANY(%s)"
                f" UNION ALL {part} code_key = ANY(%s)"
            ),
            (self._base, ids, self._base, paths, self._base, keys),
        )
        for seq, identity, path, code, changed, said in found:
            self.note(Known(seq, identity, path, code, changed, from_json(said, dict)))

    def by_id(self, identity: str) -> Known | None:
        return self._by_id.get(identity)

    def by_path(self, path: str | None) -> Known | None:
        identity = self._by_path.get(path) if path is not None else None
        return self._by_id.get(identity) if identity is not None else None

    def note(self, document: Known) -> None:
        """It is so from now on."""
        self.forget([document.id])
        self._by_id[document.id] = document
        if document.path is not None:
            self._by_path[document.path] = document.id
        self._codes[key_of(document.code)] = document.seq

    def forget(self, ids: Iterable[str]) -> None:
        for identity in ids:
            old = self._by_id.pop(identity, None)
            if old is not None:
                self._codes[key_of(old.code)] = None
                if old.path is not None:
                    self._by_path.pop(old.path, None)

    def is_free(self, code: str, seq: int) -> bool:
        """Whether a document may have this code."""
        key = key_of(code)
        if key not in self._codes:
            row = self._connection.execute(
                "SELECT seq FROM documents WHERE base_id = %s AND code_key = %s", (self._base, key)
            ).fetchone()
            self._codes[key] = row[0] if row else None
        return self._codes[key] in (None, seq)


def key_of(code: str) -> str:
    """As the server makes `code_key`: small letters, of ASCII alone."""
    return code.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
