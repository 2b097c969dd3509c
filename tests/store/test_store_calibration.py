"""What every store promises of a calibration, and of how rare words are."""

import pytest

from knowbase.query.conditions import Compare, Not
from knowbase.query.words import FieldWeights, Frequencies, KeywordQuery
from knowbase.store.contract import Store
from knowbase.store.plain import PlainStore
from knowbase.text.analysis import Word
from knowbase.values.calibration import Calibration
from knowbase.values.changes import Changes
from stores import NOW, copy_into, draft, section

ONE = Calibration(NOW, {"both.offset": -1 / 3, "both.slope": 0.5, "chunks": 12.0})


def test_a_calibration_comes_back_as_it_was_put_and_the_next_takes_its_place(store: Store) -> None:
    assert store.calibration() is None
    store.put_calibration(ONE)
    assert store.calibration() == ONE
    later = Calibration("2026-03-03T00:00:00.000000Z", {"keyword.slope": 1.0})
    store.put_calibration(later)
    assert store.calibration() == later


def test_a_copy_has_it_too(store: Store) -> None:
    store.put_calibration(ONE)
    copy = PlainStore()
    copy_into(copy, store)
    assert copy.calibration() == ONE
    back = PlainStore()
    copy_into(back, copy)
    assert back.copying().shared().calibration == ONE


def test_words_are_counted_by_chunks_in_the_whole_or_in_a_part(store: Store) -> None:
    texts = {"web": "deploy the shop", "app": "deploy deploys shops", "doc": "deployment of C++"}
    store.apply(
        Changes(
            drafts=tuple(
                draft(f"d-{name}", section(text), title=name, project=name)
                for name, text in texts.items()
            )
        ),
        NOW,
    )
    words = [Word("deploy"), Word("shop"), Word("depl", prefix=True), Word("zebra"), Word("")]
    assert store.frequencies(words) == Frequencies(3, (2, 2, 3, 0, 0))
    part = Compare("project", "=", "web")
    assert store.frequencies(words, part) == Frequencies(1, (1, 1, 1, 0, 0))
    query = KeywordQuery((Word("shop"), Word("deploy")), among=part)
    store.keyword(query, part, 5, FieldWeights())
    assert store.frequencies(words[:2], part) == Frequencies(1, (1, 1))
    assert store.frequencies(words[:2], Compare("project", "=", "app")) == Frequencies(1, (1, 1))
    assert store.frequencies([*words, Word("the shop")], Not(part)).having == (1, 1, 2, 0, 0, 0)
    store.apply(Changes(removed=("d-web",)), NOW)
    assert store.frequencies(words[:2], part) == Frequencies(0, (0, 0))
    assert store.frequencies((), Not(part)) == Frequencies(2, ())
    store.apply(Changes(drafts=(draft("d-web", section(texts["web"]), project="web"),)), NOW)
    assert store.frequencies([Word("the shop")]) == Frequencies(3, (1,))
    assert store.frequencies(()) == Frequencies(3, ())


@pytest.mark.parametrize("number", [0.0, -1e300, 5e-324])
def test_numbers_are_kept_to_the_last_bit(store: Store, number: float) -> None:
    store.put_calibration(Calibration(NOW, {"x": number}))
    assert store.calibration() == Calibration(NOW, {"x": number})


def test_what_chunks_hold_is_told_of_those_that_are_there(store: Store) -> None:
    store.apply(Changes(drafts=(draft("d-1", section("deploy the shop")),)), NOW)
    (found,) = store.keyword(
        KeywordQuery((Word("deploy"),)), Not(Compare("id", "=", "x")), 5, FieldWeights()
    )
    kept = store.passages([found.chunk])[found.chunk].chunk.hash
    assert store.hashes([found.chunk, 999]) == {found.chunk: kept}
