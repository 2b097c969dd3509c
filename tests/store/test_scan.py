"""Vectors of a SQLite base compared in every way that there is: the answers are the same."""

import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from knowbase.query.conditions import EVERYTHING, Condition, Not, Tagged, Visible, both
from knowbase.store import nearest
from knowbase.store.contract import Store
from knowbase.store.plain import PlainStore
from knowbase.store.sqlite import SqliteStore, create, retrieval
from knowbase.values.changes import Changes
from knowbase.values.vectors import Vector
from stores import MODEL, NOW, draft, section, vector

DOCUMENTS = 400
PASSING: dict[str, Condition] = {
    "all": EVERYTHING,
    "all but few": Not(Tagged(("rare",))),
    "half": Tagged(("half",)),
    "few": Tagged(("rare",)),
    "none": Tagged(("none",)),
    "none of them hidden": both(Visible(NOW), Tagged(("half",))),
}


def filled(store: Store) -> Store:
    """Documents of which every second and every 40th has a tag, then some of them removed."""
    chance = random.Random(5)
    store.use_model(MODEL)
    drafts = [
        draft(
            f"d{n}",
            section(f"text {n}"),
            vectors=(vector(*(chance.choice((0.1, 0.5, 1.0)) for _ in range(4))),),
            tags=("half",) * (n % 2) + ("rare",) * (n % 40 == 0),
        )
        for n in range(DOCUMENTS)
    ]
    store.apply(Changes(drafts=tuple(drafts)), NOW)
    store.apply(Changes(removed=tuple(f"d{n}" for n in range(0, DOCUMENTS, 7))), NOW)
    return store


@pytest.fixture(scope="module")
def both_stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    folder: Path = tmp_path_factory.mktemp("scan")
    return filled(PlainStore()), filled(create(str(folder / "base.db")))


def queries() -> list[Vector]:
    chance = random.Random(6)
    return [vector(*(chance.random() for _ in range(4))) for _ in range(4)]


@pytest.mark.parametrize("passing", PASSING.values(), ids=PASSING)
@pytest.mark.parametrize("way", ["blocks", "engine"])
def test_a_filter_never_changes_what_is_nearest(
    both_stores: tuple[Store, Store],
    passing: Condition,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S1-07: every vector that passes is compared, whichever way is the fastest; of equal ones
    the first come first."""
    oracle, store = both_stores
    if way == "engine":
        for module in (nearest, retrieval):  # as in a process that has not loaded numpy
            monkeypatch.setattr(module, "sys", SimpleNamespace(modules={}))
    for query in queries():
        for limit in (1, 10, 300):
            wanted = oracle.semantic(query, passing, limit)
            found = store.semantic(query, passing, limit)
            assert [one.chunk for one in found] == [one.chunk for one in wanted]
            assert [one.score for one in found] == pytest.approx([one.score for one in wanted])


def test_what_fails_is_looked_for_anew_when_somebody_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of what fails a filter is kept while nobody writes, and no longer."""
    path = str(tmp_path / "base.db")
    mine = filled(create(path))
    monkeypatch.setattr(retrieval, "FEW", 5)
    passing, query = Not(Tagged(("none",))), queries()[0]
    first = mine.semantic(query, passing, 1)[0].chunk
    assert mine.semantic_coverage() == 1.0
    other = SqliteStore(path)
    document = mine.passages((first,))[first].document.id
    given = draft(document, section("another"), vectors=(None,), tags=("none",))
    other.apply(Changes(drafts=(given,)), NOW)
    assert mine.semantic(query, passing, 1)[0].chunk != first
    assert mine.semantic_coverage() < 1.0
    other.close()
    mine.close()
