"""Running the steps of the schema: under an advisory lock, in one transaction; a newer schema is
refused. Or printing them, for an administrator to run."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from psycopg import Connection, errors, sql

from knowbase.errors import BaseTooNew, InvalidInput
from knowbase.store.postgres import cluster
from knowbase.store.postgres.connection import ENCODING, SCHEMA
from knowbase.store.postgres.schema import LOCK, STEPS, WITH_A_GRAPH
from knowbase.store.postgres.vector_tables import HNSW, vector_table_sql
from knowbase.store.upgrading import announce_upgrade

WAIT = 120_000  # milliseconds, for another one who upgrades, or who reads what is to be changed
PGVECTOR = "CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public"
KEPT = "CREATE TABLE IF NOT EXISTS steps (number integer PRIMARY KEY)"

Relink: TypeAlias = Callable[[Connection, int], None]
"""Finds every link of one base: asked for once, for bases from before there was a graph."""


def upgrade(connection: Connection, schema: str, relink: Relink) -> None:
    """Run the missing steps in one transaction; who comes second waits and finds them done."""
    with connection.transaction():
        connection.execute(
            sql.SQL(f"SET LOCAL lock_timeout = {WAIT:d}; SET LOCAL statement_timeout = 0")
        )
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        if not _has_schema(connection, schema):
            _check_encoding(connection)
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        _add_pgvector(connection)
        connection.execute(KEPT)
        version = version_of(connection, schema)
        for number in range(version, len(STEPS)):
            for statement in _statements(STEPS[number]):
                connection.execute(sql.SQL(statement))
            if number + 1 == WITH_A_GRAPH:
                for (base,) in connection.execute("SELECT id FROM bases").fetchall():
                    relink(connection, base)
            connection.execute("INSERT INTO steps VALUES (%s)", (number + 1,))
    announce_upgrade(version, len(STEPS))


def _statements(step: str) -> list[str]:
    """One by one: Citus hands on what it is given as a whole."""
    quoted = step.split("$$")
    quoted[::2] = [part.replace(";\n", ";\0") for part in quoted[::2]]
    return [one for one in "$$".join(quoted).split("\0") if one.strip()]


def is_current(connection: Connection, schema: str) -> bool:
    """Whether every step has been run: then nothing is to be created."""
    return _has_schema(connection, schema) and version_of(connection, schema) == len(STEPS)


def _has_schema(connection: Connection, schema: str) -> bool:
    """Asked of the table: what `to_regnamespace` says may be of before a lock was waited for."""
    found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,))
    return found.fetchone() is not None


def _check_encoding(connection: Connection) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != ENCODING:
        raise InvalidInput(
            f"the database has the encoding {encoding}, which cannot hold every text",
            field="base",
            hint="make one with: createdb --encoding UTF8 --template template0 NAME",
        )


def _add_pgvector(connection: Connection) -> None:
    """Without it, or without the right to install it, keyword search works all the same."""
    try:
        with connection.transaction():
            connection.execute(PGVECTOR)
    except (errors.InsufficientPrivilege, errors.UndefinedFile, errors.FeatureNotSupported):
        return


def version_of(connection: Connection, schema: str = SCHEMA) -> int:
    """How many steps have been run; refuse more than we know. By its full name: a schema that one
    may not look into is no schema that is not there."""
    steps = sql.Identifier(schema, "steps")
    statement = sql.SQL("SELECT coalesce(max(number), 0) FROM {}").format(steps)
    try:
        with connection.transaction():
            row = connection.execute(statement).fetchone()
    except errors.UndefinedTable:
        return 0
    version = int(row[0]) if row else 0
    if version > len(STEPS):
        raise BaseTooNew(
            f"the database has schema {version}, this knowbase knows up to {len(STEPS)}",
            hint="upgrade knowbase: pip install -U knowbase",
        )
    return version


def extensions(connection: Connection) -> dict[str, tuple[int, ...]]:
    """The versions of pgvector (`vector`) and Citus in this database, if it has them."""
    rows = connection.execute(
        "SELECT extname, split_part(extversion, '-', 1) FROM pg_extension"
        " WHERE extname IN ('vector', 'citus')"
    ).fetchall()
    return {name: tuple(int(part) for part in version.split(".")[:2]) for name, version in rows}


class Roles(NamedTuple):
    """Whom the printed SQL gives rights to."""

    writer: str | None = None
    reader: str | None = None


class Found(NamedTuple):
    """What is there of a schema."""

    version: int = 0
    spreads: bool = False  # whether its tables are to be distributed over a cluster


def found(connection: Connection, schema: str) -> Found:
    version = version_of(connection, schema)
    spreads = "citus" in extensions(connection) and cluster.has_workers(connection)
    return Found(version, spreads and not cluster.has_distributed(connection, schema))


def printed(schema: str, there: Found, dimensions: int, roles: Roles) -> str:
    """What an administrator runs, from a version of the schema on: after it, a role that may
    create nothing works there."""
    return "\n".join(one.rstrip() for one in _printed(schema, there, dimensions, roles)) + "\n"


def _printed(schema: str, there: Found, dimensions: int, roles: Roles) -> Iterator[str]:
    name = _quoted(schema)
    yield "BEGIN;"
    yield f"SELECT pg_advisory_xact_lock({LOCK:d});"
    yield f"{PGVECTOR};"
    yield f"CREATE SCHEMA IF NOT EXISTS {name};"
    yield f"SET LOCAL search_path TO {name}, public;"
    yield f"{KEPT};"
    for number in range(there.version, len(STEPS)):
        yield f"-- step {number + 1}"
        yield STEPS[number].strip()
        yield f"INSERT INTO steps VALUES ({number + 1});"
    yield f"-- vectors of {dimensions} numbers; one such table for each other length"
    yield f"{vector_table_sql(dimensions).as_string()};"
    if there.spreads:
        yield "-- over the workers of the cluster"
        yield from (f"{one};" for one in cluster.distribution([f"vectors_{dimensions:d}"]))
    yield from _grants(name, roles)
    yield "COMMIT;"
    yield "-- with more than 20,000 vectors, as the owner, once they are there:"
    yield (
        f"-- CREATE INDEX vectors_{dimensions:d}_hnsw ON {name}.vectors_{dimensions:d}"
        f" USING hnsw ((embedding::halfvec({dimensions:d})) halfvec_cosine_ops) WITH ({HNSW});"
    )


def _grants(schema: str, roles: Roles) -> Iterator[str]:
    for role, rights in (
        (roles.reader, "SELECT"),
        (roles.writer, "SELECT, INSERT, UPDATE, DELETE"),
    ):
        if role is not None:
            yield f"GRANT USAGE ON SCHEMA {schema} TO {_quoted(role)};"
            yield f"GRANT {rights} ON ALL TABLES IN SCHEMA {schema} TO {_quoted(role)};"
    if roles.writer is not None:
        writer = _quoted(roles.writer)
        yield f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {writer};"


def _quoted(name: str) -> str:
    return sql.Identifier(name).as_string()
