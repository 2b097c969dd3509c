"""What a base was: who changed what, documents at a moment, going back."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note
from knowbase.base.services import Opened
from knowbase.errors import Conflict, InvalidInput, KnowbaseError, NotFound
from knowbase.memory.keep import rules_of
from knowbase.move import move
from knowbase.query.conditions import EVERYTHING
from knowbase.store.plain import PlainStore
from knowbase.store.postgres import create as create_postgres
from knowbase.store.sqlite import create as create_sqlite
from knowbase.values.access import speaker
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL
from knowbase.values.history import Wanted
from postgres import new_base
from stores import NOW, draft, section

if TYPE_CHECKING:
    from knowbase.store.contract import Store

DAY = 86_400
START = 1_767_225_600  # 2026-01-01


class Clock:
    """Says the day that it is told, also one before the last."""

    def __init__(self) -> None:
        self.day = 1

    def __call__(self) -> float:
        return START + (self.day - 1) * DAY


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def base(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Base]:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")
    path = str(tmp_path / "base.db")
    if request.param == "sqlite":
        knowbase.create(path).close()
        made = Base(path, clock=clock)
    else:
        store: Store = PlainStore()
        if request.param == "postgres":
            store = create_postgres(new_base())
        made = Base(path, clock=clock, opened=Opened(store))
    with made:
        yield made


def text_of(base: Base, reference: str) -> str:
    return base.get(reference).text.strip()


def contents(base: Base) -> dict[str, str]:
    found = base.store.documents(EVERYTHING, ALL)
    return {one.code: text_of(base, one.code) for one in found if one.deleted_at is None}


def test_a_document_is_read_as_it_was_on_a_day(base: Base, clock: Clock) -> None:
    """E8: what the base knew is asked for apart from what holds."""
    base.note(Note("We deploy on Mondays", code="D-1", tags=["ops"]))
    clock.day = 5
    base.note(Note("We deploy on Tuesdays", code="D-1", replaces="D-1"))
    clock.day = 9
    base.remove(["D-1"])
    clock.day = 12
    assert text_of(base, "D-1@2026-01-01") == "We deploy on Mondays"
    assert text_of(base, "D-1@2026-01-04") == "We deploy on Mondays"
    assert text_of(base, "D-1@2026-01-05") == "We deploy on Tuesdays"
    assert text_of(base, "d-1@4d") == "We deploy on Tuesdays"
    assert text_of(base, "D-1@#1") == "We deploy on Mondays"
    with pytest.raises(NotFound, match="was not there at 2026-01-09"):
        base.get("D-1@2026-01-09")
    assert [one.what for one in base.history.of("D-1").steps] == ["removed", "changed", "added"]


def test_a_name_means_who_had_it_then(base: Base, clock: Clock) -> None:
    base.note(Note("We deploy on Mondays", code="D-1"))
    clock.day = 5
    base.remove(["D-1"])
    clock.day = 7
    base.note(Note("We deploy on Fridays", code="D-1"))
    clock.day = 9
    assert text_of(base, "D-1") == "We deploy on Fridays"
    assert text_of(base, "D-1@2026-01-04") == "We deploy on Mondays"
    assert text_of(base, "D-1@2026-01-08") == "We deploy on Fridays"
    assert "".join(text for _, text in base.history.diff("D-1@2026-01-04", "D-1").words) == (
        "We deploy on MondaysFridays"
    )
    with pytest.raises(NotFound, match="was not there at 2026-01-06"):
        base.get("D-1", as_of="2026-01-06")


def test_a_session_stands_for_the_moment_when_it_started(base: Base, clock: Clock) -> None:
    base.note(Note("Before", code="S-1"))
    clock.day = 3
    base.sessions.start("KB-S-12")
    clock.day = 4
    base.note(Note("After", code="S-1", replaces="S-1", session="KB-S-12"))
    assert text_of(base, "S-1@KB-S-12") == "Before"
    (change,) = base.history.log(Wanted(session="KB-S-12")).changes
    assert [one.code for one in change.touched] == ["S-1"]


@pytest.mark.parametrize(
    ("when", "error", "says"),
    [
        ("2025-12-31", InvalidInput, "there was no base yet"),
        ("2031-01-01", InvalidInput, "lies in the future"),
        ("the day of days", InvalidInput, "is not a moment"),
        ("#99", InvalidInput, "there is no change #99 yet"),
        ("#0", NotFound, "was not there at #0"),
    ],
)
def test_a_moment_that_never_was_is_one_clear_sentence(
    base: Base, when: str, error: type[KnowbaseError], says: str
) -> None:
    base.note(Note("Text", code="M-1"))
    for ask in (
        lambda: base.get(f"M-1@{when}"),
        lambda: base.history.diff(f"M-1@{when}"),
        lambda: base.history.restore("M-1", when),
    ):
        with pytest.raises(error, match=says):
            ask()
    assert base.store.history().last() == 1


def test_a_clock_that_goes_back_does_not_reorder_versions(base: Base, clock: Clock) -> None:
    clock.day = 9
    base.note(Note("first", code="C-1"))
    clock.day = 3  # somebody has set the clock right
    base.note(Note("second", code="C-1", replaces="C-1"))
    clock.day = 11
    base.note(Note("third", code="C-1", replaces="C-1"))
    assert [text_of(base, f"C-1@#{number}") for number in (1, 2, 3)] == ["first", "second", "third"]
    assert text_of(base, "C-1@2026-01-10") == "second"
    with pytest.raises(InvalidInput, match="no base yet"):
        base.get("C-1@2026-01-05")


def test_saving_the_same_again_makes_no_version(base: Base, clock: Clock) -> None:
    base.note(Note("The same", code="U-1"))
    clock.day = 2
    base.note(Note("The same", code="U-1", replaces="U-1"))
    base.feedback("U-1", "good")
    assert base.store.history().last() == 1
    assert len(base.history.of("U-1").steps) == 1


def test_what_differs_is_told_by_words_and_by_fields(base: Base, clock: Clock) -> None:
    base.note(Note("# Deploy\n\nWe deploy on Mondays at noon.", code="F-1", tags=["ops"]))
    clock.day = 2
    base.note(Note("# Deploy\n\nWe deploy on Tuesdays at noon.", code="F-1", replaces="F-1"))
    base.lifecycle.archive(["F-1"])
    found = base.history.diff("F-1@2026-01-01")
    assert [(sign, text) for sign, text in found.words if sign != "="] == [
        ("-", "Mondays"), ("+", "Tuesdays"),
    ]  # fmt: skip
    assert "archived" in {one.field for one in found.fields}
    assert base.history.diff("F-1@#2", "@#2").is_same
    assert {one.field for one in base.history.diff("F-1").fields} == {"archived"}


def test_a_document_is_put_back_as_it_was_and_that_is_a_version_too(
    base: Base, clock: Clock
) -> None:
    base.note(Note("One", code="R-1", tags=["a"]))
    base.note(Note("Other", code="R-2"))
    base.relate("R-1", "R-2")
    clock.day = 2
    base.note(Note("Two", code="R-1", replaces="R-1", tags=["b"]))
    base.relate("R-1", "R-2", remove=True)
    base.remove(["R-2"])
    clock.day = 3
    back = base.history.restore("R-1", "2026-01-01")
    assert (text_of(base, "R-1"), back.tags) == ("One", ("a",))
    assert text_of(base, "R-1@2026-01-02") == "Two"
    assert base.history.restore("R-2", "2026-01-01").code == "R-2"
    assert base.check().is_sound


CHANGING: dict[str, Callable[[Base], object]] = {
    "note": lambda base: base.note(Note("New", code="N-9")),
    "change": lambda base: base.note(Note("Other", code="X-1", replaces="X-1", tags=["z"])),
    "forget": lambda base: base.lifecycle.forget(["X-1"]),
    "archive": lambda base: base.lifecycle.archive(["X-1", "X-2"]),
    "supersede": lambda base: base.lifecycle.supersede("X-1", "X-2"),
    "remove": lambda base: base.remove(["X-1", "X-2"]),
    "relate": lambda base: base.relate("X-2", "X-1", "REFERENCES"),
}


@pytest.mark.parametrize("name", CHANGING)
def test_whatever_was_done_last_can_be_undone_and_done_again(base: Base, name: str) -> None:
    base.note(Note("First", code="X-1", tags=["x"]))
    base.note(Note("Second", code="X-2"))
    base.relate("X-1", "X-2")
    before = contents(base), base.store.copying().shared().relations
    CHANGING[name](base)
    after = contents(base), base.store.copying().shared().relations
    assert base.history.undo(dry_run=True).dry_run
    assert (contents(base), base.store.copying().shared().relations) == after
    base.history.undo()
    undone = contents(base), base.store.copying().shared().relations
    assert undone == before
    base.history.undo()  # of the undoing
    assert contents(base) == after[0]


def test_what_another_one_did_is_undone_by_its_number_alone(base: Base) -> None:
    base.note(Note("Ours.", code="N-1"))
    token = speaker.set("ada")
    base.note(Note("Hers.", code="N-2"))
    speaker.reset(token)
    with pytest.raises(Conflict, match="is ada's") as refused:
        base.history.undo(dry_run=True)
    number = refused.value.hint.split()[2] if refused.value.hint else ""
    assert base.history.undo(int(number)).removed == ("N-2",)
    assert base.history.undo().restored == ("N-2",)  # it was ours, now


def test_what_was_built_upon_is_not_undone(base: Base) -> None:
    base.note(Note("First", code="Y-1"))
    base.note(Note("Second", code="Y-1", replaces="Y-1"))
    base.lifecycle.archive(["Y-1"])
    before, number = base.store.find("Y-1"), base.store.history().last()
    with pytest.raises(Conflict, match="Y-1 was changed again since"):
        base.history.undo(2)
    assert (base.store.find("Y-1"), base.store.history().last()) == (before, number)
    with pytest.raises(NotFound):
        base.history.undo(99)


def test_what_is_erased_is_in_no_version(base: Base, clock: Clock) -> None:
    base.note(Note("the secret word is xyzzy", code="E-1"))
    base.note(Note("the other word is plugh", code="E-1", replaces="E-1"))
    base.remove(["E-1"])
    base.note(Note("kept", code="E-2"))
    base.history.erase(["E-1"])
    everything = repr(list(base.store.copying().history()))
    assert "xyzzy" not in everything
    assert "plugh" not in everything
    assert base.check(deep=True).is_sound
    assert base.store.history().leftovers() == 0
    with pytest.raises(NotFound):
        base.get("E-1@#1")
    with pytest.raises(Conflict, match="gone for good"):
        base.history.undo()


def test_no_file_of_a_base_has_what_was_erased(kb: Kb) -> None:
    """Neither free pages nor the words that lie beside it."""
    kb.write("kb.toml", "[store]\nindex_after = 3\n")
    for number in range(5):
        kb("note", f"Page {number} about herons")
    kb("note", "The password is plutoniumtulip", "--code", "S-1")
    kb("embed", "--reindex")
    kb("note", "It is uraniumrose now", "--replace", "S-1")
    kb("note", "It is nothing now", "--replace", "S-1")
    kb("note", "Page 0 about storks", "--replace", "KB-1")  # a version that stays
    kb("embed", "--reindex")
    assert words_in(kb.base.parent) == {b"plutoniumtulip", b"uraniumros"}
    assert kb.json("forget", "--erase", "S-1", "--yes")["is_swept"]
    assert words_in(kb.base.parent) == set()
    assert kb.json("search", "herons", "--fts-only")["returned"] == 4
    assert kb.json("search", "herons", "--fts-only", "--as-of", "#5")["returned"] == 5
    assert "sound" in kb("check", "--deep").out


def test_what_could_not_be_swept_is_said(kb: Kb) -> None:
    kb("note", "The password is plutoniumtulip", "--code", "S-1")
    reader = apsw.Connection(str(kb.base))
    reader.execute("BEGIN; SELECT count(*) FROM documents").fetchall()
    said = kb("forget", "--erase", "S-1", "--yes", env={"KB_STORE_BUSY_TIMEOUT": "0.1"}).out
    assert "free pages of the file may still have the text: kb compact" in said
    reader.close()
    kb("compact")
    assert words_in(kb.base.parent) == set()


def words_in(folder: Path) -> set[bytes]:
    """Which of the secret words, or their stems, any file below it has."""
    everything = b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())
    return {word for word in (b"plutoniumtulip", b"uraniumros") if word in everything}


def test_versions_are_kept_as_long_as_is_said(base: Base, clock: Clock) -> None:
    for day in (1, 3, 5, 7):
        clock.day = day
        base.note(Note(f"Day {day}", code="P-1", replaces="P-1" if day > 1 else None))
    clock.day = 8
    assert base.history.prune(rules_of(["2"]), dry_run=True).versions == 1
    assert base.history.prune(rules_of(["type:note=2", "off"])).versions == 1
    with pytest.raises(NotFound, match="no longer kept"):
        base.get("P-1@2026-01-01")
    assert text_of(base, "P-1@2026-01-03") == "Day 3"
    assert base.history.prune(rules_of(["2d"])).versions == 1
    assert base.history.prune(rules_of(["forever"])).versions == 0
    assert base.history.prune(rules_of(["off"])).versions == 1
    assert text_of(base, "P-1") == "Day 7"
    for wrong in ("soon", "type=3", "colour:red=3", "-1", "2026-01-01"):
        with pytest.raises(InvalidInput, match=r"history\.keep cannot be"):
            rules_of([wrong])


def test_what_is_not_to_be_kept_is_not_and_does_not_lie(base: Base) -> None:
    base.store.keeps = lambda document: document.type != "temp_note"
    for text in ("one", "two", "three"):
        there = base.store.find("T-1") is not None
        base.note(Note(text, code="T-1", type="temp_note", replaces="T-1" if there else None))
    with pytest.raises(NotFound, match="no longer kept"):
        base.get("T-1@#1")
    assert text_of(base, "T-1@#3") == "three"
    with pytest.raises(Conflict, match="no longer kept; nothing was undone"):
        base.history.undo()


def test_a_backup_and_a_move_carry_the_history(base: Base, clock: Clock, tmp_path: Path) -> None:
    base.note(Note("Before", code="B-1"))
    clock.day = 2
    base.note(Note("After", code="B-1", replaces="B-1"))
    base.backup(tmp_path / "backup.db")
    move(str(tmp_path / "backup.db"), str(tmp_path / "elsewhere" / "moved.db"))
    for place in ("backup.db", "elsewhere/moved.db"):
        with knowbase.open(tmp_path / place) as copy:
            assert text_of(copy, "B-1@2026-01-01") == "Before"
            assert list(copy.store.copying().history()) == list(base.store.copying().history())


def test_a_sync_that_removed_too_much_is_undone_from_the_command_line(
    kb: Kb,
) -> None:
    """J7: who, when, by which command; and the whole of a command is taken back."""
    kb.write("kb.toml", "[embed]\nvectors = false\n")
    for name in "abc":
        kb.write(f"docs/{name}.md", f"# {name}\n\nThe text of {name}.\n")
    kb("add", "docs")
    kb.write("docs/a.md", "# a\n\nAnother text.\n")
    for name in "bc":
        (kb.folder / "docs" / f"{name}.md").unlink()
    kb("sync", "--prune")
    newest = kb.json("log", "--command", "sync")["changes"][0]
    assert (newest["surface"], newest["command"]) == ("cli", "sync")
    assert newest["who"]
    assert "The text of b." in kb("get", "docs/b.md@#1").out
    assert "kb undo" in kb("undo", "--list").out
    kb("undo")
    assert kb.json("list")["total"] == 3
    assert "The text of a." in kb("get", "docs/a.md").out
    assert "[-Another-]" in kb("diff", "docs/a.md").out
    assert kb.json("history", "docs/a.md")["steps"][0]["command"] == "undo"
    kb("forget", "--erase", "docs/a.md", "--yes")
    (missing,) = kb.json("check", "--deep")["findings"]
    assert (missing["severity"], missing["documents"]) == ("notice", ["docs/b.md", "docs/c.md"])


def test_a_damaged_document_can_still_be_written_anew_and_removed(tmp_path: Path) -> None:
    path = str(tmp_path / "base.db")
    store = create_sqlite(path)
    for text in ("one", "two"):
        store.apply(Changes(drafts=(draft("d", section(text)), draft("e", section(text)))), NOW)
    damage = apsw.Connection(path)
    damage.execute("UPDATE documents SET roles = 'no JSON \\'")
    damage.close()
    store.apply(Changes(drafts=(draft("d", section("three")),), removed=("e",)), NOW)
    history = store.history()
    assert history.last() == 3
    assert [history.version("d", number) for number in (1, 2)] == [None, None]
    now = history.version("d", 3)
    assert now is not None
    assert now.text == "three"
    assert history.leftovers() == 0
    store.close()


def test_a_sync_prunes_where_that_is_set(kb: Kb) -> None:
    kb("note", "one", "--code", "P-1")
    kb("note", "two", "--replace", "P-1")
    keep = {"KB_HISTORY_KEEP": "off"}
    kb("sync", env=keep)
    assert [one["is_kept"] for one in kb.json("history", "P-1")["steps"]] == [True, True]
    kb("sync", env={**keep, "KB_HISTORY_PRUNE": "true"})
    assert [one["is_kept"] for one in kb.json("history", "P-1")["steps"]] == [True, False]
