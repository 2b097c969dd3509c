"""Recording use: after the answer, in one write, and never in anybody's way."""

import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import knowbase
from knowbase import Base, Note, SearchRequest, deadline
from knowbase.embed.granite import Granite
from knowbase.errors import InvalidInput
from knowbase.ranking.profile import PROFILES
from knowbase.store.sqlite import SqliteStore

EMBEDDER = Granite()
DAY = 86_400.0


class Clock:
    seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def base(tmp_path: Path, clock: Clock) -> Iterator[Base]:
    path = knowbase.create(str(tmp_path / "b.db")).path
    with Base(path, embedder=EMBEDDER, clock=clock) as made:
        for number in range(5):
            made.note(Note(f"Otters hold hands, fact number {number}", code=f"O-{number}"))
        yield made


def traced(base: Base) -> list[str]:
    """The statements that this thread's connection runs from now on."""
    statements: list[str] = []

    def note_down(_: object, sql: str, __: object) -> bool:
        statements.append(sql)
        return True

    store = base.store
    assert isinstance(store, SqliteStore)
    store._connections.get().exec_trace = note_down
    return statements


MEMORY = SearchRequest("otters", mode="keyword", profile="memory")


def test_only_the_memory_profile_records_what_it_returns(base: Base) -> None:
    """S0-25, S2-21, C11, C12"""
    assert {name for name, one in PROFILES.items() if one.record_use == "returned"} == {"memory"}
    before = base.documents()
    for name in PROFILES:
        if name != "memory":
            base.search(MEMORY._replace(profile=name))
    assert base.documents() == before
    base.search(MEMORY._replace(top=2))
    counts = [one.access_count for one in base.documents().documents]
    assert sorted(counts) == [0, 0, 0, 1, 1]


def test_a_locked_base_neither_fails_nor_holds_up_a_search(base: Base, tmp_path: Path) -> None:
    """C11: what could not be written waits for the next search"""
    (tmp_path / "kb.toml").write_text("[store]\nbusy_timeout = 600\n")
    base = Base(base.path, embedder=EMBEDDER)
    writer = apsw.Connection(base.path)
    writer.execute("BEGIN IMMEDIATE")
    done: list[int] = []
    searching = threading.Thread(target=lambda: done.append(base.search(MEMORY).returned))
    searching.start()
    searching.join(timeout=60)
    assert done == [5]  # a writer would have been waited for ten times as long
    assert {one.access_count for one in base.documents().documents} == {0}
    writer.execute("ROLLBACK")
    base.search(MEMORY)
    assert {one.access_count for one in base.documents().documents} == {2}


def test_what_is_recorded_too_late_waits_for_the_next_search(base: Base) -> None:
    """C11"""
    answer = base.search(MEMORY._replace(profile=None))
    with deadline.within(0.0):
        base.recorder.returned(MEMORY, answer, "returned")
    assert {one.access_count for one in base.documents().documents} == {0}
    base.search(MEMORY)
    assert {one.access_count for one in base.documents().documents} == {2}


def test_a_base_that_cannot_be_written_is_still_searched(base: Base) -> None:
    base.close()
    Path(base.path).chmod(0o444)
    connection = apsw.Connection(base.path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    Path(base.path).parent.chmod(0o555)
    try:
        with Base(base.path, embedder=EMBEDDER) as read_only:
            assert read_only.search(MEMORY).returned == 5
    finally:
        Path(base.path).parent.chmod(0o755)


def test_recording_is_one_write_however_many_hits(base: Base) -> None:
    """C11"""
    statements = traced(base)
    base.search(MEMORY._replace(session_record="s1"))
    assert sum(sql.startswith("BEGIN IMMEDIATE") for sql in statements) == 1


def test_what_surrounds_the_hits_takes_the_same_number_of_queries_for_one_and_for_many(
    base: Base,
) -> None:
    """S2-02: no query per hit"""
    for number in range(4):
        memory = base.remember(Note(f"Otters sleep, fact {number}", session="s1")).document
        base.lifecycle.supersede(memory.code, "O-4")
        base.relate(memory.code, "O-4")
    statements = traced(base)
    numbers = []
    base.search(SearchRequest("otters is:superseded", mode="keyword"))  # what is looked up once
    for top in (1, 4):
        statements.clear()
        hits = base.search(SearchRequest("otters is:superseded", mode="keyword", top=top)).hits
        assert len(hits) == top
        numbers.append(len(statements))
        for hit in hits:
            assert hit.superseded_by is not None
            assert hit.superseded_by.code == "O-4"
            assert hit.source_session is not None
            assert hit.related_count == 1
    assert numbers[0] == numbers[1]


def test_under_confirmed_no_document_climbs_by_being_returned(base: Base, tmp_path: Path) -> None:
    """C11: a thousand searches change nothing; feedback does"""
    profile = '[profiles.careful]\nextends = "memory"\nrecord_use = "confirmed"\n'
    (tmp_path / "kb.toml").write_text(profile)
    with Base(base.path, embedder=EMBEDDER, clock=lambda: Clock.seconds) as careful:
        before = careful.documents()
        request = MEMORY._replace(profile="careful", top=1, query="otters hands fact number")
        first = careful.search(request).hits[0]
        for _ in range(1000):
            assert careful.search(request).hits[0] == first
        assert careful.documents() == before
        other = next(one for one in before.documents if one.id != first.id)
        assert careful.feedback(other.code, "good").counted
        assert careful.search(request).hits[0].id == other.id


def test_under_off_not_even_feedback_moves_a_document(base: Base, tmp_path: Path) -> None:
    """C11: the verdict is kept, and weighs nothing"""
    settings = '[search]\nprofile = "still"\n[profiles.still]\nrecord_use = "off"\n'
    (tmp_path / "kb.toml").write_text(settings)
    with Base(base.path, embedder=EMBEDDER, clock=lambda: Clock.seconds) as still:
        before = still.get("O-1").document
        after = still.feedback("O-1", "good").document
        assert after == before._replace(confirmed=1)
        assert still.feedback("O-1", "bad").document == before._replace(confirmed=-1)


def test_feedback_counts_once_an_occasion(base: Base, clock: Clock) -> None:
    """C11"""
    good = base.feedback("O-1", "good")
    assert (good.counted, good.document.confirmed, good.document.access_count) == (True, 1, 1)
    assert good.document.salience == pytest.approx(0.51)
    for _ in range(100):
        again = base.feedback("O-1:_preamble", "good")  # a hit's section means its document
        assert (again.counted, again.document) == (False, good.document)
    in_session = base.feedback("O-1", "good", "s1")
    assert (in_session.counted, in_session.document.confirmed) == (True, 2)
    assert [use.usage for use in base.store.uses_in("s1")] == ["reinforced"]
    clock.seconds += DAY
    assert base.feedback("O-1", "good").document.confirmed == 3


def test_another_verdict_of_the_same_occasion_takes_the_place_of_the_first(base: Base) -> None:
    for verdict, confirmed in (("good", 1), ("bad", -1), ("good", 1)) * 50:
        document = base.feedback("O-1", verdict).document
        assert document.confirmed == confirmed
        assert document.access_count == 1
        assert 0 <= document.salience <= 1
    assert document.salience < 0.52  # going to and fro gains nothing


def test_salience_stays_between_zero_and_one_whatever_is_said(base: Base) -> None:
    for number in range(300):
        assert base.feedback("O-1", "good", f"s{number}").document.salience <= 1
        assert base.feedback("O-2", "bad", f"s{number}").document.salience >= 0
    assert base.whole("O-1").salience > 0.95
    assert base.whole("O-2").salience < 0.05


def test_a_verdict_is_good_or_bad(base: Base) -> None:
    with pytest.raises(InvalidInput, match="verdict cannot be 'meh'") as caught:
        base.feedback("O-1", "meh")
    assert caught.value.hint == "one of good, bad"


def test_a_verdict_that_is_taken_back_leaves_no_trace_in_the_salience(base: Base) -> None:
    base.note(Note("A weak one", code="W-1", salience=0.1))
    bad = base.feedback("W-1", "bad").document.salience
    for _ in range(60):
        base.feedback("W-1", "good")
        assert base.feedback("W-1", "bad").document.salience == pytest.approx(bad)


def test_many_threads_record_every_use(base: Base) -> None:
    def search() -> None:
        for _ in range(20):
            base.search(MEMORY._replace(top=1, query="otters hold hands fact number 3"))

    threads = [threading.Thread(target=search) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    base.recorder.flush()
    assert sum(one.access_count for one in base.documents().documents) == 120
