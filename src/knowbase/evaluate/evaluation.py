"""An evaluation: every question asked, and what came of it in numbers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from knowbase.errors import BELOW_BASELINE
from knowbase.evaluate.asking import QuestionResults, System
from knowbase.evaluate.bootstrap import Interval, holm, intervals
from knowbase.evaluate.metrics import METRICS, mean, percentile, separation
from knowbase.ranking.verdict import NOTHING, Verdict
from knowbase.search.whynot import WhyNot

FLOOR_NAMES = ("bm25", "semantic")


class SystemScores(NamedTuple):
    """What one system reached, averaged over the questions that have an answer."""

    name: str
    about: str
    metrics: Mapping[str, float]
    p50_ms: float
    p95_ms: float
    no_answer: float | None  # see metrics.separation; none without such questions


class Difference(NamedTuple):
    """By how much a system is above another one, question by question."""

    system: str
    against: str
    metric: str
    mean: float
    low: float
    high: float
    chance: float  # of a difference as large where there is none
    significant: bool  # among all comparisons of this metric


class Group(NamedTuple):
    """Some of the questions: a set of several, or a kind."""

    name: str
    questions: int
    ndcg: Mapping[str, float]  # nDCG@10 by system


class Fall(NamedTuple):
    """A metric that is significantly under the stored one."""

    system: str
    metric: str
    stored: float
    now: float
    low: float
    high: float


class Gate(NamedTuple):
    """The comparison with a stored evaluation."""

    baseline: str
    questions: int  # that both have
    systems: tuple[str, ...]  # that both have
    falls: tuple[Fall, ...]


class Hard(NamedTuple):
    """A question that a leg alone answers better than the first profile, and what became there
    of the best document that is relevant."""

    question: str
    id: str
    system: str
    ndcg: float
    better: str  # the leg
    better_ndcg: float
    why: WhyNot | None


class Telling(NamedTuple):
    """How well the verdict tells questions that have an answer from others."""

    others: str  # foreign: of another set; missing: on the topic, and not answered here
    answerable: int
    number: int  # of the others
    auroc: float  # how often an answerable one gets the higher probability: 0.5 is chance
    passing: float  # of the others, at the probability that 95 of 100 answerable ones reach
    kept: float  # of the answerable ones, by the verdict as it is: more than nothing found
    passed: float  # of the others, in the same way


class Evaluation(NamedTuple):
    """What `kb eval` answers."""

    target: str
    documents: int
    questions: int = 0  # with an answer
    unanswerable: int = 0
    systems: tuple[SystemScores, ...] = ()
    differences: tuple[Difference, ...] = ()
    groups: tuple[Group, ...] = ()
    hard: tuple[Hard, ...] = ()
    telling: tuple[Telling, ...] = ()
    gate: Gate | None = None
    notices: tuple[str, ...] = ()
    written: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        return BELOW_BASELINE if self.gate and self.gate.falls else 0


class Values(NamedTuple):
    """Every metric of every question that has an answer, system by system."""

    ids: tuple[str, ...]
    systems: Mapping[str, Mapping[str, Sequence[float]]]


def values_of(asked: Sequence[QuestionResults], systems: Sequence[System]) -> Values:
    answerable = [one for one in asked if one.question.relevant]
    return Values(
        tuple("/".join(filter(None, (one.group, one.question.id))) for one in answerable),
        {
            system.name: {
                metric: [one.results[system.name].values[metric] for one in answerable]
                for metric in METRICS
            }
            for system in systems
        },
    )


def scores_of(
    asked: Sequence[QuestionResults], systems: Sequence[System]
) -> tuple[SystemScores, ...]:
    """Averages, latencies, and how well scores tell what has no answer."""
    values = values_of(asked, systems).systems
    scores = []
    for system in systems:
        times = [one.results[system.name].milliseconds for one in asked]
        best = {True: [], False: []}  # type: dict[bool, list[float]]
        for one in asked:
            best[bool(one.question.relevant)].append(one.results[system.name].best_score)
        scores.append(
            SystemScores(
                system.name,
                system.about,
                {metric: mean(values[system.name][metric]) for metric in METRICS},
                percentile(times, 0.5),
                percentile(times, 0.95),
                separation(best[True], best[False]) if best[False] else None,
            )
        )
    return tuple(scores)


def telling(others: str, answerable: Sequence[Verdict], rest: Sequence[Verdict]) -> Telling:
    """How well the two are told apart."""
    high, low = ([one.probability for one in some] for some in (answerable, rest))
    least = sorted(high)[int(0.05 * len(high))]
    found = [mean([float(one.name != NOTHING) for one in some]) for some in (answerable, rest)]
    passing = mean([float(one >= least) for one in low])
    return Telling(others, len(high), len(low), separation(high, low), passing, *found)


def differences_of(values: Values, systems: Sequence[System]) -> tuple[Difference, ...]:
    """Each profile against each floor, and the later profiles against the first."""
    names = [system.name for system in systems]
    profiles = [name for name in names if name not in FLOOR_NAMES]
    pairs = [(name, floor) for name in profiles for floor in FLOOR_NAMES if floor in names]
    pairs += [(name, profiles[0]) for name in profiles[1:]]
    asked = [(one, other, metric) for one, other in pairs for metric in METRICS]
    found = intervals(
        [
            paired(values.systems[one][metric], values.systems[other][metric])
            for one, other, metric in asked
        ]
    )
    sure = holm_by(found, [metric for *_, metric in asked])
    return tuple(
        Difference(*names, *interval, significant=significant)
        for names, interval, significant in zip(asked, found, sure, strict=True)
    )


def holm_by(found: Sequence[Interval], families: Sequence[str]) -> list[bool]:
    """Which intervals are significant among those of their family."""
    sure = [False] * len(found)
    for family in dict.fromkeys(families):
        places = [place for place, one in enumerate(families) if one == family]
        chances = [found[place].chance for place in places]
        for place, significant in zip(places, holm(chances), strict=True):
            sure[place] = significant
    return sure


def paired(values: Sequence[float], others: Sequence[float]) -> list[float]:
    """The difference on each question."""
    return [value - other for value, other in zip(values, others, strict=True)]


def groups_of(asked: Sequence[QuestionResults], systems: Sequence[System]) -> tuple[Group, ...]:
    """nDCG@10 of each set when there are several, of each kind of question when there are."""
    grouped: dict[str, list[QuestionResults]] = {}
    for one in asked:
        if one.question.relevant and (one.group or one.question.kind):
            grouped.setdefault(one.group or one.question.kind, []).append(one)
    return tuple(
        Group(
            name,
            len(members),
            {
                system.name: mean([one.results[system.name].values["ndcg@10"] for one in members])
                for system in systems
            },
        )
        for name, members in grouped.items()
    )


def falls_of(stored: Values, now: Values) -> tuple[tuple[str, ...], int, tuple[Fall, ...]]:
    """What is significantly under the stored values, on the questions and systems of both."""
    systems = tuple(name for name in now.systems if name in stored.systems)
    before = {one: place for place, one in enumerate(stored.ids)}
    shared = [(before[one], place) for place, one in enumerate(now.ids) if one in before]
    asked = [(system, metric) for system in systems for metric in METRICS]
    series = []
    for system, metric in asked:
        old, new = stored.systems[system][metric], now.systems[system][metric]
        series.append(([old[a] for a, _ in shared], [new[b] for _, b in shared]))
    found: list[Interval] = intervals([paired(new, old) for old, new in series])
    falls = tuple(
        Fall(system, metric, mean(old), mean(new), interval.low, interval.high)
        for (system, metric), (old, new), interval, significant in zip(
            asked, series, found, holm_by(found, [metric for _, metric in asked]), strict=True
        )
        if significant and interval.mean < 0
    )
    return systems, len(shared), falls
