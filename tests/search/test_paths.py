"""path: and --path mean the same files on every surface, in both legs and both engines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import Kb
from knowbase import Base
from knowbase.errors import InvalidInput
from knowbase.operations import load
from knowbase.values.parameters import build
from postgres import new_base
from servers import serving

FILES = {
    "docs/otters.md": "# Guide\n\nOtters hold hands as they sleep.\n",
    "docs/api/otters.md": "# API\n\nThe otters endpoint lists otters.\n",
    "tests/otters.py": "def test_otters():\n    assert otters()\n",
    "pkg/tests/more.py": "def test_more():\n    assert 'otters'\n",
    "README.md": "# Otters\n\nAll about otters.\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paths")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with knowbase.create(folder) as base:
        base.add(folder)
        base.note("otters are noted")
    return folder


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def base(request: pytest.FixtureRequest, folder: Path) -> Iterator[Base]:
    if request.param == "sqlite":
        with knowbase.open(folder) as opened:
            yield opened
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "kb.toml").touch()  # its home is here
        with knowbase.create(new_base()) as made:
            made.add(folder)
            made.note("otters are noted")
            yield made


def paths(answer: Any) -> set[str | None]:
    return {hit.path for hit in answer.hits}


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("otters path:docs/", {"docs/otters.md", "docs/api/otters.md"}),
        ("otters folder:docs", {"docs/otters.md", "docs/api/otters.md"}),
        ("otters path:docs/*.md", {"docs/otters.md"}),
        ("otters path:*.md -path:docs/", {"README.md"}),
        ("otters -path:tests/ -path:docs", {"README.md", None}),
        ("otters path:tests/,README.md", {"tests/otters.py", "pkg/tests/more.py", "README.md"}),
        ("otters path:/tests/", {"tests/otters.py"}),
        ("(path:api OR path:readme.md)", {"docs/api/otters.md", "README.md"}),
    ],
)
def test_a_path_in_a_query_binds_both_legs(
    base: Base, query: str, found: set[str], mode: str
) -> None:
    assert paths(base.search(query, mode=mode)) == found


def test_a_whole_path_inside_the_home_is_one_of_the_base(base: Base) -> None:
    assert paths(base.search("otters", path=f"{base.home}/docs/api")) == {"docs/api/otters.md"}
    assert paths(base.search("otters", path=base.home)) == set(FILES)


def test_a_path_is_a_filter_of_every_search(base: Base, folder: Path) -> None:
    for name, more in (("search", {}), ("why-not", {"reference": "README.md"}), ("query", {})):
        operation = load(name)
        asked = {"query": "otters", "path": "docs/", "mode": "keyword", **more}
        result = operation.run(base, build(operation.request, asked))
        if name == "search":
            assert paths(result) == {"docs/otters.md", "docs/api/otters.md"}
            assert result.filters["path"] == "docs/"
        elif name == "why-not":
            assert (result.stage, "path:docs/" in result.reason) == ("filtered", True)
            assert "it has README.md" in result.reason
        else:
            assert result.flags == ("--path: path:docs/",)


def test_a_path_is_a_flag(folder: Path) -> None:
    kb = Kb(folder)
    flag = kb.json("search", "otters", "--fts-only", "--path", "docs/")
    word = kb.json("search", "otters path:docs/", "--fts-only")
    assert [hit["path"] for hit in flag["hits"]] == [hit["path"] for hit in word["hits"]]
    assert len(flag["hits"]) == 2
    assert "path" in kb.error("search", "x", "--path", "*a" * 40, code=2)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("docs/", {"docs/otters.md", "docs/api/otters.md"}),
        ("*.py", {"tests/otters.py", "pkg/tests/more.py"}),
        ("/tests/", {"tests/otters.py"}),
        ("nowhere/", set()),
    ],
)
def test_a_path_is_a_filter_of_lists(base: Base, path: str, found: set[str]) -> None:
    listed = base.documents(path=path)
    assert {one.path for one in listed.documents} == found
    assert listed.total == len(found)


def test_lists_by_path_are_the_same_on_every_surface(folder: Path) -> None:
    kb = Kb(folder)
    listed = [one["path"] for one in kb.json("list", "--path", "docs/")["documents"]]
    assert sorted(listed) == ["docs/api/otters.md", "docs/otters.md"]
    assert "32 wildcards" in kb.error("list", "--path", "*a" * 40, code=2)
    with serving(folder) as server, knowbase.connect(server.address) as client:
        assert [one.path for one in client.documents(path="docs/").documents] == listed
        assert client.documents(path="docs/", project="web").total == 0


def test_a_mistake_in_a_path_is_said(base: Base) -> None:
    [problem] = base.search("otters path2:docs").problems
    assert problem.message == "there is no path2:, did you mean path:?"
    with pytest.raises(InvalidInput) as caught:
        base.search("otters", path=" , ")
    assert caught.value.field == "path"
    [problem] = base.search(f"otters path:{'*a' * 40}").problems
    assert "32 wildcards" in problem.message
