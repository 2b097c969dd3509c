"""The indexes of PostgreSQL: that searches use them, and that what they propose is right."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

import cluster
from knowbase import Base, Note, SearchRequest
from knowbase.query.conditions import EVERYTHING, InRole, Tagged
from knowbase.store.postgres import PostgresStore, create, retrieval, vector_tables
from knowbase.store.postgres.english import Indexes
from knowbase.values.changes import Changes
from knowbase.values.vectors import Model
from linked import FarApart
from postgres import new_base, server
from stores import MODEL, NOW, draft, fill, section, vector


@pytest.fixture
def url() -> str:
    return new_base()


@pytest.fixture
def one_server() -> None:
    if cluster.nodes(server()):
        pytest.skip("reads the plans of one server: KB_TEST_POSTGRES names a cluster")


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    made = create(url)
    made.use_model(MODEL)
    yield made
    made.close()


class Recorded(NamedTuple):
    """A statement that the product sent, and its values."""

    statement: Any
    values: Any


@contextmanager
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Recorded]]:
    """What is sent to the server meanwhile."""
    sent: list[Recorded] = []
    execute = psycopg.Cursor.execute

    def record(self: Any, statement: Any, values: Any = None, **more: Any) -> Any:
        sent.append(Recorded(statement, values))
        return execute(self, statement, values, **more)

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", record)
        yield sent


def plans(store: PostgresStore, sent: list[Recorded], *settings: str) -> str:
    """How the server runs each query among these: EXPLAIN ANALYZE of the statements themselves."""

    def explain(connection: psycopg.Connection) -> str:
        connection.execute("ANALYZE documents, chunks, words, word_blocks")
        lines = []
        with connection.transaction():
            for setting in settings:
                connection.execute(SQL("SET LOCAL {} = off").format(Identifier(setting)))
            for statement, values in sent:
                text = statement.as_string(connection) if hasattr(statement, "as_string") else ""
                if text.startswith("SET LOCAL"):
                    connection.execute(statement, values)
                if text.startswith("SELECT"):
                    asked = SQL("EXPLAIN ANALYZE {}").format(statement)
                    lines += [row[0] for row in connection.execute(asked, values)]
        return "\n".join(lines)

    return store._connections.run(explain)


IMPATIENT = "-c hnsw.max_scan_tuples=1 -c enable_seqscan=off -c enable_sort=off"
"""The index is used and gives up with the first that it looks at."""


def with_options(url: str, options: str) -> str:
    database, _, name = url.partition("#")
    return f"{database}{'&' if '?' in database else '?'}options={quote(options)}#{name}"


class Six(FarApart):
    """The same with other dimensions, and so with a table of vectors of its own."""

    model = Model("of six", "1", 6)

    def embed_query(self, text: str) -> bytes:
        return vector(*(len(text) % n + 0.1 for n in range(2, 8)))


def many_more(connection: psycopg.Connection, base: int, number: int) -> None:
    """Documents of one section each, with tags, roles and words, and vectors at random."""
    connection.execute(
        "INSERT INTO documents (base_id, seq, id, code, title, type, tags, created_at, updated_at,"
        " roles, archived, scope, salience, content_hash, metadata)"
        " SELECT %s, 1000 + n, 'd' || n, 'D-' || n, 'Many', 'note', array['tag' || n %% 500],"
        " %s, %s, array['role' || n %% 500], false, 'global', 0.5, '', '{}'"
        " FROM generate_series(1, %s) n",
        (base, NOW, NOW, number),
    )
    connection.execute(
        "INSERT INTO chunks (base_id, id, document, position, slug, chunk_index, hash, line,"
        " tokens, overlap, title, header, text, terms, length)"
        " SELECT base_id, seq, seq, 0, '_', 0, id, 1, 9, 0, 'Many', '',"
        " 'about topic' || seq %% 500, '', 2 FROM documents WHERE base_id = %s AND seq > 1000",
        (base,),
    )
    connection.execute(
        "INSERT INTO vectors_6 (base_id, model, chunk, embedding)"
        " SELECT base_id, (SELECT id FROM models m WHERE m.base_id = chunks.base_id), id,"
        " array[random(), random(), random(), random(), random(), random()]::vector"
        " FROM chunks WHERE base_id = %s AND id > 1000",
        (base,),
    )
    connection.execute("ANALYZE vectors_6")


@pytest.mark.usefixtures("one_server")
def test_a_search_of_a_large_base_uses_its_indexes(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """S4-22: the statements that a search sends, as PostgreSQL runs them: IVFFlat for vectors, GIN
    for English words, tags and roles. Nothing is set for the planner."""
    monkeypatch.chdir(tmp_path)
    settings = '[store]\nvector_index = "ivfflat"\n[profiles.entries]\nkeyword = "ts_rank_cd"\n'
    (tmp_path / "kb.toml").write_text(settings)
    create(url).close()
    with Base(url, embedder=Six()) as base:
        base.note(Note("The first of many"))
        store = base.store
        assert isinstance(store, PostgresStore)
        store._connections.run(lambda one: many_more(one, store._base, retrieval.EXACT * 3 // 2))
        store._connections.run(store.index_large)  # as every large change does
        for request, *indexes in (
            (
                SearchRequest("topic7", profile="entries"),
                *("Index Scan using vectors_6_ivfflat", "Bitmap Index Scan on chunks_entry"),
            ),
            (SearchRequest(tags=("tag7", "tag8"), tags_match="any"), "documents_tags"),
            (SearchRequest(filters={"role": "role7"}), "documents_roles"),
        ):
            with recorded(monkeypatch) as sent:
                assert base.search(request).hits
            plan = plans(store, sent)
            assert [index for index in indexes if index not in plan] == []


@pytest.mark.usefixtures("one_server")
def test_a_search_uses_the_indexes_of_words_and_of_vectors(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-22: of so few documents, only when PostgreSQL may neither read nor sort all."""
    fill(store, 400)
    monkeypatch.setattr(retrieval, "EXACT", 10)
    store.renew_index()
    with Base(store.url, embedder=FarApart()) as base, recorded(monkeypatch) as sent:
        assert base.search(SearchRequest("topic1 word7")).hits
    plan = plans(store, sent, "enable_seqscan", "enable_sort")
    assert "word_blocks_pkey" in plan
    assert "vectors_4_hnsw" in plan


def test_an_approximate_index_is_complete_under_a_selective_filter_and_recall_is_high(
    url: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C33: HNSW as an accelerator; what it proposes is scored exactly. When it gives up before it
    has found enough, all are compared."""
    fill(store, 3000)
    queries = [vector(1, 0.2, 0.1, 0.3), vector(0.2, 1, 0.3, 0.1), vector(0.3, 0.3, 0.3, 1)]
    exact = {q: store.semantic(q, EVERYTHING, 10) for q in queries}
    few = {q: store.semantic(q, InRole("dev"), 30) for q in queries}
    assert all(len(found) == 30 for found in few.values())
    monkeypatch.setattr(retrieval, "EXACT", 25)  # fewer than pass
    store.renew_index()
    hits = 0
    for q in queries:
        near = store.semantic(q, EVERYTHING, 10)
        hits += len({c.chunk for c in near} & {c.chunk for c in exact[q]})
        assert near == sorted(near, key=lambda c: (-c.score, c.chunk))
        assert len(store.semantic(q, InRole("dev"), 10)) == 10
    assert hits >= 27
    with closing(PostgresStore(with_options(url, IMPATIENT))) as impatient:
        assert {q: impatient.semantic(q, InRole("dev"), 30) for q in queries} == few


@pytest.mark.usefixtures("one_server")
def test_ivfflat_is_built_from_what_is_there_and_answers_as_an_exact_search(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C33, S4-22: what it proposes is scored exactly, and a filter starves it of nothing"""
    other = Model("of five", "1", 5)  # a table of its own: no index of another test
    create(url).close()
    store = PostgresStore(url, indexes=Indexes("ivfflat"))
    try:
        store.use_model(other)
        fill(store, 3000, dimensions=5)
        queries = [vector(1, 0.2, 0.1, 0.3, 0.1), vector(0.3, 0.3, 0.3, 1, 0.2)]
        conditions = (EVERYTHING, InRole("dev"), Tagged(("tag1",)))
        exact = [store.semantic(q, c, 10) for q in queries for c in conditions]
        assert all(len(found) == 10 for found in exact)
        assert store._connections.run(lambda c: vector_tables.lists_of(c, 5)) == 0
        monkeypatch.setattr(retrieval, "EXACT", 10)
        far = (vector(-1, -1, -1, -1, -1),)
        more = tuple(draft(f"e{n}", section("x"), vectors=far) for n in range(50))
        store.apply(Changes(drafts=more), NOW)
        assert (
            store._connections.run(lambda c: vector_tables.lists_of(c, 5))
            == vector_tables.LEAST_LISTS
        )
        with recorded(monkeypatch) as sent:
            assert [store.semantic(q, c, 10) for q in queries for c in conditions] == exact
        assert "vectors_5_ivfflat" in plans(store, sent, "enable_seqscan", "enable_sort")
    finally:
        store.close()


def test_many_lists_are_not_all_looked_at() -> None:
    assert [vector_tables.probes_of(lists) for lists in (1, 10, 100, 1000)] == [1, 10, 20, 110]
