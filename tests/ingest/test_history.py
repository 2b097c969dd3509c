"""The history of a repository: a document for each commit, linked to the files that it changed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import knowbase
from conftest import Kb
from knowbase import Base
from knowbase.errors import InvalidInput, NotFound, ToolMissing
from knowbase.ingest import history
from repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "home" / "project")
    made.commit("Begin", docs__a_md="# A\n\nalpha\n", b_md="# B\n\nbeta\n")
    made.commit(
        "Say why alpha is chosen\n\nIt is faster than omega by a mile, see KB-1. #notatag\n",
        "2024-03-05T12:00:00Z", docs__a_md="# A\n\nalpha, chosen\n",
    )  # fmt: skip
    return made


@pytest.fixture
def base(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Iterator[Base]:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")  # words are enough here
    with knowbase.create(str(repository.folder.parent)) as made:
        made.add(repository.folder / "docs")
        yield made


def test_commits_come_in_with_date_author_and_files(base: Base, repository: Repository) -> None:
    sha = repository.git("rev-parse", "HEAD")
    report = base.add_history(repository.folder)
    assert report.added == ("Say why alpha is chosen", "Begin")
    found = base.get(sha[:12])
    one = found.document
    assert (one.type, one.title, one.tags) == ("commit", "Say why alpha is chosen", ())
    assert (one.created_at, one.path) == ("2024-03-05T12:00:00.000000Z", None)
    assert one.metadata["author"] == "Ana Lopes <ana@example.org>"
    assert one.metadata["commit"] == sha
    assert "faster than omega" in found.text
    assert "- docs/a.md" in found.text
    links = base.graph.links(one.code).links
    assert ("CHANGES", "to", "project/docs/a.md") in {
        (link.relation, link.direction, link.document.path) for link in links
    }
    assert base.search("omega faster", type=["commit"]).hits[0].document.code == one.code


def test_a_file_that_is_added_later_is_linked_then(base: Base, repository: Repository) -> None:
    base.add_history(repository.folder)
    base.add(repository.folder / "b.md")
    found = base.graph.links("project/b.md").links
    assert {one.document.title for one in found if one.relation == "CHANGES"} == {"Begin"}


def test_the_next_run_takes_what_is_new_alone(base: Base, repository: Repository) -> None:
    base.add_history(repository.folder)
    again = base.add_history(repository.folder)
    assert (again.added, again.unchanged, again.chunks_embedded) == ((), 2, 0)
    repository.commit("Third", "2024-04-01T00:00:00Z", c_md="c")
    third = base.add_history(repository.folder)
    assert (third.added, third.unchanged) == (("Third",), 2)
    tagged = base.add_history(repository.folder, limit=1, tags=["new"])
    assert (tagged.added, tagged.changed) == ((), ("Third",))
    assert base.add_history(repository.folder, limit=1, tags=["new"]).unchanged == 1


def test_some_of_it(base: Base, repository: Repository) -> None:
    assert base.add_history(repository.folder, limit=1).added == ("Say why alpha is chosen",)
    assert base.add_history(repository.folder, since="2024-03").unchanged == 1
    assert base.add_history(repository.folder / "b.md", tags=["old"]).added == ("Begin",)
    assert base.tags()[0][0] == "old"
    with pytest.raises(InvalidInput, match="since cannot be"):
        base.add_history(repository.folder, since="whenever")
    with pytest.raises(InvalidInput):
        base.add_history(repository.folder, limit=0)


def test_odd_commits(base: Base, repository: Repository) -> None:
    """Merges, empty messages, odd names, another encoding, marks of the format, many files."""
    repository.git("checkout", "-q", "-b", "side", "HEAD~1")
    for number in range(history.MOST_LISTED + 20):
        (repository.folder / f"many-{number}.txt").write_text("x")
    repository.commit("Many files")
    (repository.folder / "ümläut [x] #1.md").write_text("x")
    (repository.folder / "=").write_text("x")
    (repository.folder / "M").write_text("x")
    repository.commit("Odd names\n\ncommit deadbeef\n\nauthor Eve <eve@x> 1 +0000\n= \n")
    repository.git("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-F",
                   "-", text="Grüße".encode("iso-8859-1"))  # fmt: skip
    repository.git("merge", "-q", "main", "-m", "Bring both together")
    repository.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    report = base.add_history(repository.folder)
    assert len(report.added) == 7
    assert (report.failed, report.warnings) == ((), ())
    by_title = {one.title: one for one in base.documents(types=["commit"]).documents}
    assert {"Grüße", "Odd names", "Bring both together", "Many files"} <= set(by_title)
    assert by_title["Odd names"].metadata["author"] == "Ana Lopes <ana@example.org>"
    text = base.get(by_title["Odd names"].code).text
    assert "- ümläut [x] #1.md" in text
    assert "- =" in text
    assert "and 20 more" in base.get(by_title["Many files"].code).text


@pytest.mark.parametrize(
    ("author", "encoding", "message"),
    [
        (b"A <a@x> 1700000000 +0000", b"undefined", b"Odd one"),
        (b"A <a@x> 1700000000 +0000", b"no such", b"Odd one"),
        (b"A <a@x> 1700000000 +0000", b"utf\0-8", b"Odd one"),
        (b"A <a@x> 1700000000 +0000", b"hex", b"Odd one"),
        (b"A <a@x> 1700000000 +0000", b"idna", b"Odd one \xff" + b"x" * 99),
        (b"A <a@x> 1700000000 +0000", b"unicode_escape", b"Odd one \\ud800"),
        (b"A <a@x> 1700000000 +0000", b"utf-8", b"Odd one \0 and more"),
        (b"A <a@x> 999999999999 +0000", b"utf-8", b"Odd one"),
        (b"A", b"utf-8", b"Odd one"),
    ],
)
def test_an_odd_commit_costs_itself_alone(
    base: Base, repository: Repository, author: bytes, encoding: bytes, message: bytes
) -> None:
    tree = repository.git("rev-parse", "HEAD^{tree}").encode()
    above = repository.git("rev-parse", "HEAD").encode()
    head = [b"tree " + tree, b"parent " + above, b"author " + author, b"committer " + author]
    data = b"\n".join([*head, b"encoding " + encoding, b"", message])
    asked = ("hash-object", "-t", "commit", "-w", "--stdin", "--literally")
    repository.git("update-ref", "HEAD", repository.git(*asked, text=data))
    report = base.add_history(repository.folder)
    assert {"Begin", "Say why alpha is chosen"} <= set(report.added)
    assert len(report.added) + len(report.failed) == 3


def test_what_is_not_a_repository_is_said(base: Base, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(InvalidInput, match="not in a git repository"):
        base.add_history(tmp_path / "plain")
    with pytest.raises(NotFound):
        base.add_history(tmp_path / "nothing")
    Repository(tmp_path / "fresh")
    assert base.add_history(tmp_path / "fresh").added == ()


def test_a_repository_without_a_work_tree_has_its_commits(
    base: Base, repository: Repository, tmp_path: Path
) -> None:
    repository.commit("Start", a_md="# A")
    bare = tmp_path / "served.git"
    repository.git("clone", "-q", "--bare", ".", str(bare))
    assert base.add_history(str(bare)).added[0] == "Start"
    metadata = [one.metadata for one in base.documents(types=["commit"]).documents]
    assert {one["repository"] for one in metadata} == {"served"}
    repository.commit("Go on", b_md="# B")
    repository.git("push", "-q", str(bare), "main")
    assert base.sync().added == ("Go on",)


def test_without_git_it_says_so(
    base: Base, repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="git is not installed"):
        base.add_history(repository.folder)


def test_the_command_takes_history_here_or_there(kb: Kb) -> None:
    repository = Repository(kb.folder)
    repository.commit("Begin here", a_md="# A\n\nx\n")
    assert kb.json("add", "--history", "--defer")["added"] == ["Begin here"]
    assert kb("add", "--history", ".", "--since", "20y", "--limit", "5").out.startswith("0 added")
    assert "since goes with --history" in kb.error("add", "x", "--since", "1d", code=2)
    assert "PATH is missing" in kb.error("add", code=2)


def test_a_sync_takes_what_was_committed_since(base: Base, repository: Repository) -> None:
    """Of the path that was asked for, with its tags; older commits that were not wanted stay out,
    and a branch that was rewritten gives what is new of it."""
    first = repository.git("rev-list", "--max-parents=0", "HEAD")
    base.add_history(repository.folder, limit=1, tags=["api"])
    assert base.sync().added == ()
    last = repository.commit("Drop omega", "2024-04-01T00:00:00Z", b_md="# B\n")
    assert base.sync().added == ("Drop omega",)
    assert base.get(last[:12]).document.tags == ("api",)
    repository.git("reset", "-q", "--hard", "HEAD~1")
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "-q", "--prune=now")
    repository.commit("Drop omega for good", "2024-04-02T00:00:00Z", b_md="# C\n")
    assert base.sync().added == ("Drop omega for good",)
    with pytest.raises(NotFound):
        base.get(first[:12])
    repository.folder.rename(repository.folder.with_name("elsewhere"))
    (told,) = [one for one in base.sync().warnings if "commits stay as they were" in one]
    assert "no file or folder" in told
