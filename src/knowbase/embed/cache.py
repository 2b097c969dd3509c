"""Vectors that were made before, by anybody of this user: one file, shared by all bases.

Nothing depends on it. Whatever is wrong with the file, texts are embedded again.
"""

import hashlib
import os
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from knowbase.embed import Embedder, fineness_of, tokens_in
from knowbase.logs import log
from knowbase.values.vectors import Model, Vector

FILE = "embeddings.db"
WAIT = 500  # milliseconds for another process: then embedding is quicker
KEPT_AFTER_CLEANING = 0.8
COUNT_BYTES = 8  # of a number of tokens
DAY = 86_400
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    key BLOB PRIMARY KEY,
    vector BLOB NOT NULL,
    used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS vectors_used ON vectors (used);
"""


def folder(environment: Mapping[str, str]) -> str:
    """The user's folder for what can be made again."""
    given = environment.get("XDG_CACHE_HOME")
    if given and os.path.isabs(given):
        return os.path.join(given, "knowbase")
    if sys.platform == "win32" and environment.get("LOCALAPPDATA"):
        return os.path.join(environment["LOCALAPPDATA"], "knowbase", "cache")
    below = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return os.path.join(os.path.expanduser("~"), below, "knowbase")


class Cache:
    """Vectors by the hash of what made them, in a file of at most so many bytes."""

    def __init__(self, path: str, most_bytes: int) -> None:
        self.path = path
        self._most = most_bytes
        self._connection: Any = None
        self._using = threading.Lock()  # a connection serves one thread at a time

    def read(self, keys: Collection[bytes]) -> dict[bytes, Vector]:
        """Those of the vectors that are known."""
        found = self._safely(lambda connection: self._read(connection, keys))
        return found if isinstance(found, dict) else {}

    def write(self, vectors: Mapping[bytes, Vector]) -> None:
        self._safely(lambda connection: self._write(connection, vectors))

    def _read(self, connection: Any, keys: Collection[bytes]) -> dict[bytes, Vector]:
        found, now = {}, int(time.time())
        stale = []
        for key in keys:
            sql = "SELECT vector, used FROM vectors WHERE key = ?"
            for vector, used in connection.execute(sql, (key,)):
                found[key] = vector
                stale += [(now, key)] if used < now - DAY else []
        if stale:  # at most once a day: reading stays reading
            with connection:
                connection.executemany("UPDATE vectors SET used = ? WHERE key = ?", stale)
        return found

    def _write(self, connection: Any, vectors: Mapping[bytes, Vector]) -> None:
        now = int(time.time())
        with connection:
            connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                [(key, vector, now) for key, vector in vectors.items()],
            )
            used = self._used(connection)
            if used > self._most:
                rows = connection.execute("SELECT count(*) FROM vectors").get
                share = 1 - KEPT_AFTER_CLEANING * self._most / used
                connection.execute(
                    "DELETE FROM vectors WHERE key IN"
                    " (SELECT key FROM vectors ORDER BY used LIMIT ?)",
                    (int(rows * share) + 1,),
                )

    def _used(self, connection: Any) -> int:
        """Bytes that hold something: free pages are filled again before the file grows."""
        pages = connection.pragma("page_count") - connection.pragma("freelist_count")
        return int(pages * connection.pragma("page_size"))

    def _safely(self, work: Any) -> Any:
        """Do it, or do without."""
        import apsw

        try:
            with self._using:
                if self._connection is None:
                    self._connection = _opened(self.path)
                return work(self._connection)
        except (apsw.NotADBError, apsw.CorruptError) as error:
            log("warning", "the cache of embeddings is damaged and starts anew", reason=str(error))
            self._discard()
        except (apsw.Error, OSError) as error:
            log("debug", "the cache of embeddings was not used", reason=str(error))
        return None

    def _discard(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        for end in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.remove(self.path + end)


def _opened(path: str) -> Any:
    import apsw

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # its owner's alone
    connection = apsw.Connection(path)
    connection.set_busy_timeout(WAIT)
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
    connection.execute(_SCHEMA)
    return connection


class Cached:
    """An embedder that looks first whether a text's vector is known."""

    def __init__(self, embedder: Embedder, cache: Cache) -> None:
        self._embedder = embedder
        self._cache = cache
        self.token_spans = embedder.token_spans
        self._count = getattr(embedder, "count_tokens", lambda _text: None)

    @property
    def model(self) -> Model:
        return self._embedder.model

    @property
    def max_tokens(self) -> int:
        return self._embedder.max_tokens

    @property
    def fineness(self) -> float:
        return fineness_of(self._embedder)

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        keys = [self._key("document", text) for text in texts]
        known = self._known(keys)
        missing = dict.fromkeys(key for key in keys if key not in known)
        wanted = {key: text for key, text in zip(keys, texts, strict=True) if key in missing}
        made: dict[bytes, Vector] = {}
        coming = iter(self._embedder.embed_documents(list(wanted.values())) if wanted else ())
        waiting = iter(wanted)
        try:
            for key in keys:
                if key not in known and key not in made:
                    made[next(waiting)] = next(coming)
                yield known.get(key) or made[key]
        finally:
            if made:
                self._cache.write(made)

    def embed_query(self, text: str) -> Vector:
        key = self._key("query", text)
        return self._known([key]).get(key) or self.embed_query_anew(text)

    def embed_query_anew(self, text: str) -> Vector:
        """Whatever is kept: what a question costs that nobody has asked before."""
        made = self._embedder.embed_query(text)
        self._cache.write({self._key("query", text): made, **self._counted(text)})
        return made

    def count_tokens(self, text: str) -> int:
        """Kept like a vector, for a query beside its own: then nothing has to be loaded."""
        key = self._key("tokens", text)
        kept = self._cache.read([key]).get(key, b"")
        if len(kept) != COUNT_BYTES:
            kept = _packed(tokens_in(text, self._embedder))
            self._cache.write({key: kept})
        return int.from_bytes(kept, "little")

    def _counted(self, text: str) -> dict[bytes, bytes]:
        """The number of tokens by its key, if the embedder knows it at once."""
        number = self._count(text)
        return {} if number is None else {self._key("tokens", text): _packed(number)}

    def _known(self, keys: Collection[bytes]) -> dict[bytes, Vector]:
        size = self.model.dimensions * 4
        return {key: one for key, one in self._cache.read(keys).items() if len(one) == size}

    def _key(self, task: str, text: str) -> bytes:
        """S4-03: the model, its revision (which the prefixes are part of), the task, the text."""
        parts = (*map(str, self.model), task, text)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()


def _packed(number: int) -> bytes:
    return number.to_bytes(COUNT_BYTES, "little")
