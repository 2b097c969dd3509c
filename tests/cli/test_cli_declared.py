"""The command line knows no command by its name: it reads declarations and types of results."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import knowbase
from knowbase.cli.commands import NAMES, load
from knowbase.cli.render import RENDERERS, renderer_of
from knowbase.operations.schema import result_type

SOURCE = Path(knowbase.__file__).parent
REGISTRY = "SURFACES"  # which module declares a command
FIRST = {name.partition(" ")[0] for name in NAMES}
WORDS = {*NAMES, *FIRST, *(f"{word} " for word in FIRST)}


def texts(node: ast.AST) -> Iterator[ast.Constant]:
    """The string literals of a module, without those of the registry and parts of sentences."""
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == REGISTRY:
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from texts(child)


def modules(folder: str) -> list[Path]:
    return sorted((SOURCE / folder).rglob("*.py"))


def kinds(hint: Any) -> list[type]:
    """The types that a result may have: of a union each, of a stream its items."""
    parts = get_args(hint)
    return [kind for part in parts for kind in kinds(part)] if parts else [hint]


@pytest.mark.parametrize("path", modules("cli"), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_of_the_command_line_names_a_command(path: Path) -> None:
    module = ast.parse(path.read_text(encoding="utf-8"))
    assert [(one.lineno, one.value) for one in texts(module) if one.value in WORDS] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_type_of_result_has_a_renderer(name: str) -> None:
    for kind in kinds(result_type(load(name))):
        assert callable(renderer_of(kind)), kind


def test_every_renderer_is_of_a_type_that_some_command_gives() -> None:
    given = {kind for name in NAMES for kind in kinds(result_type(load(name)))}
    assert set(RENDERERS) == {f"{kind.__module__}.{kind.__qualname__}" for kind in given}


@pytest.mark.parametrize("name", NAMES)
def test_a_declared_input_field_is_a_parameter(name: str) -> None:
    operation = load(name)
    field = operation.terminal.input_field
    assert field is None or field in operation.request.__annotations__


def test_no_source_is_executed() -> None:
    for path in modules("."):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("exec", "eval"), f"{path.name}:{node.lineno}"
