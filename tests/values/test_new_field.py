"""Adding a field takes the steps that CONTRIBUTING.md shows: this follows them."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from conftest import environment
from postgres import new_base

ROOT = Path(__file__).parents[2]
STEPS = re.compile(r"^   ```(\w+)\n(.*?)^   ```", re.S | re.M)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source with the field of CONTRIBUTING.md added, nothing else touched."""
    folder = tmp_path_factory.mktemp("source")
    for package in ("knowbase", "knowbase_granite"):
        shutil.copytree(ROOT / "src" / package, folder / package)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("## Adding a field to documents")[2]
    blocks = {kind: dedent(text) for kind, text in STEPS.findall(section)}
    documents = folder / "knowbase" / "values" / "documents.py"
    _insert(documents, "    metadata: Annotated[", indent(blocks["python"], "    "))
    for engine in ("sqlite", "postgres"):
        schema = folder / "knowbase" / "store" / engine / "schema.py"
        text = schema.read_text(encoding="utf-8")
        steps = re.search(r"^STEPS = \((.*?)^\)", text, re.M | re.S)
        assert steps is not None
        grown = f'STEPS = ({steps[1]}    """{blocks["sql"]}""",\n)'
        schema.write_text(text.replace(steps[0], grown), encoding="utf-8")
    return folder


def _insert(path: Path, before: str, text: str) -> None:
    old = path.read_text(encoding="utf-8")
    assert old.count(before) == 1
    path.write_text(old.replace(before, text + before), encoding="utf-8")


@pytest.fixture(params=["sqlite", "postgres"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "base.db") if request.param == "sqlite" else _database_of_its_own()


def _database_of_its_own() -> str:
    """The steps of the schema belong to a whole database: no other test may meet this one."""
    import psycopg

    url, _, _ = new_base().partition("#")
    name = "kb_new_field"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name}")
        connection.execute(f"CREATE DATABASE {name}")
    return re.sub(r"/kb_test_\d+", f"/{name}", url) + "#fields"


PYTHON = """
import json, sys, knowbase
with knowbase.open(sys.argv[1]) as base:
    base.note(knowbase.Note("A plan from Python", audience="guests", code="P-3"))
    request = knowbase.SearchRequest("plan", filters={"audience": "guests"})
    print(json.dumps([hit.document.audience for hit in base.search(request).hits]))
"""


def test_a_new_field_is_everywhere(source: Path, base: str, tmp_path: Path) -> None:
    def run(*command: str) -> Any:
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, env=environment(PYTHONPATH=str(source)),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    def kb(*arguments: str) -> Any:
        return run("-m", "knowbase.cli", *arguments, "--base", base, "--json")

    kb("init")
    (tmp_path / "plan.md").write_text("---\naudience: board\ncode: P-1\n---\nThe plan for all.\n")
    (tmp_path / "other.md").write_text("---\ncode: P-2\n---\nAnother plan for all.\n")
    kb("add", "plan.md", "other.md")
    kb("remember", "The plan is kept short", "--audience", "staff", "--code", "M-1")
    assert kb("get", "P-1")["document"]["audience"] == "board"

    def codes(*arguments: str) -> set[str]:
        return {hit["code"] for hit in kb("search", *arguments)["hits"]}

    assert codes("plan") == {"P-1", "P-2", "M-1"}
    for mode in ("keyword", "semantic"):
        assert codes("plan", "--audience", "board", "--mode", mode) == {"P-1"}
        assert codes("plan audience:staff", "--mode", mode) == {"M-1"}
        assert codes("plan -audience:staff", "--mode", mode) == {"P-1", "P-2"}
    assert kb("why-not", "P-2", "plan", "--audience", "board")["stage"] == "filtered"
    kb("saved", "add", "for-the-board", "plan", "--audience", "board")
    assert [hit["code"] for hit in kb("saved", "run", "for-the-board")["hits"]] == ["P-1"]
    assert run("-c", PYTHON, base) == ["guests"]
    copy = str(tmp_path / "copy.db")
    run("-m", "knowbase.cli", "move", base, copy, "--json")
    moved = run("-m", "knowbase.cli", "list", "--base", copy, "--json")["documents"]
    audiences = {one["code"]: one["audience"] for one in moved}
    assert audiences == {"P-1": "board", "P-2": None, "P-3": "guests", "M-1": "staff"}
