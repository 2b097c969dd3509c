"""A package brings a reader: the one that docs/readers.md shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

from pages import ROOT

PAGE = (ROOT / "docs" / "readers.md").read_text(encoding="utf-8")


def install(folder: Path, module: str) -> None:
    """What pip would leave behind."""
    points = re.search(r"```toml\n.*?\[project\.entry-points\.\"(.+?)\"\]\n(.*?)```", PAGE, re.S)
    assert points is not None
    about = folder / "knowbase_recipes-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: knowbase-recipes\nVersion: 1.0\n")
    named = points[2].replace('"', "")
    (about / "entry_points.txt").write_text(f"[{points[1]}]\n{named}")
    (folder / "knowbase_recipes.py").write_text(module)


def test_the_reader_of_the_page_reads_and_is_confined(tmp_path: Path) -> None:
    shown = re.search(r"```python\n(.*?)```", PAGE, re.S)
    assert shown is not None
    assert len(shown[1].splitlines()) <= 20
    module = shown[1].replace(
        "    title, _", '    if file.name == "odd.recipe":\n        raise OSError\n    title, _'
    )
    install(tmp_path / "packages", module)
    work = tmp_path / "work"
    work.mkdir()
    (work / "soup.recipe").write_text("Recipe: Fish soup\nBoil water.\n\nAdd the perch.\n")
    (work / "bad.recipe").write_text("nothing\n")
    (work / "odd.recipe").write_text("Recipe: x\ny\n")

    def kb(*arguments: str) -> str:
        path = os.pathsep.join([str(tmp_path / "packages"), *filter(None, sys.path)])
        command = [sys.executable, "-m", "knowbase.cli", *arguments]
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True
        ).stdout

    kb("init")
    told = kb("add", ".", "--defer")
    assert "1 added" in told
    assert "bad.recipe: It does not begin with a title." in told
    assert "odd.recipe: reading it failed (OSError)" in told
    found = kb("search", "perch", "--fts-only", "--tags", "recipe")
    assert "Fish soup" in found
    assert "Step 2" in found
