"""What is particular to PostgreSQL: its indexes, its failures, many at once."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

import knowbase
from knowbase import Base, Note, SearchRequest
from knowbase.errors import (
    BaseLocked,
    BaseMissing,
    BaseTooNew,
    BaseUnreachable,
    InvalidInput,
    VectorsUnavailable,
)
from knowbase.query.conditions import EVERYTHING
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.store.postgres import PostgresStore, create, schema, upgrade
from knowbase.values.changes import Changes
from knowbase.values.documents import Page
from knowbase.values.reading import Link
from knowbase.values.vectors import Model
from linked import FarApart
from postgres import database, new_base, own_server, server
from stores import MODEL, NOW, draft, fill, section, vector

PLAIN = FieldWeights()
MODES = ("hybrid", "keyword", "semantic")


@pytest.fixture
def url() -> str:
    return new_base()


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    made = create(url)
    made.use_model(MODEL)
    yield made
    made.close()


def test_cover_density_needs_every_word_and_counts_length(
    store: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-05"""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kb.toml").write_text('[profiles.entries]\nkeyword = "ts_rank_cd"\n')
    with Base(store.url, embedder=FarApart()) as base:
        base.note(Note("vector search is fast", code="NEAR"))
        base.note(Note("search, which is said to be fast, is no vector " * 3, code="FAR"))
        base.note(Note("search alone", code="HALF"))

        def codes(query: str) -> list[str]:
            request = SearchRequest(query, syntax="plain", mode="keyword", profile="entries")
            return [hit.code for hit in base.search(request).hits]

        assert codes("vector search") == ["NEAR", "FAR"]
        assert codes(r".*+?[]{}() vector & | ! <->") == ["NEAR", "FAR"]
        assert codes("nothing") == []


def test_bases_of_one_database_do_not_meet(store: PostgresStore) -> None:
    other = create(new_base())
    other.use_model(MODEL)
    store.apply(Changes(drafts=(draft("one", section("alpha")),)), NOW)
    other.apply(Changes(drafts=(draft("one", section("beta")),)), NOW)
    words = keyword_query("alpha")
    assert store.keyword(words, EVERYTHING, 5, PLAIN)
    assert other.keyword(words, EVERYTHING, 5, PLAIN) == []
    assert other.documents(EVERYTHING, Page())[0].seq == 1
    other.apply(Changes(removed=("one",)), NOW)
    assert store.counts().chunks == 1
    other.close()


def test_long_words_and_odd_characters_are_stored(store: PostgresStore) -> None:
    long = "x" * 5000
    odd = "nul \0 here, quote ' percent %s backslash \\"
    store.apply(Changes(drafts=(draft("odd", section(f"{long} {odd}")),)), NOW)
    for text in (long, "quote", "percent"):
        assert store.keyword(keyword_query(text), EVERYTHING, 5, PLAIN)
    assert store.keyword(keyword_query("y" * 5000), EVERYTHING, 5, PLAIN) == []
    assert store.find("nul\0") is None


# failures


def test_nothing_of_the_server_reaches_a_caller(caplog: pytest.LogCaptureFixture) -> None:
    """S4-19, C32"""
    with (
        caplog.at_level(logging.ERROR, "knowbase"),
        pytest.raises(BaseUnreachable) as caught,
    ):
        create("postgresql://somebody:secret@127.0.0.1:1/nothing?connect_timeout=1")
    for word in ("secret", "127.0.0.1", "somebody", "connection"):
        assert word not in str(caught.value.as_dict())
    with pytest.raises(InvalidInput, match="not a PostgreSQL URL"):
        PostgresStore("postgresql://host/db?nonsense=1")


@pytest.mark.parametrize(
    "place", ["h:x/db", "h:0/db", "h:99999/db", "h:-1/db", "h/db?port=x", "h/db?connect_timeout=x"]
)
def test_a_number_that_is_none_makes_no_url(place: str) -> None:
    with pytest.raises(InvalidInput, match="not a PostgreSQL URL"):
        PostgresStore(f"postgresql://u@{place}")


def test_where_nobody_listens_is_asked_once(caplog: pytest.LogCaptureFixture) -> None:
    """Nobody waits for what is refused at once."""
    with (
        caplog.at_level(logging.WARNING, "psycopg.pool"),
        pytest.raises(BaseUnreachable),
    ):
        PostgresStore("postgresql://u@127.0.0.1:1/db")
    assert not [one for one in caplog.records if one.name == "psycopg.pool"]


def test_a_base_that_is_not_there_is_said(url: str) -> None:
    with pytest.raises(BaseMissing, match="no base 'nobody'"):
        PostgresStore(f"{database()}#nobody")
    with pytest.raises(BaseMissing):
        PostgresStore(server())  # a database without our schema


def test_a_newer_schema_is_refused(url: str) -> None:
    create(url).close()
    with psycopg.connect(database(), autocommit=True) as connection:
        connection.execute("INSERT INTO knowbase.steps VALUES (999)")
        try:
            with pytest.raises(BaseTooNew, match="schema 999"):
                PostgresStore(url)
        finally:
            connection.execute("DELETE FROM knowbase.steps WHERE number = 999")


def test_several_processes_may_make_the_schema_at_once() -> None:
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE kb_race_{os.getpid()}")
    place = database().replace("/kb_test_", "/kb_race_")
    together([partial(create, f"{place}#base-{number}") for number in range(6)])
    with psycopg.connect(place) as connection:
        row = connection.execute("SELECT count(*) FROM knowbase.bases").fetchone()
        assert row == (6,)


def test_without_pgvector_keyword_search_works_and_the_message_says_what_to_install() -> None:
    """S0-24, C20"""
    name = f"kb_plain_{os.getpid()}"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        connection.execute(
            "DO $$ BEGIN CREATE ROLE kb_nobody LOGIN; EXCEPTION WHEN duplicate_object THEN END $$"
        )
    place = database().replace(f"/kb_test_{os.getpid()}", f"/{name}")
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA knowbase AUTHORIZATION kb_nobody")
    made = create(place.replace("postgres:@", "kb_nobody@").replace("postgres@", "kb_nobody@"))
    with pytest.raises(VectorsUnavailable) as caught:
        made.use_model(MODEL)
    assert "CREATE EXTENSION vector" in (caught.value.hint or "")
    made.apply(Changes(drafts=(draft("one", section("alpha"), vectors=(None,)),)), NOW)
    assert made.keyword(keyword_query("alpha"), EVERYTHING, 5, PLAIN)
    assert made.semantic(vector(1, 0, 0, 0), EVERYTHING, 5) == []
    made.close()


def test_a_dropped_connection_is_replaced(store: PostgresStore) -> None:
    """S4-19"""
    store.apply(Changes(drafts=(draft("one", section("alpha")),)), NOW)
    for work in (
        lambda: store.counts().documents == 1,
        lambda: store.apply(Changes(drafts=(draft("one", section("beta")),)), NOW),
        lambda: len(store.keyword(keyword_query("beta"), EVERYTHING, 5, PLAIN)) == 1,
    ):
        with psycopg.connect(server(), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = %s AND pid <> pg_backend_pid()",
                (f"kb_test_{os.getpid()}",),
            )
        assert work()


def test_an_open_base_survives_a_restart_of_its_server() -> None:
    """S4-19"""
    server = own_server()
    with knowbase.create(server.get_uri()) as base:
        base.note(Note("Deploys freeze on Fridays"))
        before = [base.search(SearchRequest("deploys", mode=mode)).hits for mode in MODES]
        together([lambda: base.search(SearchRequest("deploys", mode="keyword"))] * 8)
        for stop in (server.stop, lambda: os.kill(server.get_pid(), signal.SIGQUIT)):
            stop()  # as an administrator does; then as a crash does
            wait_until_stopped(server)
            server.start()
            after = [base.search(SearchRequest("deploys", mode=mode)).hits for mode in MODES]
            assert after == before
        together([lambda: base.search(SearchRequest("deploys", mode="keyword"))] * 8)
        assert base.note(Note("Written after that")).seq == 2


def wait_until_stopped(server: Any) -> None:
    ends = time.monotonic() + 30
    while (server.pgdata / "postmaster.pid").exists():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_a_lock_is_waited_for_only_when_told(url: str, store: PostgresStore) -> None:
    impatient = PostgresStore(url, busy_timeout=0.2)
    with psycopg.connect(database()) as writer:
        writer.execute("SELECT 1 FROM knowbase.bases WHERE id = %s FOR UPDATE", (store._base,))
        changes = Changes(drafts=(draft("one", section("alpha")),))
        with pytest.raises(BaseLocked):
            impatient.apply(changes, NOW)
        with pytest.raises(BaseLocked):
            store.apply(changes, NOW, wait=False)
        assert store.counts().documents == 0  # reading goes on
    impatient.close()


def test_another_model_is_refused(store: PostgresStore) -> None:
    with pytest.raises(Exception, match="made with the model test"):
        store.use_model(Model("other", "1", 4))


# many at once


def together(works: list[Callable[[], object]]) -> None:
    """All of them at once; the first failure is raised."""
    failures: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_ten_searches_at_once_find_the_same(store: PostgresStore) -> None:
    """S4-21"""
    fill(store, 200)
    words = keyword_query("topic1 number document")
    expected = store.keyword(words, EVERYTHING, 20, PLAIN)
    found: list[Any] = []
    together([lambda: found.append(store.keyword(words, EVERYTHING, 20, PLAIN))] * 10)
    assert found == [expected] * 10


def test_writers_and_readers_at_once_lose_nothing(url: str, store: PostgresStore) -> None:
    """C26: numbers are given once, counts stay true"""
    ends = time.monotonic() + 3
    written: list[str] = []

    def write(number: int) -> None:
        own = PostgresStore(url, busy_timeout=60)
        count = 0
        while time.monotonic() < ends:
            name = f"w{number}-{count}"
            own.apply(Changes(drafts=(draft(name, section(f"alpha word{count}")),)), NOW)
            written.append(name)
            count += 1
        own.close()

    def read() -> None:
        while time.monotonic() < ends:
            found = store.keyword(keyword_query("alpha"), EVERYTHING, 1000, PLAIN)
            texts = store.passages([c.chunk for c in found])
            # a worker of a cluster may commit a moment after the coordinator, which has the words
            assert len(texts) == len(found) or store.cluster() is not None

    together([*(partial(write, number) for number in range(4)), read, read])
    documents = store.documents(EVERYTHING, Page(100_000))
    assert sorted(d.id for d in documents) == sorted(written)
    assert sorted(d.seq for d in documents) == list(range(1, len(written) + 1))
    assert len(store.keyword(keyword_query("alpha"), EVERYTHING, 10_000, PLAIN)) == len(written)
    assert store.counts().chunks == len(written)


def test_the_schema_counts_its_steps(store: PostgresStore) -> None:
    with psycopg.connect(database()) as connection:
        assert upgrade.version_of(connection) == len(schema.STEPS)


def test_texts_compare_by_their_bytes_whatever_the_collation_of_the_database(
    store: PostgresStore,
) -> None:
    """Where no other collation is installed, the catalogue says by what each column compares."""
    with psycopg.connect(store.url.partition("#")[0]) as connection:
        by_locale = connection.execute(
            "SELECT table_name || '.' || column_name FROM information_schema.columns"
            " WHERE table_schema = 'knowbase' AND data_type = 'text'"
            " AND collation_name IS DISTINCT FROM 'C' ORDER BY 1"
        ).fetchall()
    never_compared = ["documents.metadata", "documents.said", "saved.options"]  # JSON
    assert [name for (name,) in by_locale] == never_compared


def test_whether_all_have_a_vector_is_counted_again_only_after_a_change(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.use_model(MODEL)
    other = PostgresStore(store.url)
    store.apply(Changes(drafts=(draft("one", section("alpha")),)), NOW)
    counted: list[int] = []
    count = PostgresStore._embedded_by

    def counting(self: PostgresStore, *given: Any) -> int:
        counted.append(count(self, *given))
        return counted[-1]

    monkeypatch.setattr(PostgresStore, "_embedded_by", counting)
    assert [store.semantic_coverage() for _ in range(3)] == [1.0, 1.0, 1.0]
    assert counted == [1]
    other.apply(Changes(drafts=(draft("two", section("beta"), vectors=(None,)),)), NOW)
    assert store.semantic_coverage() == 0.5
    other.apply(Changes(removed=("two",)), NOW)
    assert store.semantic_coverage() == 1.0
    other.apply(Changes(drafts=(draft("one", section("gamma"), vectors=(None,)),)), NOW)
    assert store.semantic_coverage() == 0.0
    other.close()


def test_what_is_removed_leaves_no_links(store: PostgresStore) -> None:
    """No key of the database takes names, mentions and edges along."""
    ring = [
        draft(name, section(name), vectors=(vector(1, 0, 0, 0),), links=(Link(other, "wiki"),))
        for name, other in (("one", "two"), ("two", "three"), ("three", "one"))
    ]
    store.apply(Changes(drafts=tuple(ring)), NOW)
    store.link_similar(0.5, 4)
    assert {one.relation for one in store.edges(EVERYTHING)} == {"REFERENCES", "SIMILAR_TO"}
    store.apply(Changes(removed=("one", "two")), NOW)
    with psycopg.connect(database()) as connection:
        for table, column, number in (("names", "document", 2), ("mentions", "document", 1),
                                      ("edges", "source", 0), ("edges", "target", 0)):  # fmt: skip
            found = connection.execute(
                f"SELECT {column} FROM knowbase.{table} WHERE base_id = %s", (store._base,)
            ).fetchall()
            assert {seq for (seq,) in found} <= {3}, table
            assert bool(found) == bool(number), table
