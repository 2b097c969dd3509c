"""Folders by the paths of documents: in the base's home, and outside of it."""

from pathlib import Path

import pytest

import knowbase
from conftest import Kb
from knowbase.text.folders import folder_name, folders_in

FILLED = (("/srv/wiki", 2), ("docs", 1), ("docs/api", 1), ("/srv", 1), (".", 1))


@pytest.mark.parametrize(
    ("folder", "inside"),
    [
        ("", {"/srv/": 3, "docs/": 2}),
        ("/", {"/srv/": 3, "docs/": 2}),
        ("./docs/", {"docs/api/": 1}),
        ("/docs", {"docs/api/": 1}),  # as in a pattern: at the start
        ("/srv/", {"/srv/wiki/": 2}),
        ("/SRV", {"/SRV/wiki/": 2}),
        ("srv", {"/srv/wiki/": 2}),
        ("/srv/wiki/", {}),
        ("doc", {}),
    ],
)
def test_the_folders_of_a_folder_can_be_asked_for_in_turn(
    folder: str, inside: dict[str, int]
) -> None:
    assert dict(folders_in(folder_name(folder), FILLED)) == inside


def test_folders_outside_of_the_home_lead_to_their_documents(tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "elsewhere" / "deep" / "one.md").write_text("# One\n")
    (tmp_path / "home").mkdir()
    with knowbase.create(str(tmp_path / "home")) as base:
        base.add(tmp_path / "elsewhere", defer=True)
        folder = base.browse()
        for _ in range(len(tmp_path.parts) + 1):
            folder = base.browse(folder.folders[0].folder)
        assert folder.folder == f"{tmp_path}/elsewhere/deep/"
        assert [one.title for one in folder.documents] == ["One"]


def test_what_was_made_last_stands_first_if_that_is_asked_for(kb: Kb) -> None:
    """Otherwise what was changed last."""
    for name, made, changed in (("old", 2018, 2026), ("new", 2021, 2022), ("middle", 2020, 2024)):
        dates = f"created: {made}-01-01\nupdated: {changed}-01-01"
        (kb.folder / f"{name}.md").write_text(f"---\n{dates}\n---\n# {name}\n")
    kb("add", ".", "--defer")

    def titles(*words: str) -> list[str]:
        return [one["title"] for one in kb.json("browse", *words)["documents"]]

    assert titles() == ["old", "middle", "new"]
    assert titles("--order", "created") == ["new", "middle", "old"]
    assert "order" in kb("browse", "--order", "sideways", code=2).err
