"""Writing the graph in PostgreSQL: names and mentions of documents, edges resolved from them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import Any, LiteralString

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres.bulk import copy_rows
from knowbase.text.names import Named, mentions_of, names_of_document
from knowbase.values.changes import Codes
from knowbase.values.copies import Copy
from knowbase.values.edges import WEIGHTS
from knowbase.values.reading import Link

_BATCH = 500
_MENTION = (
    "document", "name", "relation", "target", "origin", "reach", "inverse", "weight"
)  # fmt: skip
_NONE: Mapping[int, Copy] = MappingProxyType({})
KEY = 5  # of these, so many make a mention one of its own


def resolving(called: LiteralString, owners: LiteralString) -> LiteralString:
    """The query for the edges of these documents: `called` is the one for who goes by the name of
    a mention `m`."""
    return (
        "SELECT %(base)s, source, target, relation, weight, min(origin) FROM ("
        " SELECT CASE WHEN inverse THEN found ELSE document END AS source,"
        " CASE WHEN inverse THEN document ELSE found END AS target, relation, weight, origin FROM ("
        "  SELECT DISTINCT ON (m.document, m.relation, m.target, m.origin, m.inverse) m.document,"
        "  m.relation, m.origin, m.inverse, m.weight, n.document AS found"
        f"  FROM mentions m CROSS JOIN LATERAL ({called}) n"
        f"  WHERE m.base_id = %(base)s AND m.document = ANY{owners}"
        "  ORDER BY m.document, m.relation, m.target, m.origin, m.inverse, m.reach) led"
        " UNION ALL SELECT r.source, r.target, r.relation, w.weight, r.origin FROM relations r"
        " JOIN unnest(%(relations)s::text[], %(weights)s::float8[]) AS w (relation, weight)"
        f" ON w.relation = r.relation WHERE r.base_id = %(base)s AND r.source = ANY{owners}) found"
        " WHERE source <> target GROUP BY source, target, relation, weight"
    )


def _mentioned(seq: int, named: Named, links: Iterable[Link]) -> list[tuple[Any, ...]]:
    """What a document says of others, as `_MENTION` has it."""
    return [(seq, *mention, mention.weight) for mention in mentions_of(named, links)]


class Linking:
    """One transaction's work on the links of one base."""

    def __init__(self, connection: Connection, base: int) -> None:
        self._connection = connection
        self._base = base
        self._stale: set[str] = set()  # names that came or went

    def forget(self, ids: Sequence[str]) -> None:
        """Remove the links of documents that are about to be removed, and note their names."""
        of_them = (
            "USING documents d WHERE d.base_id = %s AND d.id = ANY(%s) AND t.base_id = d.base_id"
        )
        given = (self._base, list(ids))
        for table, column in (("mentions", "document"), ("edges", "source"), ("edges", "target")):
            self._connection.execute(
                SQL(f"DELETE FROM {table} t {of_them} AND t.{column} = d.seq"), given
            )
        names = self._connection.execute(
            SQL(f"DELETE FROM names t {of_them} AND t.document = d.seq RETURNING t.name"), given
        )
        self._stale |= {name for (name,) in names}

    def refresh(self, documents: Collection[int], new: Mapping[int, Copy] = _NONE) -> None:
        """Bring the edges in step: of these documents, and of all that speak of a name that
        changed. Of `new` ones nothing is there yet, and what they say need not be read."""
        old = set(documents) - new.keys()
        speaking = self._write_new(new) if new else set()
        if old:
            self._write_names(old)
        owners = old | speaking | self._speakers()
        self._forget_edges(owners - new.keys())
        self._resolve(owners)

    def _speakers(self) -> set[int]:
        """The documents that speak of a name that came or went."""
        stale, self._stale = self._stale, set()
        if not stale:
            return set()
        speaking = self._connection.execute(
            "SELECT DISTINCT document FROM mentions WHERE base_id = %s AND name = ANY(%s)",
            (self._base, list(stale)),
        )
        return {document for (document,) in speaking}

    def _write_new(self, copies: Mapping[int, Copy]) -> set[int]:
        """The names and mentions of new documents; those that speak of others."""
        names: list[tuple[Any, ...]] = []
        mentions: list[tuple[Any, ...]] = []
        for seq, copy in copies.items():
            named = Named(*[getattr(copy.document, name) for name in Named._fields])
            if copy.document.deleted_at is None:
                names += [(seq, *name) for name in names_of_document(named).items()]
            mentions += _mentioned(seq, named, copy.links)
        self._copy_names(names)
        self._copy_mentions(mentions)
        return {one[0] for one in mentions}

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
            mentions += _mentioned(seq, named, links.get(seq, ()))
        self._stale |= {name for _, name, _ in gone}
        self._many(
            "DELETE FROM names WHERE base_id = %s AND document = %s AND name = %s AND kind = %s",
            gone,
        )
        self._copy_names(new)
        self._connection.execute(
            "DELETE FROM mentions WHERE base_id = %s AND document = ANY(%s)", wanted
        )
        self._copy_mentions(mentions)

    def _copy_names(self, names: Sequence[tuple[Any, ...]]) -> None:
        self._stale |= {name for _, name, _ in names}
        columns = ("base_id", "document", "name", "kind")
        lines = [(self._base, *one) for one in sorted(names, key=itemgetter(1))]
        copy_rows(self._connection, "names", columns, lines)

    def _copy_mentions(self, mentions: Sequence[tuple[Any, ...]]) -> None:
        lines = {one[:KEY]: (self._base, *one) for one in reversed(mentions)}  # equal ones are one
        copy_rows(self._connection, "mentions", ("base_id", *_MENTION), [*lines.values()])

    def _links(self, wanted: tuple[int, list[int]]) -> dict[int, list[Link]]:
        found: dict[int, list[Link]] = {}
        for document, target, kind in self._connection.execute(
            "SELECT document, target, kind FROM links WHERE base_id = %s AND document = ANY(%s)",
            wanted,
        ):
            found.setdefault(document, []).append(Link(target, kind))
        return found

    def _forget_edges(self, owners: Collection[int]) -> None:
        """Those that come from what these documents say, or from what is said of them."""
        if not owners:
            return
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

    def _resolve(self, owners: Collection[int]) -> None:
        """Find the targets of everything that these documents say, or that is said of them."""
        if not owners:
            return
        called = (
            "SELECT n.document FROM names n WHERE n.base_id = m.base_id AND n.name = m.name"
            " AND n.kind <= m.reach ORDER BY n.kind, n.document LIMIT 1"
        )
        self._connection.execute(
            SQL(
                "INSERT INTO edges (base_id, source, target, relation, weight, origin) "
                + resolving(called, "(%(wanted)s)")
            ),
            {
                "base": self._base,
                "wanted": list(owners),
                "relations": list(WEIGHTS),
                "weights": list(WEIGHTS.values()),
            },
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

    def clear(self) -> None:
        """Every name, mention and edge goes, also those of what is not there."""
        for table in ("edges", "mentions", "names"):
            self._connection.execute(SQL(f"DELETE FROM {table} WHERE base_id = %s"), (self._base,))

    def relink(self) -> None:
        """Every name, mention and edge anew; every document is to be compared again."""
        self.clear()
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

    def note_loss(self, ids: Sequence[str]) -> None:
        """These are about to go, or to be forgotten: who has as many similar ones as there may
        be is to be compared again, since the next one takes their place."""
        self._connection.execute(
            "INSERT INTO unlinked (base_id, document) SELECT base_id, other FROM ("
            " SELECT e.base_id, CASE WHEN e.source = d.seq THEN e.target ELSE e.source END AS other"
            " FROM documents d JOIN edges e ON e.base_id = d.base_id"
            " AND (e.source = d.seq OR e.target = d.seq) AND e.relation = 'SIMILAR_TO'"
            " WHERE d.base_id = %(base)s AND d.id = ANY(%(ids)s)) linked"
            " WHERE (SELECT count(*) FROM edges n WHERE n.base_id = %(base)s"
            " AND n.relation = 'SIMILAR_TO' AND (n.source = other OR n.target = other))"
            " >= (SELECT similar_most FROM graph WHERE base_id = %(base)s)"
            " ON CONFLICT DO NOTHING",
            {"base": self._base, "ids": list(ids)},
        )

    def note_forgotten(self, ids: Sequence[str]) -> None:
        """Documents were forgotten, or are known again."""
        if not ids:
            return
        self.note_loss(ids)
        self._connection.execute(
            "INSERT INTO unlinked (base_id, document) SELECT base_id, seq FROM documents"
            " WHERE base_id = %s AND id = ANY(%s) ON CONFLICT DO NOTHING",
            (self._base, list(ids)),
        )
        self.changed()

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
