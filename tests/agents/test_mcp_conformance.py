"""The official conformance suite of the Model Context Protocol, against `kb mcp --http`.

It comes by npm: `python3 dev.py conformance` installs it beside the Python packages and runs this.
Nothing is downloaded here; where it is not installed the test is skipped.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from agent import http_server

from conftest import FIXTURES, Kb

INSTALLED = Path(sys.prefix) / "conformance" / "node_modules"
PAGE = FIXTURES.parent.parent / "docs" / "mcp-conformance.md"
SUITES = {
    "0.1.16": ("@modelcontextprotocol/conformance", ("--suite", "active")),
    "0.2.0-alpha.12": ("conformance-next", ("--requirements", "2026-07-28")),
}
LONGEST = 240  # seconds


def node() -> str | None:
    own = INSTALLED / ".bin" / "node"
    return str(own) if own.exists() else shutil.which("node")


@pytest.mark.parametrize("version", SUITES)
def test_every_check_that_applies_passes(handbook: Kb, tmp_path: Path, version: str) -> None:
    package, options = SUITES[version]
    program, runner = INSTALLED / package / "dist" / "index.js", node()
    if not program.exists() or runner is None:
        pytest.skip("the suite is not installed: python3 dev.py conformance")
    with http_server(handbook) as (address, _):
        subprocess.run(
            [runner, str(program), "server", "--url", address, *options, "-o", str(tmp_path)],
            capture_output=True, check=False, timeout=LONGEST,
        )  # fmt: skip
    failed, passed = results(tmp_path)
    assert len(passed) >= 11
    assert failed == listed(version)


def results(folder: Path) -> tuple[set[str], set[str]]:
    """The scenarios with a check that failed, and those where all went well."""
    failed: set[str] = set()
    passed: set[str] = set()
    for path in folder.glob("*/checks.json"):
        scenario = re.sub(r"^server-(.*?)-\d{4}-\d\d-\d\dT.*$", r"\1", path.parent.name)
        checks = json.loads(path.read_text(encoding="utf-8"))
        wrong = any(check["status"] == "FAILURE" for check in checks)
        (failed if wrong else passed).add(scenario)
    return failed, passed


def listed(version: str) -> set[str]:
    """The scenarios that the page says do not apply, and why."""
    page = PAGE.read_text(encoding="utf-8")
    part = page.partition(f"## Does not apply: {version}")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^|]+)` \| (.+?) \|$", part, re.MULTILINE)
    assert all(reason.strip() for _, reason in rows)
    return {name for names, _ in rows for name in names.split("`, `")}
