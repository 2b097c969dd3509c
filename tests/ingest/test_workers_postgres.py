"""`kb embed --worker`: many processes make the vectors of one base in PostgreSQL."""

import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import services
from conftest import COMMAND, Kb, environment
from knowbase.ingest.embedding import BATCH
from knowbase.store.postgres import PostgresStore, create
from knowbase.values.changes import Changes
from knowbase.values.vectors import Claim
from postgres import new_base
from stores import MODEL, NOW, draft, section, vector

TEXTS = 4 * BATCH
PATIENCE = 120


@pytest.fixture
def store() -> Iterator[PostgresStore]:
    with closing(create(new_base())) as made:
        yield made


def fill(store: PostgresStore, texts: int) -> None:
    """Documents without vectors, and for every fourth one a copy with the same text."""
    words = [f"words of {number}" for number in range(texts)]
    drafts = [
        draft(f"d{number}", section(text), vectors=(None,), title=text)
        for number, text in enumerate((*words, *words[::4]))
    ]
    store.apply(Changes(drafts=tuple(drafts)), NOW)


def hashes(passages: object) -> list[str]:
    return [one.chunk.hash for one in passages]  # type: ignore[attr-defined]


def test_a_text_is_left_to_one_until_its_lease_is_over(store: PostgresStore) -> None:
    store.use_model(MODEL)
    fill(store, 20)
    claims = store.claims()
    one, other = Claim("one", 60), Claim("other", 60)
    first = hashes(claims.take(MODEL, one, 10))
    second = hashes(claims.take(MODEL, other, 10))
    assert (len(set(first)), len(set(second))) == (10, 10)
    assert not set(first) & set(second)
    assert len(first) > 10  # a copy is not a text of its own, and comes with the first
    assert claims.take(MODEL, Claim("third", 60), 10) == []
    store.put_vectors(MODEL, "", dict.fromkeys(first, vector(1, 0, 0, 0)))
    claims.give_back(other)
    assert set(hashes(claims.take(MODEL, Claim("third", 0.01), 99))) == set(second)
    time.sleep(0.05)
    assert set(hashes(claims.take(MODEL, other, 99))) == set(second)
    claims.extend(Claim("other", 0.01))
    time.sleep(0.05)
    assert set(hashes(claims.take(MODEL, one, 99))) == set(second)


def test_who_takes_at_the_same_time_takes_no_text_twice(store: PostgresStore) -> None:
    store.use_model(MODEL)
    fill(store, 80)
    taken: Counter[str] = Counter()

    def work(name: str) -> None:
        while found := store.claims().take(MODEL, Claim(name, 60), 7):
            texts = set(hashes(found))
            taken.update(texts)
            store.put_vectors(MODEL, "", dict.fromkeys(texts, vector(1, 0, 0, 0)))

    with ThreadPoolExecutor(6) as pool:  # what one of them raises is raised here
        list(pool.map(work, [f"w{number}" for number in range(6)]))
    assert set(taken.values()) == {1}
    assert len(taken) == 80
    assert store.counts().embedded == store.counts().chunks == 100


def worker(url: str, server: services.Service, name: str, folder: Path) -> "subprocess.Popen[str]":
    env = {
        "KB_BASE": url,
        "KB_EMBED_URL": server.url,
        "KB_EMBED_KEY": name,
        "KB_EMBED_BATCH": "4",
        "KB_EMBED_CONCURRENCY": "1",
        "KB_EMBED_CACHE_MB": "0",
    }
    words = [*COMMAND, "embed", "--worker", "--lease", "5", "--model", "service:many"]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env=environment(**env),
    )  # fmt: skip


def sent(server: services.Service, name: str) -> list[str]:
    """The texts that this worker had embedded; all have asked for the model's size before."""
    own = [one for one in server.asked if (one.key or "").endswith(name)]
    return [text for one in own for text in one.body["input"] if "words of" in text]


def test_a_killed_worker_loses_nothing_and_nothing_is_made_twice(
    store: PostgresStore, tmp_path: Path
) -> None:
    fill(store, TEXTS)
    with services.service() as server:
        server.always = services.slow(0.02)
        names = ("first", "second", "third")
        workers = [worker(store.url, server, name, tmp_path) for name in names]
        ends = time.monotonic() + PATIENCE
        while len(sent(server, "first")) < 8:  # so that it is in the middle of a batch
            assert time.monotonic() < ends
            time.sleep(0.01)
        workers[0].send_signal(signal.SIGKILL)
        workers[0].communicate(timeout=PATIENCE)
        for one in workers[1:]:
            out, err = one.communicate(timeout=PATIENCE)
            assert (one.returncode, err) == (0, ""), out
        lost = Counter(sent(server, "first"))
        others = Counter(sent(server, "second") + sent(server, "third"))
    assert store.counts().embedded == store.counts().chunks == TEXTS * 5 // 4
    assert set(others.values()) == {1}  # nobody did what another one was at
    assert len(set(lost) | set(others)) == TEXTS
    assert len(set(lost) & set(others)) <= BATCH  # what the one who died had not stored


def test_workers_need_a_base_that_machines_share(kb: Kb) -> None:
    told = kb.error("embed", "--worker", code=2)
    assert "lies in a file" in told
    assert "kb embed" in told
