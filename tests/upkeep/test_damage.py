"""Damage: noticed, said in one clear error, and repaired without losing what only the base has."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import psycopg
import pytest

import damage
import knowbase
from conftest import Kb
from knowbase import SearchRequest
from knowbase.config import DEFAULTS
from knowbase.errors import BaseDamaged
from knowbase.query.conditions import EVERYTHING
from knowbase.store.contract import Store
from knowbase.store.opening import open_store
from knowbase.store.postgres import PostgresStore
from knowbase.store.sqlite import create
from knowbase.upkeep.check import check
from knowbase.upkeep.repair import repair
from knowbase.values.changes import Changes, Edit
from knowbase.values.documents import ALL
from knowbase.values.reading import Link
from postgres import database
from stores import BACKENDS, MODEL, NOW, draft, section, vector


def test_damaged_bases_give_clear_errors_are_noticed_and_repaired() -> None:
    found = damage.run(seed=11, number=8)
    assert found.failures == ()
    assert found.lost == ()
    assert found.unnoticed == ()
    assert found.repaired == found.damages == 8
    assert found.noticed + found.harmless + found.unsealed >= 8


@pytest.mark.soak
def test_many_damaged_bases_give_clear_errors_are_noticed_and_repaired() -> None:
    found = damage.run(seed=12, number=500)
    assert (found.failures, found.lost, found.unnoticed) == ((), (), ())


@pytest.fixture(params=["sqlite", "postgres"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    monkeypatch.chdir(tmp_path)  # a database's rescue file lies where one works
    made = BACKENDS[request.param](tmp_path)
    made.use_model(MODEL)
    notes = [
        draft(f"n{n}", section(f"alpha{n} beta"), vectors=(vector(1, n, 0, 0),)) for n in (1, 2)
    ]
    made.apply(Changes(drafts=tuple(notes), edits=(Edit("n1", {"archived": True}),)), NOW)
    yield made
    made.close()


def change(store: Store, sql: str) -> None:
    """What no part of knowbase would write."""
    if isinstance(store, PostgresStore):
        with psycopg.connect(database(), autocommit=True) as connection:
            connection.execute("SET search_path TO knowbase, public")
            connection.execute(sql + f" AND base_id = {store._base}")
        return
    file = apsw.Connection(store.path)  # type: ignore[attr-defined]
    file.execute("DROP TRIGGER IF EXISTS chunks_updated")  # damage asks nobody
    file.execute(sql)
    file.close()


def messages(store: Store) -> list[str]:
    found = check(store, "x", "/nowhere", deep=True)
    return [f"{one.part}: {one.message} {one.documents}" for one in found.findings
            if one.severity != "notice"]  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE documents SET title = 'N2!' WHERE id = 'n2'", "fields are not what was written"),
        ("UPDATE documents SET metadata = '{\"a\":1}' WHERE id = 'n2'", "fields are not"),
        ("UPDATE documents SET salience = 0.75 WHERE id = 'n2'", "use and feedback are not"),
        ("UPDATE chunks SET header = 'x' WHERE text = 'alpha2 beta'", "text is not"),
        ("UPDATE documents SET said = '{}' WHERE id = 'n1'", "fields are not"),
    ],
)
def test_a_changed_value_is_noticed_and_its_document_named(
    store: Store, sql: str, said: str
) -> None:
    """The same on both engines."""
    assert messages(store) == []
    change(store, sql)
    (found,) = messages(store)
    assert found.startswith("documents: 1 × ")
    assert said in found
    assert "KB-" in found
    place = store.url if isinstance(store, PostgresStore) else store.path  # type: ignore[attr-defined]
    repair(place, NOW)
    assert messages(store) == []
    assert len(store.documents(knowbase.query.conditions.EVERYTHING, ALL)) == 2


def test_links_of_what_is_not_there_are_noticed_and_found_anew(tmp_path: Path) -> None:
    """No key of the database leads from them to documents."""
    store = BACKENDS["postgres"](tmp_path)
    assert isinstance(store, PostgresStore)
    to_two = draft("n1", section("one"), vectors=(None,), links=(Link("two", "wiki"),))
    store.apply(Changes(drafts=(to_two, draft("two", section("2"), vectors=(None,)))), NOW)
    for table, column in (("names", "document"), ("mentions", "document"), ("edges", "target")):
        change(store, f"UPDATE {table} SET {column} = 99 WHERE {column} > 0")
    said = [one.partition(" of documents")[0] for one in messages(store)]
    assert [one.partition(" ")[2] for one in said] == [
        "2 documents without names ()", "4 names", "1 mentions", "1 links",
    ]  # fmt: skip
    repair(store.url, NOW)
    assert messages(store) == []
    assert [(one.source, one.target) for one in store.edges(EVERYTHING)] == [("n1", "two")]
    store.close()


def test_a_changed_vector_is_noticed_and_left_to_embedding(store: Store) -> None:
    if isinstance(store, PostgresStore):
        change(store, "UPDATE vectors_4 SET embedding = '[1,0,0,0.5]' WHERE chunk = 1")
    else:
        connection = apsw.Connection(store.path)  # type: ignore[attr-defined]
        sql = "SELECT embedding FROM chunks_vec_1 WHERE chunk_id = 1"
        held = connection.execute(sql).get
        changed = held[:3] + bytes((held[3] ^ 1,)) + held[4:]
        sql = "UPDATE chunks_vec_1 SET embedding = ? WHERE chunk_id = 1"
        connection.execute(sql, (changed,))
        connection.close()
    (found,) = messages(store)
    assert "vectors: 1 × it is not what was written" in found
    done = repair(store.url if isinstance(store, PostgresStore) else store.path, NOW)  # type: ignore[attr-defined]
    assert "kb embed" in done.next
    reopened = open_store(done.base if "://" not in done.base else store.url, DEFAULTS)  # type: ignore[attr-defined]
    assert reopened.counts().embedded == 1
    reopened.close()


def test_a_table_of_vectors_that_leads_nowhere_is_repaired(tmp_path: Path) -> None:
    """One bit of where a row of its tables lies: others are then looked for in vain."""
    path = tmp_path / "base.db"
    damage.make(str(path))
    file = apsw.Connection(str(path))
    root = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'chunks_vec_1'").get
    file.close()
    whole = path.read_bytes()
    for row in (10, 21, 44):
        spoilt = bytearray(whole)
        spoilt[(root - 1) * 4096 + 8 + 2 * row + 1] ^= 1
        path.write_bytes(spoilt)
        assert repair(str(path), NOW).saved["documents"] == 40


def test_no_sync_takes_a_rescue_file_for_a_text(store: Store, tmp_path: Path) -> None:
    change(store, "UPDATE documents SET title = 'other' WHERE id = 'n1'")
    place: str = store.url if isinstance(store, PostgresStore) else store.path  # type: ignore[attr-defined]
    assert Path(repair(place, NOW).rescue or "").is_relative_to(tmp_path)
    with knowbase.open(place) as base:
        assert base.add([str(tmp_path)], defer=True).added == ()


def test_what_was_written_before_there_were_seals_is_sealed_by_a_deep_check(store: Store) -> None:
    change(store, "UPDATE documents SET seal = NULL, text_seal = NULL WHERE 1 = 1")
    found = check(store, "x", "/nowhere", deep=True)
    assert (found.is_sound, found.sealed) == (True, 2)
    assert check(store, "x", "/nowhere", deep=True).sealed == 0
    change(store, "UPDATE documents SET title = 'N2!' WHERE id = 'n2'")
    assert len(messages(store)) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE documents SET metadata = '{\"a' WHERE id = 'n2'",
        "UPDATE documents SET title = x'80ff' WHERE id = 'n2'",
        "UPDATE documents SET title = CAST(x'80ff' AS TEXT) WHERE id = 'n2'",
        "UPDATE documents SET roles = '[\"\\\\' WHERE id = 'n2'",
        "UPDATE chunks SET text = x'37' WHERE text = 'alpha2 beta'",
        "UPDATE chunks SET text = CAST(x'80ff' AS TEXT) WHERE text = 'alpha2 beta'",
        "UPDATE documents SET salience = 'x' WHERE id = 'n2'",
        "DROP TABLE sessions",
    ],
)
def test_what_cannot_be_read_is_one_clear_error(tmp_path: Path, sql: str) -> None:
    with knowbase.create(str(tmp_path)) as base:
        base.store.apply(Changes(drafts=(draft("n2", section("alpha2 beta")),)), NOW)
        change(base.store, sql)
        for read in (
            lambda: repr(base.get("n2")),
            lambda: repr(base.search(SearchRequest("alpha2", mode="keyword"))),
            lambda: base.sessions.recent(),
        ):
            with suppress(BaseDamaged):
                read()
        with pytest.raises(BaseDamaged, match="the base is damaged") as told:
            repr((base.get("n2"), base.sessions.recent()))
        assert told.value.hint == "kb check says where, then kb repair saves what can be saved"
        assert not base.check(deep=True).is_sound
        path = base.path
    assert repair(path, NOW).damaged
    with knowbase.open(path) as base:
        assert base.check(deep=True).is_sound
        assert base.documents().total == 1


def test_repair_saves_first_keeps_the_damaged_base_and_can_be_tried(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    damage.make(str(tmp_path / "made.db"))
    (tmp_path / "made.db").replace(kb.base)
    data = kb.base.read_bytes()
    kb.base.write_bytes(b"\xff" * 4096 + data[4096:])
    assert "kb repair saves what is left" in kb.error("list", code=4)
    assert kb.json("check", code=4)["findings"][0]["severity"] == "damage"
    before = kb.base.read_bytes()
    foreseen = kb.json("repair", "--dry-run")
    assert kb.base.read_bytes() == before
    done = kb.json("repair")
    assert done["saved"] == foreseen["saved"]
    assert done["saved"]["sessions"] == 5
    assert Path(done["damaged"]).read_bytes() == before
    lines = [json.loads(line) for line in Path(done["rescue"]).read_text("utf-8").splitlines()]
    kinds = {line["kind"] for line in lines}
    assert {"documents", "chunks", "sessions", "uses", "verdicts", "relations", "saved"} <= kinds
    assert "nothing is damaged" in kb("repair").out


def test_an_index_that_leads_into_a_table_costs_nothing(tmp_path: Path) -> None:
    """One byte of the schema: the pages of the table were taken for those of the index."""
    path = str(tmp_path / "base.db")
    damage.make(path)
    file = apsw.Connection(path)
    file.execute("PRAGMA writable_schema = ON")
    file.execute(
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX x ON y (z)', rootpage ="
        " (SELECT rootpage FROM sqlite_schema WHERE name = 'sessions')"
        " WHERE name = 'sessions_started'"
    )
    file.close()
    repair(path, NOW)
    with knowbase.open(path) as base:
        summaries = {one.summary for one in base.sessions.recent().sessions}
    assert summaries == {f"Summary {number}" for number in range(5)}


def test_a_sound_base_and_a_foreign_file_are_left_alone(tmp_path: Path) -> None:
    store = create(str(tmp_path / "base.db"))
    store.close()
    assert repair(str(tmp_path / "base.db"), NOW).is_sound
    foreign = tmp_path / "photo.db"
    foreign.write_bytes(b"\x89PNG" * 5000)
    with pytest.raises(knowbase.errors.NotABase):
        repair(str(foreign), NOW)
    assert foreign.read_bytes() == b"\x89PNG" * 5000
    assert {one.name for one in tmp_path.iterdir()} == {"base.db", "photo.db"}


def test_files_that_changed_are_told(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    for name in ("a", "b", "c"):
        kb.write(f"docs/{name}.md", f"# {name}\n\nText {name}\n")
    kb("add", "docs", "--defer")
    assert kb.json("check", "--deep")["findings"] == []
    (tmp_path / "docs/a.md").unlink()
    kb.write("docs/b.md", "another length")
    stat = (tmp_path / "docs/c.md").stat()
    kb.write("docs/c.md", "# c\n\nText d\n")
    import os

    os.utime(tmp_path / "docs/c.md", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert {one["severity"] for one in kb.json("check")["findings"]} == {"notice"}
    found = kb.json("check", "--deep", code=4)["findings"]
    assert [one["documents"] for one in found] == [["docs/a.md"], ["docs/b.md"], ["docs/c.md"]]


def test_a_damaged_base_is_not_backed_up(tmp_path: Path) -> None:
    """A good backup is never rotated away for a bad one."""
    with knowbase.create(str(tmp_path)) as base:
        base.store.apply(Changes(drafts=(draft("n2", section("alpha2 beta")),)), NOW)
        good = base.backup(str(tmp_path / "backups") + "/", keep=1)
        change(base.store, "UPDATE documents SET title = CAST(x'80ff' AS TEXT)")
        with pytest.raises(BaseDamaged):
            base.backup(str(tmp_path / "backups"), keep=1)
    assert [str(one) for one in (tmp_path / "backups").iterdir()] == [good.file]


def test_what_a_damaged_base_is_restored_with_is_said(store: Store, tmp_path: Path) -> None:
    """A file is put aside as it is; a database's damaged rows cannot be kept."""
    place = store.url if isinstance(store, PostgresStore) else store.path  # type: ignore[attr-defined]
    with knowbase.open(place) as base:
        file = base.backup(str(tmp_path / "good.db")).file
    change(store, "UPDATE documents SET metadata = 'no JSON' WHERE id = 'n2'")
    if isinstance(store, PostgresStore):
        with pytest.raises(BaseDamaged, match="cannot be kept") as refusal:
            knowbase.restore(file, place)
        assert str(refusal.value.hint).startswith("--discard restores")
        knowbase.restore(file, place, discard=True)
    else:
        assert knowbase.restore(file, place).kept is not None
    with knowbase.open(place) as base:
        assert len(base.documents(include=("archived",)).documents) == 2
