"""Every filter that is declared works through everything that searches."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conftest import Kb
from knowbase import Base, Note, SearchRequest, create
from knowbase.contracts.entries import kb_search
from knowbase.contracts.knowledge import Options, fts_search, search_knowledge
from knowbase.contracts.memory import SearchOptions, create_search_service
from knowbase.embed.granite import Granite
from knowbase.errors import InvalidInput
from knowbase.operations import load
from knowbase.search.request import filter_parameters
from knowbase.values.parameters import build
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
HAS = {  # what the document that is left out has instead
    "created": "it has 2026-05-01", "updated": "it has 2026-05-01", "after": "it has 2026-05-01",
    "before": "it has 2026-07-01", "salience": "it has 0.5", "scope": "it has global",
    "type": "it has note", **dict.fromkeys(("min_salience", "session_filter"), "leaves it out"),
    **dict.fromkeys(("under", "children", "project", "role", "confidence", "sector", "tier",
                     "tags"), "it has none"),
}  # fmt: skip
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
    """test_paths.py has path: notes have none."""
    assert set(ONE) == {*filter_parameters(), *OTHERS} - {"path"}


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
    why = run("why-not", reference=lost)
    assert (why.stage, HAS[name] in why.reason) == ("filtered", True), why.reason
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


@pytest.mark.parametrize("name", ONE)
def test_a_filter_is_a_flag_of_each_command(folder: Path, name: str) -> None:
    kb = Kb(folder)
    value = ONE[name][0] if isinstance(ONE[name], list) else str(ONE[name])
    flag = (f"--{name.replace('_', '-')}", value)
    lost = "LATE" if passing(name) == "EARLY" else "EARLY"
    found = kb.json("search", "otters", "--fts-only", *flag)["hits"]
    assert [hit["code"] for hit in found] == [passing(name)]
    assert kb.json("why-not", lost, "otters", "--fts-only", *flag)["stage"] == "filtered"


def test_the_contracts_ask_by_the_same_filters(base: Base) -> None:
    """S0-05 S2-14 S4-11"""
    entries = kb_search(base, query="otters", role="qa", tags=["ops"], min_confidence=0.8)
    assert [entry.code for entry in entries.results] == ["LATE"]
    options = SearchOptions(
        "otters", project_id="web", sector="episodic", tier="project", min_salience=0.6,
        session_filter="s1",
    )  # fmt: skip
    memories = create_search_service(base).search(options)
    assert [one.memory.code for one in memories] == ["LATE"]
    for search in (search_knowledge, fts_search):
        found = search(base, "otters", Options(scope="project", types=("decision",)))
        assert len(found) == 1
        with pytest.raises(InvalidInput, match="'nowhere' is not a scope"):
            search(base, "otters", Options(scope="nowhere"))


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (SearchRequest("x", filters={"nope": "y"}), "nope"),
        (SearchRequest("x", filters={"similar": "y"}), "similar"),
        (SearchRequest("x", filters={"project": 5}), "project"),  # type: ignore[dict-item]
        (SearchRequest("x", top="many"), "top"),  # type: ignore[arg-type]
        (SearchRequest("x", threshold="x"), "threshold"),  # type: ignore[arg-type]
        (SearchRequest("x", include=("bogus",)), "include"),
        (SearchRequest("x", mode="best"), "mode"),
    ],
)
def test_a_wrong_request_in_python_is_an_error_that_names_the_field(
    base: Base, request_: SearchRequest, field: str
) -> None:
    for ask in (base.search, base.plan, lambda one: base.saved.add("wrong", one)):
        with pytest.raises(InvalidInput) as caught:
            ask(request_)
        assert caught.value.field == field


def test_one_tag_is_as_good_as_a_list_of_one(base: Base) -> None:
    request = SearchRequest("otters", tags="ops", include=["archived"])  # type: ignore[arg-type]
    assert [hit.code for hit in base.search(request).hits] == ["LATE"]


def test_a_plan_shows_the_flags_as_they_are_meant(base: Base) -> None:
    request = SearchRequest("x", tags=("#Ops", "y"), min_salience=0.3, session_filter="s1")
    assert base.plan(request).flags == (
        "--tags: tag:ops tag:y", "--session-filter: session:s1", "--min-salience: salience:>=0.3",
    )  # fmt: skip
    assert base.plan(request._replace(profile="entries")).flags[0] == "--tags: tag:ops OR tag:y"


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
