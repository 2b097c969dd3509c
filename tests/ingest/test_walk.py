"""Walking folders."""

import os
import socket
import sys
from pathlib import Path

import pytest

from knowbase.ingest.walk import Expected, FoundFile, Skipped, WalkRules, walk

RULES = WalkRules(include_hidden=False, max_bytes=1_048_576)


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")


def found(root: Path, rules: WalkRules = RULES) -> list[str]:
    return [
        os.path.relpath(item.path, root)
        for item in walk(str(root), rules)
        if isinstance(item, FoundFile)
    ]


def skipped(root: Path, rules: WalkRules = RULES) -> dict[str, str]:
    return {
        os.path.relpath(item.path, root): item.reason
        for item in walk(str(root), rules)
        if isinstance(item, Skipped)
    }


def test_files_come_sorted_by_path_with_their_size_and_time(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.md", "a-b.md", "a.md", "a/b/c.md", "B.md")
    items = list(walk(str(tmp_path), RULES))
    paths = [item.path for item in items]
    assert paths == sorted(paths)
    assert len(paths) == 6
    status = os.stat(tmp_path / "B.md")
    assert items[0] == FoundFile(
        str(tmp_path / "B.md"), 1, status.st_mtime_ns, status.st_ino, status.st_ctime_ns
    )


def test_a_relative_root_gives_absolute_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "d/a.md")
    monkeypatch.chdir(tmp_path)
    assert [item.path for item in walk("d", RULES)] == [str(tmp_path / "d" / "a.md")]


def test_hidden_files_are_left_out_unless_wanted(tmp_path: Path) -> None:
    make(tmp_path, ".rc", ".github/x.md", "a.md", ".git/config", ".kb/base", ".venv/x.py")
    make(tmp_path, "d/.DS_Store", "d/._a.md", "d/.gitkeep")
    assert found(tmp_path) == ["a.md"]
    everything = found(tmp_path, RULES._replace(include_hidden=True))
    assert {".github/x.md", ".rc", "a.md"} <= set(everything)
    assert skipped(tmp_path) == {
        ".github": "hidden folder; index.hidden = true reads it",
        ".rc": "hidden; index.hidden = true reads it",
    }


def test_folders_of_programs_are_never_entered(tmp_path: Path) -> None:
    make(tmp_path, "node_modules/a.js", "a/__pycache__/b.pyc", "venv/c.py", "a/d.py")
    assert found(tmp_path, RULES._replace(include_hidden=True)) == ["a/d.py"]


def test_ignore_files_hold_in_their_folder_and_below(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "a.md", "d/b.log", "d/keep.log", "d/c.md", "out/x.md", "out/y.log")
    (tmp_path / ".gitignore").write_text("*.log\nout/\n")
    (tmp_path / "d" / ".gitignore").write_text("!keep.log\n/c.md\n")
    (tmp_path / "out" / ".gitignore").write_text("!*\n")
    assert found(tmp_path) == ["a.md", "d/keep.log"]
    assert skipped(tmp_path) == {}


def test_kbignore_has_the_last_word(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "b.md")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / ".kbignore").write_text("!a.log\nb.md\n")
    assert found(tmp_path) == ["a.log"]


def test_ignore_files_above_count_within_the_same_repository(tmp_path: Path) -> None:
    make(tmp_path, "repo/.git/HEAD", "repo/docs/a.md", "repo/docs/b.tmp", "repo/docs/c.md")
    (tmp_path / ".gitignore").write_text("a.md\n")
    (tmp_path / "repo" / ".gitignore").write_text("*.tmp\n/docs/c.md\n")
    assert found(tmp_path / "repo" / "docs") == ["a.md"]


def test_outside_a_repository_nothing_above_counts(tmp_path: Path) -> None:
    make(tmp_path, "docs/a.md")
    (tmp_path / ".gitignore").write_text("a.md\n")
    assert found(tmp_path / "docs") == ["a.md"]


def test_a_file_that_is_named_is_found_whatever_the_rules_ignore(tmp_path: Path) -> None:
    make(tmp_path, ".hidden.md")
    (tmp_path / ".gitignore").write_text("*\n")
    (item,) = walk(str(tmp_path / ".hidden.md"), RULES)
    assert isinstance(item, FoundFile)


def test_what_does_not_exist_is_skipped_with_a_reason(tmp_path: Path) -> None:
    path = str(tmp_path / "missing")
    assert list(walk(path, RULES)) == [Skipped(path, "no such file or directory")]


def test_below_an_ignore_file_too_large_to_be_one_nothing_is_read(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b/c.md", "b/d/e.md")
    (tmp_path / "b" / ".gitignore").write_text("x\n" * 200_000)
    found = list(walk(str(tmp_path), RULES))
    assert [item.path for item in found] == [str(tmp_path / "a.md"), str(tmp_path / "b")]
    assert isinstance(found[1], Skipped)
    assert "its .gitignore is larger than 256 kB" in found[1].reason
    [root] = walk(str(tmp_path / "b"), RULES)
    assert isinstance(root, Skipped)


def test_large_files_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_bytes(b"x" * 1_048_577)
    assert skipped(tmp_path) == {"big.txt": "larger than 1 MB"}


def test_links_inside_are_followed_and_links_outside_are_not(tmp_path: Path) -> None:
    root = tmp_path / "root"
    make(root, "a.md", "z/b.md", ".store/c.md", "node_modules/d.md")
    make(tmp_path, "secret.md", "root2/x.md")
    (root / "link.md").symlink_to(root / "a.md")
    (root / "away.md").symlink_to(tmp_path / "secret.md")
    (root / "near").symlink_to(tmp_path / "root2")
    (root / "first").symlink_to(root / "z")
    (root / "shown").symlink_to(root / ".store")
    (root / "modules").symlink_to(root / "node_modules")
    (root / "broken").symlink_to(root / "nothing")
    assert found(root) == ["a.md", "link.md", "z/b.md", "shown/c.md"]
    reasons = skipped(root)
    assert reasons["away.md"] == reasons["near"] == "link leaves the folder"
    assert set(reasons) == {"away.md", "near", "broken", ".store"}


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    make(tmp_path, "d/a.md")
    (tmp_path / "d" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert found(tmp_path) == ["d/a.md"]
    assert set(skipped(tmp_path)) == {"self"}


def test_a_root_that_is_a_link_is_walked(tmp_path: Path) -> None:
    make(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert found(tmp_path / "link") == ["a.md"]


def test_special_files_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("socket")
        assert skipped(tmp_path) == {"pipe": "not a regular file", "socket": "not a regular file"}


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of any bytes")
def test_names_that_are_not_utf8_are_skipped(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "wb"):
        pass
    (item,) = walk(str(tmp_path), RULES)
    assert item == Skipped(str(tmp_path / "caf\ufffd.md"), "name is not valid UTF-8")


def test_what_is_as_it_was_is_passed_over_and_everything_else_is_found(tmp_path: Path) -> None:
    names = (
        "same.md",
        "in/same.md",
        "touched.md",
        "longer.md",
        "gone.md",
        "link.md",
        "in/made.log",
    )
    make(tmp_path, *names, ".hidden.md")
    rules = WalkRules(include_hidden=True, max_bytes=100)
    files = [one for one in walk(str(tmp_path), rules) if isinstance(one, FoundFile)]
    assert len(files) == 8
    below = len(os.path.join(tmp_path, ""))
    looks = {}
    for one in files:
        path = "notes/" + one.path[below:]
        looks[path] = (path, one.size, one.mtime_ns, one.inode, one.ctime_ns)
    os.utime(tmp_path / "touched.md", ns=(1, 1))
    (tmp_path / "longer.md").write_text("xx")
    (tmp_path / "gone.md").unlink()
    (tmp_path / "link.md").unlink()
    (tmp_path / "link.md").symlink_to("same.md")
    (tmp_path / "new.md").write_text("x")
    (tmp_path / ".gitignore").write_text("*.log\n")

    expected = Expected("notes/", looks)
    left = {one.path[below:] for one in walk(str(tmp_path), rules, expected)}

    assert left == {".gitignore", ".hidden.md", "link.md", "longer.md", "new.md", "touched.md"}
    changed = {".hidden.md", "gone.md", "in/made.log", "link.md", "longer.md", "touched.md"}
    assert set(looks) == {f"notes/{name}" for name in changed}
