"""The fixture entries: known entries, known queries, and the rankings that are expected."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import knowbase
from entries import fixtures, seed
from knowbase import Base, SearchRequest

QUERIES = fixtures()["queries"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    with knowbase.create(str(tmp_path_factory.mktemp("entries") / "base.db")) as base:
        seed(base)
        yield base


def test_there_are_more_than_twenty_entries_in_seven_categories() -> None:
    """S4-23"""
    entries = fixtures()["entries"]
    assert len(entries) > 20
    assert len(Counter(entry["category"] for entry in entries)) == 7


@pytest.mark.parametrize("profile", ["entries", "best"])
@pytest.mark.parametrize("query", QUERIES, ids=[one["query"] for one in QUERIES])
def test_the_expected_ranking_holds(base: Base, query: dict[str, object], profile: str) -> None:
    """S4-23: what is named comes in its order, and first of all comes the first."""
    request = SearchRequest(str(query["query"]), profile=profile, unit="document", top=20)
    found = [hit.code for hit in base.search(request).hits]
    expected = query["expected"]
    assert isinstance(expected, list)
    assert found[0] == expected[0]
    assert [code for code in found if code in expected] == expected


def test_what_is_irrelevant_is_behind_everything_expected(base: Base) -> None:
    """S4-23"""
    irrelevant = {e["id"] for e in fixtures()["entries"] if e["category"] == "irrelevant"}
    for query in QUERIES:
        request = SearchRequest(query["query"], profile="entries", top=20)
        found = [hit.code for hit in base.search(request).hits]
        last = max(found.index(code) for code in query["expected"])
        assert irrelevant.isdisjoint(found[:last]), query


def test_seeding_again_changes_nothing_and_clearing_starts_anew(tmp_path: Path) -> None:
    """S4-23: seed [--clear]"""
    with knowbase.create(str(tmp_path / "base.db")) as base:
        number = seed(base)
        base.note(knowbase.Note("somebody's own", code="MINE-1"))
        ids = {document.code: document.id for document in base.documents().documents}
        seed(base)
        assert {d.code: d.id for d in base.documents().documents} == ids
        seed(base, clear=True)
        again = {document.code: document.id for document in base.documents().documents}
        assert len(again) == number + 1
        assert again["MINE-1"] == ids["MINE-1"]
        assert again["FX-1"] != ids["FX-1"]
        assert base.whole("FX-22").parent == "FX-21"
