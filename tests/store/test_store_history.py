"""What a base was: a state machine takes a snapshot of every document after each step, and asks
what the versions say of each of those moments. On every store."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from knowbase.store.contract import Store
from knowbase.store.seals import OF_USE
from knowbase.values.changes import Changes, Edit, Reinforcement
from knowbase.values.copies import Copy
from knowbase.values.documents import Document
from knowbase.values.edges import Relation
from knowbase.values.findings import NOTICE
from knowbase.values.history import Kept
from stores import BACKENDS, MODEL, copy_into, draft, section

IDS = "pqr"
TIMES = tuple(f"2026-01-{day:02d}T00:00:00.000000Z" for day in (1, 5, 3, 9, 2))  # also backwards
IGNORED: dict[str, Any] = {"updated_at": "", "split_by": "", **dict.fromkeys(OF_USE, 0)}


def told(document: Document, said: Any, links: Any, relations: Any, chunks: Any) -> object:
    """A document without its use, as versions have it."""
    metadata = dict(document.metadata)
    own = document._replace(**IGNORED, metadata=metadata)
    return own, dict(said), tuple(links), tuple(relations), chunks


def of_copy(copy: Copy, relations: Sequence[Relation]) -> object:
    related = sorted(one for one in relations if one.source == copy.document.id)
    chunks = [(one.id, one.chunk._replace(tokens=0)) for one in copy.chunks]
    return told(copy.document, copy.said, copy.links, related, chunks)


def of_version(kept: Kept) -> object:
    chunks = [(one.id, one.chunk._replace(tokens=0)) for one in kept.copy.chunks]
    return told(kept.document, kept.copy.said, kept.copy.links, kept.relations, chunks)


def snapshot(store: Store) -> dict[str, object]:
    whole = store.copying()
    relations = whole.shared().relations
    return {one.document.id: of_copy(one, relations) for one in whole.copies(whole.seqs())}


class History(RuleBasedStateMachine):
    backend = "memory"

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = BACKENDS[self.backend](Path(self.folder.name))
        self.store.use_model(MODEL)
        self.were: dict[int, dict[str, object]] = {}
        self.unknown: dict[str, int] = {}  # by id: versions that ended by then are not kept

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()

    def apply(self, changes: Changes, now: str = TIMES[0]) -> None:
        before, number = snapshot(self.store), self.store.history().last()
        self.store.apply(changes._replace(model=MODEL), now)
        after = snapshot(self.store)
        # one number for each transaction that changes anything, none for the others
        if not changes.erased:
            assert self.store.history().last() == number + (before != after)
        self.were[self.store.history().last()] = after

    @rule(
        identity=st.sampled_from(IDS),
        texts=st.lists(st.sampled_from(("alpha", "beta", "gamma")), min_size=1, max_size=3),
        title=st.sampled_from(("One", "Two")),
        path=st.none() | st.sampled_from(("a.md", "b.md")),
        now=st.sampled_from(TIMES),
    )
    def write(
        self, identity: str, texts: list[str], title: str, path: str | None, now: str
    ) -> None:
        sections = [section(text, f"s{place}") for place, text in enumerate(texts)]
        made = draft(identity, *sections, path=path, title=title, updated_at=now, tags=(texts[0],))
        self.apply(Changes(drafts=(made,)), now)

    @rule(identity=st.sampled_from(IDS), now=st.sampled_from(TIMES))
    def remove(self, identity: str, now: str) -> None:
        self.apply(Changes(removed=(identity,)), now)

    @rule(
        identity=st.sampled_from(IDS),
        values=st.sampled_from(
            ({"archived": True}, {"deleted_at": TIMES[0]}, {"deleted_at": None}, {})
        ),
    )
    def edit(self, identity: str, values: dict[str, str | bool | None]) -> None:
        self.apply(Changes(edits=(Edit(identity, values),)))

    @rule(ends=st.permutations(IDS), drop=st.booleans())
    def relate(self, ends: list[str], drop: bool) -> None:
        said = (Relation(ends[0], ends[1], "RELATED_TO", "user"),)
        self.apply(Changes(dropped_relations=said) if drop else Changes(relations=said))

    @rule(identity=st.sampled_from(IDS))
    def use(self, identity: str) -> None:
        """Use is no change."""
        number = self.store.history().last()
        self.store.apply(Changes(reinforced=(Reinforcement(identity, 0.1),)), TIMES[0])
        assert self.store.history().last() == number

    @rule(identity=st.sampled_from(IDS))
    def erase(self, identity: str) -> None:
        self.apply(Changes(erased=(identity,)))
        self.unknown[identity] = self.store.history().last()

    @rule(identity=st.sampled_from(IDS), data=st.data())
    def prune(self, identity: str, data: st.DataObject) -> None:
        until = data.draw(st.integers(0, self.store.history().last()))
        self.store.history().prune([(identity, until)])
        self.unknown[identity] = max(until, self.unknown.get(identity, 0))

    @rule()
    def move(self) -> None:
        copy = BACKENDS[self.backend](Path(tempfile.mkdtemp(dir=self.folder.name)))
        copy_into(copy, self.store)
        assert list(copy.copying().history()) == list(self.store.copying().history())
        self.store.close()
        self.store = copy

    @invariant()
    def the_versions_say_what_was(self) -> None:
        if not hasattr(self, "store"):
            return
        history = self.store.history()
        for number, documents in self.were.items():
            for identity in IDS:
                found = history.version(identity, number)
                if found is not None:
                    assert of_version(found) == documents.get(identity)
                elif identity in documents:
                    versions = [v for v in history.versions(identity) if v.has(number)]
                    assert [v.document for v in versions] in ([], [None])
                    ended = [v.until for v in versions]
                    assert all((one or 0) <= self.unknown.get(identity, 0) for one in ended)
                    assert number < self.unknown.get(identity, 0)

    @invariant()
    def nothing_is_left_over(self) -> None:
        if not hasattr(self, "store"):
            return
        assert self.store.history().leftovers() == 0
        with self.store.copying().snapshot() as whole:
            found = list(whole.findings(deep=True))
        assert [one for one in found if one.severity != NOTICE] == []


class SqliteStores(History):
    backend = "sqlite"


class PostgresStores(History):
    backend = "postgres"


def sized(examples: int, steps: int) -> settings:
    """What fails is short enough to read as it is."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )


TestMemory = History.TestCase
TestMemory.settings = sized(8, 25)
TestSqlite = SqliteStores.TestCase
TestSqlite.settings = sized(5, 25)
TestPostgres = PostgresStores.TestCase
TestPostgres.settings = sized(2, 20)


@pytest.mark.soak
@pytest.mark.parametrize("machine", [History, SqliteStores, PostgresStores])
def test_for_longer(machine: type[History]) -> None:
    run_state_machine_as_test(machine, settings=sized(300, 50))
