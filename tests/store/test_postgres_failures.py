"""Each failure of PostgreSQL is its own error, and nothing is waited for without end."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Literal

from conftest import Kb
from knowbase import deadline
from knowbase.errors import (
    BaseBusy,
    BaseError,
    BaseLocked,
    BaseReadOnly,
    BaseUnreachable,
    DiskFull,
    KnowbaseError,
    TookTooLong,
)
from knowbase.query.conditions import EVERYTHING
from knowbase.store.postgres import PostgresStore, connection, create
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL
from postgres import database, new_base
from stores import MODEL, NOW, draft, section

SLEEP = SQL("SELECT pg_sleep(30)")


@pytest.fixture
def url() -> str:
    return new_base()


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with closing(create(url)) as made:
        made.use_model(MODEL)
        yield made


@contextmanager
def administrator() -> Iterator[psycopg.Connection]:
    with psycopg.connect(database(), autocommit=True) as made:
        yield made


def as_role(url: str, role: str, made_with: str) -> str:
    """The URL for a role of these attributes."""
    with administrator() as connection:
        connection.execute(f"DROP ROLE IF EXISTS {role}")
        connection.execute(f"CREATE ROLE {role} {made_with}")
    return url.replace("postgres:@", f"{role}@").replace("postgres@", f"{role}@")


def one(name: str = "one") -> Changes:
    return Changes(drafts=(draft(name, section(name)),))


# who is not let in


@pytest.mark.parametrize(
    ("attributes", "error", "words"),
    [
        ("LOGIN CONNECTION LIMIT 0", BaseBusy, "no further connections"),
        ("NOLOGIN", BaseUnreachable, "does not let this user in"),
        ("LOGIN", BaseReadOnly, "may not do that"),
    ],
)
def test_who_is_not_let_in_is_told_why(
    url: str, attributes: str, error: type[BaseError], words: str
) -> None:
    create(url).close()
    with pytest.raises(error, match=words) as caught:
        PostgresStore(as_role(url, "kb_role", attributes), busy_timeout=0.2)
    assert type(caught.value) is error
    assert caught.value.hint


def test_a_database_or_user_that_is_not_there_is_named_so() -> None:
    with pytest.raises(BaseUnreachable, match="no such database"):
        PostgresStore(database().replace("/kb_test_", "/kb_nothing_"))
    url = database().replace("postgres:@", "kb_nobody_at_all@")
    with pytest.raises(BaseUnreachable, match="does not let this user in"):
        PostgresStore(url.replace("postgres@", "kb_nobody_at_all@"))


def test_a_connection_that_is_lost_prints_nothing_of_its_own(url: str) -> None:
    """Where a program has not set up logging, Python prints what the driver warns of."""
    create(url).close()
    program = (
        "import sys; from psycopg.sql import SQL; from knowbase.store.postgres import PostgresStore"
        "\ntry: PostgresStore(sys.argv[1])._read(SQL('SELECT pg_terminate_backend("
        "pg_backend_pid())'))\nexcept Exception as error: print(type(error).__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, url], capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("BaseUnreachable", "")


def test_a_pool_without_connections_says_why(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as taken:
        for _ in range(store._connections._pool.max_size):
            taken.enter_context(store._connections._connection())
        monkeypatch.setattr(connection, "POOL_TIMEOUT", 0.2)
        with pytest.raises(BaseBusy, match="this program"):
            store.count(EVERYTHING)
        with pytest.raises(BaseBusy, match="this program"), store.copying().snapshot():
            pass


# each state its own error

STATES = {
    "55P03": BaseLocked,
    "40P01": BaseLocked,
    "40001": BaseLocked,
    "57014": TookTooLong,
    "25P03": TookTooLong,
    "53300": BaseBusy,
    "53100": DiskFull,
    "53200": BaseError,
    "57P01": BaseUnreachable,
    "25006": BaseReadOnly,
    "42501": BaseReadOnly,
    "22P05": BaseError,
    "XX000": BaseError,
}


@pytest.mark.parametrize("state", STATES)
def test_each_state_of_the_server_is_its_own_error(store: PostgresStore, state: str) -> None:
    raising = SQL("DO $$ BEGIN RAISE EXCEPTION 'secret words' USING ERRCODE = {}; END $$")
    with pytest.raises(KnowbaseError) as caught:
        store._read(raising.format(Literal(state)))
    assert type(caught.value) is STATES[state]
    assert "secret" not in str(caught.value.as_dict())
    assert caught.value.hint
    assert store.count(EVERYTHING) == 0  # and the store goes on


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("XX000", "terminating connection due to unexpected postmaster exit"),
        ("XX000", "terminating connection due to administrator command"),
        ("XX000", "the database system is shutting down"),
        ("58030", "failed to complete COPY on worker-1.example:5432"),
        ("58030", "failed to COPY to shard 102 on worker-1.example:5432"),
        ("08006", "connection to the remote node worker-1.example:5432 failed"),
    ],
)
def test_what_a_coordinator_hands_on_of_a_worker_that_ends_is_told_of_the_worker(
    store: PostgresStore, state: str, words: str
) -> None:
    """As Citus says it in the middle of a COPY: without the state, or without a context."""
    raising = SQL("DO $$ BEGIN RAISE EXCEPTION {} USING ERRCODE = {}; END $$")
    with pytest.raises(BaseUnreachable, match="a worker of the database cluster"):
        store._read(raising.format(Literal(words), Literal(state)))


def test_no_two_failures_are_told_alike() -> None:
    from knowbase.store.postgres import failures

    told = [one for one in vars(failures).values() if isinstance(one, failures.Failure)]
    assert len({failure.message for failure in told}) == len(told)
    assert len({failure.hint for failure in told}) == len(told)


def test_a_server_that_can_only_be_read_is_no_matter_of_rights(
    url: str, store: PostgresStore
) -> None:
    """As on a replica: the same state, 25006. It also shows that a URL's options are kept."""
    store.apply(one(), NOW)
    database_url, _, name = url.partition("#")
    mark = "&" if "?" in database_url else "?"
    only = f"{database_url}{mark}options=-c%20default_transaction_read_only%3Don#{name}"
    with closing(PostgresStore(only)) as reading:
        assert reading.count(EVERYTHING) == 1
        with pytest.raises(BaseReadOnly, match="can only be read") as caught:
            reading.apply(one("two"), NOW)
    assert "primary" in (caught.value.hint or "")


# what is waited for


def test_a_statement_has_a_time_out(url: str, store: PostgresStore) -> None:
    store.apply(one(), NOW)
    with closing(PostgresStore(url, statement_timeout=0.2)) as hasty:
        with pytest.raises(TookTooLong, match="took too long"):
            hasty._read(SLEEP)
        hasty._connections.writing(lambda within: within.execute("SELECT pg_sleep(0.4)"))
        assert hasty.count(EVERYTHING) == 1


def test_a_reader_waits_for_a_lock_as_long_as_is_set(url: str, store: PostgresStore) -> None:
    store.apply(one(), NOW)
    with (
        closing(PostgresStore(url, busy_timeout=0.2)) as reader,
        psycopg.connect(database()) as other,
    ):
        other.execute("LOCK TABLE knowbase.documents IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(BaseLocked):
            reader.documents(EVERYTHING, ALL)
        other.rollback()
        assert len(reader.documents(EVERYTHING, ALL)) == 1


def test_kb_list_behind_a_lock_ends(url: str, store: PostgresStore, tmp_path: Path) -> None:
    store.apply(one(), NOW)
    with psycopg.connect(database()) as other:
        other.execute("LOCK TABLE knowbase.documents IN ACCESS EXCLUSIVE MODE")
        env = {"KB_BASE": url, "KB_STORE_BUSY_TIMEOUT": "0.3"}
        assert "locked" in Kb(tmp_path).error("list", code=4, env=env)


def test_waiting_for_nobody_is_not_waiting_for_ever(url: str, store: PostgresStore) -> None:
    """To PostgreSQL, a lock_timeout of 0 has no end."""
    with (
        closing(PostgresStore(url, busy_timeout=0)) as hasty,
        psycopg.connect(database()) as other,
    ):
        other.execute("SELECT 1 FROM knowbase.bases WHERE id = %s FOR UPDATE", (store._base,))
        with pytest.raises(BaseLocked):
            hasty.apply(one(), NOW)


# somebody who waits no longer


def test_queries_end_when_nobody_waits_for_them(store: PostgresStore) -> None:
    connections = store._connections
    works: list[Callable[[], object]] = [
        lambda: store._read(SLEEP),
        lambda: connections.run(lambda c: c.execute(SLEEP).fetchall()),
        lambda: connections.consistently(lambda c: c.execute(SLEEP).fetchall()),
        lambda: connections.consistently(lambda c: c.execute(SLEEP).fetchall(), long=True),
        lambda: connections.writing(lambda c: c.execute(SLEEP).fetchall()),
    ]
    for work in works:
        begun = time.monotonic()
        with deadline.within(0.2), pytest.raises(TookTooLong):
            work()
        assert time.monotonic() - begun < 20  # it did not sleep to its end
    assert store._read(SQL("SHOW statement_timeout")) == [("1min",)]  # nothing stays set
    assert store._read(SQL("SHOW lock_timeout")) == [("5s",)]


def test_a_write_that_nobody_waits_for_writes_nothing(store: PostgresStore) -> None:
    drafts = tuple(draft(f"d{number}", section("word " * 200)) for number in range(2000))
    with deadline.within(0.3), pytest.raises(TookTooLong):
        store.apply(Changes(drafts=drafts), NOW)
    assert store.count(EVERYTHING) == 0
    with deadline.within(60):
        store.apply(Changes(drafts=drafts[:1]), NOW)
        assert store.count(EVERYTHING) == 1
        assert [one.id for one in store.documents(EVERYTHING, ALL)] == ["d0"]


def test_nothing_is_begun_when_the_time_is_over(store: PostgresStore) -> None:
    with deadline.within(0), pytest.raises(TookTooLong):
        store.apply(one(), NOW)
    assert store.count(EVERYTHING) == 0


def test_what_is_ended_for_one_caller_goes_on_for_others(store: PostgresStore) -> None:
    """A query that is cancelled late must not take the next one on its connection along."""
    store.apply(one(), NOW)
    ended, others = [], []

    def leave_early(number: int) -> None:
        for step in range(10):
            try:
                with deadline.within(0.02):
                    store._read(
                        SQL("SELECT pg_sleep({})").format(0.015 + (number + step) % 3 / 250)
                    )
            except TookTooLong:
                ended.append(number)

    def stay() -> None:
        for _ in range(40):
            others.append(store.count(EVERYTHING))

    threads = [threading.Thread(target=leave_early, args=(number,)) for number in range(4)]
    threads += [threading.Thread(target=stay) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended
    assert others == [1] * 160
