"""Behind PgBouncer in transaction mode, where three connections serve all: nothing is kept in a
session. A part of what every store promises; KB_TEST_POOLER runs all of it so."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from test_store_contract import (
    test_a_change_replaces_title_tags_and_chunks_and_keeps_number_and_creation,
    test_bm25_is_the_same_number_everywhere,
    test_cosine_similarity_is_exact_and_ordered,
    test_nothing_of_a_failing_change_is_kept,
)
from test_store_links import test_documents_are_linked_by_their_most_similar_chunks
from test_store_models import (
    test_vectors_of_another_model_are_built_beside_and_then_switched_to,
)

import postgres
from campaign.writers import WRITERS, Work, soak
from knowbase import Base, Note, SearchRequest
from knowbase.errors import BaseUnreachable
from knowbase.query.conditions import EVERYTHING
from knowbase.store.postgres import PostgresStore, create
from knowbase.values.documents import ALL
from linked import FarApart
from pooler import Pooler
from stores import MODEL

__all__ = [
    "test_a_change_replaces_title_tags_and_chunks_and_keeps_number_and_creation",
    "test_bm25_is_the_same_number_everywhere",
    "test_cosine_similarity_is_exact_and_ordered",
    "test_documents_are_linked_by_their_most_similar_chunks",
    "test_nothing_of_a_failing_change_is_kept",
    "test_vectors_of_another_model_are_built_beside_and_then_switched_to",
]


def new_base() -> str:
    """The URL through the pooler of a base that nobody has used."""
    return postgres.pooler().before(postgres.new_base())


@pytest.fixture
def store() -> Iterator[PostgresStore]:
    with closing(create(new_base())) as made:
        made.use_model(MODEL)
        yield made


def test_statements_are_prepared_only_where_the_server_itself_answers() -> None:
    direct, pooled = postgres.new_base(), new_base()
    for url, is_prepared in ((direct, True), (pooled, False)):
        with closing(create(url)) as made:
            thresholds = made._connections.run(lambda connection: connection.prepare_threshold)
            assert (thresholds is not None) == is_prepared


def test_eight_writers_and_their_readers_share_three_connections(store: PostgresStore) -> None:
    assert soak(store, Work(sys.maxsize, 3, readers=2)) > WRITERS


def test_who_writes_through_a_pooler_survives_its_restart() -> None:
    """What was acknowledged is there once; what was not is told in one sentence."""
    pooler = postgres.pooler()
    written: list[str] = []
    refused: list[BaseUnreachable] = []
    is_over = threading.Event()

    def write(base: Base, writer: int) -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            try:
                base.note(Note(f"note {number} of {writer}", code=f"N{writer}-{number}"))
                written.append(f"N{writer}-{number}")
            except BaseUnreachable as error:
                refused.append(error)
            base.search(SearchRequest("note"))

    with Base(create(new_base()).url, embedder=FarApart()) as base:
        threads = [threading.Thread(target=write, args=(base, writer)) for writer in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            _wait_for_more(written)
            pooler.stop()
            pooler.start()
        _wait_for_more(written)
        is_over.set()
        for thread in threads:
            thread.join()
        stored = [one.code for one in base.store.documents(EVERYTHING, ALL)]
    assert len(set(stored)) == len(stored)
    assert set(written) <= set(stored)
    assert all("\n" not in str(error) and error.hint for error in refused)


def test_what_a_pooler_refuses_is_said_in_one_sentence() -> None:
    url = postgres.new_base()
    create(url).close()
    database, _, name = postgres.pooler().before(url).partition("#")
    with pytest.raises(BaseUnreachable, match="does not take the options in the URL"):
        PostgresStore(f"{database}?options=-c%20work_mem%3D64MB#{name}")
    with closing(Pooler(postgres.server(), mode="statement")) as pooler:
        with pytest.raises(BaseUnreachable, match="allows no transactions") as caught:
            PostgresStore(pooler.before(url))
        assert "pool_mode" in (caught.value.hint or "")


def _wait_for_more(written: list[str]) -> None:
    before, ends = len(written), time.monotonic() + 60
    while len(written) < before + 8:
        assert time.monotonic() < ends
        time.sleep(0.01)
