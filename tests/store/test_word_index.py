"""The index of words beside a base: whatever becomes of it, the answers are FTS5's to the bit."""

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import knowbase
from knowbase.query.conditions import EVERYTHING, Contains, Not, Tagged, Visible, both
from knowbase.query.words import Also, FieldWeights, KeywordQuery
from knowbase.store.sqlite import SqliteStore, create, retrieval, word_segments
from knowbase.store.tokenizer import BOUND, pieces_of, stems_alone, stems_of
from knowbase.text.analysis import Word
from knowbase.values.changes import Changes, Draft
from stores import NOW, draft, section

DOCUMENTS = 300
COMMON = ("the of and to in is that for it on with as are this be by or from at an").split()  # noqa: SIM905
RARE = [
    f"{front}{end}"
    for front in ("deploy", "queue", "rötat", "zuš", "取", "x9")
    for end in "abcdefgh"
]
WEIGHTS = (FieldWeights(), FieldWeights(3.0, 2.0, 1.0, 0.5), FieldWeights(0.1, 0.7, 1.0, 1.0))


def text(chance: random.Random) -> str:
    words = chance.choices(COMMON, k=chance.randint(3, 60)) + chance.choices(RARE, k=6)
    chance.shuffle(words)
    return " ".join(words) + chance.choice(["", " getUserName", " error-404", " don't do"])


def some(numbers: "range | list[int]", chance: random.Random) -> tuple[Draft, ...]:
    return tuple(
        draft(
            f"d{n}",
            section(text(chance), heading=" ".join(chance.sample(RARE, 2))),
            title=" ".join(chance.sample(RARE, 2)),
            tags=("some",) * (n % 9 == 0) + ("most",) * (n % 50 != 0),
        )
        for n in numbers
    )


def queries(chance: random.Random) -> Iterator[KeywordQuery]:
    """Of every kind: common and rare words, all of them, beginnings, phrases, other weights."""
    words = tuple(map(Word, chance.sample(RARE, 3)))
    yield KeywordQuery((*words, *map(Word, chance.sample(COMMON, 3))))
    yield KeywordQuery(words[:2], "all")
    yield KeywordQuery((Word("queue", prefix=True), Word("nothing"), words[0]))
    yield KeywordQuery((Word("error-404"), words[1], Word("don't", prefix=True), Word("...")))
    also = (Also(words[1], "a", 0.8), Also(words[2], "b", 0.3), Also(Word("it"), "c", 0.8))
    yield KeywordQuery(words[:1], also=also)
    yield KeywordQuery((Word("..."),))


ASKED = (
    (EVERYTHING, 20, WEIGHTS[1]),
    (Tagged(("some",)), 1000, WEIGHTS[0]),
    (Tagged(("most",)), 1, WEIGHTS[1]),
    (Not(Contains(Word("that"))), 20, WEIGHTS[2]),
)


def answers(store: SqliteStore) -> list[object]:
    found: list[object] = [
        store.keyword(query, *asked) for query in queries(random.Random(3)) for asked in ASKED
    ]
    words = [*map(Word, (*RARE[:9], *COMMON[:5])), Word("queue", prefix=True), Word("error-404")]
    for condition in (EVERYTHING, Tagged(("some",)), both(Visible(NOW), Tagged(("most",)))):
        for word in words:
            found.append(store.matching(KeywordQuery((word,)), condition))
            newest = store.newest(both(condition, Contains(word)), 5)
            found.append([one.chunk_id for one in newest])
    return [*found, store.frequencies(words)]


@pytest.fixture(autouse=True)
def _few_documents_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "MANY", 20)


def opened(path: Path, index_after: int = 100) -> SqliteStore:
    return SqliteStore(str(path), index_after=index_after)


def answers_without(path: Path) -> list[object]:
    with closing(opened(path, 0)) as store:
        return answers(store)


def words_of(path: Path) -> Path:
    return path.with_name(path.name + ".index") / "words"


def is_used(store: SqliteStore) -> bool:
    with store._connections.get():
        found = store._words()
    return found is not None


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base with an index in step, of several segments."""
    path = tmp_path_factory.mktemp("words") / "base.db"
    with pytest.MonkeyPatch.context() as patch, closing(create(str(path))) as store:
        patch.setattr("knowbase.store.sqlite.word_indexing.MOST_ROWS", 100)
        store.apply(Changes(drafts=some(range(DOCUMENTS), random.Random(1))), NOW)
        store._index_after = 100
        assert store.renew_index()
    assert len([*words_of(path).glob("*.words")]) == 3
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "base.db"
    shutil.copy(made, copy)
    shutil.copytree(words_of(made).parent, words_of(copy).parent)
    return copy


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(opened(path)) as store:
        yield store


MIXED = st.text(
    alphabet=st.one_of(st.sampled_from("abcÄé́ſ取 \n-_9\0"), st.characters(codec="utf-8"))
)


@given(st.lists(MIXED))
def test_a_text_has_the_stems_of_the_pieces_that_it_is_cut_into(texts: list[str]) -> None:
    found: list[list[str]] = [[]]
    for piece in pieces_of(texts):
        found.append([]) if piece == BOUND else found[-1].extend(stems_of(piece))

    assert found == [*map(stems_alone, texts), []]


# Pieces of one stem, of several and of none.
ODD = st.sampled_from(["deploys", "naïve", "one—two", "don’t…", "“quoted”", "—", "取引", "x", ""])


@given(st.lists(st.tuples(*[st.lists(ODD | MIXED, max_size=4).map(" ".join)] * 4), max_size=5))
def test_a_segment_counts_the_stems_of_every_field(
    texts: list[tuple[str, str, str, str]],
) -> None:
    made = word_segments.made_of((n, n, *fields) for n, fields in enumerate(texts))
    expected = Counter(
        (stem, row, place)
        for row, fields in enumerate(texts)
        for place, field in enumerate(fields)
        for stem in stems_alone(field)
    )
    found = Counter[tuple[str, int, int]]()
    for number, (begin, end) in enumerate(pairwise(made.places)):
        stem = made.letters[begin:end].decode()
        for one in range(made.starts[number], made.starts[number + 1]):
            for place, often in enumerate(made.counts[made.codes[one]]):
                found[stem, int(made.rows[one]), place] = int(often)
    assert +found == expected
    assert [*made.lengths] == [sum(len(stems_alone(one)) for one in fields) for fields in texts]


def test_answers_are_those_of_fts5_whatever_is_changed_and_however_often_it_is_written(
    store: SqliteStore, path: Path
) -> None:
    """Two processes' stores: what one writes, the other's index is behind by. What is taken back
    was never there."""
    chance, left = random.Random(2), list(range(DOCUMENTS))
    with closing(opened(path)) as other:
        for turn in range(4):
            changed = [*chance.sample(left, 4), DOCUMENTS + turn]
            gone = [n for n in chance.sample(left, 3) if n not in changed]
            left = [n for n in left if n not in gone] + [DOCUMENTS + turn]
            removed = tuple(f"d{n}" for n in gone)
            other.apply(Changes(drafts=some(changed, chance), removed=removed), NOW)
            assert is_used(store)
            assert answers(store) == answers_without(path)
            if turn % 2:
                assert other.renew_index()
                assert is_used(store)
                assert answers(store) == answers_without(path)
        with closing(other._connections.get().cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE; UPDATE chunks SET text = 'queuea' WHERE id % 7 = 0")
            assert not is_used(other)
            cursor.execute("ROLLBACK")
        assert is_used(other)
        assert answers(other) == answers_without(path)


def shortened(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def with_one_bit_changed(file: Path) -> None:
    held = bytearray(file.read_bytes())
    held[len(held) // 3] ^= 4
    file.write_bytes(held)


def another_format(file: Path) -> None:
    current = file.with_name("current")
    current.write_text(current.read_text().replace("words 1", "words 9"))


@pytest.mark.parametrize("damage", [shortened, with_one_bit_changed, Path.unlink, another_format])
def test_a_damaged_index_is_noticed_while_it_is_used_and_made_anew(
    store: SqliteStore, path: Path, damage: Callable[[Path], None]
) -> None:
    wanted = store.frequencies(list(map(Word, RARE[:5])))
    assert is_used(store)
    damage(max(words_of(path).glob("*.words")))
    assert store.frequencies(list(map(Word, RARE[:5]))) == wanted
    assert not is_used(store)
    assert store.renew_index()
    assert is_used(store)
    assert answers(store) == answers_without(path)
    assert len([*words_of(path).iterdir()]) == 3  # the list, a segment and the lock


def test_an_index_of_another_state_is_never_asked(path: Path) -> None:
    before = path.with_name("before.db")
    shutil.copy(path, before)
    chance = random.Random(8)
    with closing(opened(path)) as store:
        store.apply(Changes(drafts=some(range(60), chance)), NOW)
        assert store.renew_index()
    shutil.copytree(words_of(path).parent, words_of(before).parent)
    with closing(opened(before)) as store:
        assert not is_used(store)
        store.apply(Changes(drafts=some(range(70, 130), chance)), NOW)
        assert not is_used(store)
        assert answers(store) == answers_without(before)
        assert store.renew_index()
        assert is_used(store)
        assert answers(store) == answers_without(before)


def test_what_an_index_cannot_hold_is_left_to_fts5(tmp_path: Path) -> None:
    """A word more than 65,535 times in a field of a chunk."""
    path = tmp_path / "base.db"
    with closing(create(str(path))) as store:
        drafts = some(range(5), random.Random(1))
        store.apply(Changes(drafts=drafts), NOW)
        store._connections.get().execute(
            "UPDATE chunks SET text = ? WHERE id = 1", ("again " * (word_segments._MOST + 1),)
        )
        store._index_after = 1
        assert not store.renew_index()
        [found] = store.keyword(KeywordQuery((Word("again"),)), EVERYTHING, 5, FieldWeights())
        assert found.chunk == 1


def test_a_search_answers_the_same_with_and_without_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through a base, by words alone; without vectors, too, there is an index of words."""
    assert np.array is not None  # it is used where numpy is loaded
    for number in range(12):
        (tmp_path / f"{number}.md").write_text(
            f"# Note {number}\n\n{text(random.Random(number))}\n"
        )
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")
    monkeypatch.setenv("KB_STORE_INDEX_AFTER", "5")
    with knowbase.create(str(tmp_path)) as base:
        base.add([str(tmp_path)])
        base.store.renew_index()
        assert words_of(Path(base.path)).is_dir()
        assert base.status().vector_index is None
        found = [base.search(query) for query in ("queuea zušb it", "error-404 deploya", "that")]
    monkeypatch.setenv("KB_STORE_INDEX_AFTER", "0")
    with knowbase.open(str(tmp_path)) as base:
        again = [base.search(query) for query in ("queuea zušb it", "error-404 deploya", "that")]
        assert [one.hits for one in again] == [one.hits for one in found]
        base.store.renew_index()
        assert not words_of(Path(base.path)).exists()
