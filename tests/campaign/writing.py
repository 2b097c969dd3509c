"""One process of many at work on a base: `main` with JOB BASE NUMBER MOST SECONDS.

JOB is `store` (documents written and removed by the store alone), `base` (every form of writing
that a user has), `notes` (one note after the other; the code of each is printed when it is
written) or `read`. A writer prints what it expects to find, as JSON, when it is done.
"""

import json
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

from knowbase import Base, Note
from knowbase.config import DEFAULTS
from knowbase.query.conditions import EVERYTHING
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.store.contract import Store
from knowbase.store.opening import open_store
from knowbase.values.changes import Changes, Reinforcement
from knowbase.values.times import timestamp
from linked import FarApart
from stores import draft, section, vector

SHARED = "shared"  # every writer says that it was of use
KEPT = 20  # documents of each writer; each is written again and again


def turns(most: int, seconds: float) -> Iterator[int]:
    """0, 1, 2 … until there were as many, the time is over, or SIGTERM comes."""
    told_to_stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told_to_stop.append(number))
    ends = time.monotonic() + seconds
    for turn in range(most):
        if told_to_stop or time.monotonic() >= ends:
            return
        yield turn


def write_store(store: Store, number: int, each: Iterator[int]) -> dict[str, Any]:
    """Add, change and remove documents, and count on a shared one."""
    texts: dict[str, str] = {}
    used = 0
    for turn in each:
        name = f"w{number}-{turn % KEPT}"
        text = f"alpha writer{number} turn{turn}"
        gone = (f"w{number}-{(turn + 7) % KEPT}",) if turn % 5 == 4 else ()
        made = draft(name, section(text), vectors=(vector(1, number, turn % 9, 0),))
        changes = Changes(removed=gone, drafts=(made,), reinforced=(Reinforcement(SHARED, 0.001),))
        store.apply(changes, timestamp(time.time()))
        for one in gone:
            texts.pop(one, None)
        texts[name] = text
        used += 1
    return {"texts": texts, "used": used, "writes": used}


def read_store(store: Store, number: int, each: Iterator[int]) -> int:
    """Search by words and by meaning; whatever is found belongs together."""
    turn = 0
    for turn in each:
        words = keyword_query("alpha")
        for found in (
            store.keyword(words, EVERYTHING, 50, FieldWeights()),
            store.semantic(vector(1, number, turn % 9, 0), EVERYTHING, 50),
        ):
            assert found
            for passage in store.passages([one.chunk for one in found]).values():
                owner = passage.document.id.partition("-")[0].replace("w", "writer")
                assert owner in (SHARED, passage.chunk.text.split()[1]), passage
    return turn + 1


class Writer:
    """Writes in every form, one after the other, and keeps in mind what should be there."""

    def __init__(self, base: Base, number: int) -> None:
        self.base = base
        self.number = number
        self.texts: dict[str, str] = {}
        self.archived: set[str] = set()
        self.saved: dict[str, str] = {}
        self.sessions: dict[str, str | None] = {}
        self.related: set[str] = set()
        self.used = 0

    def forms(self) -> tuple[Callable[[int], None], ...]:
        return (
            self.note, self.count, self.remember, self.archive, self.save, self.change, self.count,
            self.session, self.relate, self.note, self.restore, self.end_session, self.feedback,
            self.change, self.remove, self.unsave,
        )  # fmt: skip

    def code(self, turn: int) -> str:
        return f"W{self.number}-{turn % KEPT}"

    def any_code(self, turn: int) -> str | None:
        codes = sorted(self.texts)
        return codes[turn % len(codes)] if codes else None

    def note(self, turn: int) -> None:
        code, text = self.code(turn), f"alpha writer{self.number} note{turn}"
        known = code in self.texts
        self.base.note(Note(text, code=None if known else code, replaces=code if known else None))
        self.texts[code] = text

    def change(self, turn: int) -> None:
        code = self.any_code(turn)
        if code:
            text = f"alpha writer{self.number} change{turn}"
            self.base.note(Note(text, replaces=code))
            self.texts[code] = text

    def remember(self, turn: int) -> None:
        code, text = f"R{self.number}-{turn % KEPT}", f"alpha writer{self.number} memory{turn}"
        if code not in self.texts:
            self.base.remember(Note(text, code=code, type="fact"))
            self.texts[code] = text

    def archive(self, turn: int) -> None:
        code = self.any_code(turn)
        if code:
            self.base.lifecycle.archive([code])
            self.archived.add(code)

    def restore(self, turn: int) -> None:
        if self.archived:
            self.base.lifecycle.restore([code := min(self.archived)])
            self.archived.discard(code)

    def remove(self, turn: int) -> None:
        code = self.any_code(turn)
        if code:
            self.base.remove([code])
            del self.texts[code]
            self.archived.discard(code)
            self.related.discard(code)

    def relate(self, turn: int) -> None:
        code = self.any_code(turn)
        if code:
            self.base.relate(code, SHARED)
            self.related.add(code)

    def feedback(self, turn: int) -> None:
        if code := self.any_code(turn):
            self.base.feedback(code, "good", f"f{self.number}-{turn}")

    def count(self, turn: int) -> None:
        shared = self.base.get(SHARED).document
        changes = Changes(reinforced=(Reinforcement(shared.id, 0.0001),))
        self.base.store.apply(changes, timestamp(time.time()))
        self.used += 1

    def save(self, turn: int) -> None:
        name, query = f"s{self.number}-{turn % 5}", f"writer{self.number} turn{turn}"
        self.base.saved.add(name, query, replace=True)
        self.saved[name] = query

    def unsave(self, turn: int) -> None:
        if self.saved:
            self.base.saved.remove(name := min(self.saved))
            del self.saved[name]

    def session(self, turn: int) -> None:
        self.base.sessions.start(name := f"t{self.number}-{turn}")
        self.sessions[name] = None

    def end_session(self, turn: int) -> None:
        unfinished = [name for name, summary in self.sessions.items() if summary is None]
        if unfinished:
            self.base.sessions.end(unfinished[0], f"what {turn} did")
            self.sessions[unfinished[0]] = f"what {turn} did"

    def expected(self) -> dict[str, Any]:
        return {
            "texts": self.texts,
            "archived": sorted(self.archived),
            "saved": self.saved,
            "sessions": self.sessions,
            "related": sorted(self.related),
            "used": self.used,
        }


def write_base(base: Base, number: int, each: Iterator[int]) -> dict[str, Any]:
    writer = Writer(base, number)
    forms, turn = writer.forms(), -1
    for turn in each:
        forms[turn % len(forms)](turn // 2)
    return {**writer.expected(), "writes": turn + 1}


def write_notes(base: Base, number: int, each: Iterator[int]) -> dict[str, Any]:
    for turn in each:
        base.note(Note(f"alpha note {number} {turn}", code=f"N{number}-{turn}"))
        print(f"N{number}-{turn}", flush=True)
    return {}


STORE_JOBS = {"store": write_store, "read": read_store}
BASE_JOBS = {"base": write_base, "notes": write_notes}


def main(job: str, place: str, own: str, most: str, seconds: str) -> None:
    each = turns(int(most), float(seconds))
    if job in STORE_JOBS:
        store = open_store(place, DEFAULTS)
        print(json.dumps(STORE_JOBS[job](store, int(own), each)))
        store.close()
    else:
        with Base(place, embedder=FarApart()) as base:
            print(json.dumps(BASE_JOBS[job](base, int(own), each)))
