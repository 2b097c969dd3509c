"""What an administrator has set for a role or a database does not change what a base holds."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.sql import SQL

import cluster
import postgres
from conftest import Kb
from knowbase import Base, Note, SearchRequest
from knowbase.store.postgres import create
from linked import FarApart

TEXT = "alpha \\ 'beta' Grüße 日本 €"
SETTINGS = (
    "search_path = nowhere", "statement_timeout = '1ms'", "lock_timeout = '1ms'",
    "client_encoding = 'LATIN1'", "standard_conforming_strings = off", "bytea_output = 'escape'",
    "datestyle = 'German'", "timezone = 'Asia/Tokyo'", "extra_float_digits = -3",
    "default_transaction_isolation = 'serializable'", "idle_session_timeout = '50ms'",
)  # fmt: skip


@pytest.fixture
def role() -> Iterator[str]:
    """One that may do everything; its settings are its own."""
    with psycopg.connect(postgres.server(), autocommit=True) as administrator:
        administrator.execute("CREATE ROLE kb_particular LOGIN SUPERUSER")
        yield "kb_particular"
        administrator.execute("DROP ROLE kb_particular")


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_a_role_has_set_changes_neither_what_is_kept_nor_what_is_found(
    role: str, setting: str
) -> None:
    is_on_workers = setting.startswith(("statement_timeout", "idle_session_timeout"))
    if is_on_workers and cluster.nodes(postgres.server()):
        pytest.skip("a role's time-out holds on the workers, too: KB_TEST_POSTGRES names a cluster")
    made = postgres.new_base()
    with Base(create(made).url, embedder=FarApart()) as base:
        base.note(Note(TEXT, code="N-1"))
        expected = base.search(SearchRequest("alpha Grüße"))
    with psycopg.connect(postgres.server(), autocommit=True) as administrator:
        administrator.execute(SQL(f"ALTER ROLE {role} SET {setting}"))
    url = made.replace("postgres:@", f"{role}@").replace("postgres@", f"{role}@")
    with Base(url, embedder=FarApart()) as base:
        assert base.get("N-1").text.strip() == TEXT
        found = base.search(SearchRequest("alpha Grüße"))
        assert [(hit.code, hit.score) for hit in found.hits] == [
            (hit.code, hit.score) for hit in expected.hits
        ]
        base.note(Note(f"{TEXT} once more", code="N-2"))
    with Base(made, embedder=FarApart()) as base:
        assert base.get("N-2").text.strip() == f"{TEXT} once more"
        findings = base.check(deep=True).findings
        assert [one for one in findings if one.severity != "notice"] == []


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_text_is_refused(encoding: str, tmp_path: Path) -> None:
    if cluster.nodes(postgres.server()):
        pytest.skip("a database of one server alone: KB_TEST_POSTGRES names a cluster")
    with psycopg.connect(postgres.server(), autocommit=True) as administrator:
        administrator.execute("DROP DATABASE IF EXISTS kb_encoded")
        administrator.execute(
            SQL(
                f"CREATE DATABASE kb_encoded TEMPLATE template0 ENCODING '{encoding}'"
                " LC_COLLATE 'C' LC_CTYPE 'C'"
            )
        )
    url = urlsplit(postgres.server())._replace(path="/kb_encoded").geturl()
    try:
        line = Kb(tmp_path).error("init", "--base", url, code=2)
        assert f"the database has the encoding {encoding}" in line
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT to_regnamespace('knowbase')").fetchone() == (None,)
    finally:
        with psycopg.connect(postgres.server(), autocommit=True) as administrator:
            administrator.execute("DROP DATABASE kb_encoded WITH (FORCE)")
