"""Every filter that is declared works through everything that searches."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conftest import Kb
from knowbase import Base, Note, SearchRequest, create
from knowbase.embed.granite import Granite
from knowbase.operations import load
from knowbase.operations.declare import build
from knowbase.search.request import filter_parameters
from servers import Served, serving

EARLY = datetime(2026, 5, 1, tzinfo=UTC).timestamp()
LATE = datetime(2026, 7, 1, tzinfo=UTC).timestamp()
ONE: dict[str, Any] = {  # what passes the late document alone; "before" passes the early one
    "created": ">2026-06",
    "updated": ">2026-06",
    "after": "2026-06-01",
    "before": "2026-06-01",
    "under": "P-1",
    "children": "P-1",
    "project": "web",
    "role": "qa",
    "confidence": ">=0.8",
    "scope": "project",
    "sector": "episodic",
    "tier": "project",
    "salience": ">0.6",
    "tags": ["ops"],
    "type": ["decision"],
    "min_salience": 0.6,
    "session_filter": "s1",
}
OTHERS = ("tags", "type", "min_salience", "session_filter")  # filters that are no plain field


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filters")
    path, moment = create(str(folder)).path, [EARLY]
    with Base(path, embedder=Granite(), clock=lambda: moment[0]) as base:
        base.note(Note("A page above", code="P-1"))
        base.note(Note("otters hold hands", code="EARLY"))
        moment[0] = LATE
        late = Note(
            "otters hold hands as they sleep", code="LATE", parent="P-1", project="web",
            roles=["QA"], confidence=0.9, sector="episodic", tier="project", salience=0.9,
            tags=["ops"], type="decision", session="s1",
        )  # fmt: skip
        base.remember(late)
    return folder


@pytest.fixture(scope="module")
def base(folder: Path) -> Iterator[Base]:
    with Base(str(folder / ".kb" / "base.db"), embedder=Granite(), clock=lambda: LATE) as base:
        yield base


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    with serving(folder) as server:
        yield server


def passing(name: str) -> str:
    return "EARLY" if name == "before" else "LATE"


def otters(codes: Iterable[str]) -> list[str]:
    """Without the page above, which meaning finds too."""
    return [code for code in codes if code != "P-1"]


def test_there_is_a_value_for_every_filter() -> None:
    assert set(ONE) == {*filter_parameters(), *OTHERS}


@pytest.mark.parametrize("name", ONE)
def test_a_filter_means_the_same_in_search_why_not_saved_and_query(base: Base, name: str) -> None:
    """C8 C33"""
    values = {"query": "otters", name: ONE[name]}
    lost = "LATE" if passing(name) == "EARLY" else "EARLY"

    def run(operation: str, **more: Any) -> Any:
        declared = load(operation)
        return declared.run(base, build(declared.request, {**values, **more}))

    for mode in ("keyword", "semantic", "hybrid"):
        assert otters(hit.code for hit in run("search", mode=mode).hits) == [passing(name)]
    assert run("why-not", reference=lost).stage == "filtered"
    assert run("why-not", reference=passing(name)).stage == "hit"
    run("saved add", name=f"by-{name}")
    assert otters(hit.code for hit in base.saved.run(f"by-{name}").hits) == [passing(name)]
    assert len(run("query").flags) == 1


@pytest.mark.parametrize("name", ONE)
def test_a_filter_means_the_same_over_http(served: Served, name: str) -> None:
    values = {"query": "otters", name: ONE[name]}
    lost = "LATE" if passing(name) == "EARLY" else "EARLY"
    hits = served.json("search", **values)["hits"]
    assert otters(hit["code"] for hit in hits) == [passing(name)]
    assert served.json("why-not", reference=lost, **values)["stage"] == "filtered"
    assert len(served.json("query", **values)["flags"]) == 1


@pytest.mark.parametrize("name", ["project", "under", "after", "min_salience", "session_filter"])
def test_a_filter_is_a_flag_of_each_command(folder: Path, name: str) -> None:
    kb = Kb(folder)
    flag = (f"--{name.replace('_', '-')}", str(ONE[name]))
    lost = "EARLY"
    assert [hit["code"] for hit in kb.json("search", "otters", *flag)["hits"]] == ["LATE"]
    assert kb.json("why-not", lost, "otters", *flag)["stage"] == "filtered"
    kb("saved", "add", f"cli-{name}", "otters", *flag)
    assert [hit["code"] for hit in kb.json("saved", "run", f"cli-{name}")["hits"]] == ["LATE"]


def test_null_is_as_good_as_nothing(served: Served) -> None:
    found = served.json("search", query="otters", project=None, tags=None, after=None)
    assert set(otters(hit["code"] for hit in found["hits"])) == {"LATE", "EARLY"}


def test_a_request_in_python_takes_filters_by_their_names(base: Base) -> None:
    request = SearchRequest("otters", filters={"project": "web", "role": "qa"})
    assert [hit.code for hit in base.search(request).hits] == ["LATE"]


def test_what_an_older_version_saved_still_runs(base: Base) -> None:
    """0.1 kept filters in pairs, and types under another name."""
    from knowbase.values.changes import SavedSearch

    options = {"filters": [["project", "{where}"], ["session", "s1"]], "types": ["decision"]}
    old = SavedSearch("old", "otters", options, base.now(), base.now())
    base.store.save_search(old)
    assert base.saved.get("old").parameters == ("where",)
    found = base.saved.run("old", {"where": "web"})
    assert [hit.code for hit in found.hits] == ["LATE"]
