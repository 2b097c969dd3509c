"""What lies around a document, on each engine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Kb
from knowbase import Base
from knowbase.base.services import Opened
from knowbase.graph.neighbourhood import Neighbourhood, Wanted
from knowbase.store.contract import Store
from knowbase.values.access import Access
from knowbase.values.changes import Changes
from knowbase.values.reading import Link
from stores import BACKENDS, NOW, draft, section


def linked(store: Store, links: dict[str, tuple[str, ...]], project: str | None = None) -> None:
    """Documents that are called by their ids, with these links."""
    drafts = [
        draft(
            name,
            section(name),
            code=name.upper(),
            links=tuple(Link(to, "wiki") for to in targets),
            vectors=(None,),
            project=project,
        )
        for name, targets in links.items()
    ]
    store.apply(Changes(drafts=tuple(drafts)), NOW)


def codes(found: Neighbourhood) -> list[str]:
    return [one.code for one in found.nodes]


@pytest.mark.parametrize("make", BACKENDS.values(), ids=BACKENDS)
def test_the_nearest_come_first_and_the_rest_is_counted(
    make: Callable[[Path], Store], tmp_path: Path
) -> None:
    store = make(tmp_path)
    linked(store, {"a": ("b", "c", "no such"), "b": ("d",), "c": (), "d": ("e",), "e": ()})
    with Base(str(tmp_path / "base.db"), opened=Opened(store)) as base:
        near = base.graph.neighbourhood("a")
        assert codes(near) == ["A", "B", "C"]
        assert [(one.depth, one.degree, one.more) for one in near.nodes] == [
            (0, 2, 0),
            (1, 2, 1),
            (1, 1, 0),
        ]
        assert {one.relation for one in near.links} == {"REFERENCES"}
        assert [(one.source, one.text) for one in near.dead] == [("a", "no such")]
        assert sorted(codes(base.graph.neighbourhood("a", Wanted(depth=3)))) == list("ABCDE")
        few = base.graph.neighbourhood("a", Wanted(depth=2, limit=2))
        assert (len(few.nodes), few.left_out) == (2, 1 if few.nodes[1].code == "C" else 2)
        assert codes(base.graph.neighbourhood("a", Wanted(relations=("parent_of",)))) == ["A"]
        assert codes(base.graph.neighbourhood("a", Wanted(strength=0.81))) == ["A"]
        assert codes(base.graph.neighbourhood("a", Wanted(types=("pdf",)))) == ["A"]
        assert few == base.graph.neighbourhood("a", Wanted(depth=2, limit=2))


@pytest.mark.parametrize("many", [1_000, pytest.param(10_000, marks=pytest.mark.soak)])
def test_a_hub_is_cut_to_what_can_be_looked_at(many: int, tmp_path: Path) -> None:
    store = BACKENDS["sqlite"](tmp_path)
    names = [f"n{number}" for number in range(many)]
    linked(store, {"hub": tuple(names)})
    linked(store, dict.fromkeys(names, ()))
    with Base(str(tmp_path / "base.db"), opened=Opened(store)) as base:
        near = base.graph.neighbourhood("hub", Wanted(depth=3))
        assert (len(near.nodes), len(near.links)) == (60, 59)
        assert (near.nodes[0].degree, near.nodes[0].more, near.left_out) == (
            many,
            many - 59,
            many - 59,
        )


def test_one_project_is_shown_nothing_of_another(tmp_path: Path) -> None:
    store = BACKENDS["sqlite"](tmp_path)
    linked(store, {"a": ("b", "x", "gone")}, project="ours")
    linked(store, {"b": ()}, project="ours")
    linked(store, {"x": ("a",)}, project="theirs")
    with Base(str(tmp_path / "base.db"), opened=Opened(store)) as base:
        assert codes(base.graph.neighbourhood("a")) == ["A", "B", "X"]
        held = base.within(Access(project="ours")).graph.neighbourhood("a")
        assert (codes(held), held.nodes[0].degree, held.dead) == (["A", "B"], 1, ())


def test_the_command_says_it_in_lines(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    kb("note", "See [[T-2]] and [[T-3]].", "--code", "T-1")
    kb("note", "Two", "--code", "T-2")
    told = kb("neighbourhood", "T-1").out
    assert "T-1 REFERENCES T-2" in told
    assert "leads nowhere: T-3" in told
    assert kb.json("neighbourhood", "T-1")["dead_total"] == 1
    assert "from 1 to 3" in kb.error("neighbourhood", "T-1", "--depth", "9", code=2)


def test_dead_links_of_all_are_asked_for_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = BACKENDS["sqlite"](tmp_path)
    linked(store, {"a": ("b", "c", "gone"), "b": ("gone", "lost"), "c": ()})
    monkeypatch.setattr(type(store), "unresolved", None)
    with Base(str(tmp_path / "base.db"), opened=Opened(store)) as base:
        near = base.graph.neighbourhood("a")
    assert [one[:2] for one in near.dead] == [("a", "gone"), ("b", "gone"), ("b", "lost")]
    assert near.dead_total == 3
