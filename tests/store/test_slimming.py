"""A base that said some things twice says them once when it is upgraded."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earlier import said_twice
from knowbase.errors import KnowbaseError
from knowbase.query.conditions import EVERYTHING
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.sqlite import SqliteStore, create
from knowbase.store.sqlite.packing import HEADER, kept_header, register
from knowbase.text.analysis import Word
from knowbase.upkeep.check import check
from knowbase.upkeep.digests import digests
from knowbase.upkeep.repair import repair
from knowbase.values.changes import Changes, Draft
from knowbase.values.reading import Link
from stores import MODEL, NOW, draft, section

LONG = "The quick harbour pilot reads the tide tables before the ferry leaves. " * 12
PATH = "docs/harbour/tides.md"


def headed(document: str, *texts: str, **more: Any) -> Draft:
    """A document with a heading before each of its texts but the first."""
    sections = [
        section(text, slug=f"s{place}")._replace(
            heading=f"Part {place}" if place else None, header=f"## Part {place}\n" * bool(place)
        )
        for place, text in enumerate(texts)
    ]
    return draft(document, *sections, **more)


def filled(path: str) -> SqliteStore:
    """A base with a history, similar documents and links, indexes beside it, and a text that is
    there twice."""
    create(path).close()
    store = SqliteStore(path, index_after=1)
    store.use_model(MODEL)
    said = Link("docs/harbour/tides", "wiki")
    for text in (LONG, "since then " + LONG):
        one = headed("one", text, "getUserName of a ferry", links=(said,))
        two = headed("two", LONG, "a brief one", path=PATH)
        store.apply(Changes(drafts=(one, two)), NOW)
    store.link_similar(0.1)
    store.renew_index()
    return store


def rows(path: str, sql: str) -> list[Any]:
    connection = apsw.Connection(path)
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


def found(store: SqliteStore, word: str) -> list[tuple[int, float]]:
    query = KeywordQuery((Word(word),))
    return [(one.chunk, one.score) for one in store.keyword(query, EVERYTHING, 9, FieldWeights())]


def whole(store: SqliteStore) -> object:
    """All that a base holds and answers."""
    copying = store.copying()
    words = ("harbour", "brief", "part", "getusername", "tides", "md")
    answers = [found(store, word) for word in words]
    assert all(answers)
    return (
        copying.copies(copying.seqs()), copying.shared(), list(copying.history()),
        digests(copying), store.edges(EVERYTHING), answers,
    )  # fmt: skip


def test_a_base_from_before_holds_and_answers_the_same_in_fewer_bytes(tmp_path: Path) -> None:
    path = str(tmp_path / "base.db")
    store = filled(path)
    before, indexes = whole(store), [store.vector_index(), store.counts().embedded]
    store.close()
    said_twice(path)
    of_before = sum(row[0] for row in rows(path, "SELECT length(terms) FROM chunks"))
    store = SqliteStore(path, index_after=1)
    assert whole(store) == before
    assert [store.vector_index(), store.counts().embedded] == indexes
    assert check(store, path, "/nowhere", deep=True).is_sound
    assert sum(row[0] for row in rows(path, "SELECT length(terms) FROM chunks")) < of_before
    assert rows(path, "SELECT DISTINCT typeof(content_hash) FROM documents") == [("blob",)]
    assert rows(path, "SELECT DISTINCT typeof(header) FROM chunks ORDER BY 1") == [
        ("blob",), ("text",)
    ]  # fmt: skip
    store.close()


def test_an_upgrade_that_is_stopped_leaves_the_base_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "base.db")
    store = filled(path)
    before = whole(store)
    store.close()
    said_twice(path)
    of_before = rows(path, "SELECT * FROM sqlite_schema"), rows(path, "SELECT * FROM chunks")
    from knowbase.store.sqlite import slimming

    with monkeypatch.context() as patched:
        patched.setattr(slimming, "_AFTER", "SELECT no_such_function()")
        with pytest.raises(KnowbaseError, match="refused"):
            SqliteStore(path)
    now = rows(path, "SELECT * FROM sqlite_schema"), rows(path, "SELECT * FROM chunks")
    assert now == of_before
    store = SqliteStore(path, index_after=1)
    assert whole(store) == before
    store.close()


@pytest.mark.parametrize("is_old", [False, True])
def test_repairing_saves_what_is_said_once_and_what_was_said_twice(
    tmp_path: Path, is_old: bool
) -> None:
    path = str(tmp_path / "base.db")
    store = filled(path)
    texts = [one.chunk for name in ("one", "two") for one in store.chunks(name)]
    words = [found(store, word) for word in ("harbour", "part", "getusername", "tides", "md")]
    store.close()
    if is_old:
        said_twice(path)
    done = repair(path, NOW)
    store = SqliteStore(done.base)
    assert [one.chunk for name in ("one", "two") for one in store.chunks(name)] == texts
    assert check(store, done.base, "/nowhere", deep=True).is_sound
    assert [found(store, word) for word in ("harbour", "part", "getusername", "tides", "md")] == (
        words
    )
    store.close()


def test_a_document_whose_own_row_is_gone_is_found_by_its_path_once_repaired(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "base.db")
    filled(path).close()
    connection = apsw.Connection(path)
    register(connection)
    connection.execute(
        "DROP TRIGGER documents_terms; DELETE FROM documents WHERE seq = 1;"
        "UPDATE documents SET terms = x'0102'"
    )
    connection.close()
    store = SqliteStore(repair(path, NOW).base)
    assert {chunk for chunk, _ in found(store, "harbour")} == {1, 3}
    assert {chunk for chunk, _ in found(store, "kb")} == {1, 2}
    store.close()


def test_a_document_of_another_name_is_found_by_it_in_all_its_chunks(tmp_path: Path) -> None:
    store = create(str(tmp_path / "base.db"))
    store.use_model(MODEL)
    for path in ("docs/moorings.md", "docs/currents.md"):
        store.apply(Changes(drafts=(headed("one", LONG, "brief", path=path),)), NOW)
    assert len(found(store, "currents")) == 2
    assert found(store, "moorings") == []
    assert check(store, str(tmp_path / "base.db"), "/nowhere", deep=True).is_sound
    store.close()


@given(
    st.one_of(st.none(), st.text(max_size=9)),
    st.text("#= \n", max_size=8),
    st.text(" \n", max_size=2),
)
def test_a_header_is_the_header_again(heading: str | None, front: str, back: str) -> None:
    heading = heading.replace("\0", "") if heading is not None else None
    header = front + (heading or "") + back
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE chunks (header TEXT, heading TEXT)")
    connection.execute("INSERT INTO chunks VALUES (?, ?)", (kept_header(header, heading), heading))
    assert connection.execute(f"SELECT {HEADER} FROM chunks c").get == header
    connection.close()


def test_a_usual_header_takes_a_byte_for_each_mark() -> None:
    assert kept_header("## Setting up\n", "Setting up") == b"\0\0"
    assert kept_header("Setting up\n==========\n", "Setting up") == "Setting up\n==========\n"


def test_a_text_that_is_there_is_looked_for_in_an_index(tmp_path: Path) -> None:
    from knowbase.query.conditions import Compare
    from knowbase.store.sqlite.compile import compile_condition

    path = str(tmp_path / "base.db")
    filled(path).close()
    letters = rows(path, "SELECT lower(hex(content_hash)) FROM documents WHERE seq = 2")[0][0]
    sql, values = compile_condition(Compare("content_hash", "=", letters))
    connection = apsw.Connection(path)
    query = f"SELECT seq FROM documents d WHERE {sql}"
    assert connection.execute(query, values).fetchall() == [(2,)]
    plan: Any = connection.execute(f"EXPLAIN QUERY PLAN {query}", values).fetchall()
    assert "documents_content" in str(plan)
    connection.close()
