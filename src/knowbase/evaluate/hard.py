"""The questions with the largest loss: those that a leg alone answers better."""

from collections.abc import Sequence

from knowbase.base import Base
from knowbase.evaluate.asking import (
    FLOORS,
    SECTION,
    QuestionResults,
    System,
    asked_as,
    places_of,
)
from knowbase.evaluate.evaluation import Hard
from knowbase.search.whynot import WhyNot, why_not
from knowbase.values.documents import Document

METRIC = "ndcg@10"


def hardest(base: Base, asked: Sequence[QuestionResults], system: System, most: int) -> list[Hard]:
    """At most so many, the largest loss first; each with what dropped the relevant document."""
    lost = [one for one in asked if one.question.relevant and _loss(one, system) > 0]
    lost.sort(key=lambda one: -_loss(one, system))
    return [_hard(base, one, system) for one in lost[:most]]


def worst_first(found: Sequence[Hard], most: int) -> tuple[Hard, ...]:
    """Of several bases together."""
    return tuple(sorted(found, key=lambda one: one.ndcg - one.better_ndcg)[:most])


def _loss(one: QuestionResults, system: System) -> float:
    return one.results[_better(one)].values[METRIC] - one.results[system.name].values[METRIC]


def _better(one: QuestionResults) -> str:
    return max((floor.name for floor in FLOORS), key=lambda name: one.results[name].values[METRIC])


def _hard(base: Base, one: QuestionResults, system: System) -> Hard:
    better = _better(one)
    return Hard(
        one.question.text,
        one.question.id,
        system.name,
        one.results[system.name].values[METRIC],
        better,
        one.results[better].values[METRIC],
        _why(base, one, system),
    )


def _why(base: Base, one: QuestionResults, system: System) -> WhyNot | None:
    """Of the document that makes the difference: the most relevant one, and of several the one
    that the better leg has first."""
    better = next(floor for floor in FLOORS if floor.name == _better(one))
    places = {name: place for place, name in enumerate(places_of(base, one.question, better))}
    relevant, last = one.question.relevant, len(places)
    inquiry = asked_as(base, one.question, system)
    for name in sorted(relevant, key=lambda key: (-relevant[key], places.get(key, last))):
        document = _document(base, name)
        if document is not None:
            return why_not(inquiry, base.search_services, document)
    return None


def _document(base: Base, name: str) -> Document | None:
    """By its id, or by the code before a section's slug."""
    if name.startswith(SECTION):
        name = name.removeprefix(SECTION).rpartition(":")[0]
    return base.store.find(name)
