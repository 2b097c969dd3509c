"""Damaged bases: a small real one, damaged in many ways, then used, checked and repaired.

`run(seed, number)` is called by the suite with a small number and by campaigns with a large one;
`python damage.py SEED NUMBER` prints the same counts.
"""

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from knowbase import Base, SearchRequest
from knowbase.config import DEFAULTS
from knowbase.errors import BaseDamaged, KnowbaseError
from knowbase.query.conditions import EVERYTHING
from knowbase.store.contract import Store
from knowbase.store.opening import open_store
from knowbase.store.sqlite import create
from knowbase.store.sqlite.packing import plain
from knowbase.store.sqlite.salvage import Found, Salvage
from knowbase.upkeep.check import check
from knowbase.upkeep.digests import digests
from knowbase.upkeep.repair import repair
from knowbase.values.changes import Changes, Edit, SavedSearch, Verdict
from knowbase.values.documents import ALL
from knowbase.values.edges import Relation
from knowbase.values.files import FileRecord, Source
from knowbase.values.sessions import Session, Use
from stores import MODEL, NOW, draft, section, vector

PAGE = 4096
NOTES = 30
WORDS = [
    "harbour",
    "lantern",
    "compass",
    "tide",
    "anchor",
    "beacon",
    "drift",
    "salt",
    "rope",
    "mast",
]


class Counts(NamedTuple):
    """What became of so many damages."""

    damages: int
    refused: int  # something said that the base is damaged, before it was checked
    noticed: int  # by kb check --deep
    harmless: int  # nothing that is kept has changed
    repaired: int
    unsealed: int  # a changed value of a kind that has no seals, not noticed
    unnoticed: tuple[str, ...]  # a changed document or vector, and a check that found nothing
    lost: tuple[str, ...]  # what only the base has, though none of its pages was hit
    failures: tuple[str, ...]  # errors that are none of ours


def make(path: str) -> None:
    """Notes, memories, sessions, uses, verdicts, relations, edits, saved searches, and files."""
    store = create(path)
    store.use_model(MODEL)
    rand = random.Random(7)
    notes = [f"n{number}" for number in range(NOTES)]
    for number, name in enumerate(notes):
        text = " ".join(rand.choice(WORDS) for _ in range(rand.choice((8, 60, 900))))
        one = draft(
            name, section(f"note{number} {text}"), section(text, "more", "More"),
            tags=("sea", f"t{number % 4}"), project="web",
        )  # fmt: skip
        store.apply(Changes(drafts=(one,)), NOW)
    for number in range(10):
        file = f"docs/f{number}.md"
        one = draft(f"f{number}", section(f"file{number} harbour"), path=file)
        record = FileRecord(file, "docs", 10, 10, "0" * 64, f"f{number}")
        store.apply(Changes(drafts=(one,), files=(record,)), NOW)
    store.apply(
        Changes(
            sources=(Source("docs", ("sea",)),),
            sessions=tuple(Session(f"s{n}", "web", NOW, NOW, f"Summary {n}") for n in range(5)),
            uses=tuple(Use(f"s{n % 5}", one, "recalled", NOW) for n, one in enumerate(notes)),
            verdicts=tuple(Verdict(one, "s1", n % 2 == 0, 0.1) for n, one in enumerate(notes[:9])),
            relations=tuple(
                Relation(a, b, "RELATED_TO", "test", NOW) for a, b in pairwise(notes[:8])
            ),
            edits=(Edit("n3", {"archived": True}), Edit("f1", {"archived": True})),
        ),
        NOW,
    )
    store.save_search(SavedSearch("tides", "tide tag:sea", {"top": 3}, NOW, NOW))
    store.link_similar(0.9)
    store.close()


class Kept(NamedTuple):
    """One thing that only the base has, and the pages that it lies on."""

    what: tuple[Any, ...]
    pages: frozenset[int]


def belongings(path: str) -> list[Kept]:
    """Everything that only the base has; a note has the pages of all its rows."""
    salvage = Salvage(path)
    by_note: dict[int, set[int]] = {}
    texts: dict[int, list[tuple[int, str]]] = {}
    files: set[int] = set()
    ids: dict[int, str] = {}
    rows = list(salvage.rows())
    salvage.close()
    for one in rows:
        if one.table == "documents":
            ids[one.values["seq"]] = one.values["id"]
            by_note.setdefault(one.values["seq"], set()).update(one.pages)
            if one.values["path"] is not None:
                files.add(one.values["seq"])
        elif one.table in ("chunks", "tags", "links"):
            by_note.setdefault(one.values["document"], set()).update(one.pages)
            if one.table == "chunks":
                text = (one.values["position"], plain(one.values["text"]))
                texts.setdefault(one.values["document"], []).append(text)
    found = [
        Kept(("note", ids[seq], tuple(sorted(texts[seq]))), frozenset(pages))
        for seq, pages in by_note.items()
        if seq not in files
    ]
    return found + [kept for one in rows if (kept := _shared(one, by_note, ids)) is not None]


def _shared(one: Found, by_note: dict[int, set[int]], ids: dict[int, str]) -> Kept | None:
    """What belongs to no note alone; it is only there with the notes that it speaks of."""
    values = one.values
    own: dict[str, tuple[str, ...]] = {"sessions": ("id", "summary"), "saved": ("name", "query")}
    if one.table in own:
        names = own[one.table]
        return Kept((one.table, *(values[name] for name in names)), frozenset(one.pages))
    ends = {"uses": ("document",), "verdicts": ("document",), "relations": ("source", "target")}
    if one.table not in ends:
        return None
    named = [values[name] for name in ends[one.table]]
    first = (values["session"],) if one.table == "uses" else ()
    pages = set(one.pages).union(*(by_note[seq] for seq in named))
    return Kept((one.table, *first, *(ids[seq] for seq in named)), frozenset(pages))


def held(store: Store) -> set[tuple[Any, ...]]:
    """The same things, of a base that can be read."""
    whole = store.copying()
    copies = whole.copies(whole.seqs())
    shared = whole.shared()
    found: set[tuple[Any, ...]] = set()
    for copy in copies:
        texts = tuple(sorted((one.position, one.chunk.text) for one in copy.chunks))
        found.add(("note", copy.document.id, texts))
        if copy.verdicts:
            found.add(("verdicts", copy.document.id))
    found |= {("sessions", one.id, one.summary) for one in shared.sessions}
    found |= {("saved", one.name, one.query) for one in shared.saved}
    found |= {("uses", one.session, one.document) for one in shared.uses}
    found |= {("relations", one.source, one.target) for one in shared.relations}
    return found


# damages: each says which pages it hit


def _flip(file: Any, size: int, rand: random.Random, number: int) -> set[int]:
    start = rand.randrange(size)
    hit = set()
    for at in range(start, min(size, start + number)):
        file.seek(at)
        byte = file.read(1)[0] ^ (1 << rand.randrange(8))
        file.seek(at)
        file.write(bytes((byte,)))
        hit.add(at // PAGE + 1)
    return hit


def _bit(file: Any, size: int, rand: random.Random) -> set[int]:
    return _flip(file, size, rand, 1)


def _bytes(file: Any, size: int, rand: random.Random) -> set[int]:
    return _flip(file, size, rand, rand.choice((2, 16, 64, 300)))


def _zeros(file: Any, size: int, rand: random.Random) -> set[int]:
    page = rand.randrange(size // PAGE)
    file.seek(page * PAGE)
    file.write(b"\0" * PAGE)
    return {page + 1}


def _noise(file: Any, size: int, rand: random.Random) -> set[int]:
    page = rand.randrange(size // PAGE)
    file.seek(page * PAGE)
    file.write(rand.randbytes(PAGE))
    return {page + 1}


def _header(file: Any, size: int, rand: random.Random) -> set[int]:
    file.seek(rand.randrange(100))
    file.write(rand.randbytes(rand.choice((1, 8, 40))))
    return {1}


def _cut(file: Any, size: int, rand: random.Random) -> set[int]:
    left = rand.randrange(PAGE, size)
    file.truncate(left)
    return set(range(left // PAGE + 1, size // PAGE + 2))


KINDS = (_bit, _bit, _bytes, _bytes, _zeros, _noise, _header, _cut)


def _actions(path: str) -> "dict[str, Callable[[], object]]":
    """What people do with a base."""

    def with_base(work: Callable[[Base], object]) -> Callable[[], object]:
        def run() -> object:
            with Base(path) as base:
                return work(base)

        return run

    def answers(base: Base) -> list[object]:
        queries = ("harbour", "note3 lantern", "tag:sea", "", "related:n3", "session:s1")
        return [base.search(SearchRequest(one, mode="keyword")) for one in queries]

    def read(base: Base) -> list[object]:
        found = base.documents(page=ALL, include=("archived",)).documents
        return [(base.get(one.id), repr(one)) for one in found[:12]]

    return {
        "list": with_base(lambda base: repr(base.documents(page=ALL))),
        "search": with_base(answers),
        "get": with_base(read),
        "meaning": with_base(
            lambda base: base.store.semantic(vector(1, 2, 3, 4), EVERYTHING, 20)
        ),
        "sessions": with_base(
            lambda base: (base.sessions.recent(), base.sessions.show("s1"), base.saved.all())
        ),
        "graph": with_base(lambda base: (base.graph.links("n3"), base.graph.related("n4"))),
        "status": with_base(lambda base: (base.status(), base.tags())),
        "note": with_base(lambda base: base.store.apply(
            Changes(drafts=(draft("new", section("new words")),)), NOW)),
    }  # fmt: skip


SEALED = ("documents", "chunks", "vectors")


class _Campaign:
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._whole = os.path.join(folder, "whole.db")
        make(self._whole)
        self._belongings = belongings(self._whole)
        store = open_store(self._whole, DEFAULTS)
        self._digests = digests(store.copying())
        assert {one.what for one in self._belongings} <= held(store)
        store.close()
        self.refused = self.noticed = self.harmless = self.repaired = self.unsealed = 0
        self.unnoticed: list[str] = []
        self.lost: list[str] = []
        self.failures: list[str] = []

    def damage(self, number: int, rand: random.Random) -> None:
        folder = os.path.join(self._folder, str(number))
        os.mkdir(folder)
        path = os.path.join(folder, "base.db")
        shutil.copyfile(self._whole, path)
        kind = rand.choice(KINDS)
        with open(path, "r+b") as file:
            hit = kind(file, os.path.getsize(path), rand)
        name = f"{number} {kind.__name__[1:]} {sorted(hit)[:3]}"
        self._use(path, name)
        self._check(path, name)
        self._repair(path, name, hit)
        shutil.rmtree(folder)

    def _use(self, path: str, name: str) -> None:
        """On a copy: writing to it would change what is damaged."""
        copy = path + ".used.db"
        shutil.copyfile(path, copy)
        refused = False
        for action, work in _actions(copy).items():
            try:
                work()
            except BaseDamaged as error:
                refused = True
                if "kb repair" not in (error.hint or ""):
                    self.failures.append(f"{name}: {action}: hint {error.hint}")
            except KnowbaseError:
                refused = True
            except Exception as error:
                self.failures.append(f"{name}: {action}: {type(error).__name__} {error}")
        self.refused += refused

    def _check(self, path: str, name: str) -> None:
        is_sound, changed = False, {"all of it"}
        try:
            store = open_store(path, DEFAULTS)
            try:
                is_sound = check(store, path, os.path.dirname(path), deep=True).is_sound
                now = digests(store.copying())
                changed = {one.name for one in set(now) ^ set(self._digests)}
            finally:
                store.close()
        except KnowbaseError:
            is_sound = False
        except Exception as error:
            self.failures.append(f"{name}: check: {type(error).__name__} {error}")
        self.noticed += not is_sound
        self.harmless += not changed
        if is_sound and changed & set(SEALED):
            self.unnoticed.append(f"{name}: {changed}")
        self.unsealed += is_sound and bool(changed) and not changed & set(SEALED)

    def _repair(self, path: str, name: str, hit: set[int]) -> None:
        try:
            repair(path, NOW)
            store = open_store(path, DEFAULTS)
            try:
                there = held(store)
                if not check(store, path, os.path.dirname(path), deep=True).is_sound:
                    self.failures.append(f"{name}: not sound after its repair")
            finally:
                store.close()
        except Exception as error:
            self.failures.append(f"{name}: repair: {type(error).__name__} {error}")
            return
        self.repaired += 1
        for one in self._belongings:
            if not one.pages & hit and one.what not in there:
                self.lost.append(f"{name}: {str(one.what)[:80]}")


def run(seed: int, number: int) -> Counts:
    """Damage a base so many times, each time another way."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = _Campaign(folder)
        for one in range(number):
            campaign.damage(one, random.Random(f"{seed}-{one}"))
        return Counts(
            number, campaign.refused, campaign.noticed, campaign.harmless, campaign.repaired,
            campaign.unsealed, tuple(campaign.unnoticed), tuple(campaign.lost),
            tuple(campaign.failures),
        )  # fmt: skip


if __name__ == "__main__":
    found = run(int(sys.argv[1]), int(sys.argv[2]))
    for name, value in found._asdict().items():
        print(name, len(value) if isinstance(value, tuple) else value)
        for line in value[:15] if isinstance(value, tuple) else ():
            print("   ", line)
