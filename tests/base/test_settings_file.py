"""kb.toml, changed by several at once and wherever it lies."""

import os
import stat
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import Kb
from knowbase import config
from knowbase.base.settings_file import change_setting

NONE: Mapping[str, str] = {}
KEYS = ("search.default_top", "rerank.top", "index.max_file_mb", "serve.timeout")


def others_in(folder: Path) -> set[str]:
    return {one for one in os.listdir(folder) if one.endswith(".new")}


def test_settings_that_are_changed_at_once_are_all_kept(tmp_path: Path) -> None:
    start = threading.Barrier(len(KEYS))

    def change(key: str) -> None:
        start.wait()
        for number in range(10, 20):
            change_setting(str(tmp_path), key, str(number), NONE)

    with ThreadPoolExecutor(len(KEYS)) as pool:
        list(pool.map(change, KEYS))
    found = config.load(str(tmp_path), NONE).settings
    assert [getattr(found, config.name_of(key)) for key in KEYS] == [19] * len(KEYS)
    assert not others_in(tmp_path)


@pytest.mark.skipif(os.name == "nt", reason="links and modes are POSIX's")
def test_a_file_that_is_a_link_stays_one_and_keeps_its_mode(kb: Kb, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "shared.toml"
    real.parent.mkdir()
    real.write_text("[search]\r\n# mine\r\n", "utf-8", newline="")
    real.chmod(0o606)
    link = kb.folder / "kb.toml"
    link.symlink_to(real)
    kb("config", "set", "search.default_top", "7")
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o606
    text = real.read_bytes().decode()
    assert "default_top = 7" in text
    assert "# mine\r\n" in text


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_a_new_file_is_like_other_new_files(tmp_path: Path) -> None:
    change_setting(str(tmp_path), "search.default_top", "7", NONE)
    (tmp_path / "other").touch()
    modes = {stat.S_IMODE((tmp_path / one).stat().st_mode) for one in ("kb.toml", "other")}
    assert len(modes) == 1


def test_a_place_that_cannot_be_written_is_said(kb: Kb) -> None:
    (kb.folder / "kb.toml").symlink_to(kb.folder / "gone" / "far" / "kb.toml")
    (kb.folder / "gone").write_text("a file in the way", "utf-8")
    line = kb.error("config", "set", "search.default_top", "7", code=4)
    assert "kb.toml cannot be written: " in line


@pytest.mark.parametrize("text", ["nonsense", '["type:commit=off"]', "folder:docs=1y", "1y,90x"])
def test_a_rule_of_keeping_that_nobody_can_read_is_not_written(kb: Kb, text: str) -> None:
    """Every command reads it: none would work until somebody mends the file by hand."""
    assert "history.keep cannot be" in kb.error("config", "set", "history.keep", text, code=2)
    assert not (kb.folder / "kb.toml").exists()
    kb("config", "set", "history.keep", "type:commit=off,source:docs=30d,1y")
    kb("list")
