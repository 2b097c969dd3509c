"""The schema of a base in PostgreSQL: its name in the URL, and made by an administrator for a role
that may create nothing."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

import postgres
from conftest import Kb
from knowbase import Base, Note, SearchRequest
from knowbase.errors import BaseTooNew, InvalidInput
from knowbase.move import move
from knowbase.store.postgres import PostgresStore, create, retrieval
from knowbase.store.postgres.schema import STEPS
from linked import FarApart


def at(schema: str, name: str = "one", url: str = "") -> str:
    database = url or postgres.database()
    return f"{database}{'&' if '?' in database else '?'}schema={schema}#{name}"


@pytest.fixture(scope="module")
def administrator() -> Iterator[psycopg.Connection]:
    """Of a database without any base."""
    with psycopg.connect(postgres.server(), autocommit=True) as server:
        server.execute("DROP DATABASE IF EXISTS kb_named")
        server.execute("CREATE DATABASE kb_named")
        url = urlsplit(postgres.server())._replace(path="/kb_named").geturl()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE ROLE kb_writer LOGIN")
            connection.execute("CREATE ROLE kb_reader LOGIN")
            yield connection
        server.execute("DROP DATABASE kb_named WITH (FORCE)")
        server.execute("DROP ROLE kb_writer")
        server.execute("DROP ROLE kb_reader")


def as_role(role: str) -> str:
    """The administrator's database, for another user."""
    url = urlsplit(postgres.server())._replace(path="/kb_named").geturl()
    return url.replace("postgres:@", f"{role}@").replace("postgres@", f"{role}@")


def test_who_may_create_nothing_works_on_what_init_has_printed(
    administrator: psycopg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb = Kb(tmp_path)
    printed = kb(
        *("init", "--print-sql", "--dimensions", "4", "--writer", "kb_writer"),
        *("--reader", "kb_reader", "--base", at("team", url=as_role("kb_writer"))),
    ).out
    assert administrator.execute("SELECT to_regnamespace('team')").fetchone() == (None,)
    with closing(administrator.cursor()) as cursor:
        cursor.execute(printed.encode())
    writer = at("team", url=as_role("kb_writer"))
    with Base(create(writer).url, embedder=FarApart()) as base:
        base.note(Note("alpha beta", code="N-1"))
        assert base.store.counts().embedded == 1
        assert base.check().findings == ()
        monkeypatch.setattr(retrieval, "EXACT", 0)
        assert not base.store.renew_index()  # the owner's
    reader = at("team", url=as_role("kb_reader"))
    assert "N-1" in kb("search", "alpha", "--fts-only", "--base", reader).out
    line = kb.error("note", "gamma", "--base", reader, code=4)
    assert "no right" in line
    again = kb("init", "--print-sql", "--base", writer).out
    assert "-- step" not in again  # nothing is missing


def test_sql_for_a_database_that_cannot_be_asked_says_so(tmp_path: Path) -> None:
    printed = Kb(tmp_path)("init", "--print-sql", "--base", "postgresql://kb@127.0.0.1:1/x").out
    said = "-- the database cannot be reached: this makes all of it, in a database that has nothing"
    assert printed.startswith(said)
    assert "-- step 1\n" in printed


def test_a_file_needs_no_sql(tmp_path: Path) -> None:
    line = Kb(tmp_path).error("init", "--print-sql", "--base", "x.db", code=2)
    assert "needs no SQL" in line
    line = Kb(tmp_path).error("init", "--writer", "kb_writer", "--base", "x.db", code=2)
    assert "--print-sql" in line
    assert not (tmp_path / "x.db").exists()


def test_bases_of_two_schemas_never_meet_and_one_is_moved_to_the_other() -> None:
    with Base(create(at("first")).url, embedder=FarApart()) as base:
        base.note(Note("alpha beta", code="N-1"))
    with Base(create(at("second")).url, embedder=FarApart()) as base:
        assert base.search(SearchRequest("alpha")).hits == ()
    moved = move(at("first"), at("second"))
    assert moved.verified
    assert moved.target.endswith("schema=second#one")
    with Base(at("second"), embedder=FarApart()) as base:
        assert [hit.code for hit in base.search(SearchRequest("alpha")).hits] == ["N-1"]


def test_a_newer_schema_is_refused_and_says_so() -> None:
    create(at("newer")).close()
    with psycopg.connect(postgres.database(), autocommit=True) as connection:
        connection.execute("INSERT INTO newer.steps VALUES (%s)", (len(STEPS) + 1,))
    for work in (PostgresStore, create):
        with pytest.raises(BaseTooNew, match="this knowbase knows up to") as caught:
            work(at("newer"))
        assert "upgrade knowbase" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["", "public", "pg_own", "Team", "a b", 'x"y', "x%27y", "a" * 64])
def test_a_name_that_a_schema_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="the schema cannot be called"):
        PostgresStore(at(name))
