"""Writing the graph in SQLite: names and mentions of documents, edges resolved from them.

Loaded only when something is written: a search by words needs none of it.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import apsw

from knowbase.store.sqlite.adding import insert_together
from knowbase.store.sqlite.packing import MILLION, SIMILAR, kept_name
from knowbase.text.names import Mention, Named, mentions_of, names_of_document
from knowbase.values.edges import WEIGHTS
from knowbase.values.reading import Link

_BATCH = 500


def refresh(connection: apsw.Connection, documents: Collection[int]) -> None:
    """Bring the edges in step: of these documents, and of all that speak of a name that changed.

    Names that came or went are noted by triggers, also when a document was deleted.
    """
    if documents:
        _write_names(connection, documents)
    speaking = connection.execute(
        "SELECT DISTINCT m.document FROM stale_names s CROSS JOIN mentions m ON m.name = s.name"
    )
    owners = {*documents, *(document for (document,) in speaking)}
    connection.execute("DELETE FROM stale_names")
    if owners:
        _resolve(connection, owners)


def _write_names(connection: apsw.Connection, documents: Collection[int]) -> None:
    known: dict[int, dict[str | bytes, int]] = {seq: {} for seq in documents}
    wanted = numbers(documents)
    for document, name, kind in connection.execute(
        "SELECT document, name, kind FROM names WHERE document IN (SELECT value FROM json_each(?))",
        (wanted,),
    ):
        known[document][name] = kind
    links = _links(connection, wanted)
    rows: Any = connection.execute(
        f"SELECT seq, deleted_at, {', '.join(Named._fields)} FROM documents"
        " WHERE seq IN (SELECT value FROM json_each(?))",
        (wanted,),
    ).fetchall()
    gone: list[tuple[str | bytes, int, int]] = []
    new: list[tuple[str | bytes, int, int]] = []
    mentions: list[tuple[Any, ...]] = []
    for seq, deleted_at, *fields in rows:
        named = Named(*fields)
        called = {} if deleted_at else names_of_document(named)
        old, names = known[seq].items(), {kept_name(name): kind for name, kind in called.items()}
        gone += [(*name, seq) for name in old - names.items()]
        new += [(*name, seq) for name in names.items() - old]
        mentions += mention_rows(seq, mentions_of(named, links.get(seq, ())))
    connection.executemany("DELETE FROM names WHERE name = ? AND kind = ? AND document = ?", gone)
    insert_together(
        connection, "INSERT INTO names VALUES ", "(?, ?, ?)", sorted(new, key=_in_order)
    )
    connection.execute(
        "DELETE FROM mentions WHERE document IN (SELECT value FROM json_each(?))", (wanted,)
    )
    connection.executemany(
        "INSERT OR IGNORE INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", mentions
    )


def _in_order(row: Any) -> tuple[bool, Any]:
    """As the table has them."""
    return isinstance(row[0], bytes), row


def mention_rows(document: int, mentions: Iterable[Mention]) -> Iterator[tuple[Any, ...]]:
    """As they are kept."""
    for one in mentions:
        yield (document, kept_name(one.name), *one[1:], one.weight)


def _links(connection: apsw.Connection, wanted: str) -> dict[int, list[Link]]:
    found: dict[int, list[Link]] = {}
    for document, target, kind in connection.execute(
        "SELECT document, target, kind FROM links"
        " WHERE document IN (SELECT value FROM json_each(?))",
        (wanted,),
    ):
        found.setdefault(document, []).append(Link(target, kind))
    return found


def _resolve(connection: apsw.Connection, owners: Iterable[int]) -> None:
    """Find the targets of everything that these documents say, or that is said of them."""
    wanted = numbers(owners)
    for end, which in (
        ("source", "NOT IN ('PARENT_OF', 'SUPERSEDES', " + SIMILAR + ")"),
        ("target", "IN ('PARENT_OF', 'SUPERSEDES')"),
    ):
        connection.execute(
            f"DELETE FROM edges WHERE {end} IN (SELECT value FROM json_each(?))"
            f" AND relation {which}",
            (wanted,),
        )
    called = (
        "(SELECT n.document FROM names n WHERE n.name = m.name AND n.kind <= m.reach"
        " ORDER BY n.kind, n.document LIMIT 1)"
    )
    owned = "(SELECT value AS seq FROM json_each(?2))"
    connection.execute(f"INSERT INTO edges {resolving(called, owned)}", (json_weights(), wanted))


def resolving(called: str, owners: str) -> str:
    """The query for the edges of these documents: `called` is who goes by the name of a mention
    `m`. Its first parameter are the weights of relations."""
    return (
        f"SELECT source, target, relation, CAST(round(weight * {MILLION}) AS INTEGER), min(origin)"
        " FROM ("
        " SELECT iif(inverse, found, document) AS source, iif(inverse, document, found) AS target,"
        " relation, weight, origin FROM (SELECT document, relation, target, origin, inverse,"
        f"  weight, found, min(reach) FROM (SELECT m.*, {called} AS found"
        f"   FROM {owners} o CROSS JOIN mentions m ON m.document = o.seq)"
        "  WHERE found IS NOT NULL GROUP BY document, relation, target, origin, inverse)"
        " UNION ALL SELECT r.source, r.target, r.relation, w.value, r.origin"
        f" FROM {owners} o CROSS JOIN relations r ON r.source = o.seq"
        " JOIN json_each(?1) w ON w.key = r.relation)"
        " WHERE source <> target GROUP BY source, target, relation, weight"
    )


def write_codes(connection: apsw.Connection, document: str, codes: Iterable[str]) -> int | None:
    """The codes that a text names, in place of those known; the document's number."""
    seq: int | None = connection.execute("SELECT seq FROM documents WHERE id = ?", (document,)).get
    if seq is not None:
        connection.execute("DELETE FROM links WHERE document = ? AND kind = 'code'", (seq,))
        connection.executemany(
            "INSERT OR IGNORE INTO links VALUES (?, ?, 'code')", [(seq, code) for code in codes]
        )
    return seq


def note_loss(connection: apsw.Connection, documents: Collection[int]) -> None:
    """These are about to go, or to be forgotten: who has as many similar ones as there may be
    is to be compared again, since the next one takes their place."""
    connection.execute(
        "INSERT OR IGNORE INTO unlinked SELECT other FROM ("
        " SELECT e.target AS other FROM json_each(?1) gone CROSS JOIN edges e"
        f"  ON e.source = gone.value WHERE e.relation = {SIMILAR}"
        " UNION SELECT e.source FROM json_each(?1) gone CROSS JOIN edges e"
        f"  ON e.target = gone.value WHERE e.relation = {SIMILAR})"
        f" WHERE (SELECT count(*) FROM edges WHERE source = other AND relation = {SIMILAR})"
        f" + (SELECT count(*) FROM edges WHERE target = other AND relation = {SIMILAR})"
        " >= (SELECT similar_most FROM graph)",
        (numbers(documents),),
    )


def note_forgotten(connection: apsw.Connection, document: str) -> None:
    """A document was forgotten, or is known again."""
    seq = connection.execute("SELECT seq FROM documents WHERE id = ?", (document,)).get
    if seq is not None:
        note_loss(connection, (seq,))
        connection.execute("INSERT OR IGNORE INTO unlinked VALUES (?)", (seq,))
        connection.execute("UPDATE graph SET version = version + 1")


def relink(connection: apsw.Connection) -> None:
    """Every name, mention and edge anew; every document is to be compared again."""
    connection.execute("DELETE FROM edges; DELETE FROM mentions; DELETE FROM names")
    connection.execute("UPDATE graph SET version = version + 1")
    connection.execute("INSERT OR IGNORE INTO unlinked SELECT seq FROM documents")
    seqs = [seq for (seq,) in connection.execute("SELECT seq FROM documents ORDER BY seq")]
    for start in range(0, len(seqs), _BATCH):
        _write_names(connection, seqs[start : start + _BATCH])
    connection.execute("DELETE FROM stale_names")
    _resolve(connection, seqs)


def numbers(values: Iterable[int]) -> str:
    """As one parameter, for json_each."""
    return "[" + ",".join(map(str, values)) + "]"


def json_weights() -> str:
    """What each relation counts."""
    import json

    return json.dumps(WEIGHTS)
