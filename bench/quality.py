"""Which ranking is best: chosen on half of the questions of each set, reported on the other.

    python bench/quality.py FOLDER …      each a judged set, or a folder of small ones

The handbook of the tests, a small base with questions that share no word with their answers, is
always one of the sets.

Every candidate ranks the same retrieved passages through `knowbase.ranking.rank`, as a search
does. A candidate's merit is its nDCG@10, averaged over the sets so that no large one decides.
"""

import argparse
import json
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from knowbase import config
from knowbase.base import Base, create
from knowbase.embed.granite import Granite
from knowbase.evaluate.bootstrap import intervals
from knowbase.evaluate.corpus import WRITTEN, Shelf, cache_folder
from knowbase.evaluate.judged import Question, read_folders
from knowbase.evaluate.metrics import mean, ndcg
from knowbase.query.words import FieldWeights
from knowbase.ranking.profile import PROFILES, Profile
from knowbase.ranking.rank import Traits, rank
from knowbase.search.rank import rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.understand import understand
from knowbase.values.documents import Candidate, Passage
from knowbase.values.vectors import Vector
from knowbase.values.vectors import mean as mean_vector

DEPTH = 200  # the most that any candidate looks at
BEST = PROFILES["best"]._replace(unit="document")
RRF = PROFILES["kb"]._replace(unit="document")
Legs = Mapping[str, Sequence[Candidate]]


class Candidacy(NamedTuple):
    """A way to rank that could be chosen."""

    name: str
    profile: Profile
    depth: int = 100
    trusting: bool = False  # leave out what depends on the query: words covered, language known
    words: str = "keyword"  # which of the retrieved lists stands for each leg
    meaning: str = "semantic"


class Retrieved(NamedTuple):
    """A question with everything that any candidate ranks."""

    question: Question
    lists: Legs
    passages: Mapping[int, Passage]
    trust: Mapping[str, float]
    word_first: bool  # as the query says


def candidates() -> Iterator[Candidacy]:
    for k in (5, 20, 60):
        yield Candidacy(f"rrf, k {k}, depth 30", RRF._replace(rrf_k=k), 30)
    yield Candidacy("rrf, k 60, depth 100", RRF, 100)
    for weight in (0.3, 0.4, 0.5, 0.6, 0.7):
        weights = {"keyword": 1 - weight, "semantic": weight}
        stretched = BEST._replace(fusion="minmax", weights=weights)
        yield Candidacy(f"min-max, meaning {weight}", stretched)
    for weight in (0.5, 0.75, 1.0, 1.5, 2.0):
        lift = BEST._replace(weights={"keyword": 1.0, "semantic": weight})
        yield Candidacy(f"lift, meaning {weight}", lift)
        yield Candidacy(f"lift, meaning {weight}, trusting", lift, trusting=True)
    even = BEST._replace(weights={"keyword": 1.0, "semantic": 1.0})
    for depth in (30, 50, 200):
        yield Candidacy(f"lift, depth {depth}", even._replace(depth_least=depth), depth)
    yield Candidacy("lift, title counts twice", even, words="title twice")
    yield Candidacy("lift, feedback of 3", even, meaning="feedback")


FLOORS = (
    Candidacy("bm25", RRF._replace(weights={"keyword": 1.0, "semantic": 0.0}), DEPTH),
    Candidacy("semantic", RRF._replace(weights={"keyword": 0.0, "semantic": 1.0}), DEPTH),
)
DEFAULT = Candidacy("kb", RRF, 30)


def retrieved(base: Base, question: Question) -> Retrieved:
    """All lists for a question: the two legs, and the variations of them."""
    request = SearchRequest(question.text, unit="document", profile="best")
    services = base.search_services
    asked = understand(request, base.profile_for("best"), services.language, WRITTEN)
    query, ranking = asked.query, rank_all(asked, services, DEPTH)
    lists = {leg: list(candidates) for leg, candidates in ranking.proposals.legs.items()}
    lists.setdefault("keyword", [])
    twice = FieldWeights(title=2.0)
    lists["title twice"] = base.store.keyword(query.keyword, query.keyword_filter, 300, twice)
    near = [ranking.proposals.passages[hit.chunk].chunk.hash for hit in ranking.ranked[:3]]
    vector = _moved(base, question.text, near)
    lists["feedback"] = base.store.semantic(vector, query.filter, 300)
    passages = dict(ranking.proposals.passages)
    missing = {one.chunk for found in lists.values() for one in found} - passages.keys()
    passages.update(base.store.passages(missing))
    return Retrieved(question, lists, passages, ranking.trust, asked.profile.word_first)


def _moved(base: Base, text: str, near: Sequence[str]) -> Vector:
    """Rocchio: the query's vector, moved a little towards those of the first hits."""
    vectors = base.store.vectors(near).values()
    return mean_vector([*[base.embedder.embed_query(text)] * 10, *vectors])


def cut(found: Sequence[Candidate], passages: Mapping[int, Passage], depth: int) -> list[Candidate]:
    """The candidates that make `depth` documents."""
    kept, seen = [], set()
    for one in found:
        seen.add(passages[one.chunk].document.seq)
        if len(seen) > depth:
            break
        kept.append(one)
    return kept


def merit(candidacy: Candidacy, one: Retrieved) -> float:
    """nDCG@10 of a candidate on a question."""
    legs = {
        "keyword": cut(one.lists[candidacy.words], one.passages, candidacy.depth),
        "semantic": cut(one.lists[candidacy.meaning], one.passages, candidacy.depth),
    }
    used = {chunk.chunk for found in legs.values() for chunk in found}
    passages = {chunk: one.passages[chunk] for chunk in used}
    adaptive = candidacy.profile.fusion == "lift" and not candidacy.trusting
    trust = one.trust if adaptive else {}
    profile = candidacy.profile
    profile = profile._replace(word_first=profile.word_first and one.word_first)
    traits = Traits(trust=trust, text=one.question.text)
    hits = rank(legs, passages, profile, WRITTEN, traits)[:10]
    found = [passages[hit.chunk].document.id for hit in hits if hit.score > 0]
    return ndcg(found, one.question.relevant, 10)


def halves(number: int) -> tuple[list[int], list[int]]:
    """The same random halves at every run: to choose on, to report on."""
    places = list(range(number))
    random.Random(0).shuffle(places)
    return places[: number // 2], places[number // 2 :]


Merits = dict[str, dict[str, list[float]]]  # candidate → set → a value a question


def average(merits: Mapping[str, list[float]], places: Mapping[str, list[int]]) -> float:
    return mean(
        [mean([merits[name][place] for place in chosen]) for name, chosen in places.items()]
    )


def measured(folders: Sequence[str], everyone: Sequence[Candidacy], most: int) -> Merits:
    settings = config.load(None, os.environ)
    shelf = Shelf(cache_folder(settings.settings.eval_cache), settings, Granite())
    merits: Merits = {one.name: {} for one in everyone}

    def measure(name: str, base: Base, questions: Sequence[Question]) -> None:
        for question in questions:
            one = retrieved(base, question)
            for candidacy in everyone:
                merits[candidacy.name].setdefault(name, []).append(merit(candidacy, one))

    with TemporaryDirectory() as folder, create(os.path.join(folder, "base.db")) as base:
        measure("handbook", base, handbook(base))
    for path in folders:
        for judged in read_folders(path, "test"):
            with shelf.base(judged) as base:
                drawn = random.Random(1).sample(judged.questions, min(most, len(judged.questions)))
                measure(os.path.basename(os.path.abspath(path)), base, drawn)
    return merits


def handbook(base: Base) -> list[Question]:
    """The handbook of the tests put into a base, and its judged questions."""
    fixtures = Path(__file__).parent.parent / "tests" / "fixtures"
    base.add([str(fixtures / "handbook")])
    judged = json.loads((fixtures / "judgments.json").read_text(encoding="utf-8"))
    return [
        Question(
            str(number),
            one["query"],
            {base.whole(str(fixtures / "handbook" / path)).id: 1.0 for path in one["relevant"]},
        )
        for number, one in enumerate(judged)
    ]


def table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    print()


def report(merits: Merits, proposed: Sequence[Candidacy]) -> str:
    """Choose on one half, report on the other; the name of what was chosen."""
    sets = list(next(iter(merits.values())))
    split = {name: halves(len(next(iter(merits.values()))[name])) for name in sets}
    choosing = {name: pair[0] for name, pair in split.items()}
    reporting = {name: pair[1] for name, pair in split.items()}
    names = [one.name for one in proposed]
    scored = {name: average(merits[name], choosing) for name in names}
    best = max(names, key=lambda name: scored[name])

    print("nDCG@10 on the half to choose on")
    rows = [["", *sets, "average"]]
    for name in sorted(names, key=lambda name: -scored[name]):
        cells = [f"{mean([merits[name][s][p] for p in choosing[s]]):.3f}" for s in sets]
        rows.append([name, *cells, f"{scored[name]:.4f}"])
    table(rows)

    print(f"nDCG@10 on the other half; chosen: {best}")
    rows = [["", *sets, "average"]]
    for name in (best, "kb", "bm25", "semantic"):
        cells = [f"{mean([merits[name][s][p] for p in reporting[s]]):.3f}" for s in sets]
        rows.append([name, *cells, f"{average(merits[name], reporting):.4f}"])
    for other in ("kb", "bm25", "semantic"):
        rows.append(
            [f"chosen − {other}", *(_gap(merits, (best, other), s, reporting[s]) for s in sets), ""]
        )
    table(rows)

    print("chosen without a set, nDCG@10 on all of that set")
    rows = [["left out", "chosen", "it", "bm25", "semantic"]]
    for left in sets:
        others = {name: places for name, places in choosing.items() if name != left}
        name = max(names, key=lambda name: average(merits[name], others))
        shown = [f"{mean(merits[one][left]):.3f}" for one in (name, "bm25", "semantic")]
        rows.append([left, name, *shown])
    table(rows)
    return best


def _gap(merits: Merits, pair: tuple[str, str], name: str, places: Sequence[int]) -> str:
    one, other = (merits[which][name] for which in pair)
    (interval,) = intervals([[one[place] - other[place] for place in places]])
    mark = "*" if interval.low > 0 or interval.high < 0 else ""
    return f"{interval.mean:+.3f} ({interval.low:+.3f} … {interval.high:+.3f}){mark}"


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--json", metavar="FILE", help="also write every value of every question")
    parser.add_argument("--most", type=int, default=1_000_000, help="questions of each set")
    arguments = parser.parse_args()
    proposed = list(candidates())
    merits = measured(arguments.folders, [*proposed, *FLOORS, DEFAULT], arguments.most)
    report(merits, proposed)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(merits, file)


if __name__ == "__main__":
    main()
