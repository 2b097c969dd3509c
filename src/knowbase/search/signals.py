"""Signals that depend on the query: how far each leg can be trusted with it.

The one seam for them. A signal says by which factor the weight of a leg changes; a leg that it
does not name keeps its weight. Which profiles ask for signals is the profile's `fusion`.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from knowbase.query.conditions import both
from knowbase.ranking.trust import coverage, fluency
from knowbase.search.retrieve import Proposals
from knowbase.search.services import Services
from knowbase.search.understand import Inquiry

POWER = 3  # of the share that has a vector

Signal: TypeAlias = Callable[[Inquiry, Proposals, Services], Mapping[str, float]]


def trust(inquiry: Inquiry, proposals: Proposals, services: Services) -> dict[str, float]:
    """The factor of each leg's weight: what all signals say of it."""
    factors: dict[str, float] = {}
    for signal in SIGNALS if inquiry.profile.fusion == "lift" else ():
        for leg, factor in signal(inquiry, proposals, services).items():
            factors[leg] = factors.get(leg, 1.0) * factor
    return factors


def words_covered(inquiry: Inquiry, proposals: Proposals, _: Services) -> Mapping[str, float]:
    """How many of the words the first keyword hit has."""
    keyword = inquiry.query.keyword
    found = proposals.legs.get("keyword", ())
    first = next((proposals.passages.get(one.chunk) for one in found), None)
    if first is None or keyword.match != "any":
        return {}
    return {"keyword": coverage(keyword.words, first, ((one.of, one.word) for one in keyword.also))}


def language_known(
    inquiry: Inquiry, proposals: Proposals, services: Services
) -> Mapping[str, float]:
    """How well the model knows the query's language, and how finely it tells meanings apart."""
    query, profile = inquiry.query, inquiry.profile
    text = " ".join(query.similar) or ("" if query.like else query.text)
    if not (proposals.legs.get("semantic") and text and profile.foreign_at):
        return {}
    from knowbase.embed import fineness_of, tokens_in  # a search by words loads nothing of models

    embedder = services.embedder()
    tokens = tokens_in(text, embedder)
    known = fluency(tokens, len(text), profile.fluent_at, profile.foreign_at)
    return {"semantic": known * fineness_of(embedder)}


def vectors_seen(inquiry: Inquiry, proposals: Proposals, services: Services) -> Mapping[str, float]:
    """How much of what passes the filters has a vector: where most has none yet, to have one is
    chance and no merit. To a power: by the share alone, half of them answered worse than none."""
    if not proposals.legs.get("semantic") or services.store.semantic_coverage() == 1:
        return {}
    share = services.store.semantic_coverage(both(inquiry.visible, inquiry.filter))
    return {"semantic": share**POWER}


SIGNALS: tuple[Signal, ...] = (words_covered, language_known, vectors_seen)
