"""Profiles as users change and define them."""

import pytest

from knowbase.errors import InvalidInput
from knowbase.ranking.custom import profiles
from knowbase.ranking.profile import PROFILES


def test_the_shipped_profiles_come_as_they_are() -> None:
    made = profiles({}, {})
    assert {name: custom.profile for name, custom in made.items()} == PROFILES
    assert set(made["memory"].origins.values()) == {"shipped"}


def test_a_profile_of_ones_own_extends_another() -> None:
    tables = {
        "mine": {"extends": "memory", "rrf_k": 20, "weights": {"semantic": 0.9}, "unit": "chunk"}
    }
    mine = profiles(tables, {})["mine"]
    assert mine.profile.name == "mine"
    assert mine.profile.weights == {**PROFILES["memory"].weights, "semantic": 0.9}
    assert (mine.profile.rrf_k, mine.profile.unit, mine.profile.fusion) == (20, "chunk", "linear")
    assert (mine.origins["unit"], mine.origins["fusion"]) == ("kb.toml", "shipped")
    assert PROFILES["memory"].weights["semantic"] == 0.4


def test_a_shipped_profile_can_be_changed() -> None:
    """S1-11: k is configurable."""
    kb = profiles({"kb": {"rrf_k": 10}}, {})["kb"].profile
    assert (kb.rrf_k, kb.depth) == (10, 3)


def test_a_profile_without_a_parent_extends_the_default() -> None:
    assert profiles({"mine": {"depth": 5}}, {})["mine"].profile.candidates(10) == 50


def test_the_documents_variables_change_its_profile() -> None:
    """S4-20"""
    environment = {
        "KB_SEARCH_DEFAULT_LIMIT": "7",
        "KB_SEARCH_MAX_LIMIT": "20",
        "KB_RRF_SEMANTIC_WEIGHT": "0.6",
        "KB_RRF_KEYWORD_WEIGHT": "0.4",
        "KB_SEMANTIC_SIMILARITY_THRESHOLD": "0.25",
    }
    custom = profiles({}, environment)["entries"]
    entries = custom.profile
    assert entries.weights == {"semantic": 0.6, "keyword": 0.4}
    assert (entries.default_top, entries.max_top, entries.min_similarity) == (7, 20, 0.25)
    assert custom.origins["min_similarity"] == "KB_SEMANTIC_SIMILARITY_THRESHOLD"
    assert profiles({}, {})["entries"].profile.default_top == 10
    every = [one.profile for one in profiles({"mine": {}}, environment).values()]
    assert {(one.default_top, one.max_top) for one in every} == {(7, 20)}
    assert {one.weights["semantic"] for one in every if one.name != "entries"} == {
        1.0,
        1.5,
        0.4,
        0.2,
    }


@pytest.mark.parametrize(
    ("table", "field", "hint"),
    [
        ({"extends": "nothing"}, "profiles.x.extends", "memory"),
        ({"rrk_k": 3}, "profiles.x.rrk_k", "rrf_k"),
        ({"rrf_k": 0}, "profiles.x.rrf_k", "at least 1"),
        ({"rrf_k": "many"}, "profiles.x.rrf_k", "number"),
        ({"rrf_k": True}, "profiles.x.rrf_k", "number"),
        ({"depth": 1.5}, "profiles.x.depth", "whole number"),
        ({"match": "some"}, "profiles.x.match", "any_prefix"),
        ({"clamp": 1}, "profiles.x.clamp", "true or false"),
        ({"weights": {"luck": 1}}, "profiles.x.weights.luck", "keyword"),
        ({"weights": {"keyword": -1}}, "profiles.x.weights.keyword", "at least 0"),
        ({"weights": 3}, "profiles.x.weights", ""),
        ({"intents": {"graph": {"luck": 1}}}, "profiles.x.intents.graph.luck", "semantic"),
        ({"kind_weights": {"page": 1}}, "profiles.x.kind_weights.page", "code, data, test"),
        ({"field_weights": {"body": 1}}, "profiles.x.field_weights.body", "heading"),
        ({"title_boost": -1}, "profiles.x.title_boost", "at least 0"),
        ("text", "profiles.x", ""),
    ],
)
def test_mistakes_name_the_field_and_what_is_allowed(table: object, field: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        profiles({"x": table}, {})
    assert refusal.value.field == field
    assert hint in (refusal.value.hint or "")


def test_a_bad_variable_names_the_field() -> None:
    with pytest.raises(InvalidInput) as refusal:
        profiles({}, {"KB_RRF_SEMANTIC_WEIGHT": "high"})
    assert refusal.value.field == "profiles.entries.weights.semantic"


def test_an_unknown_variable_of_a_profile_names_the_nearest() -> None:
    """S4-20"""
    with pytest.raises(InvalidInput) as refusal:
        profiles({}, {"KB_RRF_SEMANTIC_WIEGHT": "0.9"})
    assert refusal.value.hint == "the nearest is KB_RRF_SEMANTIC_WEIGHT"
