"""Vectors that are missing, and links between similar documents, made while a server or a watch
runs (S3-24, S3-44).

Text that was put in first (`--defer`), or while an embedding service was away, is found by words
at once and by meaning soon after, without anybody asking for it.
"""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING

from knowbase.errors import KnowbaseError
from knowbase.logs import log

if TYPE_CHECKING:
    from knowbase.base.finding import Finding
    from knowbase.ingest.embedding import Step

FIRST_LOOK = (
    1.0  # seconds; each look that finds nothing, or fails, is twice as long before the next
)
LONGEST_IDLE = 10.0
LONGEST_AFTER_FAILURE = 300.0
BREATH = 0.02  # seconds between two questions that the base asks itself
LAST_SECONDS = 2.0  # for the vector under way when it ends
WORK = "background"
LEASE = 60.0  # seconds that the work of a process that was killed waits for another
RENEWAL = 15.0


@contextmanager
def embedding(base: "Finding", *, when: bool = True) -> Iterator[None]:
    """For as long as the block runs, a thread makes the vectors that are missing."""
    settings = base.settings
    if not (when and settings.embed_vectors and settings.embed_background and base.access.write):
        yield
        return
    work = _Work(base)
    work.start()
    try:
        yield
    finally:
        work.end()


class _Stopped(KeyboardInterrupt):
    """As if somebody pressed Ctrl-C: what is made is stored."""


class _Work(threading.Thread):
    def __init__(self, base: "Finding") -> None:
        super().__init__(name="embedding", daemon=True)
        self._base = base
        self._ended = threading.Event()
        self._failures = 0
        self._idle_since = monotonic()
        self._holder = str(uuid.uuid4())
        self._leased = 0.0  # when the lease was last taken

    def end(self) -> None:
        self._ended.set()
        self.join(LAST_SECONDS)

    def run(self) -> None:
        pause = FIRST_LOOK
        while not self._ended.wait(pause):
            try:
                made = self._look()
            except Exception as error:
                self._failures += 1
                self._report(error)
                pause = min(pause * 2, LONGEST_AFTER_FAILURE)
            else:
                self._failures = 0
                pause = FIRST_LOOK if made else min(pause * 2, LONGEST_IDLE)

    def _look(self) -> int:
        """How many vectors were made."""
        base = self._base
        if base.store.semantic_coverage() == 1:
            base.ingest_services().link_similar()
            self._learn()
            return 0
        self._idle_since = monotonic()
        with self._alone() as is_alone:
            if not is_alone:
                return 0
            made = base.models.embed_missing(self._step).embedded
            base.ingest_services().link_similar()
        log("info", "embedded in the background", chunks=made)
        return made

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Whether no other process does it; a base may have several servers."""
        if not self._lease():
            yield False
            return
        try:
            yield True
        finally:
            with suppress(KnowbaseError):  # then it runs out
                self._base.store.end_lease(WORK, self._holder)

    def _lease(self) -> bool:
        self._leased = monotonic()
        return self._base.store.lease(WORK, self._holder, LEASE)

    def _is_over(self) -> bool:
        """Ended, or another process took over, since this one was held up for too long."""
        if self._ended.is_set():
            return True
        return monotonic() - self._leased > RENEWAL and not self._lease()

    def _learn(self) -> None:
        """How the base's answers look, once it has been left alone for a while."""
        base, after = self._base, self._base.settings.search_calibrate_after
        if not after or monotonic() - self._idle_since < after or not base.access.is_full:
            return
        from knowbase.search.calibrate import calibrate, is_due

        services = base.search_services
        if not is_due(services, base.store.calibration()):
            return
        with self._alone() as is_alone:
            if not is_alone:
                return
            try:
                made = calibrate(services, base.now(), self._breathe)
            except _Stopped:
                return
        if made is not None:
            base.store.put_calibration(made)
            log("info", "calibrated in the background", questions=made.numbers["questions"])
        else:
            self._idle_since = monotonic() + LONGEST_AFTER_FAILURE  # there is too little

    def _breathe(self, *_: int) -> None:
        """Others come first, and an end comes soon."""
        self._ended.wait(BREATH)
        if self._is_over():
            raise _Stopped

    def _step(self, _: "Step") -> None:
        if self._is_over():
            raise _Stopped

    def _report(self, error: Exception) -> None:
        """An outage is a warning once, and not with every look."""
        level = "warning" if self._failures == 1 else "debug"
        if isinstance(error, KnowbaseError):
            log(level, "vectors are made later", reason=error.message, exc_info=error)
        else:
            log("error", "embedding in the background failed", exc_info=error)
