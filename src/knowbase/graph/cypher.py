"""The graph for graphqlite, an extension of SQLite that answers Cypher.

The extension is loaded into apsw: Python's own sqlite3 is often built without extensions. Rows
are written as graphqlite's own bulk loader writes them.
"""

import errno
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import apsw

from knowbase.errors import InvalidInput, ToolMissing
from knowbase.graph.network import Network
from knowbase.graph.nodes import properties
from knowbase.graph.procedures import translated
from knowbase.process import resident_bytes

LABEL = "Document"
JOB = "knowbase.graph.cypher:answer_for_parent"
AT_ONCE = 2  # queries; whoever comes third waits
STEPS = 10_000  # of SQLite, between two looks at the memory
MOST_QUERY = 10_000  # characters
MOST_ANSWER = 8 << 20  # bytes of JSON
TOO_BIG = "string or blob too big"  # in SQLite's words, whichever of its statements says so
TOO_LONG, SHORTER = "its answer is too long", "add LIMIT, or return less of each row"
REFUSALS = {
    "overstayed": ("it takes too long", "graph.query_timeout"),
    "overgrown": (TOO_LONG, SHORTER),
}


class _NumberedEdge(NamedTuple):
    """A link between nodes, which have the numbers of their documents."""

    source: int
    target: int
    relation: str
    weight: float
    origin: str


class _Contents(NamedTuple):
    """A graph as graphqlite keeps it."""

    nodes: list[dict[str, str | int]]
    edges: list[_NumberedEdge]


def write(network: Network, path: str) -> None:
    """A file that graphqlite opens."""
    try:
        connection = _connected(path)
    except apsw.CantOpenError as error:
        raise OSError(errno.ENOENT, "no file can be made there") from error
    try:
        _fill(connection, _contents(network))
    except (apsw.FullError, apsw.IOError) as error:
        raise OSError(errno.ENOSPC, "the disk is full or failing") from error
    finally:
        connection.close()


def ask(network: Network, query: str, seconds: float, memory_mb: int) -> list[dict[str, object]]:
    """The rows of a Cypher query. Its text goes through native code that trusts it, so it is asked
    in a process of its own, which nothing else is ever asked in: it may crash, and it holds what
    this caller may see."""
    from knowbase.process.child import ChildFailed, Limits, children

    _check(query)
    _extension()  # that it is missing is said before anything is started
    pool = children(JOB, Limits(seconds, memory_mb, at_once=AT_ONCE, calls=1))
    facts = {"query": translated(query), "memory_mb": memory_mb}
    try:
        rows: list[dict[str, object]] = pool.call(facts, json.dumps(_contents(network)).encode())
    except ChildFailed as error:
        refusal = REFUSALS.get(error.why, (f"graphqlite {error.told} on this", "ask otherwise"))
        raise _refusal(*refusal) from error
    return rows


def answer_for_parent(facts: Mapping[str, Any], data: bytes) -> list[dict[str, object]]:
    """What the process does."""
    connection = _connected(":memory:")
    connection.execute("PRAGMA temp_store = memory")  # this process may write no file
    _fill(connection, _from_json(data))
    memory = _Memory(facts["memory_mb"] << 20)
    connection.set_progress_handler(memory.is_exceeded, STEPS)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, MOST_ANSWER)
    try:
        return answered(connection, facts["query"])
    except InvalidInput as error:
        raise (_refusal(*REFUSALS["overgrown"]) if memory.is_full else error) from error


class _Memory:
    """Stops a query before the system does. graphqlite gathers all rows before it answers, in
    memory that SQLite does not count, so that of the process is looked at."""

    def __init__(self, limit: int) -> None:
        self._most = limit // 2
        self.is_full = False

    def is_exceeded(self) -> bool:
        self.is_full = resident_bytes() > self._most
        return self.is_full


def _contents(network: Network) -> _Contents:
    number = {document.id: document.seq for document in network.documents}
    edges = [
        _NumberedEdge(
            number[edge.source], number[edge.target], edge.relation, edge.weight, edge.origin
        )
        for edge in network.directed()
    ]
    return _Contents([properties(one) for one in network.documents], edges)


def _from_json(data: bytes) -> _Contents:
    nodes, edges = json.loads(data)
    return _Contents(nodes, [_NumberedEdge(*edge) for edge in edges])


def _check(query: str) -> None:
    """Refuse what no person writes, and LOAD CSV, which reads any file of this machine. Where
    comments and texts begin and end is for graphqlite to say, so the two words are enough,
    wherever they stand."""
    if len(query) > MOST_QUERY:
        raise _refusal(f"it is longer than {MOST_QUERY} characters", "ask for less at once")
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


def _extension() -> str:
    try:
        from graphqlite import loadable_path
    except ImportError as error:
        raise ToolMissing(
            "this needs the graphqlite package", hint="pip install 'knowbase[graph]'"
        ) from error
    return str(loadable_path())


def _connected(path: str) -> apsw.Connection:
    extension = _extension()
    connection = apsw.Connection(path)
    connection.enable_load_extension(True)
    connection.load_extension(extension)
    connection.enable_load_extension(False)
    return connection


def _fill(connection: apsw.Connection, contents: _Contents) -> None:
    nodes, edges = contents
    keys = _keys(connection, {name for node in nodes for name in node} | {"weight", "origin"})
    with connection:
        numbers = [node["number"] for node in nodes]
        connection.executemany("INSERT INTO nodes (id) VALUES (?)", [(one,) for one in numbers])
        connection.executemany(
            "INSERT INTO node_labels VALUES (?, ?)", [(one, LABEL) for one in numbers]
        )
        for kind, table in ((str, "node_props_text"), (int, "node_props_int")):
            connection.executemany(
                f"INSERT INTO {table} VALUES (?, ?, ?)",  # noqa: S608 - a name of ours
                [
                    (node["number"], keys[name], value)
                    for node in nodes
                    for name, value in node.items()
                    if type(value) is kind
                ],
            )
        connection.executemany(
            "INSERT INTO edges (id, source_id, target_id, type) VALUES (?, ?, ?, ?)",
            [(number, *edge[:3]) for number, edge in enumerate(edges, start=1)],
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
