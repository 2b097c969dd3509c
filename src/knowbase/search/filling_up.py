"""Too few hits have what the query requires: behind them come those that have its words.

Quotes and pluses are often typed without meaning that nothing else may be shown; a page that stays
empty for them helps nobody. What is excluded, and every filter, holds all the same.
"""

from collections.abc import Mapping

from knowbase.query.conditions import Condition, both
from knowbase.ranking.rank import Ranked, keys_of
from knowbase.search.paging import reaching
from knowbase.search.rank import Outcome, rank_all
from knowbase.search.services import Services
from knowbase.search.understand import Inquiry, softened


def filled_up(outcome: Outcome, services: Services, wanted: int) -> Outcome:
    """The outcome with as many hits as are wanted, if they are to be had."""
    inquiry = outcome.inquiry
    if not _may_fill(inquiry) or len(outcome.ranked) >= wanted:
        return outcome
    softer = softened(inquiry, services.language)
    if softer is None:
        return outcome
    query, beside = softer.inquiry.query, inquiry.query.keyword.also
    more_words = query.keyword._replace(also=tuple(dict.fromkeys((*query.keyword.also, *beside))))
    softer = softer._replace(
        inquiry=softer.inquiry._replace(query=query._replace(keyword=more_words))
    )
    first = rank_all(softer.inquiry, services, inquiry.profile.candidates(inquiry.top))
    more = reaching(first, services)  # no page ranks them anew
    passages = {**more.proposals.passages, **outcome.proposals.passages}
    profile = inquiry.profile
    known = {key for hit in outcome.ranked for key in keys_of(passages[hit.chunk], profile)}
    others: list[Ranked] = [
        hit._replace(relaxed=True)
        for hit in more.ranked
        if known.isdisjoint(keys_of(passages[hit.chunk], profile))
    ]
    return outcome._replace(
        proposals=outcome.proposals._replace(passages=passages),
        ranked=[*outcome.ranked, *others],
        required=tuple(softer.required) if others else (),
        missing=_missing(softer.required, inquiry, services) if not outcome.ranked else (),
        relaxed=None if outcome.ranked else more,
    )


def _missing(
    required: Mapping[str, Condition], inquiry: Inquiry, services: Services
) -> tuple[str, ...]:
    """What nothing has, whatever passes the filters."""
    store, visible = services.store, inquiry.visible
    return tuple(one for one, has in required.items() if not store.newest(both(visible, has), 1))


def _may_fill(inquiry: Inquiry) -> bool:
    return (
        inquiry.profile.fills_up
        and not inquiry.request.strict
        and inquiry.query.tree is not None
        and not inquiry.query.is_empty
    )
