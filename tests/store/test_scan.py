"""Vectors of a SQLite base compared in every way that there is: the answers are the same."""

import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from knowbase.query.conditions import (
    EVERYTHING,
    Condition,
    Not,
    OneOf,
    Tagged,
    Visible,
    both,
)
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.store import nearest
from knowbase.store.contract import Store
from knowbase.store.plain import PlainStore
from knowbase.store.sqlite import SqliteStore, create, retrieval
from knowbase.store.sqlite import passing as who_passes
from knowbase.values.changes import Changes, Draft, Edit
from knowbase.values.documents import DOCUMENT_TYPES
from knowbase.values.vectors import Vector
from stores import MODEL, NOW, draft, section, vector, with_index

DOCUMENTS = 400
LATER = "2999-01-01T00:00:00.000000Z"
PASSING: dict[str, Condition] = {
    "all": EVERYTHING,
    "all but few": Not(Tagged(("rare",))),
    "half": Tagged(("half",)),
    "few": Tagged(("rare",)),
    "none": Tagged(("none",)),
    "none of them hidden": both(Visible(NOW), Tagged(("half",))),
    "of any type": OneOf("type", DOCUMENT_TYPES),
    "two tags": both(Tagged(("half",)), Tagged(("rare", "other"), "any")),
    "a tag, and another one not": both(Tagged(("half",)), Not(Tagged(("rare",)))),
}


def drafts() -> tuple[Draft, ...]:
    """Documents of which every second and every 40th has a tag."""
    chance = random.Random(5)
    return tuple(
        draft(
            f"d{n}",
            section(f"text {n}"),
            vectors=(vector(*(chance.choice((0.1, 0.5, 1.0)) for _ in range(4))),),
            tags=("half",) * (n % 2) + ("rare",) * (n % 40 == 0),
        )
        for n in range(DOCUMENTS)
    )


def filled(store: Store) -> Store:
    """Some of the documents are removed again."""
    store.use_model(MODEL)
    store.apply(Changes(drafts=drafts()), NOW)
    store.apply(Changes(removed=tuple(f"d{n}" for n in range(0, DOCUMENTS, 7))), NOW)
    return store


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Store]]:
    """By an index in step, and by one that was made when half were there and were otherwise."""
    folder: Path = tmp_path_factory.mktemp("indexed")
    behind, in_step = (with_index(str(folder / name)) for name in ("behind.db", "index.db"))
    behind.use_model(MODEL)
    others = [
        draft(f"d{n}", section("another"), vectors=(vector(1, 1, n, -1),))
        for n in range(DOCUMENTS // 2)
    ]
    behind.apply(Changes(drafts=tuple(others)), NOW)
    assert behind.renew_index()
    for store in (behind, in_step):
        filled(store)
    assert in_step.renew_index()
    assert not in_step.renew_index()
    number = DOCUMENTS - len(range(0, DOCUMENTS, 7))
    assert in_step.vector_index() == (number, 0, 1)
    assert behind.vector_index() == (DOCUMENTS // 2, DOCUMENTS, 1)
    yield {"index": in_step, "behind": behind}
    behind.close()
    in_step.close()


@pytest.fixture(scope="module")
def both_stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    folder: Path = tmp_path_factory.mktemp("scan")
    return filled(PlainStore()), filled(create(str(folder / "base.db")))


def queries() -> list[Vector]:
    chance = random.Random(6)
    return [vector(*(chance.random() for _ in range(4))) for _ in range(4)]


@pytest.mark.parametrize("passing", PASSING.values(), ids=PASSING)
@pytest.mark.parametrize("way", ["blocks", "engine", "index", "behind"])
def test_a_filter_never_changes_what_is_nearest(
    both_stores: tuple[Store, Store],
    indexed: dict[str, Store],
    passing: Condition,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S1-07: every vector that passes is compared, whichever way is the fastest; of equal ones
    the first come first."""
    oracle, store = both_stores
    if way in ("index", "behind"):
        store = indexed[way]
    if way == "engine":
        for module in (nearest, retrieval):  # as in a process that has not loaded numpy
            monkeypatch.setattr(module, "sys", SimpleNamespace(modules={}))
    for query in queries():
        for limit in (1, 10, 300):
            wanted = oracle.semantic(query, passing, limit)
            found = store.semantic(query, passing, limit)
            assert [one.chunk for one in found] == [one.chunk for one in wanted]
            assert [one.score for one in found] == pytest.approx([one.score for one in wanted])


@pytest.mark.parametrize("few", [0, 5, 1000], ids=["none listed", "few listed", "all listed"])
@pytest.mark.parametrize("passing", PASSING.values(), ids=PASSING)
def test_a_filter_never_changes_which_words_are_found(
    both_stores: tuple[Store, Store],
    passing: Condition,
    few: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """S1-07: whether what passes is listed, or what fails, or neither."""
    oracle, store = both_stores
    monkeypatch.setattr(who_passes, "RARE", few)
    monkeypatch.setattr(who_passes, "FEW", few)
    words = keyword_query("text 11 13 17 40 120")
    wanted = oracle.keyword(words, passing, DOCUMENTS, FieldWeights())
    found = store.keyword(words, passing, DOCUMENTS, FieldWeights())
    assert [one.chunk for one in found] == [one.chunk for one in wanted]


def test_what_a_passage_says_is_read_anew_when_somebody_writes(tmp_path: Path) -> None:
    """Passages are kept while nobody writes, and no longer; also within one state of the base,
    in which nobody else is seen to have written."""
    path = str(tmp_path / "base.db")
    mine, other = filled(create(path)), SqliteStore(path)
    chunk = mine.keyword(keyword_query("5"), EVERYTHING, 1, FieldWeights())[0].chunk
    old = mine.passages((chunk,))[chunk]
    with mine.one_state():
        assert mine.passages((chunk,))[chunk] == old
        other.apply(Changes(edits=(Edit(old.document.id, {"archived": True}),)), NOW)
        assert mine.passages((chunk,))[chunk] == old
    assert mine.passages((chunk,))[chunk].document.archived
    other.apply(Changes(removed=(old.document.id,)), NOW)
    assert mine.passages((chunk,)) == {}
    other.close()
    mine.close()


def test_what_fails_is_looked_for_anew_when_somebody_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of what fails a filter is kept while nobody writes, and no longer."""
    path = str(tmp_path / "base.db")
    mine = filled(create(path))
    monkeypatch.setattr(who_passes, "FEW", 5)
    passing, query = Not(Tagged(("none",))), queries()[0]
    first = mine.semantic(query, passing, 1)[0].chunk
    assert mine.semantic_coverage() == 1.0
    other = SqliteStore(path)
    document = mine.passages((first,))[first].document.id
    given = draft(document, section("another"), vectors=(None,), tags=("none",))
    other.apply(Changes(drafts=(given,)), NOW)
    assert mine.semantic(query, passing, 1)[0].chunk != first
    assert mine.semantic_coverage() < 1.0
    other.close()
    mine.close()


@pytest.mark.parametrize("condition", [Visible(NOW), both(Visible(NOW), Tagged(("half",)))])
def test_what_is_hidden_meanwhile_is_not_found_by_an_index(
    tmp_path: Path, condition: Condition
) -> None:
    """Who passes is kept for the next search, until somebody writes; the moment is looked at by
    each."""
    mine = with_index(str(tmp_path / "base.db"))
    filled(mine)
    mine.renew_index()
    query = queries()[0]
    words = keyword_query("text")
    before = {one.chunk for one in mine.semantic(query, condition, DOCUMENTS)}
    assert {
        one.chunk for one in mine.keyword(words, condition, DOCUMENTS, FieldWeights())
    } == before
    hidden = mine.passages(sorted(before)[:3])
    edits = tuple(Edit(one.document.id, {"archived": True}) for one in hidden.values())
    late = mine.passages(sorted(before)[3:4])
    soon = tuple(Edit(one.document.id, {"expires_at": LATER}) for one in late.values())
    mine.apply(Changes(edits=(*edits, *soon)), NOW)
    for now, gone in ((NOW, hidden.keys()), (LATER, hidden.keys() | late.keys())):
        at = both(Visible(now), condition)
        assert {one.chunk for one in mine.semantic(query, at, DOCUMENTS)} == before - gone
        found = mine.keyword(words, at, DOCUMENTS, FieldWeights())
        assert {one.chunk for one in found} == before - gone
    mine.close()


def test_after_a_write_what_is_nearest_is_what_is_stored_now(tmp_path: Path) -> None:
    """What has not changed stays in memory, whoever has written: nobody can tell."""
    chance, path = random.Random(8), str(tmp_path / "base.db")
    oracle, store = filled(PlainStore()), filled(create(path))
    assert isinstance(store, SqliteStore)
    other = SqliteStore(path)
    for number in range(40):
        writer = chance.choice((store, other))
        for changes in changes_of(chance, number):
            oracle.apply(changes, NOW)
            writer.apply(changes, NOW)
        for query in queries():
            wanted, found = (one.semantic(query, EVERYTHING, 20) for one in (oracle, store))
            assert [one.chunk for one in found] == [one.chunk for one in wanted]
            assert [one.score for one in found] == pytest.approx([one.score for one in wanted])
    [blocks] = store._connections.found.before.values()
    assert sum(len(one.chunks) for one in blocks) == sum(one.vectors for one in store.models())
    other.close()
    store.close()


def changes_of(chance: random.Random, number: int) -> tuple[Changes, ...]:
    """Something comes, something is another than before, and something goes."""

    def one(name: str) -> Draft:
        numbers = (chance.choice((0.1, 0.5, 1.0)) for _ in range(4))
        return draft(name, section(f"text {chance.random()}"), vectors=(vector(*numbers),))

    new = tuple(one(f"new{number}-{n}") for n in range(chance.choice((1, 2, 30))))
    changed = (one(f"d{chance.randrange(DOCUMENTS)}"), one(f"new{chance.randrange(number + 1)}-0"))
    return Changes(drafts=new), Changes(drafts=changed), Changes(removed=(f"new{number // 2}-0",))
