"""A base as a folder, and a folder as a base: nothing is lost on the way, and nothing doubled."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import COMMAND, Kb, environment
from knowbase import Base, Note, SearchRequest
from knowbase.errors import Conflict, KnowbaseError, ReadError
from knowbase.exchange.exported import NAME
from knowbase.exchange.exporting import Export, Wanted, export
from knowbase.exchange.folder import PART
from knowbase.exchange.imported import Imported
from knowbase.exchange.taking import take_export
from knowbase.http.served import served
from knowbase.upkeep.digests import digests, of_history
from knowbase.values.calibration import Calibration
from postgres import new_base

EVERYTHING = (
    "documents", "chunks", "vectors", "models", "sessions", "uses", "relations", "files",
    "sources", "saved searches", "synonyms", "calibration", "similar documents", "counters",
    "history",
)  # fmt: skip


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """A base after some use: files, memories, sessions, relations, feedback, a saved search."""
    kb = Kb(tmp_path_factory.mktemp("exported"))
    kb.write(
        "docs/deploy.md",
        "---\ncode: HB-1\ntags: [ops]\n---\n# Deploying\n\n## Freeze\n\nFridays.\n",
    )
    kb.write("docs/deep/on call.md", "# On call\n\nSee [deploying](../deploy.md).\n")
    kb.write("docs/run.py", "def run():\n    return 1\n")
    kb.write("docs/page.html", "<title>A page</title><h1>A page</h1><p>About herons.</p>")
    with knowbase.create(str(kb.folder)) as base:
        base.add(str(kb.folder / "docs"))
        base.sessions.start("s1", "web")
        for number in range(3):
            text = f"Deploys of the web shop need review number {number}, see [[HB-1]]"
            base.remember(Note(text, project="web", session="s1", code=f"M-{number}"))
        base.note(
            Note('Odd: "quotes": \x85 # [x]\n\n## Part\n\nKöln 東京', code="ODD", tags=["a b"])
        )
        base.lifecycle.supersede("M-0", "M-1")
        base.lifecycle.forget(["M-2"])
        base.lifecycle.archive(["docs/run.py"])
        base.relate("M-1", "HB-1")
        base.feedback("M-1", "good", "s1")
        base.sessions.end("s1", "Agreed on reviews")
        base.saved.add("ops", SearchRequest("deploy {what}", tags=("ops",), top=3))
        base.synonyms.add(["web shop", "store front"])
        base.note(Note("Gone again", code="GONE"))
        base.remove(["GONE"])
        base.store.put_calibration(Calibration("2026-01-01T00:00:00.000000Z", {"both.slope": 0.5}))
        base.graph.links("M-1")  # brings links between similar ones in step
    return kb


@pytest.fixture
def own(lived: Kb, tmp_path: Path) -> Kb:
    return Kb(Path(shutil.copytree(lived.folder, tmp_path / "own")))


def exported(kb: Kb, folder: Path, **wanted: Any) -> Export:
    with knowbase.open(str(kb.base)) as base:
        return export(base, Wanted(str(folder), **wanted))


def imported(place: str, folder: Path, **more: Any) -> Imported:
    with knowbase.open(place) as base:
        return take_export(base, str(folder), **more)


def parts_of(place: str) -> dict[str, Any]:
    with knowbase.open(place) as base:
        copying = base.store.copying()
        return {part.name: part for part in (*digests(copying), of_history(copying))}


def new_file(kb: Kb, name: str = "second.db") -> str:
    """An empty base with the same home."""
    path = str(kb.folder / name)
    knowbase.create(path).close()
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, own: Kb, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty base of each engine, for which paths start where they did."""
    monkeypatch.chdir(own.folder)
    if request.param == "sqlite":
        return new_file(own)
    place = new_base()
    knowbase.create(place).close()
    return place


@pytest.mark.parametrize("kind", ["markdown", "jsonl"])
def test_an_export_makes_the_same_base_again(
    own: Kb, empty: str, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "out"
    written = exported(own, out, format=kind)
    before = parts_of(str(own.base))
    assert tuple(before) == EVERYTHING
    assert all(part.rows for part in before.values())
    assert [part.rows for part in written.parts] == [one.rows for one in before.values()]
    found = imported(empty, out)
    assert found.added == before["documents"].rows
    assert found.verified
    assert parts_of(empty) == before
    with knowbase.open(str(own.base)) as one, knowbase.open(empty) as other:
        assert one.get("ODD").text == other.get("ODD").text
        assert one.sessions.show("s1") == other.sessions.show("s1")
        mine, theirs = one.graph.links("M-1"), other.graph.links("M-1")
        assert mine == theirs
    again = imported(empty, out)
    assert (again.added, again.changed) == (0, 0)
    assert parts_of(empty) == before


def test_what_documents_were_comes_along(own: Kb, empty: str, tmp_path: Path) -> None:
    own.write("docs/deploy.md", "---\ncode: HB-1\n---\n# Deploying\n\n## Freeze\n\nSundays.\n")
    own("sync")
    exported(own, tmp_path / "out")
    imported(empty, tmp_path / "out")
    with knowbase.open(str(own.base)) as one, knowbase.open(empty) as other:
        last = one.history.log().changes[0].number
        assert "Fridays" in other.get(f"HB-1@#{last - 1}").text
        assert one.history.of("HB-1") == other.history.of("HB-1")
        assert one.history.log() == other.history.log()
        other.history.undo()
        assert "Fridays" in other.get("HB-1").text


def test_a_changed_line_is_said_unless_its_version_had_other_sums(own: Kb, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(own, out, format="jsonl")
    text = (out / NAME).read_text("utf-8").replace("Fridays", "Mondays")
    (out / NAME).write_text(text, "utf-8")
    assert "the export is not as it was written" in imported(new_file(own), out).notices[0]
    (out / NAME).write_text(text.replace('"version":2', '"version":1', 1), "utf-8")
    again = new_file(own, "third.db")
    assert imported(again, out).notices == ()


def test_an_export_without_a_history_is_taken(own: Kb, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(own, out, format="jsonl")
    lines = (out / NAME).read_text("utf-8").splitlines(True)
    kept = [one for one in lines if not one.startswith('{"kind":"change"')]
    (out / NAME).write_text("".join(kept), "utf-8")
    second = new_file(own)
    found = imported(second, out)
    assert found.verified
    assert found.notices == ()
    assert parts_of(second)["history"].rows == 0


def test_the_commands_say_what_they_did(own: Kb, tmp_path: Path) -> None:
    out, second = tmp_path / "out", new_file(own)
    foreseen = own.json("export", out, "--dry-run")
    assert foreseen["dry_run"]
    assert not out.exists()
    written = own.json("export", out)
    assert written["pages"] == foreseen["pages"]
    assert not own.json("import", out, "--dry-run", "--base", second)["verified"]
    assert parts_of(second)["documents"].rows == 0
    said = own("import", out, "--base", second).out
    assert said.startswith(f"{written['parts'][0]['rows']} added\n")
    assert "verified: every part was read again from the copy" in said
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.md").write_text("x")
    assert "holds something else" in own.error("export", tmp_path / "mine", code=2)
    assert os.listdir(tmp_path / "mine") == ["thesis.md"]
    assert "is not a folder" in own.error("export", tmp_path / "mine/thesis.md", code=2)
    assert "there is no export" in own.error("import", tmp_path / "mine", code=3)


def test_a_base_in_postgresql_goes_out_and_back_into_a_file(
    own: Kb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own.folder)
    place = new_base()
    knowbase.create(place).close()
    exported(own, tmp_path / "first")
    imported(place, tmp_path / "first")
    with knowbase.open(place) as base:
        export(base, Wanted(str(tmp_path / "second"), format="jsonl"))
    second = new_file(own)
    assert imported(second, tmp_path / "second").verified
    assert parts_of(second) == parts_of(str(own.base))


def test_markdown_is_for_people_and_says_what_a_document_says_of_itself(
    own: Kb, tmp_path: Path
) -> None:
    exported(own, tmp_path / "out")
    page = (tmp_path / "out/note").glob("ODD-*.md").__next__().read_text("utf-8")
    assert page.startswith("---\n")
    assert 'code: "ODD"\n' in page
    assert 'tags: ["a b"]\n' in page
    assert page.endswith("## Part\n\nKöln 東京\n")
    file = next((tmp_path / "out/files").rglob("*.md"))
    link = next(line for line in file.read_text("utf-8").splitlines() if line.startswith("file: "))
    assert (file.parent / json.loads(link[6:])).resolve().is_relative_to(own.folder)
    forgotten = [one for one in (tmp_path / "out").rglob("*.md") if "M-2" in one.name]
    assert forgotten == []


def test_markdown_can_be_added_as_it_is(own: Kb, tmp_path: Path) -> None:
    """Other programs read it, so this one does: fields, tags and text are found in it."""
    exported(own, tmp_path / "out")
    with knowbase.create(str(tmp_path / "new.db")) as base:
        report = base.add(tmp_path / "out")
        assert report.failed == ()
        assert [one.path for one in report.skipped] == [f"out/{NAME}"]
        found = base.get("ODD")
        assert found.document.tags == ("a b",)
        assert found.text.endswith("Köln 東京\n")


def test_what_was_changed_in_the_markdown_comes_back(own: Kb, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(own, out)
    page = next((out / "note").glob("ODD-*.md"))
    page.write_text(page.read_text("utf-8") + "\n\nA line about marmalade.\n", "utf-8")
    (out / "note/mine.md").write_text("---\ntags: [jam]\n---\n# Quince\n\nJelly.\n", "utf-8")
    with pytest.raises(Conflict, match="changed since they were exported"):
        exported(own, out)
    assert "marmalade" in page.read_text("utf-8")
    found = imported(str(own.base), out)
    assert (found.added, found.changed) == (1, 1)
    with knowbase.open(str(own.base)) as base:
        assert "marmalade" in base.get("ODD").text
        assert base.search("quince", tags=["jam"]).hits
    again = imported(str(own.base), out)
    assert (again.added, again.changed) == (0, 0)
    exported(own, out)  # it is known by now
    fresh = new_file(own, "fresh.db")
    assert imported(fresh, out).verified
    assert parts_of(fresh) == parts_of(str(own.base))


def test_only_what_changed_is_written_again_and_what_is_gone_goes(own: Kb, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = exported(own, out)
    assert first.written == first.pages
    (out / ".git").mkdir()
    (out / ".git/kept").write_text("mine")
    with knowbase.open(str(own.base)) as base:
        base.remove(["ODD"])
    second = exported(own, out)
    assert (second.pages, second.written, second.removed) == (first.pages - 1, 0, 1)
    assert not (out / "note").exists()
    assert (out / ".git/kept").read_text() == "mine"


def stop_after(number: int) -> Callable[[Any], None]:
    """Ctrl-C at the n-th step."""
    steps = iter(range(number))

    def step(_: Any) -> None:
        if next(steps, None) is None:
            raise KeyboardInterrupt

    return step


@pytest.mark.parametrize("steps", [0, 1])
def test_ctrl_c_leaves_the_folder_as_it_was(own: Kb, tmp_path: Path, steps: int) -> None:
    out = tmp_path / "out"
    with knowbase.open(str(own.base)) as base:
        assert export(base, Wanted(str(out)), stop_after(steps)).interrupted
        assert not out.exists()
        export(base, Wanted(str(out)))
        lines = (out / NAME).read_bytes()
        base.note("Something new")
        assert export(base, Wanted(str(out)), stop_after(steps)).interrupted
    assert (out / NAME).read_bytes() == lines
    assert not (out / PART).exists()


def test_an_import_that_was_stopped_goes_on(own: Kb, tmp_path: Path) -> None:
    exported(own, tmp_path / "out")
    second = new_file(own)
    first = imported(second, tmp_path / "out", progress=stop_after(1))
    assert first.interrupted
    assert imported(second, tmp_path / "out").verified
    assert parts_of(second) == parts_of(str(own.base))


def test_a_killed_export_is_gone_on_with_or_dropped(own: Kb, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        [*COMMAND, "export", str(out)], cwd=own.folder, env=environment(),
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    while not (out / PART).exists() and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert exported(own, out).pages
    assert not (out / PART).exists()
    # As if it had been killed between two files that were put in their place.
    (out / PART / "note").mkdir(parents=True)
    page = next((out / "note").glob("ODD-*.md"))
    page.rename(out / PART / "note" / page.name)
    shutil.move(out / NAME, out / PART / NAME)
    assert imported(new_file(own), out).verified
    assert page.exists()


def test_beside_documents_of_its_own_a_base_gets_what_it_lacks(own: Kb, tmp_path: Path) -> None:
    out = tmp_path / "out"
    number = exported(own, out).parts[0].rows
    place = str(tmp_path / "mine.db")
    with knowbase.create(place) as mine:
        mine.note(Note("Mine alone: a heron", code="M-1"))
    found = imported(place, out)
    assert found.added == number
    assert any("M-1 is taken" in one for one in found.notices)
    with knowbase.open(place) as mine, knowbase.open(str(own.base)) as theirs:
        assert mine.get("M-1").text == "Mine alone: a heron"
        assert mine.search("deploys review number 1", project="web").hits
        here, there = mine.status(), theirs.status()
        assert here.documents == there.documents + 1
        assert here.embedded == here.chunks
        assert mine.sessions.show("s1").session.summary == "Agreed on reviews"
        assert mine.sync().is_news is False
        theirs.note(Note("Changed there", replaces="ODD"))
    again = imported(place, out)
    assert (again.added, again.changed, again.unchanged) == (0, 0, number)
    exported(own, out)
    third = imported(place, out)
    assert (third.added, third.changed) == (0, 1)
    with knowbase.open(place) as mine:
        assert mine.get("ODD").text == "Changed there"
        mine.note(Note("Changed here, and later", replaces="ODD"))
    assert imported(place, out).kept == 1
    with knowbase.open(place) as mine:
        assert mine.get("ODD").text == "Changed here, and later"


class _Stopped(Exception):
    """The machine went down."""


def test_a_stopped_import_brings_nothing_back_that_was_forgotten(
    own: Kb, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever transaction was the last one."""
    out = tmp_path / "out"
    exported(own, out)
    with knowbase.open(empty) as mine:
        mine.note(Note("Mine alone: a heron"))
        apply = mine.store.apply
        written: list[int] = []

        def apply_once(*given: Any, **more: Any) -> Any:
            if written:
                raise _Stopped
            written.append(1)
            return apply(*given, **more)

        monkeypatch.setattr(mine.store, "apply", apply_once)
        with pytest.raises(_Stopped):
            take_export(mine, str(out))
    with knowbase.open(empty) as mine:
        hits = mine.search("deploys review number 2", project="web", top=50).hits
        assert {"M-0", "M-1"} & {hit.code for hit in hits}
        assert "M-2" not in {hit.code for hit in hits}


def test_a_page_that_was_changed_is_not_taken_over_a_newer_text(own: Kb, tmp_path: Path) -> None:
    out = tmp_path / "out"
    exported(own, out)
    page = next((out / "note").glob("ODD-*.md"))
    page.write_text(page.read_text("utf-8") + "\n\nA line about marmalade.\n", "utf-8")
    with knowbase.open(str(own.base)) as base:
        base.note(Note("Decided since: plums", replaces="ODD"))
    for dry_run in (True, False):
        found = imported(str(own.base), out, dry_run=dry_run)
        assert found.changed == 0
        assert any("ODD was changed here since" in one for one in found.notices)
    with knowbase.open(str(own.base)) as base:
        assert base.get("ODD").text == "Decided since: plums"


def test_files_come_along_as_copies_and_never_over_others(own: Kb, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert exported(own, out, copy=True).files == 4
    name = "docs/deep/on call.md"
    assert (out / "originals" / name).read_bytes() == (own.folder / name).read_bytes()
    new = Kb(tmp_path / "elsewhere")
    new.write("docs/run.py", "mine\n")
    with knowbase.create(str(new.folder)) as base:
        assert take_export(base, str(out)).verified
        assert (new.folder / "docs/run.py").read_bytes() == b"mine\n"
        assert (new.folder / name).read_bytes() == (own.folder / name).read_bytes()
        report = base.sync()
    assert (report.added, report.removed, report.changed) == ((), (), ("docs/run.py",))


def rewritten(out: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The lines of an export, changed by somebody who means harm."""
    lines = []
    for line in (out / NAME).read_text("utf-8").splitlines():
        told = json.loads(line)
        change(told)
        lines.append(json.dumps(told, ensure_ascii=False, separators=(",", ":")))
    (out / NAME).write_text("\n".join(lines) + "\n", "utf-8")


@pytest.mark.parametrize(
    "names",
    [
        ("../outside.md", ".bashrc", "a/.git/hooks/run", "kb.toml"),
        ("linked/through.md", "/tmp/kb-absolute.md", "a/../../up.md", "C:/windows.md"),
    ],
)
def test_copies_are_put_back_below_the_home_alone(
    own: Kb, tmp_path: Path, names: tuple[str, ...]
) -> None:
    out, new = tmp_path / "out", tmp_path / "new"
    exported(own, out, copy=True, format="jsonl")
    new.mkdir()
    (new / "linked").symlink_to(tmp_path)
    left: Iterator[str] = iter(names)

    def change(line: dict[str, Any]) -> None:
        if line["kind"] == "original":
            line["path"] = next(left)

    rewritten(out, change)
    with knowbase.create(str(new)) as base:
        found = take_export(base, str(out))
    assert len([one for one in found.notices if "not put back" in one]) >= 3
    written = {one.name for one in tmp_path.rglob("*") if out not in one.parents}
    assert not written & {os.path.basename(name) for name in names}
    assert not os.path.exists("/tmp/kb-absolute.md")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text[: len(text) * 2 // 3], "not JSON|not whole"),
        (lambda text: "".join(text.splitlines(True)[:-1]), "not whole"),
        (lambda text: text.replace('"version":2', '"version":99', 1), "newer version"),
        (lambda text: text.replace('"title":"', '"title":7,"x":"', 3), "another kind"),
        (lambda text: text.replace('"overlap":0', '"overlap":"no"', 1), "another kind"),
        (lambda text: "[" * 100_000, "not JSON"),
        (lambda text: text.replace('"data":"{', '"data":"[', 1), "version cannot be read"),
        (lambda text: text.replace('"places":"[[', '"places":"[[null,', 1), "where its text stood"),
        (lambda text: text.replace('"touched":[{', '"touched":[7,{', 1), "not a list of objects"),
        (lambda _: '{"kind":"export"}\n', "newer version"),
        (lambda _: "", "not an export"),
    ],
)
def test_an_export_that_is_not_one_is_refused_and_nothing_is_written(
    own: Kb, tmp_path: Path, change: Callable[[str], str], told: str
) -> None:
    out = tmp_path / "out"
    exported(own, out, format="jsonl")
    text = (out / NAME).read_text("utf-8")
    (out / NAME).write_text(change(text), "utf-8")
    second = new_file(own)
    before = parts_of(second)["documents"]
    with pytest.raises((ReadError, KnowbaseError), match=told):
        imported(second, out)
    assert parts_of(second)["documents"] == before


@pytest.mark.parametrize("place", ["a file/out", "a file/deep/out", "x" * 300])
def test_a_place_that_cannot_be_written_is_said(own: Kb, place: str) -> None:
    own.write("a file", "")
    assert "it cannot be written there: " in own.error("export", place, code=4)


def test_what_cannot_be_read_is_said(own: Kb) -> None:
    own.write("a file", "")
    assert "a directory" in own.error("import", "a file/out", code=6).lower()
    if os.path.exists("/proc/self/mem"):  # a file that opens, and cannot be read
        for origin in ("chatgpt", "notion", "bookmarks"):
            told = own.error("import", "--from", origin, "/proc/self/mem", code=6)
            assert "/proc/self/mem: " in told


def test_a_file_that_cannot_be_put_back_is_said_and_the_rest_comes_in(
    own: Kb, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    number = exported(own, out, copy=True).parts[0].rows
    (tmp_path / "other").mkdir()
    place = str(tmp_path / "other/base.db")
    knowbase.create(place).close()
    (tmp_path / "other/docs").write_text("a file in the way of a folder", "utf-8")
    found = imported(place, out)
    assert found.added == number
    assert any("docs/deploy.md is not put back: " in one for one in found.notices)


def test_an_export_in_an_added_folder_is_said(own: Kb) -> None:
    assert "kb sync reads" in exported(own, own.folder / "docs/out").notices[0]


def test_neither_is_served_to_others() -> None:
    assert not {"/api/export", "/api/import", "/api/add", "/api/sync"} & set(served())


def test_the_library_has_both(tmp_path: Path) -> None:
    first, second = knowbase.create(tmp_path / "a.db"), knowbase.create(tmp_path / "b.db")
    with first, second:
        first.note("A heron by the lake")
        export(first, Wanted(str(tmp_path / "out")))
        assert take_export(second, str(tmp_path / "out")).verified
        assert _texts(first) == _texts(second)


def _texts(base: Base) -> list[str]:
    return [base.get(one.id).text for one in base.documents().documents]


def test_a_note_whose_code_is_taken_is_called_by_its_title(tmp_path: Path) -> None:
    for name, text in (("one", "Alpha"), ("other", "Beta")):
        (tmp_path / name).mkdir()
        kb = Kb(tmp_path / name)
        kb("init")
        kb("note", text, "--code", "A-1")
        if name == "one":
            kb("export", str(tmp_path / "out"))
    told = kb("import", str(tmp_path / "out")).out
    assert "note: Alpha: the code A-1 is taken; it is KB-2" in told
