"""The README's example is what really happens."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def example() -> list[tuple[str, str]]:
    """Commands of the sixty-seconds example and what each prints."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"## Sixty seconds.*?```\n(.*?)```", text, re.S)
    assert block is not None
    parts = re.split(r"^\$ (.*)\n", block[1], flags=re.M)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def same_but_for_time_and_place(text: str) -> str:
    text = re.sub(r"\b\d+ ms", "N ms", text)
    return re.sub(r"base ready: \S+", "base ready: PATH", text).strip()


def test_the_example_prints_what_the_readme_shows(tmp_path: Path) -> None:
    folder = tmp_path / "handbook"
    shutil.copytree(ROOT / "tests" / "fixtures" / "handbook", folder)
    ran = 0
    for command, shown in example():
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
