"""The engine that runs models tells its makers nothing of who runs it."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from conftest import COMMAND, environment

PICTURE = Path(__file__).parents[1] / "fixtures/formats/chromium.png"


def run(home: Path, *words: str, **more: str) -> None:
    """As somebody would whose home this is; the engine is silent by itself where CI is set."""
    told = {**environment(HOME=str(home), **more)}
    for name in ("CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "XDG_CACHE_HOME"):
        told.pop(name, None)
    subprocess.run([*COMMAND, *words], cwd=home, env=told, check=True, capture_output=True)


def kept(home: Path) -> set[str]:
    return {one.name for one in (home / ".cache").iterdir()}


def test_neither_an_id_of_the_device_nor_events_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Tides\n\nTide tables of the port.\n")
    run(tmp_path, "init")
    run(tmp_path, "add", ".")
    run(tmp_path, "search", "when is high water")
    assert kept(tmp_path) == {"knowbase"}


@pytest.mark.skipif(find_spec("rapidocr") is None, reason="knowbase[ocr] is not installed")
def test_nor_by_what_looks_at_pictures(tmp_path: Path) -> None:
    shutil.copy(PICTURE, tmp_path / "a.png")
    run(tmp_path, "init")
    run(tmp_path, "add", ".")
    assert kept(tmp_path) == {"knowbase"}
