"""What a role may do with a base in PostgreSQL: one who reads, one who writes and creates nothing,
one who lacks a right; and TLS as the URL asks for it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

import postgres
from conftest import Kb
from knowbase import Base, Note, SearchRequest
from knowbase.errors import BaseReadOnly, BaseUnreachable, KnowbaseError
from knowbase.store.postgres import PostgresStore, create
from linked import FarApart
from stores import MODEL

TABLES = "ON ALL TABLES IN SCHEMA knowbase TO kb_some"


@pytest.fixture
def url() -> str:
    """Of a base with a note, and a vector of it."""
    made = postgres.new_base()
    with Base(create(made).url, embedder=FarApart()) as base:
        base.note(Note("alpha beta", code="N-1"))
    return made


@contextmanager
def some_role(url: str, *grants: str) -> Iterator[str]:
    """The URL for a role that has these rights and no other."""
    with psycopg.connect(postgres.database(), autocommit=True) as administrator:
        administrator.execute("CREATE ROLE kb_some LOGIN")
        try:
            for grant in grants:
                administrator.execute(f"GRANT {grant}")
            yield url.replace("postgres:@", "kb_some@").replace("postgres@", "kb_some@")
        finally:
            administrator.execute("DROP OWNED BY kb_some")
            administrator.execute("DROP ROLE kb_some")


def test_who_may_only_read_searches(url: str, tmp_path: Path) -> None:
    rights = ("USAGE ON SCHEMA knowbase TO kb_some", f"SELECT {TABLES}")
    with some_role(url, *rights) as reader:
        with Base(reader, embedder=FarApart()) as base:
            assert [hit.code for hit in base.search(SearchRequest("alpha")).hits] == ["N-1"]
            assert base.get("N-1").text.strip() == "alpha beta"
            with pytest.raises(BaseReadOnly, match="no right to read, or to change") as caught:
                base.note(Note("gamma"))
            assert "GRANT SELECT" in (caught.value.hint or "")
        env = {"KB_BASE": reader}
        assert "N-1" in Kb(tmp_path)("search", "alpha", "--fts-only", env=env).out
        Kb(tmp_path)("links", "N-1", env=env)


def test_who_may_write_and_create_nothing_works_on_what_was_made(url: str) -> None:
    """Also a base of its own beside it: its tables are there."""
    rights = (
        "USAGE ON SCHEMA knowbase TO kb_some",
        f"SELECT, INSERT, UPDATE, DELETE {TABLES}",
        "USAGE ON ALL SEQUENCES IN SCHEMA knowbase TO kb_some",
    )
    with some_role(url, *rights) as writer:
        for place in (writer, f"{writer}-beside"):
            with Base(create(place).url, embedder=FarApart()) as base:
                base.note(Note("gamma delta", code="N-2"))
                assert base.store.counts().embedded == base.store.counts().chunks
                assert base.search(SearchRequest("gamma")).hits[0].code == "N-2"
        with closing(PostgresStore(writer)) as store:
            with pytest.raises(BaseReadOnly, match="add to, the schema") as caught:
                store.put_vectors(MODEL._replace(name="longer", dimensions=77), "", {})
            assert "kb init" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("grants", "words"),
    [
        ((), "look into, or to add to, the schema"),
        (("USAGE ON SCHEMA knowbase TO kb_some",), "read, or to change"),
    ],
)
def test_each_right_that_is_missing_is_named(url: str, grants: tuple[str, ...], words: str) -> None:
    with (
        some_role(url, *grants) as nobody,
        pytest.raises(BaseReadOnly, match=words) as caught,
    ):
        PostgresStore(nobody)
    assert "\n" not in str(caught.value)
    assert "GRANT" in (caught.value.hint or "")


def test_who_may_not_make_the_schema_is_told_so() -> None:
    with psycopg.connect(postgres.server(), autocommit=True) as administrator:
        administrator.execute("DROP DATABASE IF EXISTS kb_bare")
        administrator.execute("CREATE DATABASE kb_bare")
    url = urlsplit(postgres.server())._replace(path="/kb_bare").geturl()
    try:
        with some_role(url) as nobody, pytest.raises(KnowbaseError, match="make the schema"):
            create(nobody)
    finally:
        with psycopg.connect(postgres.server(), autocommit=True) as administrator:
            administrator.execute("DROP DATABASE kb_bare WITH (FORCE)")


def test_tls_is_as_the_url_asks_for(url: str, tmp_path: Path) -> None:
    pooler = postgres.pooler()
    if not pooler.certificate.exists():
        pytest.skip("needs openssl to make a certificate")
    database, _, name = pooler.before(url).partition("#")

    def with_root(root: Path) -> str:
        return f"{database}?sslmode=verify-full&sslrootcert={root}#{name}"

    with Base(with_root(pooler.certificate), embedder=FarApart()) as base:
        found = base.store._connections.run(  # type: ignore[attr-defined]
            lambda connection: connection.pgconn.ssl_in_use
        )
        assert found
        assert base.search(SearchRequest("alpha")).hits
    for root in (tmp_path / "not-there.pem", Path(__file__)):
        with pytest.raises(BaseUnreachable, match="TLS is not what the URL asks for"):
            PostgresStore(with_root(root))
    with pytest.raises(BaseUnreachable, match="TLS is not what the URL asks for"):
        PostgresStore(f"{database}?sslmode=verify-fully#{name}")
