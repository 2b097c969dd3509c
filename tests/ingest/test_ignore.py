"""The rules of .gitignore files."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowbase.ingest.ignore import decide, parse_patterns


def ignored(patterns: str, path: str) -> bool:
    """Whether the path is left out; a "/" at its end makes it a folder."""
    parsed = parse_patterns(patterns)
    parts = path.rstrip("/").split("/")
    for depth in range(1, len(parts) + 1):
        is_folder = depth < len(parts) or path.endswith("/")
        if decide(parsed, "/".join(parts[:depth]), is_folder):
            return True
    return False


@pytest.mark.parametrize(
    ("patterns", "path"),
    [
        ("*.log", "a/b/x.log"),
        ("build/", "a/build/x"),
        ("/build", "build"),
        ("docs/*.txt", "docs/a.txt"),
        ("**/foo", "a/b/foo"),
        ("**/foo", "foo"),
        ("foo/**", "foo/a/b"),
        ("a/**/b", "a/b"),
        ("a/**/b", "a/x/y/b"),
        ("[a-c].md", "b.md"),
        ("[!a-c].md", "d.md"),
        ("[[:digit:]]x", "7x"),
        ("\\#x", "#x"),
        ("\\!x", "!x"),
        ("x\\ ", "x "),
        ("x   ", "x"),
        ("x\r", "x"),
        ("\ufeffx", "x"),
        ("?.md", "a.md"),
        ("*\n!*.md\n!d/", "d/x.txt"),
        ("d\n!d/x", "d/x"),
    ],
)
def test_these_are_ignored(patterns: str, path: str) -> None:
    assert ignored(patterns, path)


@pytest.mark.parametrize(
    ("patterns", "path"),
    [
        ("build/", "build"),
        ("/build", "a/build"),
        ("docs/*.txt", "docs/a/b.txt"),
        ("docs/*.txt", "x/docs/a.txt"),
        ("*.log\n!keep.log", "keep.log"),
        ("# comment", "# comment"),
        ("foo/**", "foo/"),
        ("[a-c].md", "d.md"),
        ("a[/]b", "a/b"),
        ("a?b", "a/b"),
        ("[z-a]", "b"),
        ("[a", "[a"),
        ("x\\", "x\\"),
        ("[[:nothing:]]", "n"),
        ("", "x"),
        ("/", "x/"),
    ],
)
def test_these_are_kept(patterns: str, path: str) -> None:
    assert not ignored(patterns, path)


@pytest.mark.parametrize("part", ["**/a/", "**/a*/", "**/?/", "**/a/**\\/", "**/b/a/"])
def test_a_pattern_of_many_globstars_takes_no_time(part: str) -> None:
    assert not ignored(part * 20 + "z", "b/a/" * 200 + "y")
    assert ignored(part * 20 + "z", "b/a/" * 200 + "z")


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    assert not ignored("*a" * 60 + "*b", "a" * 250)


PATTERN = st.lists(
    st.sampled_from(
        [*"ab/*?[]!-\\#^ :", "**", "**/", "/**", "[ab]", "[!a]", "[a-b]", "[[:alpha:]]"]
    ),
    min_size=1,
    max_size=7,
).map("".join)
FILES = [
    "b", "ba", "#a", "a b", "a/b/a", "a/#b", "ab/a/b/ab", "!b/b", "aa/-", "[a]/b", "a-b/ab/a",
    "a/ab",
]  # fmt: skip
FOLDERS = ["a", "a/b", "ab", "ab/a", "ab/a/b", "!b", "aa", "[a]", "a-b", "a-b/ab"]


def make_repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def git_ignores(folder: Path, paths: list[str]) -> set[str]:
    answer = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=folder,
        input="\0".join(paths).encode(),
        capture_output=True,
        check=False,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )
    assert answer.returncode in (0, 1), answer.stderr
    return set(answer.stdout.decode().split("\0")) - {""}


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(patterns=st.lists(PATTERN, min_size=1, max_size=3).map("\n".join))
def test_the_verdict_is_that_of_git(patterns: str, tmp_path: Path) -> None:
    if not (tmp_path / ".git").exists():
        make_repository(tmp_path)
    (tmp_path / ".gitignore").write_text(patterns, encoding="utf-8")
    ours = {path for path in FILES if ignored(patterns, path)}
    ours |= {path for path in FOLDERS if ignored(patterns, path + "/")}
    assert ours == git_ignores(tmp_path, FILES + FOLDERS)
