"""What was searched for lately, in this process alone: how fast, and what found nothing."""

import threading
from collections import deque
from typing import NamedTuple

from knowbase.search.answer import Answer
from knowbase.values.documents import Document

MOST_KEPT = 1_000  # searches whose times are kept
MOST_WITHOUT = 10  # queries without a hit
MOST_REMEMBERED = 200  # searches whose hits are known, so that a verdict finds its query
MOST_JUDGED = 50
LONGEST_QUERY = 200  # letters


class Latency(NamedTuple):
    """Milliseconds that half, and 95 of 100, of the searches took at most."""

    p50: float | None
    p95: float | None


class WithoutHits(NamedTuple):
    """A query that found nothing."""

    query: str
    at: str


class JudgedHit(NamedTuple):
    """What somebody said of a hit, and the last search that had it."""

    query: str | None  # None: no search of this process had it
    code: str
    title: str
    verdict: str  # good or bad
    session: str | None
    at: str


class Searches(NamedTuple):
    """Of this process, since it started."""

    count: int  # type: ignore[assignment]  # what the page calls it
    without_hits: int
    latency_ms: Latency
    last_without_hits: tuple[WithoutHits, ...]  # the last one first
    semantic_share: float | None  # of the searches, in which meaning was asked
    feedback: tuple[JudgedHit, ...] = ()  # the last one first


class SearchLog:
    """Counts searches, for any thread; nothing of it is stored."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._times: deque[float] = deque(maxlen=MOST_KEPT)
        self._without: deque[WithoutHits] = deque(maxlen=MOST_WITHOUT)
        self._found: deque[tuple[str, frozenset[str]]] = deque(maxlen=MOST_REMEMBERED)
        self._judged: deque[JudgedHit] = deque(maxlen=MOST_JUDGED)
        self._number = self._number_without = self._semantic = 0

    def note(self, query: str, answer: Answer, at: str) -> None:
        with self._changing:
            self._number += 1
            self._times.append(answer.query_time_ms)
            self._semantic += "semantic" in answer.search_modes_used
            self._found.append((query[:LONGEST_QUERY], frozenset(one.id for one in answer.hits)))
            if not answer.hits:
                self._number_without += 1
                told = query[:LONGEST_QUERY]
                kept = [one for one in self._without if one.query != told]
                self._without = deque((*kept, WithoutHits(told, at)), maxlen=MOST_WITHOUT)

    def judge(self, document: Document, verdict: str, session: str | None, at: str) -> None:
        """What was said of a hit, with the last query that it answers."""
        with self._changing:
            having = (query for query, ids in reversed(self._found) if document.id in ids)
            told = next(having, None), document.code, document.title, verdict, session, at
            self._judged.append(JudgedHit(*told))

    def summary(self) -> Searches:
        with self._changing:
            times = sorted(self._times)
            return Searches(
                self._number,
                self._number_without,
                Latency(_percentile(times, 0.5), _percentile(times, 0.95)),
                tuple(reversed(self._without)),
                round(self._semantic / self._number, 3) if self._number else None,
                tuple(reversed(self._judged)),
            )


def _percentile(times: list[float], share: float) -> float | None:
    return times[min(len(times) - 1, int(share * len(times)))] if times else None
