"""The Python library as people expect it: keywords, lists, paths, and errors that are ours."""

import datetime as dt
import json
from collections.abc import Iterator
from contextlib import suppress
from inspect import ismethod, signature
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note, SearchRequest
from knowbase.base.keywords import SearchKeywords
from knowbase.errors import BaseError, InvalidInput, KnowbaseError
from knowbase.operations.results import plain
from knowbase.search.request import filter_parameters
from knowbase.values.documents import Page
from knowbase.values.parameters import parameters

WRONG: tuple[Any, ...] = (5, None, [5], {"a": 1}, b"x", object(), 3.5, True, "", ())
PARTS = ("", "graph", "lifecycle", "sessions", "saved")
NOT_ASKED = {
    "close", "flush", "within", "watch", "embed", "export", "show", "rebuild", "query",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("facade")
    (folder / "docs").mkdir()
    (folder / "docs" / "otters.md").write_text("# Otters\n\nOtters hold hands as they sleep.\n")
    with knowbase.create(folder) as base:
        base.add(str(folder / "docs"))  # one path is as good as a list
        base.add([folder / "docs"])
        base.saved.add("all", "otters")
        base.saved.add("N-9", "{what}")
        base.note(Note("Otters are noted", tags=["ops"], code="N-1", project="web"))
    return folder


@pytest.fixture(scope="module")
def base(folder: Path) -> Iterator[Base]:
    with knowbase.open(folder) as base:
        yield base


def codes(answer: Any) -> list[str]:
    return [hit.code for hit in answer.hits]


# keywords


def test_the_keywords_are_the_fields_of_the_request() -> None:
    declared = {one.name for one in parameters(SearchRequest)} | {"filters", "only"}
    assert set(SearchKeywords.__annotations__) == declared
    assert set(filter_parameters()) <= declared


def test_a_search_takes_its_request_by_keywords(base: Base) -> None:
    assert codes(base.search("otters", tags=["ops"])) == ["N-1"]
    assert codes(base.search(query="otters", tags={"ops"}, project=None)) == ["N-1"]
    assert [hit.path for hit in base.search("otters", path="docs/").hits] == ["docs/otters.md"]
    assert codes(base.search("otters", project="web", mode="keyword", top=1)) == ["N-1"]
    assert codes(base.search("otters", filters={"project": "web"})) == ["N-1"]
    request = SearchRequest("otters", tags=("ops",), filters={"project": "web"})
    assert base.search(request, top=1, explain=True).hits[0].explanation is not None
    asked = {"query": "otters", "tags": ["ops"], "path": "docs/"}
    assert base.plan(**asked).flags == ("--tags: tag:ops", "--path: path:docs/")  # type: ignore[arg-type]
    assert base.why_not("N-1", "otters", path="docs/").stage == "filtered"


def test_filters_are_taken_as_python_has_them(base: Base) -> None:
    day, hour = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 10, tzinfo=dt.UTC)
    found = base.search("otters", path=Path("docs"), after=day, created=">2020")
    assert [hit.path for hit in found.hits] == ["docs/otters.md"]
    assert not base.search("otters", before=hour).hits
    assert not base.search("otters", before=day).hits
    assert codes(base.search("otters", filters={"after": str(hour), "project": "web"})) == ["N-1"]
    assert base.plan("otters", salience=0.5).flags == ("--salience: salience:0.5",)


def test_what_is_answered_is_an_object_as_the_command_prints_it(base: Base, folder: Path) -> None:
    kb = Kb(folder)
    for said, words in (
        (base.plan("otters"), ["query", "otters"]),
        (base.why_not("N-1", "otters"), ["why-not", "N-1", "otters"]),
        (base.brief(), ["brief"]),
        (base.status(), ["status"]),
    ):
        assert json.loads(json.dumps(said.to_dict())).keys() == kb.json(*words).keys()


def test_an_unknown_keyword_is_an_error_that_names_the_known_ones(base: Base) -> None:
    for ask in (base.search, base.plan, lambda *a, **k: base.why_not("N-1", *a, **k)):
        with pytest.raises(InvalidInput, match="unknown parameter 'tagz'") as caught:
            ask("otters", tagz=["ops"])  # type: ignore[call-arg]
        assert caught.value.field == "tagz"
        assert {"tags", "path", "top", "filters"} <= set(str(caught.value.hint).split(", "))


@pytest.mark.parametrize("name", ["tags", "type", "include"])
def test_a_text_where_a_list_is_meant_is_an_error_that_says_so(base: Base, name: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} takes a list, not the text 'ops'") as caught:
        base.search("otters", **{name: "ops"})  # type: ignore[arg-type]
    assert (caught.value.field, caught.value.hint) == (name, f"such as {name}=['ops']")


def test_no_text_is_taken_for_the_list_of_its_letters(base: Base, folder: Path) -> None:
    text: Any = "N-1"
    for call in (
        lambda: base.remove(text), lambda: base.lifecycle.forget(text),
        lambda: base.lifecycle.archive(text), lambda: base.lifecycle.restore(text),
        lambda: base.documents(tags=text), lambda: base.documents(types=text),
        lambda: base.add(folder / "docs", tags=text), lambda: Note("x", tags=text),
        lambda: Note("x", roles=text), lambda: base.sessions.timeline("N-1", include=text),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match="takes a list, not the text 'N-1'"):
            call()


# misuse


@pytest.mark.parametrize("part", PARTS)
def test_misuse_raises_our_errors_and_no_others(
    base: Base, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a backup may be written under any name
    held = getattr(base, part) if part else base
    for name in dir(held):
        method = getattr(held, name)
        if name.startswith("_") or name in NOT_ASKED or not ismethod(method):
            continue
        known = [
            one for one in signature(method).parameters.values() if one.kind.name != "VAR_KEYWORD"
        ]
        needed = {one.name: "N-9" for one in known if one.default is one.empty}
        for parameter in known:
            for wrong in WRONG:
                with suppress(KnowbaseError):
                    method(**{**needed, parameter.name: wrong})


@pytest.mark.parametrize("wrong", [5, ["otters"], None, b"otters"])
def test_a_search_for_something_else_than_words_says_what_it_takes(base: Base, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="takes words or a SearchRequest"):
        base.search(wrong)


def test_a_wrong_kind_is_named_before_anything_is_done(base: Base) -> None:
    for call, field in (
        (lambda: base.get(5), "reference"),  # type: ignore[arg-type]
        (lambda: base.add(5), "paths"),  # type: ignore[arg-type]
        (lambda: base.note(5), "text"),  # type: ignore[arg-type]
        (lambda: base.documents(page=5), "page"),  # type: ignore[arg-type]
        (lambda: base.documents(page=Page("x")), "limit"),  # type: ignore[arg-type]
        (lambda: base.graph.related("N-1", 5, b"x"), "depth"),  # type: ignore[arg-type]
        (lambda: base.search("x", filters=5), "filters"),  # type: ignore[arg-type]
        (lambda: base.search("x", only=5), "only"),  # type: ignore[arg-type]
        (lambda: base.search("x", type=["nope"]), "type"),
        (lambda: knowbase.open(5), "path"),  # type: ignore[arg-type]
        (lambda: knowbase.open("http://localhost:1"), "base"),
        (lambda: base.saved.run("all", tagz=1), "tagz"),
    ):
        with pytest.raises(InvalidInput) as caught:
            call()
        assert caught.value.field == field


def test_a_closed_base_says_that_it_is_closed(tmp_path: Path) -> None:
    base = knowbase.create(tmp_path / "closed.db")
    base.close()
    with pytest.raises(BaseError, match="the base is closed"):
        base.search("otters", mode="keyword")


# what comes back


def test_a_hit_has_its_text_and_everything_its_dict(base: Base, folder: Path) -> None:
    answer = base.search("otters sleep", path="docs/")
    [hit] = answer.hits
    assert hit.text == "# Otters\n\nOtters hold hands as they sleep.\n"
    shown = Kb(folder).json("search", "otters sleep", "--path", "docs/")
    [told] = answer.to_dict()["hits"]
    assert told == hit.to_dict()
    assert told == {**shown["hits"][0], "score": told["score"]}
    assert {*answer.to_dict()} == {*shown}
    content = base.get("N-1")
    assert content.to_dict() == plain(content)
    assert content.to_dict()["document"] == content.document.to_dict()
    assert content.document.to_dict()["tags"] == ["ops"]
    assert base.documents().to_dict()["total"] == 2
