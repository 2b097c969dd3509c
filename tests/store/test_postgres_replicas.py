"""Searches are answered by a real streaming replica while it is near enough, and by the primary
when it is not."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

import postgres
from conftest import Kb
from knowbase import Base, Note, SearchRequest
from knowbase.config import Configuration, Settings
from knowbase.errors import InvalidInput
from knowbase.store.postgres import create
from linked import FarApart
from pooler import Pooler
from replica import StreamingReplica, wait_until


@pytest.fixture(scope="module")
def replica() -> Iterator[StreamingReplica]:
    made = StreamingReplica()
    yield made
    made.close()


@pytest.fixture
def url(replica: StreamingReplica) -> Iterator[str]:
    """Of a base with one note, which the replica has too."""
    made = postgres.new_base()
    with Base(create(made).url, embedder=FarApart()) as base:
        base.note(Note("alpha", code="N-0"))
    replica.follow()
    try:
        yield made
    finally:
        replica.resume()


@contextmanager
def reading_from(base: str, *replicas: str, lag: float = 600.0) -> Iterator[Base]:
    settings = Settings(base_read=replicas, base_read_lag=lag)
    configured = Configuration(settings, {}, {})
    with Base(base, embedder=FarApart(), configuration=configured) as made:
        yield made


def found(base: Base, words: str = "alpha") -> list[str]:
    return sorted(hit.code for hit in base.search(SearchRequest(words)).hits)


def write(url: str, code: str) -> None:
    """As another process does."""
    with Base(url, embedder=FarApart()) as base:
        base.note(Note(f"alpha {code}", code=code))


def is_answered_by(replica: StreamingReplica, base: Base, url: str) -> bool:
    """Whether what is written elsewhere while the replica stands still is not found."""
    before = found(base)
    code = f"N-{time.monotonic_ns()}"
    replica.pause()
    write(url, code)
    seen = found(base)
    replica.resume()
    assert seen in (before, sorted({*before, code}))
    return seen == before


def test_searches_and_other_reads_are_answered_by_a_replica_that_lags_less_than_is_allowed(
    replica: StreamingReplica, url: str
) -> None:
    with (
        reading_from(url, replica.url(url)) as base,
        reading_from(url, replica.url(url), lag=0) as now,
    ):
        assert found(base) == found(now) == ["N-0"]
        replica.pause()
        write(url, "N-1")
        assert found(base) == ["N-0"]
        assert [one.code for one in base.documents().documents] == ["N-0"]
        assert base.get("N-0").text.strip() == "alpha"
        assert not base.graph.links("N-0").links
        assert found(now) == ["N-0", "N-1"]
        [told] = now.status().replicas
        assert told.state == "behind"
        assert told.behind_seconds is not None
        assert "replica" in [one.name for one in now.doctor().findings]
        replica.resume()
        wait_until(lambda: found(base) == ["N-0", "N-1"])
        wait_until(lambda: now.status().replicas[0].behind_seconds == 0.0)
        assert now.status().replicas[0].state == "used"


def test_who_has_written_reads_it_from_the_primary_until_the_replica_has_it(
    replica: StreamingReplica, url: str
) -> None:
    with reading_from(url, replica.url(url)) as base:
        assert found(base) == ["N-0"]
        replica.pause()
        base.note(Note("alpha beta", code="N-1"))
        assert found(base) == ["N-0", "N-1"]
        assert base.tag(["N-1"], add=["new"]).documents[0].tags == ("new",)
        assert base.get("N-1").document.tags == ("new",)
        replica.resume()
        replica.follow()
        wait_until(lambda: is_answered_by(replica, base, url))


def test_whoever_changes_a_document_reads_it_where_it_is_changed(
    replica: StreamingReplica, url: str
) -> None:
    """A tag that another gave while the replica stood still is not lost; and what was there when
    a process began it finds."""
    with reading_from(url, replica.url(url)) as base:
        assert found(base) == ["N-0"]
        replica.pause()
        with Base(url, embedder=FarApart()) as other:
            other.tag(["N-0"], add=["theirs"])
        assert base.get("N-0").document.tags == ()
        with reading_from(url, replica.url(url)) as later:
            assert later.get("N-0").document.tags == ("theirs",)
        assert set(base.tag(["N-0"], add=["ours"]).documents[0].tags) == {"ours", "theirs"}


def test_a_quiet_server_whose_log_went_on_to_a_new_file_has_its_replica_used(
    replica: StreamingReplica, url: str
) -> None:
    with psycopg.connect(postgres.server(), autocommit=True) as primary:
        primary.execute("SELECT pg_switch_wal()")
    replica.follow()
    with reading_from(url, replica.url(url), lag=0) as base:
        wait_until(lambda: base.status().replicas[0].behind_seconds == 0.0)
        assert found(base) == ["N-0"]


def test_a_replica_killed_under_load_is_left_out_and_found_again(
    replica: StreamingReplica, url: str
) -> None:
    is_over = threading.Event()
    failures: list[BaseException] = []
    searches: list[int] = []

    with reading_from(url, replica.url(url), "postgresql://nobody@127.0.0.1:1/none") as base:

        def search() -> None:
            try:
                while not is_over.is_set():
                    assert "N-0" in found(base)
                    searches.append(1)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=search) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            _wait_for_more(searches)
            replica.kill()
            write(url, "N-1")
            _wait_for_more(searches)
            assert [one.state for one in base.status().replicas] == ["away", "away"]
            replica.start()
            replica.follow()
            wait_until(lambda: base.status().replicas[0].state == "used")
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
        assert not failures
        wait_until(lambda: is_answered_by(replica, base, url))


def _wait_for_more(searches: list[int]) -> None:
    there = len(searches)
    wait_until(lambda: len(searches) > there + 10)


def test_a_replica_behind_a_pooler_answers(replica: StreamingReplica, url: str) -> None:
    pooler = Pooler(replica.url("postgresql:///postgres"))
    try:
        with reading_from(url, pooler.before(url)) as base:
            wait_until(lambda: is_answered_by(replica, base, url))
    finally:
        pooler.close()


def test_the_command_reads_from_replicas_and_shows_them(
    replica: StreamingReplica, url: str, tmp_path: Path
) -> None:
    kb = Kb(tmp_path)
    given = replica.url(url).replace("postgres@", "postgres:secret@")
    env = {
        "KB_BASE": url,
        "KB_BASE_READ": f"postgresql://nobody@127.0.0.1:1,127.0.0.1:2/no {given}",
    }
    assert "N-0" in kb("search", "alpha", "--fts-only", env=env).out
    status = kb("status", env=env).out
    assert "127.0.0.1:2/no away: the database cannot be reached" in status
    assert "used, 0 s behind" in status
    shown = status + kb("config", env=env).out
    assert "base.read" in shown
    assert "secret" not in shown
    wrong = kb("search", "alpha", env={"KB_BASE": url, "KB_BASE_READ": "replica.example"}, code=2)
    assert "base.read is not a list of PostgreSQL URLs" in wrong.err


def test_what_is_not_a_replica_of_the_base_is_refused_in_one_sentence(
    replica: StreamingReplica, url: str
) -> None:
    with reading_from(url, replica.url("postgresql:///postgres")) as base:
        with pytest.raises(InvalidInput, match=r"replica 1 in base.read is another database"):
            base.search(SearchRequest("alpha"))
        assert base.status().replicas[0].state == "refused"
        base.note(Note("beta", code="N-1"))  # whoever writes does not need it
    with reading_from(url, url.partition("#")[0]) as base:
        assert "N-0" in found(base)
        assert base.status().replicas[0].reason == "it is the primary"


def test_a_replica_that_was_promoted_is_not_read_from(replica: StreamingReplica, url: str) -> None:
    """The last one here: it does not follow any more."""
    with reading_from(url, replica.url(url)) as base:
        wait_until(lambda: is_answered_by(replica, base, url))
        replica.follow()
        replica.promote()
        write(url, "N-2")
        assert "N-2" in found(base)
        assert base.status().replicas[0].state == "refused"
    refused = pytest.raises(InvalidInput, match="it takes writes of its own")
    with reading_from(url, replica.url(url)) as base, refused:
        found(base)
