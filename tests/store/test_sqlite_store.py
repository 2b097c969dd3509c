"""What is particular to the SQLite store: its file, its schema, its failures."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import apsw
import numpy as np
import pytest
import sqlite_vec

from knowbase.errors import BaseDamaged, BaseLocked, BaseMissing, BaseTooNew, DiskFull, NotABase
from knowbase.query.conditions import EVERYTHING, Tagged
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.nearest import similarities
from knowbase.store.seals import vector_seal
from knowbase.store.sqlite import SqliteStore, create, schema, then_rows
from knowbase.store.sqlite.packing import register
from knowbase.store.sqlite.schema import STEPS
from knowbase.store.sqlite.then_rows import PastRows
from knowbase.text.analysis import Word
from knowbase.upkeep.check import check
from knowbase.upkeep.repair import repair
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL
from knowbase.values.vectors import Model, StoredModel
from stores import MODEL, NOW, draft, section, similarity, vector

PLAIN = FieldWeights()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "base.db")


@pytest.fixture
def store(path: str) -> Iterator[SqliteStore]:
    made = create(path)
    made.use_model(MODEL)
    yield made
    made.close()


def put(store: SqliteStore, *names: str) -> None:
    store.apply(Changes(drafts=tuple(draft(name, section(f"text {name}")) for name in names)), NOW)


def rows(path: str, sql: str) -> list[Any]:
    connection = apsw.Connection(path)
    register(connection)
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


def test_the_text_index_is_porter_unicode61_and_kept_by_triggers(
    store: SqliteStore, path: str
) -> None:
    """S1-01, S1-02"""
    [(sql,)] = rows(path, "SELECT sql FROM sqlite_schema WHERE name = 'chunks_fts'")
    assert "tokenize = 'porter unicode61'" in str(sql)
    put(store, "one")
    connection = apsw.Connection(path)
    register(connection)

    def matching(word: str) -> int:
        sql = "SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH ?"
        [(number,)] = connection.execute(sql, (word,))
        return cast("int", number)

    assert matching("one") == 1
    connection.execute("UPDATE chunks SET text = 'other words'")
    assert (matching("other"), matching("text")) == (1, 0)
    connection.execute("DELETE FROM chunks")
    assert matching("other") == 0


def test_indexed_fields_are_title_heading_text_and_type(path: str, store: SqliteStore) -> None:
    """S3-19"""
    columns = [row[1] for row in rows(path, "PRAGMA table_info(chunks_fts)")]
    assert columns == ["text", "title", "heading", "terms"]
    put(store, "one")
    [(terms,)] = rows(path, "SELECT plain(terms) FROM documents")
    assert "\ue001markdown" in str(terms)


def test_chunk_vector_and_index_row_share_one_number(path: str, store: SqliteStore) -> None:
    """S0-22"""
    put(store, "one", "two", "three")
    store.apply(Changes(removed=("two",)), NOW)
    put(store, "four")
    chunks = rows(path, "SELECT id FROM chunks ORDER BY id")
    assert chunks == [(1,), (3,), (4,)]
    assert rows(path, "SELECT chunk_id FROM chunks_vec_1 ORDER BY chunk_id") == chunks
    assert rows(path, "SELECT id FROM chunks_fts_docsize ORDER BY id") == chunks


def test_a_changed_vector_is_updated_in_place(path: str, store: SqliteStore) -> None:
    """S0-23"""
    for number in range(30):
        changed = draft("one", section(f"text {number}"), vectors=(vector(1, number, 0, 0),))
        store.apply(Changes(drafts=(changed,)), NOW)
    assert rows(path, "SELECT max(chunk_id), count(*) FROM chunks_vec_1") == [(1, 1)]
    last = vector(1, 29, 0, 0)
    [nearest] = store.semantic(last, EVERYTHING, 5)
    assert nearest.score == pytest.approx(similarity(last, last), abs=1e-6)


def test_dropping_a_model_gives_its_space_back_and_keeps_the_rest(
    path: str, store: SqliteStore
) -> None:
    """C23, S0-22: also after removals, which leave holes that must stay where they are."""
    wide = Model("wide", "1", 1024)
    names = [f"document{number}" for number in range(1_500)]
    drafts = [draft(name, section(name)) for name in names]
    store.apply(Changes(drafts=tuple(drafts)), NOW)
    store.put_vectors(wide, "", {one.chunks[0].hash: vector(*[1.0] * 1024) for one in drafts})
    store.apply(Changes(removed=tuple(names[:1_100:2])), NOW)
    before = store.semantic(vector(1, 2, 0, 0), EVERYTHING, 2_000)
    [full] = rows(path, "SELECT page_count FROM pragma_page_count")
    store.drop_model(wide)
    [small] = rows(path, "SELECT page_count FROM pragma_page_count")
    assert small[0] * 3 < full[0]
    assert store.semantic(vector(1, 2, 0, 0), EVERYTHING, 2_000) == before
    put(store, "another")
    assert len(store.semantic(vector(1, 2, 0, 0), EVERYTHING, 2_000)) == len(before) + 1
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def create_blocks(connection: apsw.Connection, model: int, dimensions: int) -> None:
    """A table of vectors as earlier versions had it."""
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(
        f"CREATE VIRTUAL TABLE chunks_vec_{model} USING vec0 (chunk_id INTEGER PRIMARY KEY,"
        f" embedding float[{dimensions}] distance_metric=cosine, chunk_size=128)"
    )


def old_base(path: str) -> dict[int, bytes]:
    """One as the version before halves left it, with 300 vectors in blocks, of which some are gone;
    what it holds."""
    connection = apsw.Connection(path)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID:d}")
    number = STEPS.index(schema.halve_vectors)
    for step in STEPS[:number]:
        if isinstance(step, str):
            connection.execute(step)
    connection.execute(f"PRAGMA user_version = {number}")
    connection.execute("INSERT INTO models (id, name, revision, dimensions, active)"
                       " VALUES (1, ?, ?, ?, 1)", MODEL)  # fmt: skip
    create_blocks(connection, 1, MODEL.dimensions)
    connection.execute(
        "INSERT INTO documents (seq, id, code, title, type, created_at, updated_at, roles,"
        " archived, scope, salience, metadata) VALUES (1, 'one', 'X-1', 'One', 'note',"
        " '2026-01-01T', '2026-01-01T', '[]', 0, 'global', 0.5, '{}')"
    )
    chance = np.random.default_rng(1)
    held = {chunk: chance.standard_normal(4).astype("<f4").tobytes() for chunk in range(1, 301)}
    for chunk, given in held.items():
        connection.execute(
            "INSERT INTO chunks (id, document, position, slug, chunk_index, hash, line, tokens,"
            " overlap, title, header, text, terms)"
            " VALUES (?1, 1, ?1, 's', ?1, 'h' || ?1, 1, 1, 0, 'One', '', 'alpha', '')",
            (chunk,),
        )
        connection.execute("INSERT INTO chunks_vec_1 VALUES (?, ?)", (chunk, given))
        connection.execute("INSERT INTO embedded VALUES (1, ?, ?)", (chunk, vector_seal(given)))
    connection.execute("INSERT INTO past_vectors VALUES ('h', 1, ?)", (held[1],))
    for chunk in range(7, 300, 7):
        del held[chunk]
        for table, column in (
            ("chunks_vec_1", "chunk_id"),
            ("embedded", "chunk"),
            ("chunks", "id"),
        ):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (chunk,))
    connection.close()
    return held


def vectors_found(store: SqliteStore, path: str) -> list[str]:
    """What a deep check says of vectors."""
    found = check(store, path, "/nowhere", deep=True).findings
    return [one.message for one in found if one.part == "vectors"]


def test_vectors_in_blocks_become_halves_when_a_base_is_upgraded(path: str) -> None:
    """The answers stay, sqlite-vec is not needed, and what was damaged is still known to be."""
    held = old_base(path)
    blocks = apsw.Connection(path)
    table = "chunks_vec_1_vector_chunks00"
    block: Any = blocks.execute(f"SELECT vectors FROM {table} WHERE rowid = 1").get
    spoilt = bytes((block[0] ^ 1,)) + block[1:]
    blocks.execute(f"UPDATE {table} SET vectors = ? WHERE rowid = 1", (spoilt,))
    blocks.close()
    store = SqliteStore(path)
    query = vector(1, 2, 0, 0)
    wanted = dict(zip(held, similarities(query, [*held.values()]), strict=True))
    found = {one.chunk: one.score for one in store.semantic(query, EVERYTHING, 300)}
    assert found == pytest.approx(wanted, abs=1e-2)
    assert rows(path, "SELECT DISTINCT length(embedding) FROM chunks_vec_1") == [(8,)]
    assert rows(path, "SELECT DISTINCT length(embedding) FROM past_vectors") == [(8,)]
    assert rows(path, "SELECT name FROM sqlite_schema WHERE name LIKE 'chunks_vec_1_%'") == []
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert [one[:3] for one in vectors_found(store, path)] == ["1 ×"]
    store.close()


def test_a_damaged_base_of_an_earlier_version_keeps_its_vectors(path: str) -> None:
    """Repairing reads them out of their blocks, without upgrading what is damaged."""
    held = old_base(path)
    done = repair(path, NOW)
    store = SqliteStore(done.base)
    assert store.counts().embedded == len(held)
    assert vectors_found(store, done.base) == []
    store.close()


def test_vectors_of_an_older_file_stay_and_belong_to_its_model(path: str) -> None:
    """C23: a base made before models could be changed."""
    old = apsw.Connection(path)
    old.execute("PRAGMA journal_mode = WAL").fetchall()
    old.execute(f"PRAGMA application_id = {schema.APPLICATION_ID:d}")
    for step in STEPS[:2]:
        old.execute(step)
    old.execute("PRAGMA user_version = 2")
    old.execute("INSERT INTO models VALUES (1, 'test', '1', 4)")
    create_blocks(old, 1, 4)
    old.execute(
        "INSERT INTO documents (id, code, title, type, created_at, updated_at, roles, archived,"
        " scope, salience, metadata) VALUES ('one', 'X-1', 'One', 'note', '2026', '2026', '[]', 0,"
        " 'global', 0.5, '{}')"
    )
    for chunk, model in ((1, 1), (2, None)):
        old.execute(
            "INSERT INTO chunks (id, document, position, slug, chunk_index, model, hash, line,"
            " tokens, overlap, title, header, text, terms)"
            " VALUES (?, 1, ?, 's', ?, ?, 'h' || ?, 1, 1, 0, 'One', '', 'alpha', '')",
            (chunk, chunk, chunk, model, chunk),
        )
    old.execute("INSERT INTO chunks_vec_1 VALUES (1, ?)", (vector(1, 0, 0, 0),))
    old.close()
    store = SqliteStore(path)
    assert store.models() == [StoredModel(MODEL, "", 1, True)]
    assert [one.chunk for one in store.semantic(vector(1, 0, 0, 0), EVERYTHING, 5)] == [1]
    assert store.semantic_coverage() == 0.5
    assert dict(store.vectors(["h1", "h2"])) == {"h1": vector(1, 0, 0, 0)}
    assert [passage.chunk_id for passage in store.unembedded(MODEL, 0, 5)] == [2]
    store.close()


def test_a_missing_file_is_no_base(tmp_path: Path) -> None:
    with pytest.raises(BaseMissing):
        SqliteStore(str(tmp_path / "none.db"))


@pytest.mark.parametrize("content", [b"just some text, long enough to be read " * 30, b""])
def test_another_file_is_no_base(tmp_path: Path, content: bytes) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(content)
    with pytest.raises(NotABase):
        SqliteStore(str(other))
    assert other.read_bytes() == content


def test_another_sqlite_file_is_no_base(tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")
    apsw.Connection(other).execute("CREATE TABLE t (x)")
    with pytest.raises(NotABase):
        SqliteStore(other)


def test_a_newer_base_is_refused_untouched(path: str, store: SqliteStore) -> None:
    store.close()
    apsw.Connection(path).execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    with pytest.raises(BaseTooNew, match=f"schema {len(STEPS) + 1}"):
        SqliteStore(path)


def test_an_older_base_is_upgraded_in_place(tmp_path: Path) -> None:
    """A file at schema 0, as an interrupted creation leaves it, becomes a whole base."""
    path = str(tmp_path / "old.db")
    connection = apsw.Connection(path)
    connection.execute("PRAGMA application_id = 0x6B6E6F77")
    connection.close()
    store = SqliteStore(path)
    store.use_model(MODEL)
    put(store, "one")
    assert store.counts().documents == 1


def test_a_new_step_runs_once_on_a_base_with_documents(
    path: str, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "one")
    store.close()
    step = "ALTER TABLE documents ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'"
    monkeypatch.setattr(schema, "STEPS", (*STEPS, step))
    SqliteStore(path).close()
    again = SqliteStore(path)
    assert again.counts().documents == 1
    assert rows(path, "SELECT colour FROM documents") == [("blue",)]
    assert rows(path, "PRAGMA user_version") == [(len(STEPS) + 1,)]


def test_bases_made_at_once_are_one_whole_base(path: str) -> None:
    code = f"from knowbase.store.sqlite import create; create({path!r}).close()"
    makers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [maker.wait() for maker in makers] == [0, 0, 0, 0]
    assert SqliteStore(path).counts().documents == 0
    assert list(Path(path).parent.glob("*.new*")) == []


def test_a_failing_upgrade_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = str(tmp_path / "old.db")
    connection = apsw.Connection(path)
    connection.execute("PRAGMA application_id = 0x6B6E6F77; CREATE TABLE files (mine)")
    connection.close()
    with pytest.raises(BaseDamaged):
        SqliteStore(path)
    assert rows(path, "SELECT name FROM sqlite_schema") == [("files",)]


def test_a_locked_base_is_named_as_such(path: str, store: SqliteStore) -> None:
    writer = apsw.Connection(path)
    writer.execute("BEGIN IMMEDIATE")
    waiting = SqliteStore(path, busy_timeout=0.05)
    with pytest.raises(BaseLocked):
        put(waiting, "one")
    assert waiting.counts().documents == 0
    writer.execute("ROLLBACK")
    put(waiting, "one")
    assert waiting.counts().documents == 1


def test_a_full_disk_loses_nothing(path: str, store: SqliteStore) -> None:
    put(store, "one")
    store._connections.get().execute("PRAGMA max_page_count = 60")
    with pytest.raises(DiskFull):
        put(store, *(f"document{number}" for number in range(500)))
    assert store.counts().documents == 1
    store._connections.get().execute("PRAGMA max_page_count = 100000")
    put(store, "two")
    assert store.counts().documents == 2


def test_a_damaged_file_is_named_as_such(path: str, store: SqliteStore) -> None:
    put(store, *(f"document{number}" for number in range(200)))
    store.close()
    data = bytearray(Path(path).read_bytes())
    data[8192:] = b"\xa5" * (len(data) - 8192)
    Path(path).write_bytes(data)
    with pytest.raises(BaseDamaged):
        SqliteStore(path).chunks("document1")


def test_more_neighbours_than_the_engine_allows_are_found_exactly(store: SqliteStore) -> None:
    put(store, "one", "two")
    few = store.semantic(vector(1, 2, 0, 0), EVERYTHING, 10)
    many = store.semantic(vector(1, 2, 0, 0), EVERYTHING, 5_000)
    assert [one.chunk for one in many] == [one.chunk for one in few]
    assert [one.score for one in many] == pytest.approx([one.score for one in few], abs=1e-6)
    assert store.semantic(vector(1, 2, 0, 0), Tagged(("none",)), 5_000) == []


def test_hundreds_of_words_are_one_query(store: SqliteStore) -> None:
    put(store, "one")
    words = [Word(f"word{number}") for number in range(255)] + [Word("one")]
    assert len(store.keyword(KeywordQuery(tuple(words)), EVERYTHING, 10, PLAIN)) == 1


@pytest.mark.parametrize("surface", ['"', 'a"b', "AND", "NOT x", "NEAR(", "*", "\x00", "title:x"])
def test_no_word_can_break_out_of_its_quotes(store: SqliteStore, surface: str) -> None:
    """C2, S1-03"""
    put(store, "one")
    store.keyword(
        KeywordQuery(
            (
                Word(surface),
                Word("one"),
            )
        ),
        EVERYTHING,
        10,
        PLAIN,
    )


def test_threads_read_while_one_writes(store: SqliteStore) -> None:
    put(store, "start")
    problems: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                assert store.keyword(KeywordQuery((Word("text"),)), EVERYTHING, 5, PLAIN)
                assert store.semantic(vector(1, 0, 0, 0), Tagged(("none",)), 5) == []
        except BaseException as error:
            problems.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(40):
        put(store, f"document{number}")
    done.set()
    for reader in readers:
        reader.join()
    assert problems == []
    assert store.counts().documents == 41


WRITER = """
import sys
sys.path.insert(0, {tests!r})
from stores import MODEL, NOW, draft, section
from knowbase.query.words import KeywordQuery
from knowbase.store.sqlite import SqliteStore
from knowbase.changes import Changes

store = SqliteStore({path!r})
store.use_model(MODEL)
number = 0
while True:
    sections = section("alpha"), section("beta", "b", "B")
    batch = [draft(f"d{{number + i}}", *sections) for i in range(20)]
    store.apply(Changes(drafts=tuple(batch), removed=(f"d{{number - 7}}",)), NOW)
    number += 20
    print(number, flush=True)
"""


def test_a_killed_writer_leaves_documents_chunks_index_and_vectors_in_step(
    path: str, store: SqliteStore
) -> None:
    """S0-22, S1-01"""
    code = WRITER.format(tests=str(Path(__file__).parents[1]), path=path)
    for lines in (1, 3, 5):
        writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        for _ in range(lines):
            writer.stdout.readline()
        writer.kill()
        writer.wait()
        writer.stdout.close()
        assert rows(path, "PRAGMA integrity_check") == [("ok",)]
        [(chunks, documents)] = rows(path, "SELECT count(*), count(DISTINCT document) FROM chunks")
        assert chunks == 2 * documents
        assert rows(path, "SELECT count(*) FROM documents") == [(documents,)]
        assert rows(path, "SELECT count(*) FROM chunks_vec_1") == [(chunks,)]
        assert rows(path, "SELECT count(*) FROM chunks_fts_docsize") == [(chunks,)]
        assert (
            len(store.keyword(KeywordQuery((Word("alpha"),)), EVERYTHING, 5000, PLAIN)) == documents
        )


def replaced_by(path: str, *names: str) -> None:
    """Another base takes the file's place, as when a copy is restored."""
    other = create(path + ".other")
    other.use_model(MODEL)
    put(other, *names)
    other.close()
    Path(path + ".other").replace(path)


def test_a_base_that_was_replaced_is_read_and_written_anew_by_every_thread(
    store: SqliteStore, path: str
) -> None:
    """What goes into a file without a name is lost."""
    put(store, "yesterday")
    assert store.nearest_words(Word("yesterdy"), 1) == ["yesterday"]
    with ThreadPoolExecutor(2) as pool:
        both = threading.Barrier(2)

        def look(_: int) -> list[str]:
            both.wait()
            return [one.id for one in store.documents(EVERYTHING, ALL)]

        assert list(pool.map(look, range(2))) == [["yesterday"], ["yesterday"]]
        replaced_by(path, "tomorrow")
        assert list(pool.map(look, range(2))) == [["tomorrow"], ["tomorrow"]]
        put(store, "overmorrow")
        assert list(pool.map(look, range(2))) == [["tomorrow", "overmorrow"]] * 2
    assert rows(path, "SELECT id FROM documents ORDER BY seq") == [("tomorrow",), ("overmorrow",)]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert store.nearest_words(Word("tomorow"), 1) == ["tomorrow"]
    assert len(store.semantic(vector(1, 0, 0, 0), EVERYTHING, 9)) == 2


def test_a_thread_that_comes_later_reads_nothing_of_a_replaced_base(
    store: SqliteStore, path: str
) -> None:
    put(store, "old")
    replaced_by(path, "new")
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(store.documents, EVERYTHING, ALL).result()
    assert [one.id for one in found] == ["new"]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_what_a_replaced_base_had_stays_in_its_own_file(
    store: SqliteStore, path: str, tmp_path: Path
) -> None:
    put(store, "old")
    Path(path).rename(tmp_path / "kept.db")
    replaced_by(path, "new")
    assert store.find("new")
    assert rows(str(tmp_path / "kept.db"), "SELECT id FROM documents") == [("old",)]


def test_a_base_that_is_gone_is_missing_until_it_is_back(
    store: SqliteStore, path: str, tmp_path: Path
) -> None:
    put(store, "one")
    Path(path).rename(tmp_path / "away.db")
    with pytest.raises(BaseMissing):
        store.find("one")
    with pytest.raises(BaseMissing):
        put(store, "two")
    (tmp_path / "away.db").rename(path)
    assert store.find("one")
    assert not store.find("two")


def test_a_base_that_goes_while_it_is_written_says_so(store: SqliteStore, path: str) -> None:
    with pytest.raises(BaseMissing), store._connections.writing():
        Path(path).unlink()


def test_a_file_that_is_no_base_is_none_either_in_the_place_of_one(
    store: SqliteStore, path: str
) -> None:
    Path(path).unlink()
    apsw.Connection(path).execute("CREATE TABLE other (x)")
    with pytest.raises(NotABase):
        store.find("one")


def test_a_transaction_that_cannot_be_rolled_back_keeps_no_lock(
    store: SqliteStore, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without memory, not even ROLLBACK can be said."""
    kind: Any = type(store._connections.get())
    execute = kind.execute

    def without_memory(self: Any, sql: str, *values: Any, **more: Any) -> Any:
        if sql == "ROLLBACK":
            raise apsw.NoMemError("out of memory")
        return execute(self, sql, *values, **more)

    monkeypatch.setattr(kind, "execute", without_memory)
    with pytest.raises(apsw.SQLError), store._connections.writing() as connection:
        connection.execute("DELETE FROM documents; SELECT nothing")
    monkeypatch.undo()
    other = SqliteStore(path, 0.1)
    for number, one in enumerate((other, store)):
        one.apply(Changes(drafts=(draft(f"later {number}", section("beta")),)), NOW)
    assert store.find("later 0")
    assert other.find("later 1")
    other.close()


@pytest.mark.parametrize("table", ["documents", "chunks", "tags", "relations", "embedded", "edges"])
def test_what_was_is_looked_up_and_not_read_whole(store: SqliteStore, table: str) -> None:
    """SQLite reads a view whole where it is joined, if only one of its columns is of another kind
    than the table's."""
    store.apply(Changes(drafts=(draft("one", section("alpha")),)), NOW)
    store.apply(Changes(drafts=(draft("one", section("beta")),)), NOW)
    connection = store.as_of(1)._connections.get()
    key = {"documents": "seq", "chunks": "id", "tags": "document", "embedded": "chunk"}
    sql = f"SELECT * FROM json_each('[1]') w CROSS JOIN {table} t ON t.{key.get(table, 'source')}"
    steps: Any = connection.execute(f"EXPLAIN QUERY PLAN {sql} = w.value").fetchall()
    assert not [step for *_, step in steps if step.startswith(("MATERIALIZE", "CO-ROUTINE"))]


@pytest.mark.parametrize("small", [0, 100])
def test_of_a_long_history_only_what_is_asked_of_is_read(
    store: SqliteStore, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is gone is not known any more, though its numbers may be used again."""
    monkeypatch.setattr(then_rows, "SHORT", small)
    for text in ("alpha", "beta", "gamma", "delta"):
        store.apply(Changes(drafts=(draft("one", section(text)),)), NOW)
        store.apply(Changes(drafts=(draft("two", section(text)),)), NOW)
    connection, known = store._connections.get(), None
    for number in (7, 5, 6, 2, 0):
        known = PastRows.after(connection, number, known)
        assert set(_rows(connection, number)) <= set(known.rows.tolist())
        assert small or number == 6 or known.rows.tolist() == _rows(connection, number)
    store.apply(Changes(erased=("two",)), NOW)
    store.apply(Changes(drafts=(draft("three", section("alpha")),)), NOW)
    store.apply(Changes(drafts=(draft("three", section("beta")),)), NOW)
    known = PastRows.after(connection, 3, known)
    assert known.rows.tolist() == _rows(connection, 0)
    chunks: Any = connection.execute("SELECT chunk FROM past_chunks ORDER BY id").fetchall()
    assert known.chunks.tolist() == [chunk for (chunk,) in chunks]


def _rows(connection: apsw.Connection, number: int) -> list[int]:
    sql = "SELECT id FROM past_chunks WHERE until > ? ORDER BY id"
    found: Any = connection.execute(sql, (number,)).fetchall()
    return [row for (row,) in found]
