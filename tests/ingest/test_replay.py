"""What files said at each commit of a repository, as versions of their documents."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import Kb
from knowbase import Base
from knowbase.errors import Conflict, NotFound
from knowbase.ingest.report import Progress
from knowbase.query.conditions import EVERYTHING
from knowbase.upkeep.digests import of_history
from knowbase.values.documents import ALL
from knowbase.values.history import Wanted
from postgres import new_base
from repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Four years of a handbook: written, changed, renamed and changed, thrown away."""
    made = Repository(tmp_path / "home" / "project")
    made.commit(
        "One", "2021-05-01T10:00:00Z",
        docs__deploy_md="# Deploying\n\nOn Mondays.\n\n## Rollback\n\nPress the button.\n",
        docs__old_md="# Fax\n\nThe number of the fax.\n",
    )  # fmt: skip
    made.commit(
        "Two", "2022-05-01T10:00:00Z",
        docs__deploy_md="# Deploying\n\nOn Tuesdays.\n\n## Rollback\n\nPress the button.\n",
    )  # fmt: skip
    (made.folder / "docs" / "deploy.md").unlink()
    made.commit(
        "Three", "2023-05-01T10:00:00Z",
        docs__ship_md="# Deploying\n\nOn Fridays.\n\n## Rollback\n\nPress the button.\n",
    )  # fmt: skip
    (made.folder / "docs" / "old.md").unlink()
    made.commit("Four", "2024-05-01T10:00:00Z")
    return made


@pytest.fixture(params=["sqlite", "postgres"])
def base(
    request: pytest.FixtureRequest, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Base]:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")
    monkeypatch.chdir(repository.folder.parent)
    is_file = request.param == "sqlite"
    with knowbase.create(str(repository.folder.parent) if is_file else new_base()) as made:
        yield made


def text_at(base: Base, path: str, when: str) -> str:
    return base.get(f"{path}@{when}").text


def test_the_years_before_the_base_can_be_asked_for(base: Base, repository: Repository) -> None:
    report = base.add_history(repository.folder, versions=True)
    assert report.versions == 6  # two came, one changed, was renamed, and changed; one went
    ship = "project/docs/ship.md"
    assert "Mondays" in text_at(base, ship, "2021-12-01")
    assert "Tuesdays" in text_at(base, ship, "2022-12-01")
    assert "Fridays" in text_at(base, ship, "2023-12-01") == base.get(ship).text
    assert "fax" in text_at(base, "project/docs/old.md", "2023-12-01")
    with pytest.raises(NotFound):
        base.get("project/docs/old.md")
    with pytest.raises(NotFound, match="was not there"):
        text_at(base, "project/docs/old.md", "2024-06-01")


def test_the_log_names_authors_and_commits(base: Base, repository: Repository) -> None:
    base.add_history(repository.folder, versions=True)
    found = base.history.log(Wanted(surface="git")).changes
    assert {one.who for one in found} == {"Ana Lopes"}
    head = repository.git("rev-parse", "HEAD")
    assert (found[0].command, found[0].at) == (f"commit {head[:12]}", "2024-05-01T10:00:00.000000Z")
    steps = base.history.of("project/docs/ship.md").steps
    assert [one.fields for one in steps] == [(), ("path",), (), ()]


def test_working_files_are_taken_as_they_are_and_kept_in_step(
    base: Base, repository: Repository
) -> None:
    path = repository.folder / "docs" / "ship.md"
    path.write_text(path.read_text("utf-8").replace("Fridays", "Sundays"), "utf-8")
    base.add_history(repository.folder, versions=True)
    assert "Sundays" in base.get("project/docs/ship.md").text
    assert "Fridays" in text_at(base, "project/docs/ship.md", "2024-12-01")
    path.write_text("# Deploying\n\nNever.\n", "utf-8")
    assert base.sync().changed == ("project/docs/ship.md",)


def test_a_second_run_does_nothing(base: Base, repository: Repository) -> None:
    base.add_history(repository.folder, versions=True)
    before = of_history(base.store.copying())
    again = base.add_history(repository.folder, versions=True)
    assert (again.versions, again.added, again.changed) == (0, (), ())
    assert of_history(base.store.copying()) == before


def test_one_that_was_stopped_is_gone_on_with(base: Base, repository: Repository) -> None:
    def stop(step: Progress) -> None:
        if step.unit == "commits" and step.done == 2:
            raise KeyboardInterrupt

    stopped = base.add_history(repository.folder, versions=True, progress=stop)
    assert stopped.interrupted
    assert "Tuesdays" in base.get("project/docs/deploy.md").text
    base.add_history(repository.folder, versions=True)
    assert "Mondays" in text_at(base, "project/docs/ship.md", "2021-12-01")
    assert "Tuesdays" in text_at(base, "project/docs/ship.md", "2022-12-01")
    assert "fax" in text_at(base, "project/docs/old.md", "2021-12-01")


def test_nothing_fits_in_before_what_the_base_did_itself(
    base: Base, repository: Repository
) -> None:
    base.note("A note of today")
    before = of_history(base.store.copying())
    with pytest.raises(Conflict, match="before anything else"):
        base.add_history(repository.folder, versions=True)
    assert of_history(base.store.copying()) == before
    assert not base.store.sources()


def test_a_part_of_it(base: Base, repository: Repository) -> None:
    repository.commit("Five", "2024-06-01T10:00:00Z", notes__n_md="# N\n\nnotes\n")
    base.add_history(repository.folder / "docs", versions=True, since="2022")
    with pytest.raises(NotFound):
        base.get("project/notes/n.md")
    assert "Tuesdays" in text_at(base, "project/docs/ship.md", "2022-12-01")
    first = min(one.at for one in base.history.log(Wanted(surface="git")).changes)
    assert first.startswith("2022-05-01")


def test_links_and_what_leads_elsewhere_are_no_files(base: Base, repository: Repository) -> None:
    secret = repository.folder.parent / "outside.md"
    secret.write_text("# Outside\n\nzebra\n", "utf-8")
    (repository.folder / "docs" / "link.md").symlink_to(secret)
    repository.commit("Link", "2024-07-01T10:00:00Z")
    tree = repository.git("rev-parse", "HEAD^{tree}")
    blob = repository.git("hash-object", "-w", "--stdin", text=b"# Evil\n")
    inner = repository.git("mktree", text=f"100644 blob {blob}\tevil.md\n".encode())
    entries = repository.git("ls-tree", tree) + f"\n040000 tree {inner}\t..\n"
    evil = repository.git("mktree", text=entries.encode())
    commit = repository.git("commit-tree", evil, "-p", "HEAD", "-m", "Evil", at="2024-08-01T00:00Z")
    repository.git("update-ref", "HEAD", commit)
    base.add_history(repository.folder, versions=True)
    paths = {one.path for one in base.store.documents(EVERYTHING, ALL)}
    assert not any("evil" in str(path) for path in paths)
    for when in ("2024-07-15", "2024-08-15"):
        with pytest.raises(NotFound):
            text_at(base, "project/docs/link.md", when)


def test_the_command_says_what_it_did(kb: Kb, tmp_path: Path, repository: Repository) -> None:
    os.rename(repository.folder, kb.folder / "project")
    found: dict[str, Any] = kb.json("add", "--history", "--versions", "project", "--defer")
    assert found["versions"] == 6
    assert "On Mondays." in kb("get", "project/docs/ship.md@2021-12-01").out
    assert "goes with --history" in kb.error("add", "--versions", "project", code=2)
    assert "git" in kb("log", "--surface", "git").out
