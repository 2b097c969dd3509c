"""Part 3: many processes write to one base at once, in every form of writing that there is,
while others read: no error, no lost update, nothing out of step."""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import knowbase
import postgres
from campaign.part import Budget, Outcome, child, complaint, together
from campaign.soundness import assert_sound, assert_words_are_in_step
from campaign.writing import SHARED
from knowbase import Base, Note
from knowbase.query.conditions import EVERYTHING
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.store.contract import Store
from knowbase.store.postgres import PostgresStore
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL
from linked import FarApart
from stores import BACKENDS, MODEL, NOW, draft, section, vector

WRITERS = 8
WRITES = {"sqlite": 10_000, "postgres": 500}  # of each of them
PATIENCE = 120.0  # seconds beyond the time of the work itself
SHARES = {("sqlite", "base"): 0.6, ("sqlite", "store"): 0.15, ("postgres", "base"): 0.18,
          ("postgres", "store"): 0.07}  # of the time of this part  # fmt: skip


class Work(NamedTuple):
    """How much every process does, and how many there are of each kind."""

    most: int
    seconds: float
    writers: int = WRITERS
    readers: int = 0


def at_work(place: str, job: str, work: Work) -> tuple[list[Any], list[Any]]:
    """What the writers and the readers say when they are done."""
    writers = [
        _start(job, place, number, work.most, work.seconds) for number in range(work.writers)
    ]
    readers = [
        _start("read", place, one, sys.maxsize, 10 * work.seconds) for one in range(work.readers)
    ]
    written = [_said(one, work.seconds + PATIENCE) for one in writers]
    for reader in readers:
        reader.terminate()
    return written, [_said(one, PATIENCE) for one in readers]


def _said(process: "subprocess.Popen[str]", seconds: float) -> Any:
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, err.strip()[-2000:]  # where it came from, too
    return json.loads(out)


def _start(job: str, place: str, number: int, most: int, seconds: float) -> "subprocess.Popen[str]":
    words = child("writing", job, place, number, most, seconds)
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def assert_nothing_is_lost(store: Store, written: Sequence[Any]) -> None:
    """What the stores alone have written."""
    texts = {name: text for one in written for name, text in one["texts"].items()}
    documents = store.documents(EVERYTHING, ALL)
    assert {document.id for document in documents} == {*texts, SHARED}
    assert store.openings(texts) == texts
    assert max(Counter(document.seq for document in documents).values()) == 1
    shared = store.find(SHARED)
    assert shared is not None
    assert shared.access_count == sum(one["used"] for one in written)
    chunks = len(documents)
    assert store.counts().chunks == store.counts().embedded == chunks
    found = store.keyword(keyword_query("alpha"), EVERYTHING, 10 * chunks, FieldWeights())
    assert len(found) == chunks
    assert len(store.semantic(vector(1, 0, 0, 0), EVERYTHING, 10 * chunks)) == chunks
    by_word = store.keyword(keyword_query("writer3"), EVERYTHING, chunks, FieldWeights())
    assert len(by_word) == sum(name.startswith("w3-") for name in texts)


def assert_all_is_as_expected(base: Base, written: Sequence[Any]) -> None:
    """What users have written, in all its forms."""
    documents = {one.code: one for one in base.store.documents(EVERYTHING, ALL)}
    texts = {code: text for one in written for code, text in one["texts"].items()}
    assert set(documents) == {*texts, SHARED}, set(documents) ^ {*texts, SHARED}
    for code, text in texts.items():
        assert base.get(code).text.strip() == text, code
    archived = {code for one in written for code in one["archived"]}
    assert {code for code, one in documents.items() if one.archived} == archived
    assert documents[SHARED].access_count == sum(one["used"] for one in written)
    saved = {name: query for one in written for name, query in one["saved"].items()}
    assert {one.name: one.query for one in base.saved.all().saved} == saved
    for one in written:
        for name, summary in one["sessions"].items():
            assert base.sessions.get(name).summary == summary, name
        for code in one["related"]:
            relations = base.store.relations(documents[code].id)
            assert any(documents[SHARED].id in relation for relation in relations), code


def soak_store(backend: str, folder: Path, work: Work) -> int:
    """Writers by the store alone, and readers beside them; how many writes there were."""
    with closing(BACKENDS[backend](folder)) as store:
        store.use_model(MODEL)
        return soak(store, work)


def soak(store: Store, work: Work) -> int:
    """The same in an empty store."""
    first = draft(SHARED, section("alpha shared"), vectors=(vector(1, 1, 1, 1),))
    store.apply(Changes(drafts=(first,)), NOW)
    written, reads = at_work(place_of(store), "store", work)
    assert all(one["used"] for one in written)
    assert all(reads)
    assert_nothing_is_lost(store, written)
    assert_whole(store)
    return sum(one["writes"] for one in written)


def soak_base(backend: str, folder: Path, work: Work) -> int:
    """Writers in every form; how many writes there were."""
    place = postgres.new_base() if backend == "postgres" else str(folder / "base.db")
    with Base(knowbase.create(place).path, embedder=FarApart()) as base:
        base.note(Note("alpha shared", code=SHARED))
        written, _ = at_work(base.path, "base", work)
        assert_all_is_as_expected(base, written)
        assert_whole(base.store)
        return sum(one["writes"] for one in written)


def assert_whole(store: Any) -> None:
    if isinstance(store, PostgresStore):
        assert_words_are_in_step(store, postgres.database())
    else:
        assert_sound(Path(store.path))


def place_of(store: Any) -> str:
    return str(store.url if isinstance(store, PostgresStore) else store.path)


def one_engine(backend: str, kind: str, budget: Budget) -> Outcome:
    """A quarter of the writes by the stores alone, with readers; the rest by users."""
    each = budget.of(WRITES[backend] * (1 if kind == "store" else 3) // 4)
    name = f"writes, {backend}"
    readers = WRITERS // 4 if kind == "store" else 0
    work = Work(each, budget.seconds, readers=readers)
    soak = soak_store if kind == "store" else soak_base
    aimed = {name: each * WRITERS}
    with tempfile.TemporaryDirectory() as folder:
        try:
            return Outcome({name: soak(backend, Path(folder), work)}, aimed)
        except Exception as error:
            return Outcome({name: 0}, aimed, (complaint(f"{kind} on {backend}", error),))


def run(budget: Budget, seed: int) -> Outcome:
    return together(
        one_engine(backend, kind, budget.part(share)) for (backend, kind), share in SHARES.items()
    )
