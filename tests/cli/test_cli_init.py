"""Making a base, and finding it."""

from pathlib import Path

import pytest

from conftest import Kb
from postgres import new_base


def test_init_makes_a_base_in_the_working_folder(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    result = kb("init")
    assert kb.base.is_file()
    assert str(kb.base) in result.out
    assert "kb add" in result.out


def test_init_makes_a_base_at_a_path_and_the_folders_on_the_way(tmp_path: Path) -> None:
    base = tmp_path / "deep" / "down" / "notes.db"
    Kb(tmp_path)("init", "--base", base)
    assert base.is_file()
    assert not (tmp_path / ".kb").exists()


def test_a_folder_as_base_holds_it_in_dot_kb(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    kb = Kb(tmp_path)
    assert kb.json("init", "--base", folder)["base"] == str(folder / ".kb" / "base.db")
    assert kb.json("status", "--base", folder)["base"] == str(folder / ".kb" / "base.db")


def test_kb_base_names_the_base_for_every_command(tmp_path: Path) -> None:
    base = tmp_path / "elsewhere.db"
    env = {"KB_BASE": str(base)}
    kb = Kb(tmp_path)
    kb("init", env=env)
    assert base.is_file()
    assert kb.json("status", env=env)["base"] == str(base)


def test_the_base_option_wins_over_kb_base(tmp_path: Path) -> None:
    one, two = tmp_path / "one.db", tmp_path / "two.db"
    kb = Kb(tmp_path)
    kb("init", "--base", one)
    kb("init", "--base", two)
    assert kb.json("status", "--base", two, env={"KB_BASE": str(one)})["base"] == str(two)


def test_common_options_may_stand_before_the_command(kb: Kb) -> None:
    result = kb("--base", kb.base, "--json", "status", cwd=kb.folder.parent)
    assert str(kb.base) in result.out


def test_a_base_is_found_upwards_from_a_subfolder(kb: Kb) -> None:
    deep = kb.folder / "a" / "b"
    deep.mkdir(parents=True)
    assert kb.json("status", cwd=deep)["base"] == str(kb.base)


def test_the_nearest_base_above_is_the_one(kb: Kb) -> None:
    inner = Kb(kb.folder / "inner")
    (inner.folder / "deep").mkdir(parents=True)
    inner("init")
    assert inner.json("status", cwd=inner.folder / "deep")["base"] == str(inner.base)


def test_init_a_second_time_changes_nothing(handbook: Kb) -> None:
    before = handbook.json("status")
    handbook("init")
    assert handbook.json("status") == before


def test_paths_are_kept_relative_so_that_a_folder_moves_with_its_base(own_handbook: Kb) -> None:
    moved = Kb(own_handbook.folder.rename(own_handbook.folder.parent / "moved"))
    report = moved.json("sync")
    assert report["unchanged"] == 40
    assert report["chunks_embedded"] == 0
    assert moved.json("get", "handbook/welcome.md")["document"]["code"] == "HB-I-0001"


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_base_that_is_there_already_is_said_and_left_alone(tmp_path: Path, engine: str) -> None:
    kb = Kb(tmp_path)
    place = new_base() if engine == "postgres" else str(tmp_path / "base.db")
    assert kb.json("init", "--base", place)["is_new"] is True
    kb("note", "Kept", "--base", place)
    assert kb("init", "--base", place).out.startswith("there is a base already: ")
    assert kb.json("init", "--base", place)["is_new"] is False
    assert kb.json("status", "--base", place)["documents"] == 1
