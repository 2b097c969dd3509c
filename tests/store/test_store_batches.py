"""Documents that are written together: each sees what the ones before it did, on every engine, and
in PostgreSQL their number does not make more statements."""

from pathlib import Path
from typing import Any

import psycopg
import pytest

from knowbase import Base, Note
from knowbase.query.conditions import EVERYTHING
from knowbase.store.contract import Store
from knowbase.store.postgres import PostgresStore, create, retrieval
from knowbase.store.watching import watched
from knowbase.values.changes import Changes, Draft, Edit
from linked import FarApart
from postgres import new_base
from stores import BACKENDS, MODEL, NOW, draft, section, vector

FIRST = (
    draft("one", section("alpha"), path="a.md", code="X-1"),
    draft("two", section("beta [x](a.md)"), path="b.md", code="X-2"),
    draft("three", section("gamma"), section("delta", "d", "D"), path="c.md"),
)
BATCHES: dict[str, tuple[Draft, ...]] = {
    "a code that one gives up is taken by the next": (
        draft("one", section("alpha"), path="a.md", code="Y-1"),
        draft("four", section("delta"), code="x-1"),
        draft("two", section("beta"), path="b.md", code="X-1"),
    ),
    "two change their codes": (
        draft("one", section("alpha"), path="a.md", code="Z-1"),
        draft("two", section("beta"), path="b.md", code="X-1"),
        draft("one", section("alpha again"), path="a.md", code="X-2"),
    ),
    "a path that one gives up is a new one's": (
        draft("one", section("alpha"), path="moved.md"),
        draft("four", section("delta"), path="a.md"),
    ),
    "one moves to where another is": (
        draft("four", section("delta"), path="d.md"),
        draft("one", section("alpha"), path="b.md"),
        draft("five", section("epsilon"), path="a.md"),
    ),
    "a new id for a known path": (
        draft("other", section("alpha, other words"), path="a.md"),
        draft("another", section("beta"), path="a.md"),
    ),
    "the same one twice": (
        draft("six", section("zeta"), section("eta", "e", "E"), path="f.md"),
        draft("six", section("theta"), path="f.md"),
    ),
    "once, and the text came a moment ago": (
        draft("seven", section("the very same"), path="g.md"),
        draft("eight", section("the very same"))._replace(once=True),
        draft("nine", section("the very same, not quite"))._replace(once=True),
    ),
    "the code that would be assigned is taken": (
        draft("ten", section("iota"), code="KB-5"),
        draft("eleven", section("kappa")),
        draft("twelve", section("lambda"), code="kb-5-2"),
    ),
}


def shown(store: Store, batch: tuple[Draft, ...]) -> Any:
    """What a batch does, as everybody sees it."""
    store.use_model(MODEL)
    store.apply(Changes(drafts=FIRST, edits=(Edit("three", {"archived": True}),)), NOW)
    written = store.apply(Changes(drafts=batch), NOW)
    whole = store.copying()
    return (
        written,
        whole.copies(whole.seqs()),
        whole.frame(),
        whole.shared(),
        sorted(store.edges(EVERYTHING)),
    )


@pytest.mark.parametrize("name", BATCHES)
def test_each_document_of_a_batch_sees_what_the_ones_before_it_did(
    name: str, tmp_path: Path
) -> None:
    found = {}
    for kind, made in BACKENDS.items():
        store = made(tmp_path)
        found[kind] = shown(store, BATCHES[name])
        store.close()
    assert found["postgres"] == found["sqlite"]
    assert found["postgres"][:3] == found["memory"][:3]


def sent_by(monkeypatch: pytest.MonkeyPatch, store: PostgresStore, number: int) -> int:
    """How many statements it takes to write so many documents."""
    sent = []
    execute, copy = psycopg.Cursor.execute, psycopg.Cursor.copy
    many = psycopg.Cursor.executemany

    def count(work: Any) -> Any:
        def counted(*given: Any, **named: Any) -> Any:
            sent.append(work)
            return work(*given, **named)

        return counted

    def count_each(self: Any, statement: Any, lines: Any, **named: Any) -> Any:
        lines = list(lines)
        sent.extend(lines)
        return many(self, statement, lines, **named)

    drafts = tuple(
        draft(f"{number}-{n}", section(f"words {n} [[one]]"), path=f"{number}/{n}.md")
        for n in range(number)
    )
    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", count(execute))
        patch.setattr(psycopg.Cursor, "copy", count(copy))
        patch.setattr(psycopg.Cursor, "executemany", count_each)
        store.apply(Changes(drafts=drafts), NOW)
    return len(sent)


def test_ten_times_as_many_documents_take_no_more_statements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = create(new_base())
    store.use_model(MODEL)
    few = sent_by(monkeypatch, store, 4)
    assert sent_by(monkeypatch, store, 40) == few
    store.close()


def test_hnsw_is_built_when_a_table_is_large_and_not_with_each_vector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """C33"""
    store = create(new_base())
    other = MODEL._replace(name="seven", dimensions=7)  # a table of its own
    store.use_model(other)
    one = vector(1, 2, 3, 4, 5, 6, 7)
    drafts = tuple(draft(f"d{n}", section(f"text {n}"), vectors=(one,)) for n in range(12))
    store.apply(Changes(drafts=drafts, model=other), NOW)
    assert not store.renew_index()
    monkeypatch.setattr(retrieval, "EXACT", 10)
    told: list[tuple[int, int]] = []
    assert store.renew_index(tell=lambda *given: told.append(given))
    assert all(done <= total for done, total in told)
    assert not store.renew_index()
    assert store.renew_index(anew=True)
    assert len(store.semantic(one, EVERYTHING, 20, other)) == 12
    store.close()


def test_how_far_it_is_is_told_while_it_is_waited_for() -> None:
    told: list[tuple[int, int]] = []
    steps = iter([None, (1, 2), (2, 2)])

    with watched(lambda *given: told.append(given), lambda: next(steps, None), pause=0.001):
        while len(told) < 2:
            pass
    assert told == [(1, 2), (2, 2)]


def test_many_notes_sent_again_with_their_key_are_written_once() -> None:
    with Base(create(new_base()).url, embedder=FarApart()) as base:
        written = base.notes([Note("alpha"), Note("beta"), Note("gamma")], key="k")
        again = base.notes([Note("alpha"), Note("beta"), Note("gamma")], key="k")
        assert [one.code for one in again.notes] == [one.code for one in written.notes]
        assert base.status().documents == 3
