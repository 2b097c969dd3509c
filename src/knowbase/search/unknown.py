"""Tags, projects, paths and keys of front matter that were asked for and that no document has."""

from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING

from knowbase.query.conditions import (
    Condition,
    InPath,
    Meta,
    both,
    describe,
    has_text,
    is_everything,
)
from knowbase.query.named import named, unknown
from knowbase.search.understand import Inquiry
from knowbase.store.facets import Ages
from knowbase.text.paths import path_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from knowbase.store.contract import Store

MOST_CHECKED = 16
LONGEST = 200  # characters of a filter that are shown


def unknown_names(inquiry: Inquiry, store: "Store", *, keys_alone: bool = False) -> list[str]:
    """What is to be said of each that no document has which is shown."""
    wanted = list(dict.fromkeys(named(both(inquiry.filter, inquiry.query.filter))))
    wanted = [one for one in wanted if one[0] == "key" or not keys_alone]
    lists: dict[str, Callable[[Condition], Sequence[tuple[str, int]]]] = {
        "tag": store.tags,
        "project": store.projects,
        "key": store.meta_keys,
        "path": partial(_folders, store),
    }

    @cache
    def known(kind: str) -> list[str]:
        return [name for name, _ in lists[kind](inquiry.visible)]

    def is_there(kind: str, name: str) -> bool:
        asked = _as_condition(kind, name)
        if asked is not None and store.count(both(inquiry.visible, asked)):
            return True
        return kind != "path" and name in known(kind)

    missing = islice((one for one in wanted if not is_there(*one)), MOST_CHECKED)
    told = [unknown(kind, name, known(kind)) for kind, name in missing]
    return told if told or keys_alone else _nothing_passes(inquiry, store)


def _nothing_passes(inquiry: Inquiry, store: "Store") -> list[str]:
    """Each name is one that documents have; all that is asked for, none has."""
    asked = both(inquiry.filter, inquiry.query.filter)
    if is_everything(asked) or has_text(asked) or store.count(both(inquiry.visible, asked)):
        return []
    return [f"no document passes what is filtered by: {describe(asked)[:LONGEST]}"]


def _folders(store: "Store", condition: Condition) -> list[tuple[str, int]]:
    """The fullest first; of one outside the base's home, its last name."""
    found = store.facets(condition, ("folder",), Ages(())).get("folder", [])
    short = ((n.rpartition("/")[2] if n.startswith("/") else n, count) for n, count in found)
    return [(f"{name}/", count) for name, count in short if name != "."]


def _as_condition(kind: str, name: str) -> Condition | None:
    """A key in any case, or in what another key holds; a path as a pattern."""
    if kind == "key":
        return Meta(name, "present")
    pattern = path_pattern(name) if kind == "path" else None
    return InPath(pattern) if pattern is not None else None
