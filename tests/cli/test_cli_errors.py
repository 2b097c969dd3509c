"""Whatever goes wrong: one line, a documented exit code, no traceback unless asked for."""

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from children import assert_in_step, little_disk, obey_permissions, permissions

from conftest import COMMAND, Kb, environment, one_json
from knowbase.store.sqlite import schema


@pytest.mark.parametrize("command", [("init", "-q"), ("add", "-x", "docs"), ("rm", "-f", "a")])
def test_a_letter_that_is_no_option_is_not_a_name(tmp_path: Path, command: tuple[str, ...]) -> None:
    kb = Kb(tmp_path)
    assert f"has no option {command[1]}" in kb.error(*command, code=2)
    assert list(tmp_path.iterdir()) == []


def test_no_base_here_or_above(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    assert "kb init" in kb.error("search", "x", code=4)
    assert kb.json("status", code=4)["error"]["code"] == "base_missing"


def test_a_folder_that_was_removed_meanwhile(kb: Kb) -> None:
    gone = kb.folder / "gone"
    gone.mkdir()
    for command in (("search", "x"), ("status",), ("init",)):
        told = kb.error(*command, code=2, before=lambda: _leave_behind(gone))
        assert told == "kb: the folder that you are in is not there any more (cd to another one)"


def _leave_behind(folder: Path) -> None:
    """In a child."""
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    folder.rmdir()


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_an_answer_that_cannot_be_written_is_said_in_a_line(
    kb: Kb, as_json: tuple[str, ...]
) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "list", *as_json], cwd=kb.folder, env=environment(), stdout=full,
            stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "kb: the answer could not be written: No space left on device\n"


@pytest.mark.parametrize("place", ["missing.db", "no/such/folder/base.db", "."])
def test_no_base_at_the_path(tmp_path: Path, place: str) -> None:
    assert f"there is no base at {place}" in Kb(tmp_path).error("list", "--base", place, code=4)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"Dear diary,\n" * 200, b"", b"\x00" * 5000])
@pytest.mark.parametrize("command", ["list", "init", "sync"])
def test_a_file_that_is_no_database(tmp_path: Path, content: bytes, command: str) -> None:
    kb = Kb(tmp_path)
    other = kb.write("other.db", content)
    if command == "init" and not content:  # what an interrupted creation may leave behind
        kb("init", "--base", other)
        return
    assert "not a knowbase base" in kb.error(command, "--base", other, code=4)
    assert other.read_bytes() == content


def test_a_database_that_is_no_base_is_left_alone(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE diary (day TEXT)")
        connection.commit()
    before = other.read_bytes()
    for command in (("list",), ("note", "text"), ("init",)):
        assert "not a knowbase base" in kb.error(*command, "--base", other, code=4)
    assert other.read_bytes() == before


def test_a_base_of_a_newer_version_is_refused(kb: Kb) -> None:
    with closing(sqlite3.connect(kb.base)) as connection:
        connection.execute("PRAGMA user_version = 99")
    line = kb.error("list", code=4)
    assert "schema 99" in line
    assert "upgrade knowbase" in line
    assert kb.json("list", code=4)["error"]["code"] == "base_too_new"


def test_that_an_older_base_was_upgraded_is_said_once(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb.base.parent.mkdir()
    old = apsw.Connection(str(kb.base))
    old.execute("PRAGMA journal_mode = WAL").fetchall()
    old.execute(f"PRAGMA application_id = {schema.APPLICATION_ID:d}")
    for step in schema.STEPS[:2]:
        old.execute(step)
    old.execute("PRAGMA user_version = 2")
    old.close()
    said = f"note: the base was upgraded from schema 2 to {len(schema.STEPS)};"
    first = kb("search", "anything", "--fts-only", "--json")
    assert first.err.startswith(said)
    assert "upgraded" not in kb("search", "anything", "--fts-only").err


def test_a_damaged_base_is_called_damaged(own_handbook: Kb) -> None:
    own_handbook("search", "git", "--fts-only")
    data = bytearray(own_handbook.base.read_bytes())
    data[4096 * 2 :] = b"\xa5" * (len(data) - 4096 * 2)
    own_handbook.base.write_bytes(data)
    error = own_handbook.json("search", "git", "--fts-only", code=4)["error"]
    assert error["code"] == "base_damaged"


def test_a_base_that_another_process_writes_to_can_be_read_but_not_written(
    own_handbook: Kb,
) -> None:
    env = {"KB_STORE_BUSY_TIMEOUT": "0.2"}
    with closing(sqlite3.connect(own_handbook.base)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        line = own_handbook.error("note", "text", code=4, env=env)
        assert "another process is writing" in line
        assert own_handbook.json("rm", "--yes", "HB-T-0002", code=4, env=env)["error"]["code"] == (
            "base_locked"
        )
        assert own_handbook.json("search", "install git", env=env)["returned"] == 10
    own_handbook("note", "text", env=env)


def test_a_base_in_a_read_only_folder_can_be_searched_but_not_written(own_handbook: Kb) -> None:
    folder = own_handbook.base.parent
    own_handbook.write("new/page.md", "# New\n")
    with permissions(own_handbook.base, 0o444), permissions(folder, 0o555):
        answer = own_handbook.json("search", "install git", before=obey_permissions)
        assert answer["search_modes_used"] == ["keyword", "semantic"]
        assert answer["hits"][0]["code"] == "HB-T-0002"
        for command in (("list",), ("tags",), ("get", "HB-T-0002"), ("status",)):
            own_handbook(*command, before=obey_permissions)
        for writing in (("note", "text"), ("add", "new"), ("rm", "--yes", "HB-T-0002")):
            line = own_handbook.error(*writing, code=4, before=obey_permissions)
            assert "permissions" in line
    assert own_handbook.json("status")["documents"] == 40


def test_a_base_that_may_not_be_read_is_an_error(own_handbook: Kb) -> None:
    with permissions(own_handbook.base, 0o000):
        own_handbook.error("list", code=4, before=obey_permissions)


def test_init_in_a_read_only_folder_is_an_error_of_the_base(tmp_path: Path) -> None:
    kb = Kb(tmp_path / "closed")
    kb.folder.mkdir()
    with permissions(kb.folder, 0o555):
        kb.error("init", code=4, before=obey_permissions)


def test_init_below_a_file_is_an_error_of_the_base(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb.write("file.txt", "text")
    kb.error("init", "--base", "file.txt/base.db", code=4)


def test_a_full_disk_loses_nothing_that_was_stored(kb: Kb) -> None:
    kb("note", "The zebra came first")
    for number in range(3):
        kb.write(f"docs/{number}.txt", f"Page {number}. " + f"word{number} " * 200)
    line = kb.error("add", "docs", code=4, before=little_disk(20_000))
    assert "the disk is full" in line
    assert_in_step(kb.base)
    assert kb.json("search", "zebra", "--fts-only")["returned"] == 1
    kb("note", "The lion came later")
    assert_in_step(kb.base)


@pytest.mark.parametrize("top", ["-1", "0", "1001", "1e3", "ten", "9" * 30])
def test_a_number_of_hits_out_of_bounds_is_an_error(handbook: Kb, top: str) -> None:
    """C5"""
    line = handbook.error("search", "x", "--top", top, code=2)
    assert "top cannot be" in line
    assert any(x in line for x in ("from 1 to 1000", "a whole number", "at least 1"))


def test_the_most_hits_that_may_be_asked_for(handbook: Kb) -> None:
    """C5"""
    assert handbook.json("search", "berth", "--top", "1000")["returned"] > 100


def test_search_without_a_query_lists_what_passes_the_filters(handbook: Kb) -> None:
    """C21"""
    assert handbook.json("search", "--type", "code")["returned"] == 3
    assert handbook.json("search")["notices"] == ["the query has no words"]


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (("serach", "x"), "kb search"),
        (("ad", "docs"), "kb add"),
        (("search", "x", "--tpo", "3"), "--top"),
        (("search", "x", "--fts-onyl"), "--fts-only"),
        (("list", "--tag", "x"), "--tags"),
    ],
)
def test_an_unknown_command_or_option_names_the_nearest(
    handbook: Kb, arguments: tuple[str, ...], near: str
) -> None:
    line = handbook.error(*arguments, code=2)
    assert "did you mean" in line
    assert near in line


def test_a_command_that_is_like_no_other_points_to_the_help(kb: Kb) -> None:
    assert "see: kb --help" in kb.error("xyzzy", code=2)


def test_completion_can_be_the_nearest_command(kb: Kb) -> None:
    assert "kb completion" in kb.error("complet", "bash", code=2)


@pytest.mark.parametrize(
    ("arguments", "code", "error", "field"),
    [
        (("search", "x", "--type", "poem"), 2, "invalid_input", "type"),
        (("search", "x", "--top", "0"), 2, "invalid_input", "top"),
        (("search", "x", "--mode", "magic"), 2, "invalid_input", "mode"),
        (("search", "x", "--threshold", "high"), 2, "invalid_input", "threshold"),
        (("search", "x", "--tpo", "1"), 2, "invalid_input", "tpo"),
        (("serach", "x"), 2, "invalid_input", "command"),
        (("get", "HB-T-0003"), 3, "not_found", None),
        (("add", "nothing-there"), 3, "not_found", None),
        (("list", "--base", "nothing-there"), 4, "base_missing", None),
    ],
)
def test_an_error_is_one_json_object_too(
    handbook: Kb, arguments: tuple[str, ...], code: int, error: str, field: str | None
) -> None:
    """C32"""
    result = handbook(*arguments, "--json", code=code)
    printed = one_json(result.out)
    assert set(printed) == {"error"}
    assert set(printed["error"]) == {"code", "message", "field", "hint"}
    assert (printed["error"]["code"], printed["error"]["field"]) == (error, field)
    assert printed["error"]["message"] in result.err
    assert printed["error"]["hint"]


def test_an_error_without_json_prints_nothing_on_standard_output(handbook: Kb) -> None:
    assert handbook("get", "nothing-there", code=3).out == ""


def test_debug_shows_where_an_error_comes_from(handbook: Kb) -> None:
    """C32"""
    result = handbook("get", "nothing-there", "--debug", code=None)
    assert result.code != 0
    assert "Traceback (most recent call last)" in result.err
    assert "NotFound" in result.err


def test_debug_changes_neither_exit_code_nor_json(handbook: Kb) -> None:
    result = handbook("get", "nothing-there", "--debug", "--json", code=3)
    assert one_json(result.out)["error"]["code"] == "not_found"


def test_broken_bytes_in_a_query_find_the_rest_of_it(handbook: Kb) -> None:
    """S0-03"""
    result = handbook("search", b"install \xff git", "--fts-only")
    assert "HB-T-0002: Git on a new laptop (markdown)" in result.out


STRICT = {"PYTHONIOENCODING": "utf-8:strict"}  # what Python does in most locales


def test_broken_bytes_in_a_query_give_json(handbook: Kb) -> None:
    assert handbook.json("search", b"install \xff git", "--fts-only", env=STRICT)["returned"] > 0


@pytest.mark.parametrize(
    ("arguments", "code"), [(("get", b"\xff"), 3), (("search", "git", "--tags", b"\xff"), 0)]
)
def test_broken_bytes_elsewhere_are_just_not_found(
    handbook: Kb, arguments: tuple[str | bytes, ...], code: int
) -> None:
    handbook(*arguments, code=code)


def test_a_terminal_that_knows_only_ascii_gets_what_it_can_show(handbook: Kb) -> None:
    shown = handbook("search", "install git", "--fts-only", env={"PYTHONIOENCODING": "ascii"}).out
    assert shown.isascii()
    assert shown.startswith("HB-T-0002: Git on a new laptop")


def test_settings_that_are_each_allowed_are_allowed_together(handbook: Kb) -> None:
    assert handbook.json("search", "git", "--top", "1000")["returned"] > 100
