"""Moving whole bases between engines and places: ids, history and answers stay."""

import json
import shutil
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest

import knowbase
from conftest import COMMAND, FIXTURES, Kb, environment
from knowbase import Base, Note, SearchRequest
from knowbase.errors import BaseTaken, InvalidInput
from knowbase.ingest.embedding import Step
from knowbase.move import move
from knowbase.query.conditions import EVERYTHING
from knowbase.store.opening import create_store
from knowbase.upkeep.digests import digests
from knowbase.values.changes import Changes
from postgres import new_base
from stores import MODEL, NOW, draft, section

QUERIES = tuple(
    line["query"] for line in json.loads((FIXTURES / "judgments.json").read_text("utf-8"))
)
LANGUAGE = (
    "deploy -rollback", '"numbered SQL script"', "like:HB-T-0021", "session:s1", "is:superseded",
    "related:HB-T-0021", "tag:ops NOT tag:production", "東京", "", "getUserName",
)  # fmt: skip


@pytest.fixture(scope="module")
def lived(handbook: Kb, tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """The handbook after some use: lifecycle, sessions, relations, two models, saved searches."""
    folder = tmp_path_factory.mktemp("lived") / "lived"
    kb = Kb(Path(shutil.copytree(handbook.folder, folder)))
    with knowbase.open(str(kb.base)) as base:
        base.sessions.start("s1", "web")
        for number in range(3):
            text = f"Deploys of the web shop need review number {number}"
            base.remember(Note(text, project="web", session="s1", code=f"M-{number}"))
        base.lifecycle.supersede("M-0", "M-1")
        base.lifecycle.forget(["M-2"])
        base.lifecycle.archive(["HB-P-0040"])
        base.relate("M-1", "HB-T-0021")
        base.feedback("M-1", "good", "s1")
        base.feedback("HB-T-0021", "bad")
        base.search(SearchRequest("backup", session_record="s1"))
        base.sessions.end("s1", "Agreed on reviews")
        base.note(Note("Gone again", code="GONE"))
        base.remove(["GONE"])
        base.embed(str(FIXTURES / "models" / "states"))
        base.embed("granite")
        base.saved.add("ops", SearchRequest("deploy {what}", tags=("ops",), top=3))
    return kb


def assert_same_answers(one: Base, other: Base) -> None:
    """The same hits, ids included, and the same history."""
    for query in (*QUERIES[::5], *LANGUAGE):
        for mode in ("hybrid", "keyword", "semantic"):
            request = SearchRequest(query, mode=mode, include=("archived", "superseded"))
            mine, theirs = one.search(request), other.search(request)
            assert [hit.section for hit in mine.hits] == [hit.section for hit in theirs.hits]
            for left, right in zip(mine.hits, theirs.hits, strict=True):
                assert left.score == pytest.approx(right.score, abs=1e-6)
                assert left._replace(score=0) == right._replace(score=0)
            assert (mine.total, mine.notices) == (theirs.total, theirs.notices)
    assert one.sessions.show("s1") == other.sessions.show("s1")
    assert one.sessions.context("M-1") == other.sessions.context("M-1")
    assert one.sessions.timeline("M-1") == other.sessions.timeline("M-1")
    assert one.brief("web") == other.brief("web")
    assert one.store.edges(EVERYTHING) == other.store.edges(EVERYTHING)
    assert one.store.models() == other.store.models()
    assert one.saved.all() == other.saved.all()
    assert one.saved.run("ops", {"what": "x"}).hits == other.saved.run("ops", {"what": "x"}).hits


def test_there_and_back_again_everything_is_as_it_was(lived: Kb, tmp_path: Path) -> None:
    """C23, C26: SQLite → PostgreSQL → PostgreSQL → SQLite"""
    before = lived.base.read_bytes()
    places = [str(lived.base), new_base(), new_base(), str(tmp_path / "back.db")]
    for source, target in pairwise(places):
        moved = move(source, target)
        assert (moved.verified, moved.there) == (True, 0)
        parts = {part.name: part.rows for part in moved.parts}
        assert parts["documents"] == moved.copied == 43
        assert parts["vectors"] == 2 * parts["chunks"]
        assert (parts["models"], parts["sessions"], parts["saved searches"]) == (2, 1, 1)
        assert all(parts[name] for name in ("uses", "relations", "files", "similar documents"))
        with knowbase.open(places[0]) as first, knowbase.open(target) as last:
            assert_same_answers(first, last)
            assert digests(first.store.copying()) == digests(last.store.copying())
    assert lived.base.read_bytes() == before


def test_a_moved_base_goes_on_counting_and_keeps_what_was_said(own_handbook: Kb) -> None:
    """C26"""
    kb = own_handbook
    kb("note", "Short-lived")
    kb("rm", "--yes", "KB-41")
    kb("forget", "HB-T-0021")
    url = new_base()
    kb("move", ".kb/base.db", url)
    assert kb.json("note", "The next one", "--base", url)["seq"] == 42
    assert [one["code"] for one in kb.json("restore", "--base", url)["documents"]] == ["HB-T-0021"]
    report = kb.json("sync", "--base", url)
    assert (report["added"], report["changed"], report["unchanged"]) == ([], [], 40)
    kb.write("handbook/new.md", "# New\n\nThe zebra.\n")
    assert kb.json("sync", "--base", url)["added"] == ["handbook/new.md"]


# stopping


@pytest.fixture
def small(kb: Kb) -> Kb:
    kb("note", "Deploys freeze on Fridays", "--code", "F-1")
    return kb


PAGES = 3000  # some parts of a move, each with their chunks


@pytest.fixture
def many(tmp_path: Path) -> Kb:
    """A base that takes a while to move."""
    kb = Kb(tmp_path / "many")
    kb.folder.mkdir()
    kb("init")
    with knowbase.open(str(kb.base)) as base:
        base.store.use_model(MODEL)
        drafts = tuple(
            draft(f"d{number}", *(section(f"alpha {number} {i}", f"s{i}") for i in range(3)))
            for number in range(PAGES)
        )
        base.store.apply(Changes(drafts=drafts), NOW)
    return kb


@pytest.fixture(params=["sqlite", "postgres"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "copy.db") if request.param == "sqlite" else new_base()


def stopped(kb: Kb, target: str, by: signal.Signals) -> tuple[int, str]:
    """Start a move, stop it once some documents are there; how many, and what was printed."""
    create_store(target)
    process = subprocess.Popen(
        [*COMMAND, "move", ".kb/base.db", target],
        cwd=kb.folder, env=environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with knowbase.open(target) as copy:
        whole, end = copy.store.copying(), time.monotonic() + 30
        while not whole.seqs():
            assert time.monotonic() < end
            assert process.poll() is None
        process.send_signal(by)
        out, _ = process.communicate(timeout=30)
        done = len(whole.seqs())
        assert 0 < done < PAGES
        assert whole.source() == str(kb.base)
    return done, out


def test_a_killed_move_is_run_again_and_goes_on(many: Kb, target: str) -> None:
    """S0-22: also when the base has changed meanwhile; codes and paths may have changed owners."""
    done, _ = stopped(many, target, signal.SIGKILL)
    status = many.json("status", "--base", target)
    assert status["copy_of"] == str(many.base)
    assert "unfinished" in many("status", "--base", target).out
    with knowbase.open(str(many.base)) as base:
        base.store.apply(
            Changes(
                removed=("d3",),
                drafts=(draft("d1", section("changed")), draft("d7", section("x"), code="T")),
            ),
            NOW,
        )
        base.store.apply(Changes(drafts=(draft("d7", section("x"), code="KB-9000"),)), NOW)
        base.store.apply(Changes(drafts=(draft("d5", section("y"), code="T"),)), NOW)
    moved = many.json("move", ".kb/base.db", target)
    assert moved["verified"]
    assert moved["there"] == done - 4  # d1, d3, d5 and d7 are not what they were
    assert moved["copied"] == PAGES - 1 - moved["there"]
    assert many.json("status", "--base", target)["copy_of"] is None
    with knowbase.open(str(many.base)) as one, knowbase.open(target) as other:
        assert digests(one.store.copying()) == digests(other.store.copying())
        request = SearchRequest("alpha 77 2", mode="keyword", top=50)
        assert one.search(request).hits == other.search(request).hits != ()


def test_an_interrupted_move_says_so_and_keeps_what_is_there(many: Kb, target: str) -> None:
    done, out = stopped(many, target, signal.SIGINT)
    assert "interrupted: what was copied stays; run it again" in out
    moved = many.json("move", ".kb/base.db", target)
    assert (moved["there"], moved["verified"]) == (done, True)


def test_a_base_that_is_written_to_is_moved_as_it_was_at_the_start_and_that_is_said(
    small: Kb, target: str
) -> None:
    def write_meanwhile(step: Step) -> None:
        if step.unit == "documents copied":
            small("note", "Written meanwhile")

    moved = move(str(small.base), target, progress=write_meanwhile)
    assert (moved.copied, moved.there, moved.verified) == (1, 0, True)
    assert moved.notices[0].startswith("the base was written to meanwhile")
    assert small.json("status", "--base", target)["documents"] == 1
    assert small.json("status")["documents"] == 2


# refusing


def test_a_base_with_documents_of_its_own_is_refused_untouched(small: Kb, target: str) -> None:
    with knowbase.create(target) as other:
        other.note(Note("Not yours"))
        before = digests(other.store.copying())
        error = small.error("move", ".kb/base.db", target, code=4)
        assert "has documents of its own (name a base that is not there yet" in error
        assert digests(other.store.copying()) == before


def test_a_finished_move_can_be_run_again_until_one_of_the_two_is_changed(
    small: Kb, target: str
) -> None:
    """What a team has written since is never overwritten."""
    small("move", ".kb/base.db", target)
    again = small.json("move", ".kb/base.db", target)
    assert (again["copied"], again["there"], again["verified"]) == (0, 1, True)
    small("note", "Written after the move", "--base", target)
    small.error("move", ".kb/base.db", target, code=4)
    assert small.json("status", "--base", target)["documents"] == 2


def test_an_unfinished_copy_is_neither_another_ones_target_nor_a_source(
    small: Kb, target: str, tmp_path: Path
) -> None:
    with knowbase.create(target) as half, knowbase.open(str(small.base)) as base:
        half.store.copying().start("/elsewhere.db", base.store.copying().frame())
    error = small.error("move", ".kb/base.db", target, code=4)
    assert "is an unfinished copy of /elsewhere.db" in error
    with pytest.raises(BaseTaken, match="itself an unfinished copy"):
        move(target, str(tmp_path / "third.db"))


def test_mistakes_in_the_command_are_named(small: Kb) -> None:
    assert "where it is" in small.error("move", ".kb/base.db", ".", code=2)
    assert "no --base" in small.error("move", "a", "b", "--base", "c", code=2)
    assert "target is missing" in small.error("move", "a", code=2)
    small.error("move", "nothing.db", "b.db", code=4)
    small.error("move", ".kb/base.db", "postgresql://127.0.0.1:1/x", code=4)
    with pytest.raises(InvalidInput):
        move(str(small.base), str(small.folder))


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_base_under_another_name_is_no_place_to_move_it_to(
    small: Kb, tmp_path: Path, dry: tuple[str, ...]
) -> None:
    """Whoever believed the copy and deleted the source would delete the only one."""
    (tmp_path / "link.db").symlink_to(small.base)
    (tmp_path / "hard.db").hardlink_to(small.base)
    (tmp_path / "folder").symlink_to(small.folder)
    for name in ("link.db", "hard.db", "folder", "folder/.kb/base.db"):
        assert "where it is" in small.error(
            "move", ".kb/base.db", str(tmp_path / name), *dry, code=2
        )
    assert sorted(path.name for path in tmp_path.iterdir() if "-wal" in path.name) == []


def test_a_database_under_another_url_is_no_place_to_move_it_to(small: Kb) -> None:
    url = new_base()
    small("move", ".kb/base.db", url)
    database, _, name = url.partition("#")
    other = f"{database}{'&' if '?' in database else '?'}application_name=other#{name}"
    for more in ((), ("--dry-run",)):
        assert "where it is" in small.error("move", url, other, *more, code=2)
    small("move", url, new_base())


def test_a_dry_run_says_what_would_be_copied_and_makes_nothing(small: Kb) -> None:
    moved = small.json("move", ".kb/base.db", "new/copy.db", "--dry-run")
    assert (moved["dry_run"], moved["copied"], moved["verified"]) == (True, 1, False)
    assert moved["parts"][0]["rows"] == 1
    assert not (small.folder / "new").exists()
    out = small("move", ".", "new/", "--dry-run").out
    assert out.startswith(f"would copy {small.base} to {small.folder / 'new' / '.kb' / 'base.db'}")
    assert "\n  documents 1, chunks 1, vectors 1, models 1\n" in out
    url = new_base()
    small("move", ".", url, "--dry-run")
    small.error("status", "--base", url, code=4)


# files


@pytest.fixture
def nested(tmp_path: Path) -> Kb:
    """A hierarchy whose parents are paths."""
    kb = Kb(tmp_path / "project")
    kb.write("docs/index.md", "# All\n\nSee [one](one.md).\n")
    kb.write("docs/one.md", "# One\n\nalpha\n")
    kb("init")
    kb("add", "docs", "--tree")
    return kb


def test_a_file_at_another_place_still_finds_its_files(nested: Kb, tmp_path: Path) -> None:
    """Relative paths start from a base's home: from another home they are others."""
    moved = nested.json("move", ".", tmp_path / "backup" / "copy.db")
    assert moved["notices"] == []
    there = ("--base", tmp_path / "backup" / "copy.db")
    report = nested.json("sync", *there)
    assert (report["unchanged"], report["removed"], report["failed"]) == (2, [], [])
    nested.write("docs/one.md", "# One\n\nbeta\n")
    one = nested.folder / "docs" / "one.md"
    assert nested.json("sync", *there)["changed"] == [str(one)]
    below = nested.json("search", "beta under:KB-1", "--fts-only", *there)
    assert [hit["path"] for hit in below["hits"]] == [str(one)]
    links = nested.json("links", "KB-1", *there)
    assert {link["relation"] for link in links["links"]} >= {"PARENT_OF", "REFERENCES"}


def test_parts_of_a_file_at_another_place_still_lie_in_it(nested: Kb, tmp_path: Path) -> None:
    mailbox = (FIXTURES / "formats" / "python.mbox").read_bytes()
    nested.write("docs/python.mbox", mailbox)
    nested("sync", "--defer")
    moved = tmp_path / "backup" / "copy.db"
    nested("move", ".", moved)
    place = nested.folder / "docs" / "python.mbox" / "m2-example-org"
    with knowbase.open(str(moved)) as base:
        assert base.get(str(place / "plan.docx")).document.parent == str(place)
        (nested.folder / "docs" / "python.mbox").unlink()
        base.sync(defer=True)
        assert not any("mbox" in (one.path or "") for one in base.documents().documents)


def test_paths_stay_relative_in_postgresql_and_mean_any_checkout(
    nested: Kb, tmp_path: Path
) -> None:
    url = new_base()
    [notice] = nested.json("move", ".", url)["notices"]
    assert f"start from {nested.folder}" in notice
    checkout = Kb(Path(shutil.copytree(nested.folder / "docs", tmp_path / "other" / "docs")).parent)
    report = checkout.json("sync", "--base", url)
    assert (report["added"], report["removed"], report["changed"]) == ([], [], [])
    [notice] = nested.json("move", url, tmp_path / "elsewhere" / "b.db")["notices"]
    assert "2 of its 2 files are not below" in notice
    assert nested.json("move", url, checkout.folder)["notices"] == []
    assert checkout.json("sync")["removed"] == []


def test_settings_stay_where_they_are_and_that_is_said(nested: Kb, tmp_path: Path) -> None:
    nested.write("kb.toml", "[search]\ndefault_top = 3\n")
    out = nested("move", ".", tmp_path / "x" / "b.db").out
    assert f"note: the settings in {nested.folder / 'kb.toml'} are not part of the base" in out
    assert "verified: every part was read again from the copy, and is the same" in out
    assert "the source is as it was" in out
