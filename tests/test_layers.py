"""What imports what: no module imports itself in the end, however late it does so."""

from collections.abc import Callable, Collection, Iterable

import grimp

PACKAGES = ("knowbase", "knowbase_granite")


def circles(
    modules: Iterable[str], imported_by: Callable[[str], Collection[str]]
) -> list[list[str]]:
    """Modules of which each imports all others in the end (Tarjan's algorithm)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        waiting.append(module)
        for other in imported_by(module):
            if other not in number:
                visit(other)
            if other in waiting:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == number[module]:
            start = waiting.index(module)
            found.append(sorted(waiting[start:]))
            del waiting[start:]

    for module in sorted(modules):
        if module not in number:
            visit(module)
    return [one for one in found if len(one) > 1]


def test_a_circle_is_found_and_what_hangs_on_it_is_not() -> None:
    imports = {"a": ["b"], "b": ["c", "d"], "c": ["a"], "d": ["e"], "e": []}
    assert circles(imports, imports.__getitem__) == [["a", "b", "c"]]


def test_no_modules_import_each_other_not_even_late_or_for_types_alone() -> None:
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=False, cache_dir=None)
    assert len(graph.modules) > 200
    assert circles(graph.modules, graph.find_modules_directly_imported_by) == []
