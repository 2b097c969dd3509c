"""The examples of README, docs/memory.md and docs/graph.md are what really happens."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def example(page: str, heading: str) -> list[tuple[str, str]]:
    """Commands of the example under a heading, and what each prints."""
    text = (ROOT / page).read_text(encoding="utf-8")
    block = re.search(rf"## {heading}\n.*?```\n(.*?)```", text, re.S)
    assert block is not None
    parts = re.split(r"^\$ (.*)\n", block[1], flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def same_but_for_time_and_place(text: str) -> str:
    text = re.sub(r"\b\d+ ms", "N ms", text)
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "DATE", text)
    return re.sub(r"base ready: \S+", "base ready: PATH", text).strip()


@pytest.mark.parametrize(
    ("page", "heading"),
    [
        ("README.md", "Sixty seconds"),
        ("docs/memory.md", "An hour of work"),
        ("docs/graph.md", "A walk through the handbook"),
    ],
)
def test_the_example_prints_what_the_page_shows(tmp_path: Path, page: str, heading: str) -> None:
    folder = tmp_path / "handbook"
    if page != "docs/memory.md":
        shutil.copytree(ROOT / "tests" / "fixtures" / "handbook", folder)
    else:
        folder.mkdir()
    ran = 0
    for command, shown in example(page, heading):
        if not command.startswith("kb "):
            continue
        words = command.replace("kb ", f"{sys.executable} -m knowbase.cli ", 1)
        result = subprocess.run(
            words, shell=True, cwd=folder, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stderr
        assert same_but_for_time_and_place(result.stdout) == same_but_for_time_and_place(shown)
        ran += 1
    assert ran >= 4
