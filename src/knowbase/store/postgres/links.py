"""Writing the graph in PostgreSQL: names and mentions of documents, edges resolved from them."""

from collections.abc import Collection, Iterable, Sequence

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres.vector_tables import unpacked, vector_table
from knowbase.store.similar import Similar, VectorsDue
from knowbase.text.names import Named, mentions_of, names_of_document
from knowbase.values.changes import Codes
from knowbase.values.edges import WEIGHTS
from knowbase.values.reading import Link
from knowbase.values.vectors import Model

_BATCH = 500
_MENTION = "document, name, relation, target, origin, reach, inverse, weight"


class Linking:
    """One transaction's work on the links of one base."""

    def __init__(self, connection: Connection, base: int) -> None:
        self._connection = connection
        self._base = base
        self._stale: set[str] = set()  # names that came or went

    def forget(self, ids: Sequence[str]) -> None:
        """Note the names of documents that are about to be removed."""
        found = self._connection.execute(
            "SELECT n.name FROM names n JOIN documents d ON d.base_id = n.base_id"
            " AND d.seq = n.document WHERE d.base_id = %s AND d.id = ANY(%s)",
            (self._base, list(ids)),
        )
        self._stale |= {name for (name,) in found}

    def refresh(self, documents: Collection[int]) -> None:
        """Bring the edges in step: of these documents, and of all that speak of a name that
        changed."""
        if documents:
            self._write_names(documents)
        speaking = self._connection.execute(
            "SELECT DISTINCT document FROM mentions WHERE base_id = %s AND name = ANY(%s)",
            (self._base, list(self._stale)),
        )
        owners = {*documents, *(document for (document,) in speaking)}
        self._stale = set()
        if owners:
            self._resolve(owners)

    def _write_names(self, documents: Collection[int]) -> None:
        wanted = (self._base, list(documents))
        known: dict[int, dict[str, int]] = {seq: {} for seq in documents}
        for document, name, kind in self._connection.execute(
            "SELECT document, name, kind FROM names WHERE base_id = %s AND document = ANY(%s)",
            wanted,
        ):
            known[document][name] = kind
        links = self._links(wanted)
        rows = self._connection.execute(
            SQL(
                f"SELECT seq, deleted_at, {', '.join(Named._fields)} FROM documents"
                " WHERE base_id = %s AND seq = ANY(%s)"
            ),
            wanted,
        ).fetchall()
        gone, new, mentions = [], [], []
        for seq, deleted_at, *fields in rows:
            named = Named(*fields)
            names = {} if deleted_at else names_of_document(named)
            gone += [(seq, *name) for name in known[seq].items() - names.items()]
            new += [(seq, *name) for name in names.items() - known[seq].items()]
            found = mentions_of(named, links.get(seq, ()))
            mentions += [(seq, *mention, mention.weight) for mention in found]
        self._stale |= {name for _, name, _ in (*gone, *new)}
        self._many(
            "DELETE FROM names WHERE base_id = %s AND document = %s AND name = %s AND kind = %s",
            gone,
        )
        self._many("INSERT INTO names (base_id, document, name, kind) VALUES (%s, %s, %s, %s)", new)
        self._connection.execute(
            "DELETE FROM mentions WHERE base_id = %s AND document = ANY(%s)", wanted
        )
        self._many(
            f"INSERT INTO mentions (base_id, {_MENTION})"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            mentions,
        )

    def _links(self, wanted: tuple[int, list[int]]) -> dict[int, list[Link]]:
        found: dict[int, list[Link]] = {}
        for document, target, kind in self._connection.execute(
            "SELECT document, target, kind FROM links WHERE base_id = %s AND document = ANY(%s)",
            wanted,
        ):
            found.setdefault(document, []).append(Link(target, kind))
        return found

    def _resolve(self, owners: Iterable[int]) -> None:
        """Find the targets of everything that these documents say, or that is said of them."""
        wanted = list(owners)
        self._connection.execute(
            "DELETE FROM edges WHERE base_id = %s AND source = ANY(%s)"
            " AND relation NOT IN ('PARENT_OF', 'SUPERSEDES', 'SIMILAR_TO')",
            (self._base, wanted),
        )
        self._connection.execute(
            "DELETE FROM edges WHERE base_id = %s AND target = ANY(%s)"
            " AND relation IN ('PARENT_OF', 'SUPERSEDES')",
            (self._base, wanted),
        )
        self._connection.execute(
            "INSERT INTO edges (base_id, source, target, relation, weight, origin)"
            " SELECT %s, source, target, relation, weight, min(origin) FROM ("
            " SELECT CASE WHEN m.inverse THEN n.document ELSE m.document END AS source,"
            " CASE WHEN m.inverse THEN m.document ELSE n.document END AS target,"
            " m.relation, m.weight, m.origin FROM mentions m CROSS JOIN LATERAL ("
            "  SELECT n.document FROM names n WHERE n.base_id = m.base_id AND n.name = m.name"
            "  AND n.kind <= m.reach ORDER BY n.kind, n.document LIMIT 1) n"
            " WHERE m.base_id = %s AND m.document = ANY(%s)"
            " UNION ALL SELECT r.source, r.target, r.relation, w.weight, r.origin FROM relations r"
            " JOIN unnest(%s::text[], %s::float8[]) AS w (relation, weight)"
            " ON w.relation = r.relation WHERE r.base_id = %s AND r.source = ANY(%s)) found"
            " WHERE source <> target GROUP BY source, target, relation, weight",
            (
                *(self._base, self._base, wanted),
                *(list(WEIGHTS), list(WEIGHTS.values()), self._base, wanted),
            ),
        )

    def write_codes(self, codes: Iterable[Codes]) -> None:
        """The codes that texts name, in place of those known."""
        for document, named in codes:
            key = (self._base, document)
            self._connection.execute(
                "DELETE FROM links l USING documents d WHERE d.base_id = %s AND d.id = %s"
                " AND l.base_id = d.base_id AND l.document = d.seq AND l.kind = 'code'",
                key,
            )
            self._connection.execute(
                "INSERT INTO links (base_id, document, target, kind)"
                " SELECT d.base_id, d.seq, c.code, 'code' FROM documents d,"
                " unnest(%s::text[]) AS c (code) WHERE d.base_id = %s AND d.id = %s"
                " ON CONFLICT DO NOTHING",
                (list(named), *key),
            )

    def relink(self) -> None:
        """Every name, mention and edge anew; every document is to be compared again."""
        for table in ("edges", "mentions", "names"):
            self._connection.execute(SQL(f"DELETE FROM {table} WHERE base_id = %s"), (self._base,))
        self._all_due()
        self.changed()
        seqs = [
            seq
            for (seq,) in self._connection.execute(
                "SELECT seq FROM documents WHERE base_id = %s ORDER BY seq", (self._base,)
            )
        ]
        for start in range(0, len(seqs), _BATCH):
            self._write_names(seqs[start : start + _BATCH])
        self._stale = set()
        self._resolve(seqs)

    def changed(self) -> None:
        """Note that vectors have changed."""
        self._connection.execute(
            "INSERT INTO graph (base_id, version) VALUES (%s, 1)"
            " ON CONFLICT (base_id) DO UPDATE SET version = graph.version + 1",
            (self._base,),
        )

    def is_due(self, threshold: float) -> bool:
        """Whether anything is to be compared."""
        left = self._connection.execute(
            "SELECT 1 FROM unlinked WHERE base_id = %s LIMIT 1", (self._base,)
        ).fetchone()
        return left is not None or self._state()[0] != threshold

    def _state(self) -> tuple[float | None, int]:
        """The similarity above which documents were linked the last time, and the version."""
        row = self._connection.execute(
            "SELECT similar_above, version FROM graph WHERE base_id = %s", (self._base,)
        ).fetchone()
        return (row[0], row[1]) if row else (None, 0)

    def vectors_due(self, known: tuple[int, Model] | None, threshold: float) -> VectorsDue:
        """The documents whose vectors changed, and every vector; all for a new threshold."""
        above, version = self._state()
        table = "unlinked" if above == threshold else "documents"
        column = "document" if above == threshold else "seq"
        due = [
            document
            for (document,) in self._connection.execute(
                SQL(f"SELECT {column} FROM {table} WHERE base_id = %s"), (self._base,)
            )
        ]
        if known is None or not due:
            return VectorsDue(version, due, [], [])
        number, model = known
        statement = SQL(
            "SELECT c.document, v.embedding FROM {} v JOIN chunks c ON c.base_id = v.base_id"
            " AND c.id = v.chunk WHERE v.base_id = %s AND v.model = %s"
        ).format(vector_table(model.dimensions))
        with self._connection.cursor(binary=True) as cursor:
            rows = cursor.execute(statement, (self._base, number)).fetchall()
        vectors = [unpacked(row[1]) for row in rows]
        return VectorsDue(version, due, [row[0] for row in rows], vectors)

    def write_similar(self, due: VectorsDue, pairs: Similar, threshold: float) -> bool:
        """Write the links of what was due; not when a vector has changed since it was read."""
        connection, base = self._connection, self._base
        connection.execute("SELECT 1 FROM bases WHERE id = %s FOR UPDATE", (base,))
        if self._state()[1] != due.version:
            return False
        connection.execute(
            "DELETE FROM edges WHERE base_id = %s AND relation = 'SIMILAR_TO'"
            " AND (source = ANY(%s) OR target = ANY(%s))",
            (base, due.documents, due.documents),
        )
        connection.execute("DELETE FROM unlinked WHERE base_id = %s", (base,))
        connection.execute(
            "INSERT INTO graph (base_id, similar_above) VALUES (%s, %s)"
            " ON CONFLICT (base_id) DO UPDATE SET similar_above = excluded.similar_above",
            (base, threshold),
        )
        weight = WEIGHTS["SIMILAR_TO"]
        columns = "base_id, source, target, relation, weight, origin"
        with connection.cursor() as cursor, cursor.copy(f"COPY edges ({columns}) FROM STDIN") as to:
            for pair, cosine in pairs.items():
                to.write_row((base, *pair, "SIMILAR_TO", cosine * weight, "vectors"))
        return True

    def _all_due(self) -> None:
        self._connection.execute(
            "INSERT INTO unlinked (base_id, document) SELECT base_id, seq FROM documents"
            " WHERE base_id = %s ON CONFLICT DO NOTHING",
            (self._base,),
        )

    def _many(self, statement: str, lines: Sequence[tuple[object, ...]]) -> None:
        if lines:
            self._connection.cursor().executemany(
                SQL(statement), [(self._base, *line) for line in lines]
            )
