"""The index of vectors beside a base: whatever becomes of it, the answers are those without it."""

import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import knowbase
from knowbase.errors import BaseReadOnly
from knowbase.query.conditions import EVERYTHING, Tagged
from knowbase.store.sqlite import SqliteStore, codes, create
from knowbase.values.changes import Changes, Draft
from knowbase.values.documents import Candidate
from knowbase.values.vectors import Model, Vector
from stores import NOW, draft, section, vector

WIDE = Model("wide", "1", 24)
DOCUMENTS = 600
LIMITS = (1, 10, 60)
CHANCE = random.Random(4)
CENTRES = [[CHANCE.gauss(0, 1) for _ in range(WIDE.dimensions)] for _ in range(6)]


def near_a_centre(chance: random.Random) -> Vector:
    return vector(*(number + chance.gauss(0, 0.3) for number in chance.choice(CENTRES)))


def some(numbers: "range | list[int]", chance: random.Random) -> tuple[Draft, ...]:
    """Documents, each with another text and another vector than before."""
    return tuple(
        draft(
            f"d{n}",
            section(f"text {n} {chance.random()}"),
            vectors=(near_a_centre(chance),),
            tags=("some",) * (n % 9 == 0),
        )
        for n in numbers
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base with an index in step."""
    path = tmp_path_factory.mktemp("index") / "base.db"
    with closing(create(str(path))) as store:
        store.use_model(WIDE)
        store.apply(Changes(drafts=some(range(DOCUMENTS), random.Random(1))), NOW)
    with closing(opened(path)) as store:
        assert store.renew_index()
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "base.db"
    shutil.copy(made, copy)
    shutil.copytree(folder_of(made), folder_of(copy))
    return copy


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(opened(path)) as store:
        yield store


def opened(path: Path, index_after: int = 100) -> SqliteStore:
    return SqliteStore(str(path), index_after=index_after)


def folder_of(path: Path) -> Path:
    return path.with_name(path.name + ".index")


def segment_of(path: Path) -> Path:
    [found] = folder_of(path).glob("*.codes")
    return found


def answers(store: SqliteStore) -> list[list[Candidate]]:
    chance = random.Random(3)
    queries = [near_a_centre(chance) for _ in range(3)]
    return [
        store.semantic(query, passing, limit)
        for query in queries
        for passing in (EVERYTHING, Tagged(("some",)))
        for limit in LIMITS
    ]


def answers_without(path: Path) -> list[list[Candidate]]:
    with closing(opened(path, 0)) as store:
        return answers(store)


def is_used(store: SqliteStore) -> bool:
    state = store.vector_index()
    return state is not None and state.vectors > 0


def test_answers_are_those_of_an_exact_scan_whatever_is_changed_and_however_often_it_is_written(
    store: SqliteStore, path: Path
) -> None:
    """Two processes' stores: what one writes, the other's index is behind by."""
    chance, left = random.Random(2), list(range(DOCUMENTS))
    segments = set()
    with closing(opened(path)) as other:
        for turn in range(12):
            changed = [*chance.sample(left, 3), DOCUMENTS + turn]
            gone = [n for n in chance.sample(left, 2) if n not in changed]
            left = [n for n in left if n not in gone] + [DOCUMENTS + turn]
            removed = tuple(f"d{n}" for n in gone)
            other.apply(Changes(drafts=some(changed, chance), removed=removed), NOW)
            assert is_used(store)
            assert answers(store) == answers_without(path)
            if turn % 2:
                other.renew_index()
                assert answers(store) == answers_without(path)
            state = store.vector_index()
            assert state is not None
            segments.add(state.segments)
            assert state.vectors + state.behind >= len(left)
    assert segments >= {1, 2}


def shortened(path: Path) -> None:
    os.truncate(segment_of(path), segment_of(path).stat().st_size // 2)


def emptied(path: Path) -> None:
    segment_of(path).write_bytes(b"")


def removed(path: Path) -> None:
    segment_of(path).unlink()


def with_one_bit_changed(path: Path) -> None:
    held = bytearray(segment_of(path).read_bytes())
    held[len(held) // 3] ^= 4
    segment_of(path).write_bytes(held)


def with_another_list(path: Path) -> None:
    current = folder_of(path) / "current"
    current.write_text(current.read_text().replace('"place": ', '"place": 1'))


def without_a_list(path: Path) -> None:
    (folder_of(path) / "current").write_bytes(b"\x00garbage")


DAMAGE = (
    shortened, emptied, removed, with_one_bit_changed, with_another_list, without_a_list,
)  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_is_noticed_while_it_is_used_and_made_anew(
    store: SqliteStore, path: Path, damage: Callable[[Path], None]
) -> None:
    wanted = answers(store)
    assert is_used(store)
    damage(path)
    assert answers(store) == wanted == answers_without(path)
    assert not is_used(store)
    assert store.renew_index()
    assert is_used(store)
    assert answers(store) == wanted
    left = {one.suffix or one.name for one in folder_of(path).iterdir()}
    assert left == {"current", ".codes", ".lock", "words"}


def test_an_index_of_another_state_or_of_another_base_is_never_asked(path: Path) -> None:
    """An older index is good as far as it goes; an older base, or another one, has none."""
    before = path.with_name("before.db")
    shutil.copy(path, before)
    shutil.copytree(folder_of(path), folder_of(before))
    chance = random.Random(8)
    with closing(opened(path)) as store:
        store.apply(Changes(drafts=some(range(40), chance)), NOW)
        assert store.renew_index()
        # the base goes back, its index stays, and it is written to until it has come as far
        shutil.rmtree(folder_of(before))
        shutil.copytree(folder_of(path), folder_of(before))
    with closing(opened(before)) as store:
        assert not is_used(store)
        assert answers(store) == answers_without(before)
        store.apply(Changes(drafts=some(range(50, 200), chance)), NOW)
        assert not is_used(store)
        assert answers(store) == answers_without(before)
        assert store.renew_index()
        assert is_used(store)
        assert answers(store) == answers_without(before)


def test_a_killed_writer_of_an_index_leaves_the_last_one_or_none(path: Path) -> None:
    """Real kills, at moments that nobody chose."""
    script = (
        "import sys; from knowbase.store.sqlite import SqliteStore; import numpy\n"
        "store = SqliteStore(sys.argv[1], index_after=100)\n"
        "print('ready', flush=True)\n"
        "while True: store.renew_index(anew=True)\n"
    )
    wanted = answers_without(path)
    for turn in range(3):
        command = [sys.executable, "-c", script, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            for _ in range(5):
                with closing(opened(path)) as store:
                    assert answers(store) == wanted  # while it is written
            time.sleep(0.01 * turn)
            os.kill(writer.pid, signal.SIGKILL)
        with closing(opened(path)) as store:
            assert answers(store) == wanted
    with closing(opened(path)) as store:
        store.renew_index(anew=True)
        assert is_used(store)
        assert answers(store) == wanted
    assert len(list(folder_of(path).iterdir())) == 4  # the index of words, too


def test_a_vector_that_is_not_of_numbers_and_a_folder_that_cannot_be_written_cost_no_answer(
    store: SqliteStore, path: Path
) -> None:
    shutil.rmtree(folder_of(path))
    folder_of(path).write_text("in the way")
    with pytest.raises(BaseReadOnly, match="index"):
        store.renew_index(anew=True)
    folder_of(path).unlink()
    odd = draft("odd", section("odd"), vectors=(vector(*[math.nan] * WIDE.dimensions),))
    store.apply(Changes(drafts=(odd,)), NOW)
    assert store.renew_index(anew=True)  # of words, there is one
    assert not is_used(store)
    assert answers(store) == answers_without(path)
    store.apply(Changes(removed=("odd",)), NOW)
    assert store.renew_index()
    assert is_used(store)


def test_codes_are_never_farther_from_the_product_than_is_said() -> None:
    """With numpy alone, and with a kernel where there is one."""
    import numpy as np

    chance = np.random.default_rng(1)
    for dimensions in (3, 24, 384):
        vectors = chance.standard_normal((3000, dimensions)).astype("f4")
        vectors[: dimensions // 2, 1:] /= 50  # one number that stands out
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        coded = codes.coded(vectors)
        assert coded.codes.dtype == np.int8
        for query in vectors[:20]:
            asked = codes.Query(query)
            off = np.abs(asked.products(*coded) - vectors @ query)
            assert off.max() <= asked.slack(float(coded.steps.max()), 1.0)


def test_a_large_base_gets_an_index_when_it_is_filled_and_a_small_one_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the setting store.index_after; kb status says what there is."""
    for number in range(8):
        (tmp_path / f"{number}.md").write_text(f"# Note {number}\n\nA text about {number}.\n")
    folder = tmp_path / ".kb" / "base.db.index"
    with knowbase.create(str(tmp_path)) as base:
        base.add([str(tmp_path)])
        assert base.status().vector_index is None
        assert not folder.exists()
        wanted = base.search("a text about 3").hits
    monkeypatch.setenv("KB_STORE_INDEX_AFTER", "5")
    with knowbase.open(str(tmp_path)) as base:
        assert "no_vector_index" in [one.name for one in base.doctor().findings]
        base.embed()
        assert base.status().vector_index == (8, 0, 1)
        assert [one.score for one in base.search("a text about 3").hits] == [
            one.score for one in wanted
        ]
        segments = {one.name for one in folder.glob("*.codes")}
        base.embed(reindex=True)
        assert base.status().vector_index == (8, 0, 1)
        assert segments.isdisjoint(one.name for one in folder.glob("*.codes"))
        assert "no_vector_index" not in [one.name for one in base.doctor().findings]
    monkeypatch.setenv("KB_STORE_INDEX_AFTER", "0")
    with knowbase.open(str(tmp_path)) as base:
        base.embed()
        assert base.status().vector_index is None
    assert not folder.exists()
