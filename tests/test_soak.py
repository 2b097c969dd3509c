"""Many processes at once on one base: no error, no lost update, nothing out of step."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from knowbase.query.conditions import EVERYTHING
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.store.contract import Store
from knowbase.store.postgres import PostgresStore
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL
from postgres import database
from soaking import SHARED
from stores import BACKENDS, MODEL, NOW, draft, section, vector

HERE = Path(__file__).parent
EACH = 8  # writers, and as many readers


def at_work(base: str, seconds: float) -> tuple[list[Any], list[Any]]:
    """What the writers and the readers say after their time."""
    processes = [
        subprocess.Popen(
            [sys.executable, str(HERE / "soaking.py"), job, base, str(number), str(seconds)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=HERE,
        )
        for job in ("write", "read")
        for number in range(EACH)
    ]  # fmt: skip
    said = [process.communicate(timeout=seconds + 120) for process in processes]
    for process, (_, err) in zip(processes, said, strict=True):
        assert process.returncode == 0, err
    results = [json.loads(out) for out, _ in said]
    return results[:EACH], results[EACH:]


def assert_nothing_is_lost(store: Store, written: list[Any]) -> None:
    texts = {name: text for one in written for name, text in one["texts"].items()}
    documents = store.documents(EVERYTHING, ALL)
    assert {document.id for document in documents} == {*texts, SHARED}
    assert store.openings(texts) == texts
    assert max(Counter(document.seq for document in documents).values()) == 1
    shared = store.find(SHARED)
    assert shared is not None
    assert shared.access_count == sum(one["used"] for one in written)
    chunks = len(documents)
    assert store.counts().chunks == store.counts().embedded == chunks
    found = store.keyword(keyword_query("alpha"), EVERYTHING, 10 * chunks, FieldWeights())
    assert len(found) == chunks
    assert len(store.semantic(vector(1, 0, 0, 0), EVERYTHING, 10 * chunks)) == chunks
    by_word = store.keyword(keyword_query("writer3"), EVERYTHING, chunks, FieldWeights())
    assert len(by_word) == sum(name.startswith("w3-") for name in texts)


def assert_file_is_sound(path: Path) -> None:
    connection = apsw.Connection(str(path))
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


def assert_words_are_in_step(store: PostgresStore) -> None:
    with psycopg.connect(database()) as connection:
        connection.execute("SET search_path TO knowbase, public")
        key = (store._base,)
        kept = connection.execute("SELECT chunks, length FROM bases WHERE id = %s", key)
        counted = connection.execute(
            "SELECT count(*), sum(length) FROM chunks WHERE base_id = %s", key
        )
        assert kept.fetchone() == counted.fetchone()
        differing = connection.execute(
            "SELECT count(*) FROM words w WHERE base_id = %s AND chunks <> (SELECT count(*)"
            " FROM postings p WHERE p.base_id = w.base_id AND p.word = w.id)",
            key,
        )
        assert differing.fetchone() == (0,)


def soak(backend: str, folder: Path, seconds: float) -> None:
    store = BACKENDS[backend](folder)
    try:
        store.use_model(MODEL)
        first = draft(SHARED, section("alpha shared"), vectors=(vector(1, 1, 1, 1),))
        store.apply(Changes(drafts=(first,)), NOW)
        written, reads = at_work(place_of(store), seconds)
        assert all(one["used"] for one in written)
        assert all(reads)
        assert_nothing_is_lost(store, written)
        if isinstance(store, PostgresStore):
            assert_words_are_in_step(store)
        else:
            assert_file_is_sound(folder / "base.db")
    finally:
        store.close()


def place_of(store: Any) -> str:
    return str(store.url if isinstance(store, PostgresStore) else store.path)


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_writers_and_readers_in_processes_of_their_own_lose_nothing(
    backend: str, tmp_path: Path
) -> None:
    """S0-22, C26"""
    soak(backend, tmp_path, 3)


@pytest.mark.soak
@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_eight_writers_and_eight_readers_lose_nothing_in_a_minute(
    backend: str, tmp_path: Path
) -> None:
    """S0-22, C26"""
    soak(backend, tmp_path, 60)
