"""Watching files: a round of syncing for each round of changes on disk."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence

from knowbase.errors import (
    BaseLocked,
    BaseUnreachable,
    DiskFull,
    KnowbaseError,
    NotFound,
    TookTooLong,
)
from knowbase.ingest.report import Report
from knowbase.logs import log


def watch(
    sync: Callable[[], Report], roots: Sequence[str], ignored: Collection[str]
) -> Iterator[Report]:
    """A report for each round, the first one at once; what is ignored starts none."""
    from watchfiles import watch as changes_on_disk

    first = sync()
    yield first
    if first.interrupted:
        return
    present = [root for root in roots if os.path.exists(root)]
    if not present:
        raise NotFound("there is nothing to watch", hint="add a folder with: kb add PATH")
    rounds = changes_on_disk(
        *present,
        watch_filter=lambda _, path: path not in ignored,
        raise_interrupt=True,
        yield_on_timeout=True,
        rust_timeout=1000,
    )
    for number, changes in enumerate(rounds):
        if changes or number == 0:  # once more, for what changed before the watch was up
            report = _synced_or_later(sync)
            yield report
            if report.interrupted:
                return


def _synced_or_later(sync: Callable[[], Report]) -> Report:
    """A round of watching; what may be over by the next one does not end it, nor what nobody
    thought of."""
    try:
        return sync()
    except (BaseLocked, BaseUnreachable, DiskFull, TookTooLong) as error:
        reason = error.message
    except KnowbaseError:
        raise
    except Exception as error:
        log("error", "a round of watching failed", exc_info=error)
        reason = f"this round failed ({type(error).__name__})"
    return Report(warnings=(f"{reason}; the next change looks again",))
