"""Work that machines share: which texts somebody is embedding, and until when.

The server's clock alone counts, and nothing depends on a session: what a worker that died was at
is free again when its time is over.
"""

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres import rows
from knowbase.store.postgres.cluster import is_distributed, together
from knowbase.store.postgres.connection import Connected, Connections, find_model
from knowbase.store.postgres.schema import LOCK
from knowbase.store.postgres.vector_tables import vector_table
from knowbase.values.documents import Passage
from knowbase.values.vectors import Claim, Model

_WAITS = (
    " c.base_id = %(base)s AND NOT EXISTS (SELECT 1 FROM {table} v"
    " WHERE v.base_id = c.base_id AND v.model = %(model)s AND v.chunk = c.id{beside})"
)
_UNLESS_TAKEN = (
    "ON CONFLICT (base_id, model, hash) DO UPDATE SET holder = excluded.holder,"
    " ends = excluded.ends WHERE claims.ends <= now() RETURNING hash"
)
_TAKE = (
    "INSERT INTO claims (base_id, model, hash, holder, ends)"
    " SELECT DISTINCT %(base)s, %(model)s::int, hash, %(holder)s,"
    " now() + make_interval(secs => %(seconds)s) FROM (SELECT c.hash FROM chunks c"
    f" WHERE c.id > %(after)s AND {_WAITS}"
    " AND NOT EXISTS (SELECT 1 FROM claims l WHERE l.base_id = c.base_id"
    " AND l.model = %(model)s AND l.hash = c.hash AND l.ends > now())"
    " ORDER BY c.id LIMIT %(limit)s FOR NO KEY UPDATE OF c SKIP LOCKED) free ORDER BY hash"
    f" {_UNLESS_TAKEN}"
)
"""Who comes at the same moment passes over what this one looks at; who looked before this one
was done finds its claim in the way. Always in one order, so that nobody waits in a circle."""
_FREE = (
    f"SELECT c.hash FROM chunks c WHERE c.id > %(after)s AND {_WAITS} AND c.hash NOT IN"
    " (SELECT l.hash FROM claims l WHERE l.base_id = %(base)s AND l.model = %(model)s"
    " AND l.ends > now()) ORDER BY c.id LIMIT %(limit)s"
)
_TAKE_FREE = (
    "INSERT INTO claims (base_id, model, hash, holder, ends)"
    " SELECT DISTINCT %(base)s, %(model)s::int, hash, %(holder)s,"
    " now() + make_interval(secs => %(seconds)s) FROM unnest(%(free)s::text[]) AS f (hash)"
    f" ORDER BY hash {_UNLESS_TAKEN}"
)
"""The same over a cluster, where rows of several workers cannot be locked in one statement: who
takes waits for who is taking."""
_READ = (
    f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM chunks c JOIN documents d"
    " ON d.base_id = c.base_id AND d.seq = c.document"
    f" WHERE c.hash = ANY(%(hashes)s) AND {_WAITS} ORDER BY c.id"
)


class PostgresClaims(Connected):
    """See `knowbase.store.contract.Claims` for what each method promises."""

    def __init__(self, connections: Connections, base: int) -> None:
        self._connections = connections
        self._base = base
        self._after = 0  # what comes before was looked at: each time all of it would be too much

    def take(self, model: Model, claim: Claim, limit: int) -> list[Passage]:
        taken = self._taken(model, claim, limit)
        missing = limit - len({one.chunk.hash for one in taken})
        if missing > 0 and self._after:  # of what comes before, some may be free again
            self._after = 0
            taken += self._taken(model, claim, missing)
        firsts = {one.chunk.hash: one.chunk_id for one in reversed(taken)}
        self._after = max(firsts.values(), default=0)
        return taken

    def _taken(self, model: Model, claim: Claim, limit: int) -> list[Passage]:
        return self._connections.writing(lambda within: self._take(within, model, claim, limit))

    def _take(
        self, connection: Connection, model: Model, claim: Claim, limit: int
    ) -> list[Passage]:
        # Before any claim, as all who write do: else they could wait for each other in a circle.
        connection.execute("SELECT 1 FROM bases WHERE id = %s FOR KEY SHARE", (self._base,))
        known = find_model(connection, self._base, model)
        if known is None:
            return []
        parts = {
            "table": vector_table(model.dimensions),
            "beside": together(connection, "v", "c"),
        }
        which = {"base": self._base, "model": known[0], "limit": limit, "after": self._after}
        values = {**which, **claim._asdict()}
        if is_distributed(connection):
            connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK, self._base))
            free = connection.execute(SQL(_FREE).format(**parts), values).fetchall()
            values["free"] = [digest for (digest,) in free]
        take = _TAKE_FREE if is_distributed(connection) else _TAKE
        taken = connection.execute(SQL(take).format(**parts), values).fetchall()
        values["hashes"] = [digest for (digest,) in taken]
        # Looked at again: another one may have been done with some of it just before.
        found = connection.execute(SQL(_READ).format(**parts), values)
        return [rows.passage(row) for row in found]

    def extend(self, claim: Claim) -> None:
        self._connections.writing(
            lambda within: within.execute(
                "UPDATE claims SET ends = now() + make_interval(secs => %s)"
                " WHERE base_id = %s AND holder = %s",
                (claim.seconds, self._base, claim.holder),
            )
        )

    def give_back(self, claim: Claim) -> None:
        self._connections.writing(
            lambda within: within.execute(
                "DELETE FROM claims WHERE base_id = %s AND holder = %s", (self._base, claim.holder)
            )
        )


def end_claims(connection: Connection, base: int, model: int, hashes: list[str]) -> None:
    """What these texts waited for is there; in the one order that there is."""
    connection.execute(
        "DELETE FROM claims WHERE base_id = %(base)s AND model = %(model)s AND hash IN"
        " (SELECT hash FROM claims WHERE base_id = %(base)s AND model = %(model)s"
        " AND hash = ANY(%(hashes)s) ORDER BY hash FOR UPDATE)",
        {"base": base, "model": model, "hashes": hashes},
    )
