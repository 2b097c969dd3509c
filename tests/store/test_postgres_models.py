"""Models in PostgreSQL: a database from before there could be several, and a change of model."""

import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg.sql import SQL

import knowbase
from conftest import FIXTURES
from knowbase import Note, SearchRequest
from knowbase.query.conditions import EVERYTHING
from knowbase.store.postgres import PostgresStore, create, schema, vector_tables
from knowbase.values.vectors import StoredModel
from postgres import new_base, server
from stores import MODEL, vector


def test_vectors_of_an_older_database_stay_and_belong_to_their_model() -> None:
    """C23"""
    name = f"kb_test_old_{os.getpid()}"
    url = urlsplit(server())._replace(path=f"/{name}").geturl()
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(SQL(f"DROP DATABASE IF EXISTS {name}"))
        connection.execute(SQL(f"CREATE DATABASE {name}"))
    with psycopg.connect(url, autocommit=True) as old:
        old.execute("CREATE SCHEMA knowbase")
        old.execute("SET search_path TO knowbase, public")
        old.execute("CREATE EXTENSION vector WITH SCHEMA public")
        old.execute("CREATE TABLE steps (number integer PRIMARY KEY)")
        old.execute(SQL(schema.STEPS[0]))
        old.execute("INSERT INTO steps VALUES (1)")
        old.execute("INSERT INTO bases (name, next_seq, next_chunk, chunks) VALUES ('x', 2, 3, 2)")
        old.execute("INSERT INTO models VALUES (1, 1, 'test', '1', 4)")
        old.execute(
            "INSERT INTO documents (base_id, seq, id, code, title, type, tags, created_at,"
            " updated_at, roles, archived, scope, salience, content_hash, metadata) VALUES"
            " (1, 1, 'one', 'X-1', 'One', 'note', '{}', '2026', '2026', '{}', false, 'global',"
            " 0.5, '', '{}')"
        )
        for chunk, model in ((1, 1), (2, None)):
            old.execute(
                "INSERT INTO chunks (base_id, id, document, position, slug, chunk_index, model,"
                " hash, line, tokens, overlap, title, header, text, terms, length) VALUES"
                " (1, %s, 1, %s, 's', %s, %s, %s, 1, 1, 0, 'One', '', 'alpha', '', 2)",
                (chunk, chunk, chunk, model, f"h{chunk}"),
            )
        vector_tables.create_vector_table(old, 4)
        vector_tables.build_hnsw(old, 4, anew=False)
        old.execute("INSERT INTO vectors_4 VALUES (1, 1, 1, '[1,0,0,0]')")
    store = PostgresStore(f"{url}#x")
    try:
        assert store.models() == [StoredModel(MODEL, "", 1, True)]
        assert [one.chunk for one in store.semantic(vector(1, 0, 0, 0), EVERYTHING, 5)] == [1]
        assert store.semantic_coverage() == 0.5
        assert dict(store.vectors(["h1", "h2"])) == {"h1": vector(1, 0, 0, 0)}
        assert [passage.chunk_id for passage in store.unembedded(MODEL, 0, 5)] == [2]
    finally:
        store.close()
    other = create(f"{url}#y")
    assert other.models() == []
    other.close()


def test_a_base_in_postgresql_changes_its_model_too(tmp_path: Path) -> None:
    """C23"""
    tiny = shutil.copytree(FIXTURES / "models" / "states", tmp_path / "tiny")
    with knowbase.create(new_base()) as base:
        base.note(Note("Deploys freeze on Fridays"))
        base.note(Note("The coffee machine is descaled on Mondays"))
        result = base.embed(str(tiny), drop_old=True)
        assert (result.embedded, result.switched, len(result.dropped)) == (2, True, 1)
        answer = base.search("deploys")
        assert (answer.fallback_mode, answer.semantic_coverage) == (False, 1.0)
        back = base.embed("granite")
        assert (back.embedded, back.there) == (2, 0)
        request = SearchRequest("may I release software?", mode="semantic", top=1)
        assert base.search(request).hits[0].title == "Deploys freeze on Fridays"
