"""Pages of an answer, and the counts beside it: on every surface, in both engines."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note, SearchRequest
from knowbase.errors import Conflict, InvalidInput
from knowbase.values.access import Access
from postgres import new_base
from servers import serving

NUMBER = 25
DAY = 86_400
EVERY = ("type", "tag", "project", "folder", "age", "week")


def fill(place: str) -> str:
    """Notes of two projects and of several ages, and two files; where the base is."""
    with knowbase.create(place) as base:
        for number in range(NUMBER):
            note = Note(
                f"# Note {number}\n\nThe harbour {'pilot ' * (number % 5)}log of day {number}.",
                tags=("odd" if number % 2 else "even", "log"),
                project="web" if number % 3 else "ops",
                type="decision" if number % 4 == 0 else "note",
            )
            base.note(note)
    with Base(base.path, clock=lambda: time.time() - 40 * DAY) as earlier:
        earlier.note(Note("An old harbour log.", tags=("log",)))
    return base.path


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Base, Base]]:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "docs" / "deep").mkdir(parents=True)
    (folder / "docs" / "deep" / "one.md").write_text("# One\n\nA harbour far away.\n")
    (folder / "docs" / "two.md").write_text("# Two\n\nA harbour nearby.\n")
    made = [Base(fill(place)) for place in (str(folder), new_base())]
    for base in made:
        base.home = str(folder)
        base.add([str(folder / "docs")])
    yield made[0], made[1]
    for base in made:
        base.close()


def pages(base: Base, request: SearchRequest) -> Iterator[knowbase.Answer]:
    """Every page, by its cursor."""
    answer = base.search(request)
    yield answer
    while answer.next_cursor is not None:
        answer = base.search(request._replace(cursor=answer.next_cursor))
        yield answer


@pytest.mark.parametrize(
    "asked",
    [
        {"query": "harbour pilot", "mode": "keyword"},
        {"query": "harbour pilot", "profile": "work", "unit": "document"},
        {"query": "harbour pilot", "profile": "kb"},
        {"filters": {"project": "web"}},
    ],
    ids=["words", "shallow", "both legs", "filters alone"],
)
def test_pages_show_each_hit_once_and_leave_none_out(
    bases: tuple[Base, Base], asked: dict[str, Any]
) -> None:
    """The same pages in both engines, and by the offset."""
    found: list[list[str]] = []
    for base in bases:
        request = SearchRequest(**asked, top=4)
        codes: list[str] = []
        for answer in pages(base, request):
            assert answer.offset == len(codes)
            by_offset = base.search(request._replace(offset=len(codes)))
            assert [one.section for one in by_offset.hits] == [one.section for one in answer.hits]
            codes += [one.section for one in answer.hits]
        assert len(set(codes)) == len(codes)
        every = base.search(SearchRequest(**asked, top=40))
        assert set(codes) == {one.section for one in every.hits}
        first = base.search(request)
        assert [one.section for one in first.hits] == codes[:4]
        found.append(sorted(codes))
        assert base.search(request._replace(offset=90_000)).hits == ()
    assert found[0] == found[1]


def test_a_cursor_is_of_one_search_alone(bases: tuple[Base, Base]) -> None:
    base = bases[0]
    request = SearchRequest("harbour", mode="keyword", top=5)
    cursor = base.search(request).next_cursor
    assert cursor is not None
    again = base.search(request._replace(cursor=cursor, explain=True, facets=("type",)))
    assert again.offset == 5
    others: tuple[dict[str, Any], ...] = (
        {"query": "harbours"}, {"tags": ("odd",)}, {"top": 6}, {"mode": "hybrid"},
        {"profile": "work"}, {"filters": {"project": "web"}}, {"include": ("archived",)},
    )  # fmt: skip
    for other in others:
        with pytest.raises(Conflict, match="belongs to another search"):
            base.search(request._replace(cursor=cursor, **other))
    for wrong in ("", "5", "x-y", "-1-" + "0" * 16, "²-" + "0" * 16):
        with pytest.raises(InvalidInput, match="cursor cannot be"):
            base.search(request._replace(cursor=wrong))
    with pytest.raises(Conflict, match="twice"):
        base.search(request._replace(cursor=cursor, offset=5))


def counts(answer: knowbase.Answer) -> dict[str, dict[str, int]]:
    return {name: dict(values) for name, values in answer.facets.items()}


def test_facets_count_every_document_that_matches(bases: tuple[Base, Base]) -> None:
    """Whether it is among the hits or not, the same in both engines, and only when asked."""
    sqlite, postgres = (
        base.search(SearchRequest("harbour", mode="keyword", top=1, facets=EVERY)) for base in bases
    )
    assert sqlite.returned == 1
    assert sqlite.facets == postgres.facets
    told = counts(sqlite)
    kinds = Counter("decision" if one % 4 == 0 else "note" for one in range(NUMBER))
    assert told["type"] == {**kinds, "note": kinds["note"] + 1, "markdown": 2}
    assert told["tag"] == {"log": NUMBER + 1, "even": 13, "odd": 12}
    assert told["project"] == {"web": 16, "ops": 9}
    assert told["folder"] == {"docs/deep": 1, "docs": 1}
    assert told["age"] == {"day": NUMBER + 2, "year": 1}
    numbers = [one.documents for one in sqlite.facets["tag"]]
    assert numbers == sorted(numbers, reverse=True)
    assert bases[0].search(SearchRequest("harbour", mode="keyword")).facets == {}


def test_facets_count_within_the_filters_and_words(bases: tuple[Base, Base]) -> None:
    requests = (
        SearchRequest("pilot", facets=("tag", "project"), tags=("odd",)),
        SearchRequest("pilot -harbour", facets=("type",)),
        SearchRequest("+pilot harbour", mode="keyword", facets=("tag",)),
        SearchRequest("harbour", mode="semantic", facets=("project",)),
        SearchRequest(facets=("type", "age"), filters={"project": "ops"}),
        SearchRequest("harbour nothing", profile="entries", facets=("type",), mode="keyword"),
    )
    for request in requests:
        one, other = (base.search(request) for base in bases)
        assert one.facets == other.facets, request
    first = bases[0].search(requests[0])
    assert counts(first)["tag"] == {"odd": 10, "log": 10}
    assert counts(bases[0].search(requests[1]))["type"] == {}
    assert counts(bases[0].search(requests[4]))["type"] == {"note": 6, "decision": 3}


def test_facets_tell_nothing_of_other_projects(bases: tuple[Base, Base]) -> None:
    request = SearchRequest("harbour", mode="keyword", facets=EVERY)
    for base in bases:
        told = counts(base.within(Access(write=False, project="ops")).search(request))
        assert told["project"] == {"ops": 9}
        assert sum(told["type"].values()) == 9
        assert told["folder"] == {}


def test_pages_and_facets_are_on_every_surface(kb: Kb) -> None:
    fill(str(kb.folder))
    asked = ("search", "harbour", "--fts-only", "--top", "5", "--facets", "type,project")
    told = kb.json(*asked)
    assert told["facets"]["project"][0] == {"value": "web", "documents": 16}
    shown = kb(*asked).out
    assert "more: --offset 5" in shown
    assert "project: web 16, ops 9" in shown
    second = kb.json(*asked, "--cursor", told["next_cursor"])
    assert second["offset"] == 5
    assert kb.json(*asked, "--offset", "5")["hits"] == second["hits"]
    with serving(kb.folder) as server:
        values: dict[str, Any] = {
            "query": "harbour",
            "mode": "keyword",
            "top": 5,
            "facets": ["type", "project"],
        }
        answer = server.json("search", **values)
        assert (answer["facets"], answer["next_cursor"]) == (told["facets"], told["next_cursor"])
        response = server.client.get("/api/search", params={**values, "facets": "type,project"})
        link = response.links["next"]["url"]
        following = httpx.get(server.address + link).json()
        assert [one["id"] for one in following["hits"]] == [one["id"] for one in second["hits"]]
        refused = server.post("search", **{**values, "cursor": answer["next_cursor"], "top": 6})
        assert refused.status_code == 409
        assert refused.json()["error"]["field"] == "cursor"
        assert server.post("search", query="x", facets=["colour"]).status_code == 422
