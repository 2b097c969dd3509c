"""The curl examples of docs/api.md, run against a real server."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Kb, environment
from servers import serving

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
ADDRESS = "http://127.0.0.1:8620"


def examples(heading: str) -> list[tuple[str, str]]:
    """The curl commands under a heading, and what each shows."""
    text = PAGE.read_text(encoding="utf-8")
    section = re.search(rf"^## {heading}\n(.*?)(?=^## )", text, re.S | re.M)
    assert section is not None
    found = []
    for block in re.findall(r"```\n(.*?)```", section[1], re.S):
        parts = re.split(r"^\$ (.*)\n", block, flags=re.M)[1:]
        found += list(zip(parts[::2], parts[1::2], strict=True))
    return [(command, shown) for command, shown in found if command.startswith("curl ")]


def matches(shown: str, printed: str) -> bool:
    """Whether it printed this, where … stands for anything."""
    pattern = ".*".join(map(re.escape, shown.strip().split("…")))
    return re.fullmatch(pattern, printed.replace("\r\n", "\n").strip(), re.S) is not None


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize("heading", ["Asking", "Many notes at once", "Errors", "Tokens"])
def test_the_examples_answer_what_the_page_shows(own_handbook: Kb, heading: str) -> None:
    token = ""
    if heading == "Tokens":
        token = own_handbook.json("token", "new", "ci", "--scope", "read")["token"]
    with serving(own_handbook.folder) as server:
        asked = examples(heading)
        assert len(asked) >= 2
        for command, shown in asked:
            done = subprocess.run(
                command.replace(ADDRESS, server.address),
                shell=True,
                capture_output=True,
                text=True,
                env=environment(TOKEN=token),
                check=True,
            )
            assert matches(shown, done.stdout), (command, done.stdout)
