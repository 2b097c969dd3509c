"""The user's cache of vectors: shared, bounded, and never needed."""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from knowbase.config import DEFAULTS
from knowbase.embed.cache import Cache, Cached, folder
from knowbase.embed.choice import Choice, embedder_for
from knowbase.values.vectors import Model, Vector, pack

MB = 1 << 20


class Counting:
    """A model of two dimensions that remembers what it was asked."""

    max_tokens = 512

    def __init__(self, revision: str = "1") -> None:
        self.model = Model("counting", revision, 2)
        self.asked: list[str] = []

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return [(0, len(text))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        for text in texts:
            self.asked.append(text)
            yield pack([1.0, len(text)])

    def embed_query(self, text: str) -> Vector:
        self.asked.append("? " + text)
        return pack([2.0, len(text)])


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "cache" / "embeddings.db")


def cached(path: str, embedder: Counting | None = None, most: int = MB) -> Cached:
    return Cached(embedder or Counting(), Cache(path, most))


def test_a_text_is_embedded_once_by_all_who_share_the_cache(path: str) -> None:
    """S4-03: across documents, sessions and bases."""
    first, second = Counting(), Counting()
    texts = ["a", "bb", "a", "ccc"]
    expected = [pack([1.0, len(text)]) for text in texts]
    assert list(cached(path, first).embed_documents(texts)) == expected
    assert first.asked == ["a", "bb", "ccc"]
    assert list(cached(path, second).embed_documents([*texts, "dddd"]))[:4] == expected
    assert second.asked == ["dddd"]


def test_queries_and_documents_are_kept_apart(path: str) -> None:
    """A model may want other prefixes for them."""
    counting = Counting()
    made = cached(path, counting)
    assert made.embed_query("a") == made.embed_query("a") == pack([2.0, 1])
    assert list(made.embed_documents(["a"])) == [pack([1.0, 1])]
    assert counting.asked == ["? a", "a"]


def test_the_number_of_a_querys_tokens_is_kept_beside_its_vector(path: str) -> None:
    first, second = Counting(), Counting()
    assert cached(path, first).count_tokens("abc") == 1
    second.token_spans = lambda text: [(0, 1)] * 9  # type: ignore[method-assign]
    assert cached(path, second).count_tokens("abc") == 1
    assert cached(path, second).count_tokens("other") == 9
    assert cached(path, second).embed_query("abc") == pack([2.0, 3])


def test_another_revision_is_another_model(path: str) -> None:
    """C23"""
    list(cached(path).embed_documents(["a"]))
    other = Counting("2")
    list(cached(path, other).embed_documents(["a"]))
    assert other.asked == ["a"]


def test_what_was_made_is_kept_when_the_rest_is_not_wanted(path: str) -> None:
    coming = cached(path).embed_documents(["a", "b", "c"])
    next(coming)
    coming.close()  # type: ignore[attr-defined]
    again = Counting()
    list(cached(path, again).embed_documents(["a", "b"]))
    assert again.asked == ["b"]


def test_the_file_stays_within_its_bound_and_the_oldest_go_first(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-03"""
    import time

    limit = 256 * 1024
    started, now = time.time(), [0.0]
    monkeypatch.setattr(time, "time", lambda: started + now[0])
    cache = Cache(path, limit)
    for batch in range(60):
        now[0] += 10
        keys = [b"%04d" % batch + b"x" * 28 for batch in range(batch * 10, batch * 10 + 10)]
        cache.write({key: os.urandom(1536) for key in keys})
        assert cache.read(keys).keys() == set(keys)
    assert os.path.getsize(path) < limit * 1.5
    assert cache.read([b"0000" + b"x" * 28]) == {}


@pytest.mark.parametrize("damage", [b"", b"not a database " * 100], ids=["empty", "other"])
def test_a_damaged_file_costs_nothing_but_time(path: str, damage: bytes) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(damage)
    first, second = Counting(), Counting()
    assert list(cached(path, first).embed_documents(["a"])) == [pack([1.0, 1])]
    list(cached(path, first).embed_documents(["a"]))
    list(cached(path, second).embed_documents(["a"]))
    assert second.asked == []


def test_pages_that_are_damaged_cost_nothing_but_time(path: str) -> None:
    list(cached(path).embed_documents([f"text {n}" for n in range(500)]))
    for end in ("-wal", "-shm"):
        Path(path + end).unlink(missing_ok=True)
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(os.urandom(8192))
    counting = Counting()
    found = list(cached(path, counting).embed_documents(["text 1", "text 2"]))
    assert found == [pack([1.0, 6])] * 2


def test_a_folder_that_cannot_be_made_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    made = cached(str(tmp_path / "file" / "embeddings.db"))
    assert list(made.embed_documents(["a"])) == [pack([1.0, 1])]
    assert made.embed_query("a") == pack([2.0, 1])


def test_a_vector_of_the_wrong_size_is_not_taken(path: str) -> None:
    made = cached(path)
    made._cache.write({made._key("query", "a"): b"123"})
    assert made.embed_query("a") == pack([2.0, 1])


def fill(path: str, worker: int) -> None:
    made = cached(path, most=64 * MB)
    for batch in range(20):
        texts = [f"{n} of {batch}" for n in range(worker % 2, 40)]
        assert list(made.embed_documents(texts)) == [pack([1.0, len(text)]) for text in texts]


def test_processes_can_use_it_at_the_same_time(path: str) -> None:
    """S4-03"""
    fork = multiprocessing.get_context("spawn")
    workers = [fork.Process(target=fill, args=(path, number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4
    counting = Counting()
    list(cached(path, counting).embed_documents([f"{n} of 3" for n in range(40)]))
    assert counting.asked == []


def test_it_lies_in_the_users_folder_and_can_be_switched_off(tmp_path: Path) -> None:
    """S4-03"""
    place = {"XDG_CACHE_HOME": str(tmp_path)}
    assert folder(place) == str(tmp_path / "knowbase")
    assert os.path.isabs(folder({"XDG_CACHE_HOME": "relative"}))
    assert isinstance(embedder_for(Choice(), DEFAULTS, place), Cached)
    without = embedder_for(Choice(), DEFAULTS._replace(embed_cache_mb=0), place)
    assert not isinstance(without, Cached)
    without.embed_query("a")
    assert not (tmp_path / "knowbase").exists()


def test_the_cache_is_for_the_user_alone(path: str) -> None:
    list(cached(path).embed_documents(["a"]))
    assert os.stat(os.path.dirname(path)).st_mode & 0o077 == 0
