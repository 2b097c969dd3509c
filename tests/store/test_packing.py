"""Values as they lie in a SQLite file: texts, hashes, names, vectors."""

import hashlib
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earlier import said_twice, schema_of
from knowbase.errors import BaseDamaged
from knowbase.query.conditions import EVERYTHING
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.halves import as_kept, halved, halved_all
from knowbase.store.sqlite import SqliteStore, create, schema
from knowbase.store.sqlite.common_words import LETTERS
from knowbase.store.sqlite.packing import (
    digest,
    kept_name,
    name_of,
    packed,
    plain,
    readable,
    register,
)
from knowbase.store.sqlite.rows import PackedChunk
from knowbase.text.analysis import Word
from knowbase.text.names import Named, mentions_of, names_of_document
from knowbase.upkeep.check import check
from knowbase.upkeep.digests import digests
from knowbase.upkeep.repair import repair
from knowbase.values.changes import Changes
from knowbase.values.characters import storable, storable_rows
from knowbase.values.documents import Chunk
from knowbase.values.reading import Link
from knowbase.values.vectors import pack
from stores import MODEL, NOW, draft, section

LONG = "The quick harbour pilot reads the tide tables before the ferry leaves. " * 12


@given(st.text(max_size=400))
def test_a_packed_text_is_the_text_again(text: str) -> None:
    for one in (text, text * 7):
        kept = packed(one)
        assert plain(kept) == one
        assert isinstance(kept, str) or len(kept) < len(one.encode())


@given(st.text(min_size=60, max_size=400), st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_packed_text_is_text_or_a_clear_error(text: str, at: int, flip: int) -> None:
    kept = packed(text * 3)
    if not isinstance(kept, bytes):
        return
    place = at % len(kept)
    spoilt = kept[:place] + bytes((kept[place] ^ flip,)) + kept[place + 1 :]
    assert isinstance(readable(spoilt), str)
    with suppress(BaseDamaged):
        assert isinstance(plain(spoilt), str)


def test_what_stands_before_a_damage_can_be_read() -> None:
    kept = packed(LONG + "x".join(map(str, range(300))))
    spoilt = kept[: len(kept) // 2] + b"\xff" * 8
    assert readable(spoilt).startswith(LONG[:200])
    assert readable(kept) == plain(kept)
    with pytest.raises(BaseDamaged):
        plain(kept[:-3])


def test_the_letters_that_packed_texts_refer_to_never_change() -> None:
    """A changed letter would spoil the texts of every base."""
    assert hashlib.sha256(LETTERS).hexdigest() == (
        "54e046a5fc70e4bc25f599d017923d67f12906b97a66e4e008e771ed154be937"
    )
    before = (
        "0103253b606b25391b686d5112c8d882cc9cfc1270790209a692cc945448a95f0c6bc082930ab00a"
        "aa040515b0e10449bda3c68c1a336a0cd01800"
    )
    assert plain(bytes.fromhex(before)) == LONG


def test_a_hash_takes_a_byte_for_two_letters() -> None:
    letters = hashlib.sha256(b"x").hexdigest()
    assert digest(letters) == bytes.fromhex(letters)
    assert digest("h1") == "h1"
    assert digest("z" * 64) == "z" * 64


def test_a_name_is_kept_as_a_key_from_which_ids_and_codes_can_be_told() -> None:
    identity = "5ca95f0a-9e19-4712-a973-2ae8f495bec3"
    assert (name_of(kept_name(identity)), len(kept_name(identity))) == (identity, 16)
    assert name_of(kept_name("proj-i-0018")) == "proj-i-0018"
    long = kept_name("docs/harbour/tides-and-ferries")
    assert (len(long), name_of(long)) == (8, None)
    assert long != kept_name("docs/harbour/tides-and-ferry")


def test_a_chunk_with_a_packed_text_is_a_chunk_to_everybody() -> None:
    whole = Chunk("s", 0, "Head", "# Head\n", LONG, 0, 1, None, 9, "h")
    kept = PackedChunk._make(whole._replace(text=packed(LONG)))
    assert kept.text == LONG
    assert kept == whole
    assert whole == kept
    assert hash(kept) == hash(whole)
    assert repr(kept) == repr(whole)
    assert kept._asdict() == whole._asdict()
    assert kept._replace(line=2) == whole._replace(line=2)
    assert kept[4] == LONG
    assert list(kept) == list(whole)
    assert pickle.loads(pickle.dumps(kept)) == whole


def test_texts_that_are_long_enough_are_packed(tmp_path: Path) -> None:
    path = _filled(tmp_path)
    connection = apsw.Connection(path)
    kinds: Any = connection.execute(
        "SELECT typeof(text), typeof(hash), length(hash) FROM chunks ORDER BY id"
    ).fetchall()
    past: Any = connection.execute("SELECT typeof(text) FROM past_texts").fetchall()
    connection.close()
    assert kinds == [("blob", "blob", 32), ("text", "blob", 32)]
    assert ("blob",) in past


def _filled(tmp_path: Path) -> str:
    """A base with texts short and long, and with a history."""
    path = str(tmp_path / "base.db")
    store = create(path)
    store.use_model(MODEL)
    two = draft("two", section("brief"), path="docs/harbour/tides-and-ferries.md")
    said = Link("docs/harbour/tides-and-ferries", "wiki")
    for text in (LONG, "since then " + LONG):
        one = draft("one", section(text), links=(said,))
        store.apply(Changes(drafts=(one, two)), NOW)
    store.link_similar(0.1)
    store.close()
    return path


def _as_before(path: str) -> None:
    """As the version before texts were packed has a base."""
    said_twice(path)
    connection = apsw.Connection(path)
    register(connection)
    number = schema.STEPS.index(schema.pack_texts)
    sql = schema_of(number)
    names = ("chunks_fts", "past_fts", "chunks_hash", "chunks_inserted", "chunks_updated",
             "past_chunks_inserted")  # fmt: skip
    connection.execute(
        "DROP TRIGGER chunks_inserted; DROP TRIGGER chunks_updated;"
        "DROP TRIGGER past_chunks_inserted; DROP TABLE chunks_fts; DROP TABLE past_fts;"
        "DROP INDEX chunks_hash; UPDATE chunks SET text = plain(text), terms = plain(terms),"
        " hash = iif(typeof(hash) = 'blob', lower(hex(hash)), hash);"
        "UPDATE past_texts SET text = plain(text); UPDATE past_chunks SET terms = plain(terms)"
    )
    for name in names:
        connection.execute(sql[name])
    connection.execute("DELETE FROM names; DELETE FROM mentions; DELETE FROM stale_names")
    found: Any = connection.execute(f"SELECT seq, {', '.join(Named._fields)} FROM documents")
    for seq, *fields in found.fetchall():
        named = Named(*fields)
        links: Any = connection.execute("SELECT target, kind FROM links WHERE document = ?", (seq,))
        connection.executemany(
            "INSERT INTO names VALUES (?, ?, ?)",
            [(*one, seq) for one in names_of_document(named).items()],
        )
        connection.executemany(
            "INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (seq, *one, one.weight)
                for one in mentions_of(named, [Link(*link) for link in links])
            ],
        )
    connection.execute(
        "UPDATE edges SET relation = 'SIMILAR_TO', origin = 'vectors' WHERE relation = ''"
    )
    connection.execute(
        "INSERT INTO chunks_fts (rowid, title, heading, text, terms)"
        " SELECT id, title, coalesce(heading, ''), text, terms FROM chunks;"
        "INSERT INTO past_fts (rowid, title, heading, text, terms) SELECT c.id, c.title,"
        " coalesce(heading, ''), text, terms FROM past_chunks c JOIN past_texts USING (key);"
        f"PRAGMA user_version = {number}"
    )
    connection.close()


def rows(path: str, sql: str) -> list[Any]:
    connection = apsw.Connection(path)
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


def _found(store: SqliteStore, word: str) -> list[int]:
    query = KeywordQuery((Word(word),))
    return [one.chunk for one in store.keyword(query, EVERYTHING, 9, FieldWeights())]


def _whole(store: SqliteStore) -> object:
    whole = store.copying()
    graph = [rows(store.path, f"SELECT * FROM {one}") for one in ("names", "mentions", "edges")]
    assert all(graph)
    edges = store.edges(EVERYTHING)
    assert {one.relation for one in edges} == {"REFERENCES", "SIMILAR_TO"}
    return whole.copies(whole.seqs()), list(whole.history()), digests(whole), graph, edges


def test_a_base_from_before_is_packed_when_it_is_upgraded(tmp_path: Path) -> None:
    """Its values, its history, its seals and its words are the same."""
    path = _filled(tmp_path)
    store = SqliteStore(path)
    before = _whole(store), _found(store, "harbour"), _found(store, "brief")
    store.close()
    size = Path(path).stat().st_size
    _as_before(path)
    store = SqliteStore(path)
    assert (_whole(store), _found(store, "harbour"), _found(store, "brief")) == before
    assert check(store, path, "/nowhere", deep=True).is_sound
    store.compact()
    store.close()
    assert Path(path).stat().st_size <= size


@pytest.mark.parametrize("is_old", [False, True])
def test_repairing_saves_packed_texts_and_those_from_before(tmp_path: Path, is_old: bool) -> None:
    path = _filled(tmp_path)
    if is_old:
        _as_before(path)
    done = repair(path, NOW)
    store = SqliteStore(done.base)
    texts = [c.chunk.text for one in store.copying().copies([1, 2]) for c in one.chunks]
    assert texts == ["since then " + LONG, "brief"]
    assert check(store, done.base, "/nowhere", deep=True).is_sound
    assert _found(store, "harbour") == [1]
    store.close()


def test_of_a_packed_text_that_is_damaged_the_beginning_is_saved(tmp_path: Path) -> None:
    path = _filled(tmp_path)
    connection = apsw.Connection(path)
    kept: Any = connection.execute("SELECT text FROM chunks WHERE id = 1").get
    connection.execute("DROP TRIGGER chunks_updated")
    spoilt = kept[:-8] + b"\xff" * 8
    connection.execute("UPDATE chunks SET text = ? WHERE id = 1", (spoilt,))
    connection.close()
    store = SqliteStore(path)
    with pytest.raises(BaseDamaged):
        print(store.chunks("one")[0].chunk.text)
    assert not check(store, path, "/nowhere", deep=True).is_sound
    store.close()
    store = SqliteStore(repair(path, NOW).base)
    assert store.chunks("one")[0].chunk.text.startswith("since then The quick harbour")
    store.close()


@given(st.lists(st.tuples(st.integers(), st.text() | st.none() | st.binary()), max_size=6))
def test_rows_are_cleaned_together_as_one_by_one(given_rows: list[tuple[Any, ...]]) -> None:
    spoilt = [*given_rows, (1, "a\0b\ud800")]
    assert storable_rows(given_rows) == [storable(one) for one in given_rows]
    assert storable_rows(spoilt) == [storable(one) for one in spoilt]


@given(st.lists(st.lists(st.floats(width=32, allow_nan=False), min_size=3, max_size=3), max_size=5))
def test_vectors_are_halved_together_as_one_by_one(numbers: list[list[float]]) -> None:
    vectors = [pack(one) for one in numbers]
    assert halved_all(vectors) == [(halved(one), as_kept(one)) for one in vectors]
    uneven = [*vectors, pack([1.0])]
    assert halved_all(uneven) == [(halved(one), as_kept(one)) for one in uneven]
