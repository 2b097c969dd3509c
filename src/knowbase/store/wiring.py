"""A graph as columns, out of what a store has of it. Loaded where a whole graph is asked for."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from knowbase.values.edges import Node, Wiring

if TYPE_CHECKING:
    from numpy.typing import NDArray


def wired(known: Mapping[int, Node], rows: Iterable[tuple[int, int, str, float]]) -> Wiring:
    """The links between known documents, which stand in order, by the documents' numbers."""
    places: dict[str, int] = {}
    found = [
        (source, target, weight, places.setdefault(relation, len(places)))
        for source, target, relation, weight in rows
    ]
    return _wired(known, np.array(found, "f8").reshape(-1, 4), tuple(places))


def wired_with(
    known: Mapping[int, Node],
    rows: Iterable[tuple[int, int, str, float]],
    relation: str,
    more: "NDArray[Any]",
) -> Wiring:
    """The same, where nearly all links are of one relation: of each, its ends and its weight."""
    given = [*rows]
    names = tuple(sorted({relation, *(row[2] for row in given)}))
    others = [(source, target, weight, names.index(name)) for source, target, name, weight in given]
    table = np.column_stack((more, np.full(len(more), names.index(relation))))
    if others:
        table = np.concatenate((table, np.array(others, "f8")))
        table = table[np.lexsort((table[:, 3], table[:, 1], table[:, 0]))]
    return _wired(known, table, names)


def _wired(known: Mapping[int, Node], table: "NDArray[Any]", names: tuple[str, ...]) -> Wiring:
    """Numbers of documents and relations are floats there, which hold them to the last bit."""
    numbers = np.fromiter(known, "f8", len(known))
    ends = [np.searchsorted(numbers, table[:, side]) for side in (0, 1)]
    kept = np.ones(len(table), bool)
    for side in (0, 1):
        kept &= np.append(numbers, np.nan)[ends[side]] == table[:, side]
    if not kept.all():
        table, ends = table[kept], [end[kept] for end in ends]
    relations = table[:, 3].astype("i8")
    present = np.bincount(relations, minlength=len(names)) > 0
    return Wiring(
        [*known.values()],
        ends[0],
        ends[1],
        (np.cumsum(present) - 1)[relations],
        table[:, 2].copy(),
        tuple(name for name, is_there in zip(names, present, strict=True) if is_there),
    )
