"""Numbers about the server, in the text form that Prometheus reads."""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

from knowbase.process import resident_bytes
from knowbase.values.documents import Counts

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counts requests and searches; only the event loop's thread touches it."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._started = time.time()
        self._requests: Counter[Labels] = Counter()
        self._searches: Counter[Labels] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        labels = (("method", method), ("route", route), ("status", str(status)))
        self._requests[labels] += 1
        buckets = self._buckets.setdefault(route, [0] * (len(BUCKETS) + 1))
        buckets[bisect_left(BUCKETS, seconds)] += 1
        self._sums[route] = self._sums.get(route, 0.0) + seconds

    def searched(self, result: Any) -> None:
        """Which legs ran, if the result is a search's."""
        told = _measured(result)
        modes = told.get("search_modes_used")
        if modes is None:
            return
        fallback = "true" if told.get("fallback_mode") else "false"
        self._searches[(("modes", "+".join(modes) or "none"), ("fallback", fallback))] += 1

    def text(self, counts: Counts) -> str:
        """Everything, one family after the other."""
        held = {"documents": counts.documents, "chunks": counts.chunks, "embedded": counts.embedded}
        families = (
            _family("kb_requests_total", "counter", "Requests answered", self._requests),
            self._histogram(),
            _family("kb_requests_in_flight", "gauge", "Requests under way", {(): self.in_flight}),
            _family(
                "kb_searches_total", "counter", "Searches by the legs that ran", self._searches
            ),
            *(
                _family(f"kb_base_{name}", "gauge", f"How many {name} the base holds", {(): number})
                for name, number in held.items()
            ),
            _family("process_start_time_seconds", "gauge", "When it started", {(): self._started}),
            _family(
                "process_resident_memory_bytes", "gauge", "Memory in use", {(): resident_bytes()}
            ),
        )
        return "\n".join(line for family in families for line in family) + "\n"

    def _histogram(self) -> Iterable[str]:
        name = "kb_request_seconds"
        yield f"# HELP {name} How long requests took"
        yield f"# TYPE {name} histogram"
        for route, buckets in sorted(self._buckets.items()):
            edges = [*(f"{edge:g}" for edge in BUCKETS), "+Inf"]
            for edge, number in zip(edges, accumulate(buckets), strict=True):
                yield _line(f"{name}_bucket", (("route", route), ("le", edge)), number)
            yield _line(f"{name}_sum", (("route", route),), self._sums[route])
            yield _line(f"{name}_count", (("route", route),), sum(buckets))


def _measured(result: Any) -> Mapping[str, Any]:
    """What a search says about itself, in its result or in the JSON that an agent gets."""
    content = getattr(result, "structured_content", None)
    if content is not None:
        found: Mapping[str, Any] = content.get("metadata", {})
        return found
    told = getattr(result, "metadata", result)
    return {name: getattr(told, name, None) for name in ("search_modes_used", "fallback_mode")}


def _family(name: str, kind: str, about: str, values: Mapping[Labels, float]) -> Iterable[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in sorted(values.items()):
        yield _line(name, labels, value)


def _line(name: str, labels: Labels, value: float) -> str:
    told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    return f"{name}{{{told}}} {value!r}" if told else f"{name} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
