"""What every store promises of saved searches. Each test runs against each backend."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase.store.contract import Store
from knowbase.values.changes import SavedSearch
from knowbase.values.synonyms import SYNONYMS
from stores import BACKENDS, NOW

LATER = "2026-02-02T00:00:00.000000Z"
ONE = SavedSearch("one", 'deploy tag:{team} "東京"', {"top": 5, "tags": ["a", "b"]}, NOW, NOW)


@pytest.fixture(params=list(BACKENDS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = BACKENDS[request.param](tmp_path)
    yield made
    made.close()


def test_a_saved_search_comes_back_as_it_was_written_by_name(store: Store) -> None:
    """C18"""
    other = SavedSearch("Another", "", {}, LATER, LATER)
    assert store.saved_searches() == []
    assert store.save_search(ONE)
    assert store.save_search(other)
    assert store.saved_searches() == [other, ONE]


def test_a_name_is_taken_unless_it_is_to_be_replaced_and_stays_as_old_as_it_is(
    store: Store,
) -> None:
    assert store.save_search(ONE, replace=True)
    changed = ONE._replace(query="other", options={}, created_at=LATER, updated_at=LATER)
    assert not store.save_search(changed)
    assert store.saved_searches() == [ONE]
    assert store.save_search(changed, replace=True)
    assert store.saved_searches() == [changed._replace(created_at=NOW)]


def test_a_dropped_search_is_gone(store: Store) -> None:
    store.save_search(ONE)
    assert not store.drop_search("nobody")
    assert store.drop_search("one")
    assert not store.drop_search("one")
    assert store.saved_searches() == []


def test_synonyms_are_replaced_whole_unless_they_are_others_by_now(store: Store) -> None:
    first, second, both = (
        SavedSearch(f"{SYNONYMS}{name}", query, {}, NOW, NOW)
        for name, query in (("a", "a = b"), ("c", "c = d"), ("a", "a = b = c = d"))
    )
    assert store.replace_synonyms([], [], first)
    assert not store.replace_synonyms([], [], second)
    assert store.replace_synonyms(["a = b"], [], second)
    assert not store.replace_synonyms(["a = b"], [first.name], both)
    assert store.synonyms() == ["a = b", "c = d"]
    assert store.replace_synonyms(["a = b", "c = d"], [first.name, second.name], both)
    assert store.synonyms() == ["a = b = c = d"]
    assert store.replace_synonyms(["a = b = c = d"], [both.name])
    assert store.synonyms() == []
