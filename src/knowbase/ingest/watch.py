"""Watching files: a round of syncing for each round of changes on disk."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

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
    sync: Callable[[], Report],
    roots: Sequence[str],
    ignored: Collection[str],
    sync_some: Callable[[Collection[str]], Report | None] = lambda _: None,
    each: Callable[[], None] = lambda: None,  # about once a second
) -> Iterator[Report]:
    """A report for each round, the first one at once; what is ignored starts none.

    A round looks at what changed; all files are looked at when that is not enough, and after a
    round that left something undone.
    """
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
    is_whole = True  # once more, for what changed before the watch was up
    for number, changes in enumerate(rounds):
        each()
        if not changes and number:
            continue
        paths = frozenset(os.path.abspath(path) for _, path in changes)
        report = _synced_or_later(
            sync if is_whole else partial(_some_or_all, sync, sync_some, paths)
        )
        yield report
        if report.interrupted:
            return
        is_whole = len(report.failed) > report.failed_before or bool(report.warnings)


def _some_or_all(
    sync: Callable[[], Report],
    sync_some: Callable[[Collection[str]], Report | None],
    paths: Collection[str],
) -> Report:
    report = sync_some(paths)
    return sync() if report is None else report


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
