"""How much of a base has changed since it learnt from itself: by a sample of its chunks.

Numbers alone do not tell: a text that is written anew keeps its chunks' places. So what a base has
learnt names some chunks and what they held then.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from zlib import crc32

from knowbase.values.calibration import Calibration

if TYPE_CHECKING:
    from knowbase.store.contract import Store

MOST_CHANGED = 1 / 3  # of the chunks; then it is another base
COMPARED = 100
DRAWN = 400  # places that are looked at for them: some are empty
_CHUNK = "chunk."


def sample_of(store: "Store") -> Mapping[str, float]:
    """Some chunks, and what they hold, as a calibration keeps it."""
    import random

    last = store.copying().frame().next_chunk - 1
    draw = random.Random(2)  # noqa: S311 - a draw that can be repeated
    wanted = draw.sample(range(1, last + 1), min(DRAWN, last)) if last > 0 else []
    found = store.hashes(wanted)
    there = [one for one in wanted if one in found][:COMPARED]
    return {f"{_CHUNK}{one}": float(crc32(found[one].encode())) for one in there}


def changed_share(known: Calibration, store: "Store") -> float:
    """The share of what there was that is gone or written anew, or of what there is that is new,
    whichever is more."""
    numbers = known.numbers
    then, today = numbers.get("chunks", 0.0), float(store.frequencies(()).chunks)
    sample = {
        int(name.removeprefix(_CHUNK)): number
        for name, number in numbers.items()
        if name.startswith(_CHUNK)
    }
    if sample:
        there = store.hashes(sample)
        kept = sum(crc32(there.get(one, "").encode()) == held for one, held in sample.items())
        stays = kept / len(sample)
    else:  # learnt by an earlier version
        stays = min(1.0, today / then) if then else 0.0
    return max(1 - stays, 1 - stays * then / today if today else 1.0)
