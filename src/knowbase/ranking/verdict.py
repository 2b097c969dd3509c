"""Whether an answer is there: from what the legs saw, as a probability.

Numbers of two bases cannot be compared: in one about law, any question about law is rather
similar. So each signal is held against the base itself: where it stands for questions that have
nothing to do with the base, and for questions that do. How far these stand apart beside their
spread is how much the signal counts there. `search/calibrate.py` measures it; until then, PRIOR.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

STRONG, LIKELY, WEAK, NOTHING = "strong", "likely", "weak", "nothing found"
LEAST_STRONG, LEAST_LIKELY, MOST_WEAK = 0.75, 0.5, 0.3
NOTHING_UNDER = {"both": (0.4, 0.2), "keyword": (0.3, 0.1), "semantic": (0.3, 0.15)}
"""The bound of "nothing found" by the legs that ran: of a base that has learnt, and of others. One
leg alone tells less, and must not lose more than one in twenty answers either."""
BOUND, LESS, LOWEST = 0.8, 0.12, 0.25
"""Where both legs run, a base that has learnt has a bound of its own: the further its questions
stand apart from those of elsewhere, in widths of them, the lower it is. By bench/verdict.py."""
LEAST_SPREAD = 0.02
MOST = 4.0  # what one signal can say at most, in log odds
FORM = 3.0  # raised when what was learnt before means something else now
STEEPEST = 1.0  # signals say much of the same: together they never say more than their sum
LEAST_HERE, MOST_HERE = 0.4, 0.95
"""Whether the answer itself is among what a base has on a topic is hard to tell: between these."""

Numbers = Mapping[str, float]


class Evidence(NamedTuple):
    """What the legs saw, whichever base it is; None when a leg did not run."""

    rarity: float | None = None  # BM25 of the best chunk, of the words' summed idf; × √words
    known: float | None = None  # the share of that sum which words have that the base knows
    similarity: float | None = None  # of the nearest chunk
    shared: float | None = None  # the share that the nearest chunk's words have; × √words


class Verdict(NamedTuple):
    """Whether the answer is there, and how likely that is."""

    name: str = NOTHING
    probability: float = 0.0
    calibrated: bool = False  # on the base itself


class Examples(NamedTuple):
    """Evidence of questions whose answers are known."""

    answered: Sequence[Evidence]  # their document is there
    missing: Sequence[Evidence]  # the same questions without their document
    strange: Sequence[Evidence]  # of questions from elsewhere


def judge(evidence: Evidence, numbers: Numbers | None = None) -> Verdict:
    """The verdict on one answer, by what its base has learnt of itself."""
    known = PRIOR if numbers is None else numbers
    probability = round(topic(evidence, known) * here(evidence, known), 4)
    least = nothing_under(legs_of(evidence), numbers)
    levels = ((LEAST_STRONG, STRONG), (LEAST_LIKELY, LIKELY), (least, WEAK))
    name = next((name for bound, name in levels if probability >= bound), NOTHING)
    return Verdict(name, probability, numbers is not None)


def nothing_under(legs: str, numbers: Numbers | None) -> float:
    """The probability under which nothing was found."""
    usual = NOTHING_UNDER[legs][numbers is None]
    if numbers is None or legs != "both" or "similarity.strange.spread" not in numbers:
        return usual
    apart = numbers["similarity.own"] - numbers["similarity.strange"]
    bound = BOUND - LESS * apart / numbers["similarity.strange.spread"]
    return min(LEAST_LIKELY, max(LOWEST, bound))


def at_least_likely(verdict: Verdict) -> Verdict:
    """Of a hit that is what was asked for, whatever its signals say."""
    if verdict.probability >= LEAST_LIKELY:
        return verdict
    return verdict._replace(name=LIKELY, probability=LEAST_LIKELY)


def at_most_weak(verdict: Verdict) -> Verdict:
    """Of a query that asks for nothing, whatever is found."""
    name = NOTHING if verdict.name == NOTHING else WEAK
    return verdict._replace(name=name, probability=min(verdict.probability, MOST_WEAK))


def topic(evidence: Evidence, numbers: Numbers) -> float:
    """How likely it is that the question has to do with the base at all."""
    legs = legs_of(evidence)
    slope, offset = numbers.get(f"{legs}.slope", 0.0), numbers.get(f"{legs}.offset", 0.0)
    return _logistic(slope * _apart(evidence, numbers, "strange", "own") + offset)


def here(evidence: Evidence, numbers: Numbers) -> float:
    """How likely it is that what was asked is there, given that the topic is."""
    said = _logistic(_apart(evidence, numbers, "missing", "answered"))
    return LEAST_HERE + (MOST_HERE - LEAST_HERE) * said


def legs_of(evidence: Evidence) -> str:
    """Which legs ran: each can judge alone."""
    words, meaning = evidence.rarity is not None, evidence.similarity is not None
    return "both" if words and meaning else "keyword" if words else "semantic"


def _apart(evidence: Evidence, numbers: Numbers, low: str, high: str) -> float:
    """The log odds that the signals speak for the higher of two kinds: normal distributions of
    one width, each signal by itself (a discriminant without covariances)."""
    total = 0.0
    for name, value in evidence._asdict().items():
        below, above = numbers.get(f"{name}.{low}"), numbers.get(f"{name}.{high}")
        if value is None or below is None or above is None or above <= below:
            continue
        spread = numbers[f"{name}.{low}.spread"]
        said = (value - (below + above) / 2) * (above - below) / spread**2
        total += min(_most(name, evidence), max(-MOST, said))
    return total


def _most(name: str, evidence: Evidence) -> float:
    """That a base knows the words speaks for nothing where their meaning is compared, too: a base
    about software knows those of any question about software. That it does not speaks against."""
    return 0.0 if name == "known" and evidence.similarity is not None else MOST


def learn(examples: Examples) -> dict[str, float]:
    """The numbers of a base, from questions whose answers are known."""
    answered, missing, strange = examples
    numbers: dict[str, float] = {"form": FORM}
    for name in Evidence._fields:
        _compare(numbers, name, ("strange", strange), ("own", [*answered, *missing]))
        if name in TELLS_WHETHER_HERE:
            _compare(numbers, name, ("missing", missing), ("answered", answered))
    for legs, kept in LEGS.items():
        own = [_apart(only(one, kept), numbers, "strange", "own") for one in missing]
        other = [_apart(only(one, kept), numbers, "strange", "own") for one in strange]
        numbers[f"{legs}.slope"], numbers[f"{legs}.offset"] = _fitted(own, other)
    return numbers


TELLS_WHETHER_HERE = ("similarity",)
"""Words are not among them: questions that are made of a document's own words always have them."""
LEGS = {
    "keyword": ("rarity", "known"),
    "semantic": ("similarity",),
    "both": Evidence._fields,
}


def only(evidence: Evidence, kept: Sequence[str]) -> Evidence:
    """What some of the signals alone would say."""
    return Evidence(**{name: one for name, one in evidence._asdict().items() if name in kept})


def _compare(
    numbers: dict[str, float],
    name: str,
    low: tuple[str, Sequence[Evidence]],
    high: tuple[str, Sequence[Evidence]],
) -> None:
    """Where both kinds stand, and how wide they are."""
    values = {}
    for kind, evidence in (low, high):
        found = [value for one in evidence if (value := getattr(one, name)) is not None]
        if not found:
            return
        values[kind] = found
        numbers[f"{name}.{kind}"] = math.fsum(found) / len(found)
    squares = [
        (value - numbers[f"{name}.{kind}"]) ** 2
        for kind, found in values.items()
        for value in found
    ]
    spread = math.sqrt(math.fsum(squares) / len(squares))
    numbers[f"{name}.{low[0]}.spread"] = max(LEAST_SPREAD, spread)


def _fitted(own: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Slope and offset of the logistic that tells the two apart (Platt 1999): Newton's steps,
    drawn to a slope of a half, so that few examples do not make it sure of itself."""
    slope, offset = 0.5, 0.0
    weights = [(1 / max(1, len(own)), 1.0, own), (1 / max(1, len(other)), 0.0, other)]
    for _ in range(25):
        pull = 0.05
        first, second = [pull * (slope - 0.5), pull * offset], [pull, 0.0, pull]
        for weight, wanted, values in weights:
            for value in values:
                p = _logistic(slope * value + offset)
                first[0] += weight * (p - wanted) * value
                first[1] += weight * (p - wanted)
                bend = weight * p * (1 - p)
                second[0] += bend * value * value
                second[1] += bend * value
                second[2] += bend
        a, b, c = second
        determinant = a * c - b * b
        slope -= (c * first[0] - b * first[1]) / determinant
        offset -= (a * first[1] - b * first[0]) / determinant
        slope = min(STEEPEST, max(0.05, slope))
    return slope, offset


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-min(500.0, max(-500.0, value))))


PRIOR: Numbers = {
    "rarity.strange": 0.512, "rarity.own": 2.557, "rarity.strange.spread": 0.916,
    "known.strange": 0.349, "known.own": 0.941, "known.strange.spread": 0.199,
    "similarity.strange": 0.569, "similarity.own": 0.769, "similarity.strange.spread": 0.072,
    "similarity.missing": 0.741, "similarity.answered": 0.796, "similarity.missing.spread": 0.084,
    "shared.strange": 0.086, "shared.own": 1.306, "shared.strange.spread": 0.805,
    "keyword.slope": 0.529, "keyword.offset": 0.6,
    "semantic.slope": 1.0, "semantic.offset": 0.844,
    "both.slope": 0.52, "both.offset": 1.64,
}  # fmt: skip
"""What holds until a base is calibrated: the mean of eight of as many kinds (bench/verdict.py).
Similarities are those of the packaged model."""
