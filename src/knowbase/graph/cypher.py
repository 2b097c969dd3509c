"""The graph for graphqlite, an extension of SQLite that answers Cypher.

The extension is loaded into apsw: Python's own sqlite3 is often built without extensions. Rows
are written as graphqlite's own bulk loader writes them.
"""

import errno
import json
import time
from typing import Any

import apsw

from knowbase.errors import InvalidInput, ToolMissing
from knowbase.graph.network import Network
from knowbase.graph.nodes import properties
from knowbase.process import resident_bytes

LABEL = "Document"
STEPS = 10_000  # of SQLite, between two looks at the clock
MOST_ANSWER = 8 << 20  # bytes of JSON
MOST_MEMORY = 256 << 20  # bytes that a query may add to the process
TOO_BIG = "string or blob too big"  # in SQLite's words, whichever of its statements says so
TOO_LONG, SHORTER = "its answer is too long", "add LIMIT, or return less of each row"


def write(network: Network, path: str) -> None:
    """A file that graphqlite opens."""
    try:
        connection = _connected(path)
    except apsw.CantOpenError as error:
        raise OSError(errno.ENOENT, "no file can be made there") from error
    try:
        _fill(connection, network)
    except (apsw.FullError, apsw.IOError) as error:
        raise OSError(errno.ENOSPC, "the disk is full or failing") from error
    finally:
        connection.close()


def ask(network: Network, query: str, seconds: float) -> list[dict[str, object]]:
    """The rows of a Cypher query that takes no longer than that."""
    _check(query)
    connection = _connected(":memory:")
    try:
        _fill(connection, network)
        limits = _Limits(seconds)
        connection.set_progress_handler(limits.are_exceeded, STEPS)
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, MOST_ANSWER)
        try:
            return answered(connection, query)
        except InvalidInput as error:
            raise limits.exceeded or error from error
    finally:
        connection.close()


class _Limits:
    """What a query may take: seconds, and memory. graphqlite gathers all rows before it answers,
    in memory that SQLite does not count, so that of the process is looked at."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._most = resident_bytes() + MOST_MEMORY
        self.exceeded: InvalidInput | None = None

    def are_exceeded(self) -> bool:
        if time.monotonic() > self._end:
            self.exceeded = _refusal("it takes too long", "graph.query_timeout")
        elif resident_bytes() > self._most:
            self.exceeded = _refusal(TOO_LONG, SHORTER)
        return self.exceeded is not None


def _check(query: str) -> None:
    """Refuse LOAD CSV, which reads any file of this machine. Where comments and texts begin and
    end is for graphqlite to say, so the two words are enough, wherever they stand."""
    if "load" in query.lower() and "csv" in query.lower():
        raise InvalidInput(
            "Cypher: LOAD CSV is not for this graph", field="query", hint="kb add reads files"
        )


def answered(connection: apsw.Connection, query: str) -> list[dict[str, object]]:
    """What a connection with the extension answers."""
    try:
        text = connection.execute("SELECT cypher(?)", (query,)).get
    except apsw.Error as error:
        reason = _reason(error)
        if reason == TOO_BIG:
            raise _refusal(TOO_LONG, SHORTER) from error
        raise _refusal(reason, "such as MATCH (d:Document) RETURN d") from error
    found = json.loads(text) if text else []
    rows = found if isinstance(found, list) else [found]
    return [row if isinstance(row, dict) else {"result": row} for row in rows]


def _refusal(reason: str, hint: str) -> InvalidInput:
    return InvalidInput(f"Cypher: {reason}", field="query", hint=hint)


def _reason(error: apsw.Error) -> str:
    try:
        return str(json.loads(str(error))["error"])
    except (ValueError, KeyError, TypeError):
        return str(error)


def _connected(path: str) -> apsw.Connection:
    try:
        from graphqlite import loadable_path
    except ImportError as error:
        raise ToolMissing(
            "this needs the graphqlite package", hint="pip install 'knowbase[graph]'"
        ) from error
    connection = apsw.Connection(path)
    connection.enable_load_extension(True)
    connection.load_extension(loadable_path())
    connection.enable_load_extension(False)
    return connection


def _fill(connection: apsw.Connection, network: Network) -> None:
    place = network.places()
    nodes = [properties(document) for document in network.documents]
    edges = network.directed()
    keys = _keys(connection, {name for node in nodes for name in node} | {"weight", "origin"})
    with connection:
        numbers = [(number,) for number in range(1, len(nodes) + 1)]
        connection.executemany("INSERT INTO nodes (id) VALUES (?)", numbers)
        connection.executemany(
            "INSERT INTO node_labels VALUES (?, ?)", [(number, LABEL) for (number,) in numbers]
        )
        for kind, table in ((str, "node_props_text"), (int, "node_props_int")):
            connection.executemany(
                f"INSERT INTO {table} VALUES (?, ?, ?)",  # noqa: S608 - a name of ours
                [
                    (number, keys[name], value)
                    for number, node in enumerate(nodes, start=1)
                    for name, value in node.items()
                    if type(value) is kind
                ],
            )
        connection.executemany(
            "INSERT INTO edges (id, source_id, target_id, type) VALUES (?, ?, ?, ?)",
            [
                (number, place[edge.source] + 1, place[edge.target] + 1, edge.relation)
                for number, edge in enumerate(edges, start=1)
            ],
        )
        for name, table in (("weight", "edge_props_real"), ("origin", "edge_props_text")):
            connection.executemany(
                f"INSERT INTO {table} VALUES (?, ?, ?)",  # noqa: S608 - a name of ours
                [
                    (number, keys[name], getattr(edge, name))
                    for number, edge in enumerate(edges, start=1)
                ],
            )


def _keys(connection: apsw.Connection, names: set[str]) -> dict[str, int]:
    connection.executemany(
        "INSERT OR IGNORE INTO property_keys (key) VALUES (?)", [(name,) for name in sorted(names)]
    )
    rows: Any = connection.execute("SELECT key, id FROM property_keys")
    return dict(rows)
