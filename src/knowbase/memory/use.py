"""Use: what a search returned and what was found good, recorded without holding anybody up."""

import threading
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import BaseError, InvalidInput, KnowbaseError, TookTooLong
from knowbase.logs import log
from knowbase.values.changes import Changes, Reinforcement, Verdict, session_name
from knowbase.values.documents import Document
from knowbase.values.sessions import Session, Use

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.search.answer import Answer
    from knowbase.search.request import SearchRequest
    from knowbase.store.contract import DocumentStore

VERDICTS = ("good", "bad")
REINFORCEMENT = 0.02  # S2-21: the part of what its salience lacks to 1
MOST_PENDING = 1000  # recordings that wait for a base that is locked; the oldest is dropped


class Feedback(NamedTuple):
    """A document after a verdict on it."""

    document: Document
    verdict: str
    counted: bool  # not when the same was said before on this occasion


class Recorder:
    """Writes down what was used, after the answer; what cannot be written now waits."""

    def __init__(self, store: "DocumentStore", clock: "Callable[[], str]") -> None:
        self._store = store
        self._clock = clock
        self._pending: deque[Changes] = deque(maxlen=MOST_PENDING)
        self._writing = threading.Lock()

    def returned(self, request: "SearchRequest", answer: "Answer", record_use: str) -> None:
        """C11: under `returned` each hit is reinforced; a session gets its recalled ones."""
        documents = list(dict.fromkeys(hit.id for hit in answer.hits))
        changes = Changes()
        if record_use == "returned":
            changes = changes._replace(
                reinforced=tuple(Reinforcement(one, REINFORCEMENT) for one in documents)
            )
        if request.recalled_in is not None:
            session = Session(request.recalled_in, None, self._clock())
            changes = _recalled(changes, session, documents)
        if documents and any(changes):
            self._pending.append(changes)
            self.flush()

    def flush(self) -> None:
        """One write for all that waits, if nobody else is writing."""
        if not self._writing.acquire(blocking=False):
            return  # another thread is at it, or the next search will be
        try:
            number = len(self._pending)
            waiting = [self._pending[place] for place in range(number)]
            if waiting:
                self._store.apply(_together(waiting), self._clock(), wait=False)
            for _ in waiting:
                self._pending.popleft()
        except (KnowbaseError, IndexError) as error:
            if not isinstance(error, (BaseError, TookTooLong)):
                self._pending.clear()  # it will never be taken: the rest shall not wait
            log("warning", "use was not recorded", reason=str(error), waiting=len(self._pending))
        finally:
            self._writing.release()


def _recalled(changes: Changes, session: Session, documents: Iterable[str]) -> Changes:
    """The session, made if need be, and a use for each document."""
    now = session.started_at
    return changes._replace(
        sessions=(session,),
        uses=tuple(Use(session.id, document, "recalled", now) for document in documents),
    )


def feedback_on(
    store: "DocumentStore",
    document: Document,
    verdict: str,
    session: str | None,
    now: str,
    amount: float = REINFORCEMENT,
) -> Feedback:
    """Write the verdict down, which moves the salience by `amount`; the document as it is then."""
    if verdict not in VERDICTS:
        raise InvalidInput(
            f"verdict cannot be {verdict!r}", field="verdict", hint="one of " + ", ".join(VERDICTS)
        )
    session = session_name(session) if session is not None else None
    # One verdict an occasion, a session or a day: popularity alone cannot feed itself.
    occasion = f"session {session}" if session else f"day {now[:10]}"
    given = Verdict(document.id, occasion, verdict == "good", amount)
    changes = Changes(verdicts=(given,))
    if session is not None and given.good:
        used = Use(session, document.id, "reinforced", now)
        changes = changes._replace(sessions=(Session(session, None, now),), uses=(used,))
    store.apply(changes, now)
    after = store.find(document.id) or document
    return Feedback(after, verdict, after.confirmed != document.confirmed)


def _together(waiting: list[Changes]) -> Changes:
    return Changes(
        sessions=tuple(one for changes in waiting for one in changes.sessions),
        uses=tuple(one for changes in waiting for one in changes.uses),
        reinforced=tuple(one for changes in waiting for one in changes.reinforced),
    )
