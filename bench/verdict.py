"""Whether there is an answer: how well the verdict tells it on bases that had no part in it.

    python bench/verdict.py see FILE.json KIND=BASE=QUESTIONS …
    python bench/verdict.py FILE.json

`see` asks each base (a file of it) its own judged questions, those of bases of other kinds, and the
ones that it learns from, and keeps what the legs saw; a base that FILE.json has is not asked again.
QUESTIONS is a judged folder or a file as in bench/collections. The second call says how well that
is told, and what other bounds of "nothing found" would do, each chosen without the base that it is
reported on.
"""

import argparse
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from knowbase.base import Base
from knowbase.evaluate.judged import read_folders
from knowbase.evaluate.metrics import mean
from knowbase.ranking import verdict
from knowbase.ranking.verdict import Evidence, Examples, judge, learn
from knowbase.search.calibrate import examples_of
from knowbase.search.evidence import evidence_of
from knowbase.search.filling_up import filled_up
from knowbase.search.rank import rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.understand import understand

MOST_OWN, MOST_FOREIGN = 60, 120
KEPT = 0.95
STEPS = [step / 100 for step in range(5, 100)]


class Source(NamedTuple):
    """A base, what kind it is, and its questions."""

    kind: str
    base: str
    questions: list[str]

    @property
    def name(self) -> str:
        return Path(self.base).stem.rsplit("-", 1)[0] if ".kb" not in self.base else self.folder

    @property
    def folder(self) -> str:
        return Path(self.base).parent.parent.name


class Seen(NamedTuple):
    """What the legs saw of a base's questions."""

    name: str
    examples: Examples
    own: list[Evidence]
    foreign: list[Evidence]


# asking


def see(path: Path, sources: Sequence[Source]) -> None:
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for source in sources:
        if source.name in kept:
            continue
        others = [one for one in sources if one.kind != source.kind]
        foreign = drawn([text for one in others for text in drawn(one.questions, 25)], MOST_FOREIGN)
        with Base(source.base) as base:
            examples = examples_of(base.search_services, base.now())
            if examples is None:
                print(f"{source.name}: too few questions can be made of it")
                continue
            kept[source.name] = {
                "examples": examples._asdict(),
                "own": [look(base, one) for one in drawn(source.questions, MOST_OWN)],
                "foreign": [look(base, one) for one in foreign],
            }
        path.write_text(json.dumps(kept))
        print(source.name, flush=True)


def drawn(texts: Sequence[str], most: int) -> list[str]:
    some = list(dict.fromkeys(texts))
    random.Random(0).shuffle(some)  # noqa: S311 - a draw that can be repeated
    return some[:most]


def look(base: Base, text: str) -> Evidence:
    """What the legs see of a question, as a search does."""
    services = base.search_services
    inquiry = understand(
        SearchRequest(text), base.profile_for("best"), services.language, base.now()
    )
    outcome = filled_up(rank_all(inquiry, services, 100), services, 10)
    seen = outcome.relaxed or outcome
    return evidence_of(seen.inquiry, seen.proposals, services)


def questions_in(path: Path) -> list[str]:
    if path.is_dir():
        return [one.text for folder in read_folders(str(path), "test") for one in folder.questions]
    return [json.loads(line)["query"] for line in path.read_text(encoding="utf-8").splitlines()]


# telling


def told(numbers: Mapping[str, float], seen: Sequence[Evidence]) -> list[float]:
    return [judge(one, numbers).probability for one in seen]


def auroc(own: Sequence[float], foreign: Sequence[float]) -> float:
    wins = sum((high > low) + 0.5 * (high == low) for high in own for low in foreign)
    return wins / (len(own) * len(foreign))


def share(values: Sequence[float], least: float) -> float:
    return mean([float(one >= least) for one in values])


def quantile(values: Sequence[float], part: float) -> float:
    """The value that all but this part reach."""
    return sorted(values)[math.floor(part * len(values))]


class Base_(NamedTuple):
    """A base's probabilities: of what it learnt from, and of what it was asked."""

    name: str
    answered: list[float]
    missing: list[float]
    strange: list[float]
    own: list[float]
    foreign: list[float]


Bound = Callable[[Base_, float], float]
BOUNDS: Mapping[str, Bound] = {
    "one for all": lambda _, c: c,
    "by 5 % of its questions, with their document": lambda b, c: c * quantile(b.answered, 0.05),
    "by 10 % of them": lambda b, c: c * quantile(b.answered, 0.1),
    "by 25 % of them": lambda b, c: c * quantile(b.answered, 0.25),
    "by 25 % of them, without their document": lambda b, c: c * quantile(b.missing, 0.25),
    "by 50 % of them, without": lambda b, c: c * quantile(b.missing, 0.5),
    "by 5 % of the strangers": lambda b, c: quantile(b.strange, 0.95) + c - 0.3,
    "between strangers and own": lambda b, c: (
        (1 - c) * quantile(b.strange, 0.95) + c * quantile(b.answered, 0.25)
    ),
}


def report(path: Path) -> None:
    bases = []
    for name, one in json.loads(path.read_text()).items():
        seen = {k: [Evidence(*e) for e in one[k]] for k in ("own", "foreign")}
        examples = Examples(*([Evidence(*e) for e in one["examples"][k]] for k in Examples._fields))
        numbers = learn(examples)
        parts = (*examples, seen["own"], seen["foreign"])
        bases.append(Base_(name, *(told(numbers, some) for some in parts)))
    print("| base | AUROC | pass at 95 % | kept | passed |\n|---|---|---|---|---|")
    usual = verdict.NOTHING_UNDER["both"][0]
    for base in bases:
        at = quantile(base.own, 1 - KEPT)
        print(
            f"| {base.name} | {auroc(base.own, base.foreign):.3f} | {share(base.foreign, at):.3f}"
            f" | {share(base.own, usual):.2f} | {share(base.foreign, usual):.2f} |"
        )
    print(
        "\n| bound | constant | kept, mean | least | passed, mean | most |\n|---|---|---|---|---|---|"
    )
    for name, bound in BOUNDS.items():
        rows, chosen = [], []
        for base in bases:
            others = [one for one in bases if one is not base]
            constant = max((c for c in STEPS if all_kept(others, bound, c)), default=STEPS[0])
            least = bound(base, constant)
            rows.append((share(base.own, least), share(base.foreign, least)))
            chosen.append(constant)
        kept, passed = zip(*rows, strict=True)
        print(
            f"| {name} | {min(chosen):g} … {max(chosen):g} | {mean(kept):.3f} | {min(kept):.2f}"
            f" | {mean(passed):.3f} | {max(passed):.2f} |"
        )


def all_kept(bases: Sequence[Base_], bound: Bound, constant: float) -> bool:
    """97 of 100 on average, and 93 on each: the 25 questions of a collection lose at most one."""
    kept = [share(one.own, bound(one, constant)) for one in bases]
    return mean(kept) >= 0.97 and min(kept) >= 0.93


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("words", nargs="+")
    words = parser.parse_args().words
    if words[0] != "see":
        report(Path(words[0]))
        return
    sources = [
        Source(kind, base, questions_in(Path(questions)))
        for kind, base, questions in (word.split("=") for word in words[2:])
    ]
    see(Path(words[1]), sources)


if __name__ == "__main__":
    main()
