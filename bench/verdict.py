"""Whether there is an answer: how well the verdict tells it, and what its bounds should be.

    python bench/verdict.py see FILE.json KIND=BASE=QUESTIONS …
    python bench/verdict.py FILE.json

`see` asks each base (its file) the questions that it learns from, its own judged ones, and those of
bases of other kinds, and keeps what the legs saw; a base that FILE.json has is not asked again.
QUESTIONS is a judged folder, or a file as in bench/collections. The second call says how well
foreign questions are told, and what other bounds of "nothing found" would do: each is chosen on
bases of other kinds than the one that it is reported on.
"""

import argparse
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from knowbase.base import Base
from knowbase.evaluate.judged import read_folders
from knowbase.evaluate.metrics import mean
from knowbase.ranking.verdict import LEGS, NOTHING, Evidence, Examples, judge, learn, only
from knowbase.search.calibrate import examples_of
from knowbase.search.evidence import evidence_of
from knowbase.search.filling_up import filled_up
from knowbase.search.rank import rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.understand import understand

MOST_OWN, MOST_FOREIGN, MOST_OF_EACH = 60, 120, 25
LEAST_KEPT, LEAST_MEAN = 0.92, 0.965  # of a base's own questions, of a kind's on average
LOWEST, HIGHEST = 0.25, 0.5
STEPS = [step / 100 for step in range(110)]


class Source(NamedTuple):
    """A base, what kind it is, and its questions."""

    kind: str
    base: Path
    questions: list[str]

    @property
    def name(self) -> str:
        """The folder that it was made in, or the set that it was made of."""
        path = self.base
        return path.parent.parent.name if path.parent.name == ".kb" else path.stem[:-17]


# asking


def see(path: Path, sources: Sequence[Source]) -> None:
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for source in sources:
        if source.name in kept:
            continue
        others = [drawn(one.questions, MOST_OF_EACH) for one in sources if one.kind != source.kind]
        foreign = drawn([text for some in others for text in some], MOST_FOREIGN)
        with Base(str(source.base)) as base:
            examples = examples_of(base.search_services, base.now())
            if examples is None:
                print(f"{source.name}: too few questions can be made of it")
                continue
            kept[source.name] = {
                "kind": source.kind,
                "examples": examples._asdict(),
                "own": [look(base, one) for one in drawn(source.questions, MOST_OWN)],
                "foreign": [look(base, one) for one in foreign],
            }
        path.write_text(json.dumps(kept))
        print(source.name, flush=True)


def drawn(texts: Sequence[str], most: int) -> list[str]:
    some = list(dict.fromkeys(texts))
    random.Random(0).shuffle(some)
    return some[:most]


def look(base: Base, text: str) -> Evidence:
    """What the legs see of a question, as a search does."""
    services, profile = base.search_services, base.profile_for("best")
    inquiry = understand(SearchRequest(text), profile, services.language, base.now())
    outcome = filled_up(rank_all(inquiry, services, 100), services, 10)
    seen = outcome.relaxed or outcome
    return evidence_of(seen.inquiry, seen.proposals, services)


def questions_in(path: Path) -> list[str]:
    if path.is_dir():
        return [one.text for folder in read_folders(str(path), "test") for one in folder.questions]
    return [json.loads(line)["query"] for line in path.read_text(encoding="utf-8").splitlines()]


# telling


class Told(NamedTuple):
    """A base's probabilities: of what it learnt from, and of what it was asked."""

    name: str
    kind: str
    numbers: Mapping[str, float]
    answered: list[float]
    missing: list[float]
    strange: list[float]
    own: list[float]
    foreign: list[float]
    kept: float  # by the verdict as it is
    passed: float
    alone: Mapping[str, float]  # AUROC by one leg, by one signal, and by the prior


def told(name: str, seen: Mapping[str, Any]) -> Told:
    examples = Examples(*(evidence(seen["examples"][one]) for one in Examples._fields))
    numbers = learn(examples)
    own = [one for one in evidence(seen["own"]) if one.similarity != 0.0]  # quotes that are there
    foreign = evidence(seen["foreign"])

    def likely(some: Sequence[Evidence]) -> list[float]:
        return [judge(one, numbers).probability for one in some]

    def passing(some: Sequence[Evidence]) -> float:
        return mean([float(judge(one, numbers).name != NOTHING) for one in some])

    return Told(
        name,
        seen["kind"],
        numbers,
        likely(examples.answered),
        likely(examples.missing),
        likely(examples.strange),
        likely(own),
        likely(foreign),
        passing(own),
        passing(foreign),
        {
            **{
                legs: told_by(own, foreign, numbers, LEGS[legs]) for legs in ("keyword", "semantic")
            },
            **{one: told_by(own, foreign, numbers, (one,)) for one in ("rarity", "shared")},
            "prior": told_by(own, foreign, None, Evidence._fields),
        },
    )


def told_by(
    own: Sequence[Evidence],
    foreign: Sequence[Evidence],
    numbers: Mapping[str, float] | None,
    signals: Sequence[str],
) -> float:
    likely = [
        [judge(only(one, signals), numbers).probability for one in some] for some in (own, foreign)
    ]
    return auroc(*likely)


def evidence(rows: Sequence[Sequence[float | None]]) -> list[Evidence]:
    return [Evidence(*row) for row in rows]


def auroc(own: Sequence[float], foreign: Sequence[float]) -> float:
    wins = sum((high > low) + 0.5 * (high == low) for high in own for low in foreign)
    return wins / (len(own) * len(foreign))


def share(values: Sequence[float], least: float) -> float:
    return mean([float(one >= least) for one in values])


def quantile(values: Sequence[float], part: float) -> float:
    """The value that all but this part reach."""
    return sorted(values)[math.floor(part * len(values))]


def apart(one: Told) -> float:
    gap = one.numbers["similarity.own"] - one.numbers["similarity.strange"]
    return gap / one.numbers["similarity.strange.spread"]


class Way(NamedTuple):
    """A bound: a constant, and a factor times what a base says of itself."""

    of: Callable[[Told], float]
    factors: Sequence[float]

    def bound(self, one: Told, constant: float, factor: float) -> float:
        return min(HIGHEST, max(LOWEST, constant + factor * self.of(one)))


WAYS: Mapping[str, Way] = {
    "one for all": Way(lambda _: 0.0, (0,)),
    "what 95 % of its questions reach": Way(lambda b: quantile(b.answered, 0.05), (0.25, 0.5, 1)),
    "what 75 % of them reach": Way(lambda b: quantile(b.answered, 0.25), (0.25, 0.5, 1)),
    "what half reach without their document": Way(lambda b: quantile(b.missing, 0.5), (0.5, 1)),
    "what 5 % of the strangers reach": Way(lambda b: quantile(b.strange, 0.95), (0.25, 0.5, 1)),
    "what 20 % of them reach": Way(lambda b: quantile(b.strange, 0.8), (0.5, 1, 2, 3)),
    "how rare its questions' words are": Way(lambda b: b.numbers["rarity.own"], (0.1, 0.2, 0.4)),
    "how far both stand apart": Way(apart, (-0.03, -0.06, -0.09, -0.12)),
}


def chosen(way: Way, bases: Sequence[Told]) -> tuple[float, float] | None:
    """The highest constant that keeps enough, with the factor by which the fewest pass."""
    found = []
    for factor, constant in product(way.factors, STEPS):
        bounds = [way.bound(one, constant, factor) for one in bases]
        kept = [share(one.own, least) for one, least in zip(bases, bounds, strict=True)]
        if min(kept) < LEAST_KEPT or by_kind(bases, kept) < LEAST_MEAN:
            continue
        passed = [share(one.foreign, least) for one, least in zip(bases, bounds, strict=True)]
        found.append((by_kind(bases, passed), -constant, factor))
    return (-min(found)[1], min(found)[2]) if found else None


def by_kind(bases: Sequence[Told], values: Sequence[float]) -> float:
    kinds: dict[str, list[float]] = {}
    for one, value in zip(bases, values, strict=True):
        kinds.setdefault(one.kind, []).append(value)
    return mean([mean(some) for some in kinds.values()])


def report(path: Path) -> None:
    bases = [told(name, seen) for name, seen in json.loads(path.read_text()).items()]
    print("| base | kind | AUROC | pass at 95 % | kept | passed |\n|---|---|---|---|---|---|")
    for one in bases:
        passing = share(one.foreign, quantile(one.own, 0.05))
        print(
            f"| {one.name} | {one.kind} | {auroc(one.own, one.foreign):.3f} | {passing:.3f}"
            f" | {one.kept:.2f} | {one.passed:.2f} |"
        )
    names = list(bases[0].alone)
    print("\n| AUROC by |", " | ".join(names), "|\n" + "|---" * (len(names) + 1) + "|")
    for one in bases:
        print(f"| {one.name} |", " | ".join(f"{one.alone[name]:.3f}" for name in names), "|")
    print("| average |", " | ".join(f"{mean([b.alone[n] for b in bases]):.3f}" for n in names), "|")
    print("\n| bound by | kept | least | passed | most | all bases |\n|---|---|---|---|---|---|")
    for name, way in WAYS.items():
        rows = []
        for one in bases:
            found = chosen(way, [other for other in bases if other.kind != one.kind])
            if found is not None:
                least = way.bound(one, *found)
                rows.append((share(one.own, least), share(one.foreign, least)))
        if len(rows) == len(bases):
            kept, passed = zip(*rows, strict=True)
            print(
                f"| {name} | {mean(kept):.3f} | {min(kept):.2f} | {mean(passed):.3f}"
                f" | {max(passed):.2f} | {chosen(way, bases)} |"
            )


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("words", nargs="+")
    words = parser.parse_args().words
    if words[0] != "see":
        report(Path(words[0]))
        return
    named = (word.split("=") for word in words[2:])
    see(
        Path(words[1]), [Source(kind, Path(base), questions_in(Path(q))) for kind, base, q in named]
    )


if __name__ == "__main__":
    main()
