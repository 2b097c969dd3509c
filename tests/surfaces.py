"""Through which surfaces a test tries the product: read from the test itself.

A test reaches a surface when it, a fixture that it takes, or a function of its file that it calls
uses what stands for that surface: the command's `Kb`, a running server, a client of the agents'
tools, or what users import in Python.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

STANDING_FOR = {
    "conftest": ("command", {"Kb", "COMMAND"}),
    "servers": ("HTTP", {"Served", "serving"}),
    "agent": ("agents", {"call", "calls", "over_stdio", "http_server"}),
    "mcp": ("agents", {"Client"}),
    "knowbase.http.application": ("HTTP", {"application"}),
    "knowbase": ("Python", {"Base", "open", "create", "restore", "repair"}),
    "knowbase.base": ("Python", {"Base", "open", "create"}),
    "knowbase.base.base": ("Python", {"Base", "open", "create"}),
    "linked": ("Python", {"new_base"}),
    "placed": ("Python", {"placed_base"}),
}
CONTRACTS = "knowbase.contracts"
ORDER = ("command", "HTTP", "agents", "Python")


def surfaces_of(path: Path, test: str) -> tuple[str, ...]:
    """The surfaces that a test of a file goes through."""
    found = _Module(path).surfaces(test)
    return tuple(surface for surface in ORDER if surface in found)


class _Module:
    """A file of tests: its functions, and what its imports stand for."""

    def __init__(self, path: Path) -> None:
        tree = _parsed(path)
        self._functions = {
            one.name: one
            for one in ast.walk(tree)
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }
        self._imported = dict(_imports(tree))

    def surfaces(self, test: str) -> set[str]:
        seen: set[str] = set()
        waiting, found = [test], set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in self._imported:
                found.add(self._imported[name])
            elif name in self._functions:
                waiting += _names(self._functions[name])
        return found


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that stand for a surface, as the file calls them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "knowbase":
                    yield "knowbase", "Python"
        elif isinstance(node, ast.ImportFrom) and node.module:
            surface, names = STANDING_FOR.get(node.module, ("", set()))
            for alias in node.names:
                is_contract = node.module.startswith(CONTRACTS) and alias.name[0].islower()
                if is_contract or alias.name in names:
                    yield alias.asname or alias.name, surface or "Python"
                elif node.module == CONTRACTS or alias.name in (
                    "SearchService",
                    "KnowledgeBaseSearch",
                ):
                    yield alias.asname or alias.name, "Python"


def _names(node: ast.AST) -> set[str]:
    """Every name that is used within, fixtures by the names of parameters included."""
    found = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    found |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    quoted = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return found | {text for text in quoted if isinstance(text, str) and text.isidentifier()}
