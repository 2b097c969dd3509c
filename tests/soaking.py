"""One process of many at work on a base: `python soaking.py write|read BASE NUMBER SECONDS`.

A writer prints what it has written, as JSON, when its time is over; a reader how often it read.
"""

import json
import sys
import time

from knowbase.config import DEFAULTS
from knowbase.query.conditions import EVERYTHING
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.store.contract import Store
from knowbase.store.opening import open_store
from knowbase.values.changes import Changes, Reinforcement
from knowbase.values.times import timestamp
from stores import draft, section, vector

SHARED = "shared"  # every writer says that it was of use
KEPT = 20  # documents of each writer; each is written again and again


def write(store: Store, number: int, seconds: float) -> dict[str, object]:
    """Add, change and remove documents, and count on a shared one."""
    texts: dict[str, str] = {}
    ends, used, turn = time.monotonic() + seconds, 0, 0
    while time.monotonic() < ends:
        name = f"w{number}-{turn % KEPT}"
        text = f"alpha writer{number} turn{turn}"
        gone = (f"w{number}-{(turn + 7) % KEPT}",) if turn % 5 == 4 else ()
        made = draft(name, section(text), vectors=(vector(1, number, turn % 9, 0),))
        changes = Changes(removed=gone, drafts=(made,), reinforced=(Reinforcement(SHARED, 0.001),))
        store.apply(changes, timestamp(time.time()))
        for one in gone:
            texts.pop(one, None)
        texts[name] = text
        used, turn = used + 1, turn + 1
    return {"texts": texts, "used": used}


def read(store: Store, number: int, seconds: float) -> int:
    """Search by words and by meaning; whatever is found belongs together."""
    ends, turn = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        words = keyword_query("alpha")
        for found in (
            store.keyword(words, EVERYTHING, 50, FieldWeights()),
            store.semantic(vector(1, number, turn % 9, 0), EVERYTHING, 50),
        ):
            assert found
            for passage in store.passages([one.chunk for one in found]).values():
                owner = passage.document.id.partition("-")[0].replace("w", "writer")
                assert owner in (SHARED, passage.chunk.text.split()[1]), passage
        turn += 1
    return turn


if __name__ == "__main__":
    job, base, own, seconds = sys.argv[1:]
    work = {"write": write, "read": read}[job]
    opened = open_store(base, DEFAULTS)
    print(json.dumps(work(opened, int(own), float(seconds))))
    opened.close()
