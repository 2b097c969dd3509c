"""Saved searches, from Python, on a file and on PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import knowbase
from knowbase import Base, Note, SearchRequest
from knowbase.errors import InvalidInput, NotFound
from knowbase.query.conditions import Tagged
from postgres import new_base


@pytest.fixture(params=["sqlite", "postgres"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Base]:
    place = str(tmp_path / "base.db") if request.param == "sqlite" else new_base()
    with knowbase.create(place) as made:
        made.note(Note("Deploys of the web shop freeze on Fridays", tags=("ops", "web")))
        made.note(Note("Deploys of the till freeze on Mondays", tags=("ops",)))
        yield made


def titles(answer: knowbase.Answer) -> list[str]:
    return [hit.title for hit in answer.hits]


def test_a_saved_search_gives_the_answer_of_the_search_itself(base: Base) -> None:
    """C18"""
    request = SearchRequest("deploys tag:web", top=3, mode="keyword", filters={"scope": "global"})
    saved = base.saved.add("web", request)
    assert (saved.query, saved.parameters) == ("deploys tag:web", ())
    assert base.saved.run("web").hits == base.search(request).hits != ()
    assert base.saved.all().saved == (saved,) == (base.saved.get("web"),)


def test_places_are_filled_in_and_fields_can_be_changed_for_once(base: Base) -> None:
    saved = base.saved.add(
        "frozen", SearchRequest("{what} freeze", tags=("{tag}",), mode="keyword")
    )
    assert saved.parameters == ("what", "tag")
    answer = base.saved.run("frozen", {"what": "till", "tag": "ops"}, top=1)
    assert titles(answer) == ["Deploys of the till freeze on Mondays"]
    assert titles(base.saved.run("frozen", {"what": "till", "tag": "web"})) == [
        "Deploys of the web shop freeze on Fridays"
    ]


def test_a_value_with_quotes_stays_one_value(base: Base) -> None:
    base.note(Note("Of the odd one", project='a "b" OR c'))
    base.saved.add("of", SearchRequest("", filters={"project": "{project}"}))
    answer = base.saved.run("of", {"project": 'a "b" OR c'})
    assert titles(answer) == ["Of the odd one"]


def test_missing_and_unknown_values_are_named(base: Base) -> None:
    base.saved.add("two", "{a} tag:{b}")
    with pytest.raises(InvalidInput, match="a value for b") as missing:
        base.saved.run("two", {"a": "x", "b": " "})
    assert missing.value.hint == "set b=…"
    with pytest.raises(InvalidInput, match="no parameter c"):
        base.saved.run("two", {"a": "x", "b": "y", "c": "z"})


def test_what_the_base_does_not_know_is_refused_when_it_is_saved(base: Base) -> None:
    for wrong in (
        SearchRequest("x", profile="nobody"),
        SearchRequest("x", type=("nothing",)),
        SearchRequest("x", only=Tagged(("a",))),
    ):
        with pytest.raises(InvalidInput):
            base.saved.add("wrong", wrong)
    base.saved.add("later", SearchRequest("x", type=("{type}",)))
    with pytest.raises(InvalidInput, match="unknown type"):
        base.saved.run("later", {"type": "nothing"})


@pytest.mark.parametrize("name", ["", " ", "a b", "-a", "_a", "a/b", "a\nb", "x" * 65])
def test_odd_names_are_refused(base: Base, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be called"):
        base.saved.add(name, "x")


def test_a_name_is_only_taken_over_when_told(base: Base) -> None:
    first = base.saved.add("東京.a-1_b", "x")
    with pytest.raises(InvalidInput, match="there is a saved search"):
        base.saved.add(first.name, "y")
    second = base.saved.add(first.name, "y", replace=True)
    assert (second.query, second.created_at) == ("y", first.created_at)


def test_a_removed_search_is_gone_and_a_wrong_name_is_answered_with_those_there_are(
    base: Base,
) -> None:
    base.saved.add("deploys", "deploys")
    with pytest.raises(NotFound) as unknown:
        base.saved.run("deploy")
    assert unknown.value.hint == "there is deploys"
    assert base.saved.remove("deploys").query == "deploys"
    with pytest.raises(NotFound):
        base.saved.remove("deploys")


def test_a_quote_that_is_never_closed_is_refused_when_there_are_places(base: Base) -> None:
    with pytest.raises(InvalidInput, match="never closed") as refused:
        base.saved.add("odd", '"{x}')
    assert refused.value.field == "query"
    base.saved.add("odd", 'a "quote')
