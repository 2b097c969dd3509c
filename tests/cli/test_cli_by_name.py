"""A file's name will do wherever a document is read, if one file alone has it."""

import pytest

from conftest import Kb


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    kb = Kb(tmp_path_factory.mktemp("named"))
    kb("init")
    kb.write("notes/ops/Deploying.md", "# Deploying\n\nHow we deploy, see [setup](setup.md).\n")
    kb.write("notes/ops/setup.md", "---\nparent: notes/ops/Deploying.md\n---\n# Setup\n\nhow to\n")
    kb.write("notes/a/readme.md", "# First\n\nalpha\n")
    kb.write("notes/b/readme.md", "# Second\n\nbeta\n")
    kb("add", "notes")
    return kb


@pytest.mark.parametrize("name", ["Deploying.md", "deploying", "ops/deploying", "ops/Deploying.md"])
def test_a_name_that_one_file_has_is_enough(named: Kb, name: str) -> None:
    assert named("get", name).out == named("get", "notes/ops/Deploying.md").out


@pytest.mark.parametrize(
    "command", ["links {}", "related {}", "context {}", "timeline {}", "path {} setup"]
)
def test_every_command_that_reads_takes_it(named: Kb, command: str) -> None:
    by_name = named(*command.format("deploying").split()).out
    assert by_name == named(*command.format("notes/ops/Deploying.md").split()).out


def test_why_not_takes_it(named: Kb) -> None:
    assert named.json("why-not", "deploying.md", "deploy", "--fts-only")["stage"] == "hit"


@pytest.mark.parametrize("operator", ["under", "children", "like", "related"])
def test_operators_take_it_too(named: Kb, operator: str) -> None:
    found = named.json("search", f"{operator}:deploying.md")
    assert found["problems"] == []
    assert found["hits"][0]["path"] == "notes/ops/setup.md"


@pytest.mark.parametrize("command", ["get", "links", "related", "timeline"])
def test_a_name_of_several_files_is_an_error_that_names_them(named: Kb, command: str) -> None:
    said = named.error(command, "readme", code=3)
    assert "notes/a/readme.md" in said
    assert "notes/b/readme.md" in said


def test_an_operator_names_the_several_files(named: Kb) -> None:
    [problem] = named.json("search", "under:readme.md")["problems"]
    assert "notes/a/readme.md" in problem["message"]
    assert "notes/b/readme.md" in problem["message"]


@pytest.mark.parametrize("command", [("rm", "--yes"), ("forget",), ("archive",)])
def test_what_takes_away_wants_the_whole_name(named: Kb, command: tuple[str, ...]) -> None:
    assert "notes/ops/setup.md" in named.error(*command, "setup", code=3)
