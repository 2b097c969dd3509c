"""The postings of PostgreSQL: blocks that grow, shrink and become one, and the scores from them."""

import random
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.sql import SQL

from knowbase.query.conditions import EVERYTHING, OneOf, Tagged
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.plain import PlainStore
from knowbase.store.postgres import PostgresStore, create, filtering, retrieval, scores, segments
from knowbase.store.postgres.checking import words_out_of_step
from knowbase.text.analysis import Word
from knowbase.values.changes import Changes
from postgres import database, new_base, with_rows_of_postings
from stores import NOW, draft, section

WORDS = [f"w{n}" for n in range(40)]
WEIGHTS = FieldWeights(3.0, 2.0, 1.0, 0.5)


@pytest.fixture
def store() -> Iterator[PostgresStore]:
    made = create(new_base())
    yield made
    made.close()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that a handful of chunks fill."""
    monkeypatch.setattr(segments, "FEW", 4)
    monkeypatch.setattr(segments, "MOST_ROWS", 2)
    monkeypatch.setattr(segments, "SIZES", (8, 24))
    monkeypatch.setattr(segments, "TOGETHER", 2)


def text_of(chance: random.Random) -> str:
    """Frequent words and rare ones."""
    drawn = chance.choices(WORDS, [1 / (n + 1) for n in range(len(WORDS))], k=chance.randint(3, 30))
    return " ".join(drawn)


def written(chance: random.Random, name: str) -> Changes:
    sections = [section(text_of(chance), f"s{n}", f"s{n}") for n in range(chance.randint(1, 3))]
    tags = ("even",) if int(name[1:]) % 2 == 0 else ("odd",)
    return Changes(drafts=(draft(name, *sections, tags=tags),))


def out_of_step(store: PostgresStore) -> dict[str, int]:
    found = store._connections.run(lambda one: words_out_of_step(one, store._base))
    return {what: number for what, number in found.items() if number}


def assert_same_answers(store: PostgresStore, oracle: PlainStore, chance: random.Random) -> None:
    some = tuple(Word(one) for one in chance.sample(WORDS, 3))
    for query in (
        KeywordQuery(some[:1]),
        KeywordQuery(some),
        KeywordQuery(some, "all"),
        KeywordQuery((Word("w1", prefix=True), some[0])),
        KeywordQuery((Word("w0 w1"), some[1])),
        KeywordQuery(some, among=Tagged(("even",))),
    ):
        for condition in (EVERYTHING, Tagged(("even",)), OneOf("id", ("d1", "d2", "d3"))):
            for limit in (1, 5, 1000):
                mine = store.keyword(query, condition, limit, WEIGHTS)
                assert mine == oracle.keyword(query, condition, limit, WEIGHTS)
        assert store.frequencies(query.words) == oracle.frequencies(query.words)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("many", [0, 10**9])  # common words are left out whenever that is possible
def test_scores_are_the_same_to_the_last_bit_whatever_became_of_the_parts(
    store: PostgresStore, small: None, monkeypatch: pytest.MonkeyPatch, seed: int, many: int
) -> None:
    """C33: postings are written, replaced, merged and dropped; a plain store is the oracle."""
    monkeypatch.setattr(scores, "_MANY", many)
    monkeypatch.setattr(scores, "_MOST_DECODED", many)
    chance, oracle = random.Random(seed), PlainStore()
    for number in range(40):
        name = f"d{chance.randrange(20)}"
        changes = Changes(removed=(name,)) if chance.random() < 0.2 else written(chance, name)
        store.apply(changes, NOW)
        oracle.apply(changes, NOW)
        if number % 10 == 9:
            assert_same_answers(store, oracle, chance)
    assert out_of_step(store) == {}


def test_a_filter_that_many_pass_is_asked_of_what_was_found(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C33: of few that pass each is scored; of many, more are found until enough of them pass."""
    monkeypatch.setattr(retrieval, "EXACT", 3)
    monkeypatch.setattr(filtering, "_SURELY_MORE", 10**9)
    chance, oracle = random.Random(1), PlainStore()
    for number in range(30):
        changes = written(chance, f"d{number}")
        store.apply(changes, NOW)
        oracle.apply(changes, NOW)
    assert_same_answers(store, oracle, chance)


def test_what_does_not_fit_into_a_posting_is_kept_in_full(store: PostgresStore) -> None:
    """A word three hundred times, a text of seventy thousand words, a title with a word often."""
    oracle = PlainStore()
    often = draft("often", section("word " * 300 + "other"))
    long = draft("long", section("word " + "filler " * 70_000))
    title = draft("title", section("word"), title="word " * 9)
    for one in (often, long, title, draft("plain", section("word other"))):
        for each in (store, oracle):
            each.apply(Changes(drafts=(one,)), NOW)
    query = KeywordQuery((Word("word"), Word("other")))
    assert store.keyword(query, EVERYTHING, 9, WEIGHTS) == oracle.keyword(
        query, EVERYTHING, 9, WEIGHTS
    )
    for each in (store, oracle):
        each.apply(Changes(removed=("long",)), NOW)
    assert store.keyword(query, EVERYTHING, 9, WEIGHTS) == oracle.keyword(
        query, EVERYTHING, 9, WEIGHTS
    )
    assert out_of_step(store) == {}


def test_a_database_with_a_row_for_each_posting_is_upgraded(store: PostgresStore) -> None:
    """An older database answers the same when it is opened."""
    chance, oracle = random.Random(2), PlainStore()
    for number in range(30):
        changes = written(chance, f"d{number}")
        store.apply(changes, NOW)
        oracle.apply(changes, NOW)
    big = Changes(drafts=(draft("d99", section("w1 " * 300)),))
    for each in (store, oracle):
        each.apply(big, NOW)
    with psycopg.connect(database(), autocommit=True) as connection:
        with_rows_of_postings(connection)
    opened = PostgresStore(store.url)
    assert out_of_step(opened) == {}
    assert_same_answers(opened, oracle, chance)
    opened.close()


def test_a_long_word_of_two_documents_is_one_word(store: PostgresStore) -> None:
    for name in ("one", "two"):
        store.apply(Changes(drafts=(draft(name, section("x" * 5000 + " " + name)),)), NOW)
    found = store.keyword(KeywordQuery((Word("x" * 5000),)), EVERYTHING, 5, WEIGHTS)
    assert len(found) == 2
    assert out_of_step(store) == {}


def test_a_copy_answers_the_same_before_and_after_its_words_are_settled(
    store: PostgresStore, small: None
) -> None:
    """Words of a base that is being copied lie whole, up to a part that is never written again."""
    chance, source = random.Random(4), PlainStore()
    for number in range(27):
        source.apply(written(chance, f"d{number}"), NOW)
    whole, copy = source.copying(), store.copying()
    copy.start("a test", whole.frame())
    seqs, oracle = whole.seqs(), PlainStore()
    begun = oracle.copying()
    begun.start("a test", whole.frame())
    lying = []
    for start in range(0, len(seqs), 3):
        for each in (copy, begun):
            each.paste(whole.copies(seqs[start : start + 3]))
        assert_same_answers(store, oracle, chance)
        lying.append(chunks_that_lie_whole(store))
    assert max(lying) < segments.SIZES[-1]
    assert lying[-1] >= segments.FEW
    copy.paste_shared(whole.shared())
    copy.end()
    assert chunks_that_lie_whole(store) < segments.FEW
    assert_same_answers(store, source, chance)
    assert out_of_step(store) == {}


def chunks_that_lie_whole(store: PostgresStore) -> int:
    query = SQL(
        "SELECT coalesce(sum(chunks), 0) FROM word_segments"
        " WHERE base_id = %s AND fresh IS NOT NULL"
    )
    return int(store._connections.read(query, (store._base,))[0][0])
