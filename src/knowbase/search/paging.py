"""Pages of an answer: where one starts, and how far the legs have to look for it.

What a search finds depends on how deep its legs look, so a later page must not look at the query
in another light than the first: what the first look ranked stays as it is, and what a deeper look
adds comes behind it. So no hit is shown twice, and none is left out, while the base stays as it is.
"""

from collections.abc import Mapping
from typing import Any

from knowbase.errors import Conflict, InvalidInput
from knowbase.ranking.rank import keys_of
from knowbase.search.rank import Outcome, rank_all
from knowbase.search.services import Services
from knowbase.search.understand import Inquiry

DEEPER = 4  # times as deep, when a look was not enough
UNBOUND = ("offset", "cursor", "facets", "explain", "session_record", "draft", "partial")
"""What may differ between two pages of one search."""


def reaching(outcome: Outcome, services: Services) -> Outcome:
    """The outcome with as many hits as its page needs, if there are so many."""
    start = start_of(outcome.inquiry)
    if not start:
        return outcome
    depth = outcome.inquiry.profile.candidates(outcome.inquiry.top)
    while len(outcome.ranked) <= start + outcome.inquiry.top and is_cut(outcome, depth):
        depth *= DEEPER
        outcome = _extended(outcome, rank_all(outcome.inquiry, services, depth))
    return outcome


def is_cut(outcome: Outcome, depth: int) -> bool:
    """Whether a leg might have proposed more."""
    lengths = [len(leg) for leg in outcome.proposals.legs.values()] or [len(outcome.ranked)]
    return max(lengths) >= depth


def _extended(outcome: Outcome, deeper: Outcome) -> Outcome:
    """What was ranked before, and behind it what only the deeper look has found."""
    profile = outcome.inquiry.profile
    passages = {**outcome.proposals.passages, **deeper.proposals.passages}
    seen = {key for hit in outcome.ranked for key in keys_of(passages[hit.chunk], profile)}
    new = [hit for hit in deeper.ranked if seen.isdisjoint(keys_of(passages[hit.chunk], profile))]
    proposals = deeper.proposals._replace(passages=passages)
    return outcome._replace(proposals=proposals, ranked=[*outcome.ranked, *new])


def start_of(inquiry: Inquiry) -> int:
    """How many hits come before the page; a cursor of another search is refused."""
    cursor = inquiry.request.cursor
    if cursor is None:
        return inquiry.request.offset
    if inquiry.request.offset:
        raise Conflict("offset and cursor say the same twice", field="cursor", hint="choose one")
    place, _, mark = cursor.partition("-")
    if not (place.isascii() and place.isdecimal() and len(place) < 10 and mark):
        raise InvalidInput(
            f"cursor cannot be {cursor[:80]!r}",
            field="cursor",
            hint="next_cursor of the answer before, as it was given",
        )
    if mark != _mark(inquiry):
        raise Conflict(
            "this cursor belongs to another search",
            field="cursor",
            hint="ask for the same query, filters and top as before, or start anew",
        )
    return int(place)


def cursor_at(inquiry: Inquiry, place: int) -> str:
    """What asks for the hits from this place on, of the same search alone."""
    return f"{place}-{_mark(inquiry)}"


def _mark(inquiry: Inquiry) -> str:
    """The same for the same search, in every process. It guards against mistakes, not against
    anybody: sums will do, and load nothing that a search would wait for."""
    from zlib import crc32

    asked = {n: v for n, v in inquiry.request._asdict().items() if n not in UNBOUND}
    told = _ordered({**asked, "profile": inquiry.profile.name, "top": inquiry.top})
    data = repr(told).encode("utf-8", "replace")
    return f"{crc32(data):08x}{crc32(data[::-1]):08x}"


def _ordered(value: Any) -> Any:
    """Sets and mappings in one order."""
    if isinstance(value, Mapping):
        return [(name, _ordered(value[name])) for name in sorted(value)]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [type(value).__name__, *map(_ordered, value)]
    return value
