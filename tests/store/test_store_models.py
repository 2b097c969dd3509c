"""What every store promises of models and their vectors. Each test runs against each backend."""

import pytest
from test_store_contract import near, put

from knowbase.errors import ModelMismatch
from knowbase.query.conditions import EVERYTHING
from knowbase.store.contract import Store
from knowbase.values.changes import Changes
from knowbase.values.vectors import Model, StoredModel
from stores import MODEL, NOW, draft, section, vector

OTHER = Model("other", "2", 3)


def test_vectors_of_another_model_are_built_beside_and_then_switched_to(store: Store) -> None:
    """C23, S2-07: a search uses the active model's vectors only, old or new, never both."""
    put(store, draft("one", section("alpha"), vectors=(vector(1, 0, 0, 0),)))
    put(store, draft("two", section("beta"), vectors=(vector(0, 1, 0, 0),)))
    [first, second] = store.unembedded(OTHER, 0, 10)
    assert [first.document.id, second.document.id] == ["one", "two"]
    store.put_vectors(OTHER, "how to load it", {first.chunk.hash: vector(0, 0, 1)})
    assert not store.switch_model(OTHER)
    assert store.model() == MODEL
    assert near(store, 1, 0, 0, 0) == ["one", "two"]
    assert store.unembedded(OTHER, 0, 10) == [second] == store.unembedded(OTHER, 1, 10)
    assert store.unembedded(OTHER, second.chunk_id, 10) == []
    assert store.models() == [
        StoredModel(MODEL, "", 2, True),
        StoredModel(OTHER, "how to load it", 1, False),
    ]
    store.put_vectors(OTHER, "how to load it", {second.chunk.hash: vector(0, 1, 0)})
    assert store.switch_model(OTHER)
    assert store.model() == OTHER
    assert near(store, 0, 1, 0) == ["two", "one"]
    assert dict(store.vectors([first.chunk.hash])) == {first.chunk.hash: vector(0, 0, 1)}
    assert dict(store.vectors([first.chunk.hash], MODEL)) == {first.chunk.hash: vector(1, 0, 0, 0)}


def test_a_search_that_began_before_a_switch_ends_with_its_own_model(store: Store) -> None:
    """C23"""
    given = draft("one", section("alpha"), vectors=(vector(1, 0, 0, 0),))
    put(store, given)
    store.put_vectors(OTHER, "", {given.chunks[0].hash: vector(0, 0, 1)})
    assert store.switch_model(OTHER)
    [candidate] = store.semantic(vector(1, 0, 0, 0), EVERYTHING, 5, MODEL)
    assert candidate.score == pytest.approx(1.0, abs=1e-6)
    assert store.semantic(vector(1, 0, 0, 0), EVERYTHING, 5, Model("nobody", "1", 4)) == []


def test_vectors_made_before_a_switch_never_land_among_those_of_the_new_model(
    store: Store,
) -> None:
    """C23: who embeds while another process switches loses nothing but the head start."""
    store.put_vectors(OTHER, "", {})
    assert store.switch_model(OTHER)
    late = draft("late", section("alpha"), vectors=(vector(1, 0, 0, 0),))
    store.apply(Changes(drafts=(late,), model=MODEL), NOW)
    assert near(store, 0, 0, 1) == []
    assert store.semantic_coverage() == 0.0
    assert [passage.document.id for passage in store.unembedded(OTHER, 0, 10)] == ["late"]
    unknown = draft("new", section("beta"), vectors=(vector(1, 0, 0, 0),))
    store.apply(Changes(drafts=(unknown,), model=Model("unknown", "1", 4)), NOW)
    assert [one.model for one in store.models()] == [OTHER, MODEL]


def test_a_changed_text_loses_its_vectors_of_every_model(store: Store) -> None:
    """C23, S3-30"""
    before = draft("one", section("alpha"), section("stays", "s", "S"))
    put(store, before)
    store.put_vectors(OTHER, "", {chunk.hash: vector(0, 0, 1) for chunk in before.chunks})
    put(store, draft("one", section("changed"), section("stays", "s", "S")))
    assert [passage.chunk.text for passage in store.unembedded(OTHER, 0, 10)] == ["changed"]
    assert store.unembedded(MODEL, 0, 10) == []
    store.apply(Changes(removed=("one",)), NOW)
    assert [one.vectors for one in store.models()] == [0, 0]


def test_one_vector_serves_every_chunk_with_the_same_text(store: Store) -> None:
    """S4-03"""
    put(store, draft("one", section("alpha"), title="T"), draft("two", section("alpha"), title="T"))
    [first, second] = store.unembedded(OTHER, 0, 10)
    assert first.chunk.hash == second.chunk.hash
    store.put_vectors(OTHER, "", {first.chunk.hash: vector(0, 0, 1), "nobody": vector(1, 0, 0)})
    assert store.unembedded(OTHER, 0, 10) == []


def test_vectors_that_are_not_in_use_can_be_dropped(store: Store) -> None:
    """C23"""
    given = draft("one", section("alpha"), vectors=(vector(1, 0, 0, 0),))
    put(store, given)
    with pytest.raises(ModelMismatch):
        store.drop_model(MODEL)
    store.put_vectors(OTHER, "", {given.chunks[0].hash: vector(0, 0, 1)})
    store.switch_model(OTHER)
    store.drop_model(MODEL)
    assert [one.model for one in store.models()] == [OTHER]
    assert near(store, 0, 0, 1) == ["one"]
    assert dict(store.vectors([given.chunks[0].hash], MODEL)) == {}
    store.drop_model(MODEL)


def test_the_same_model_with_other_dimensions_is_refused(store: Store) -> None:
    """C23"""
    with pytest.raises(ModelMismatch):
        store.put_vectors(MODEL._replace(dimensions=8), "", {})
    assert [one.model for one in store.models()] == [MODEL]


def test_coverage_is_the_part_of_the_chunks_that_has_a_vector(store: Store) -> None:
    """S3-24"""
    assert store.semantic_coverage() == 1.0
    put(store, draft("one", section("alpha"), vectors=(None,)))
    assert store.semantic_coverage() == 0.0
    put(store, draft("two", section("beta")))
    assert store.semantic_coverage() == 0.5
    [passage] = store.unembedded(MODEL, 0, 10)
    store.put_vectors(MODEL, "", {passage.chunk.hash: vector(1, 0, 0, 0)})
    assert store.semantic_coverage() == 1.0
    assert near(store, 1, 0, 0, 0) == ["one", "two"]
