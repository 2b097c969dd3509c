"""Pages before code, titles that say what was asked, passages that refer to pages, further passages
of one page: which constants, on halves of questions.

    python bench/fit.py FOLDER … [--judged FOLDER …]

FOLDER is a collection as bench/public.py leaves it (with its base); a judged one has the layout of
`kb eval`. Each way is how much code and data, tests, examples count (`kind_weights`), how much more
a title counts that says what was asked (`title_boost`), from which share of its score on a short
passage gives way to a page that it refers to (`leads_on`), and how much a further passage of a
document counts (`further_factor`); one is changed at a time. A question belongs to the half that
the SHA-256 of its text says. Printed for each half: how many questions the first hit answers and
one of the first three; of judged sets, nDCG@10.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from constants import is_to_choose_on
from knowbase import config
from knowbase.base import Base
from knowbase.embed.granite import Granite
from knowbase.evaluate.corpus import WRITTEN, Shelf, cache_folder
from knowbase.evaluate.judged import Question, read_folders
from knowbase.evaluate.metrics import mean, ndcg
from knowbase.search.pointing import lead_on
from knowbase.search.rank import rank_all, rank_proposals
from knowbase.search.request import SearchRequest
from knowbase.search.understand import understand
from public import QUESTIONS, questions_in

DEPTH = 100
BOOSTS = (0.0, 0.2, 0.3, 0.4, 0.5)
KINDS = ((1.0, 1.0), (0.95, 0.8), (0.9, 0.8), (0.85, 0.7), (0.8, 0.7))  # code and data, tests
SHARES = (0.0, 0.5, 0.6, 0.65, 0.7, 0.8)
EXAMPLES = (0.85, 0.8, 0.7, 0.6)
FURTHER = (1.0, 0.95, 0.9, 0.85, 0.8, 0.7, 0.5)


class Way(NamedTuple):
    """Weights to rank with."""

    others: float
    tests: float
    boost: float
    share: float
    examples: float
    further: float

    def __str__(self) -> str:
        kinds = f"code {self.others:g}, tests {self.tests:g}, examples {self.examples:g}"
        return f"{kinds}, title {self.boost:g}, leads on {self.share:g}, further {self.further:g}"


CHOSEN = Way(0.85, 0.7, 0.4, 0.65, 0.7, 0.85)
WAYS = list(
    dict.fromkeys(
        (
            Way(1.0, 1.0, 0.0, 0.0, 1.0, 1.0),
            Way(0.85, 0.7, 0.4, 0.65, 0.85, 1.0),
            *(CHOSEN._replace(others=others, tests=tests) for others, tests in KINDS),
            *(CHOSEN._replace(boost=boost) for boost in BOOSTS),
            *(CHOSEN._replace(share=share) for share in SHARES),
            *(CHOSEN._replace(examples=examples) for examples in EXAMPLES),
            *(CHOSEN._replace(further=further) for further in FURTHER),
        )
    )
)
Orders = dict[Way, list[str]]  # what each way finds, best first


def orders(base: Base, text: str, unit: str) -> Orders:
    """Paths of files, or ids of documents, as each way orders them."""
    services = base.search_services
    profile = base.profile_for("best")._replace(unit=unit)
    request = SearchRequest(text, unit=unit, profile="best")
    outcome = rank_all(understand(request, profile, services.language, WRITTEN), services, DEPTH)
    passages = outcome.proposals.passages
    found: Orders = {}
    for way in WAYS:
        kinds = {"code": way.others, "data": way.others}
        changed = outcome.inquiry.profile._replace(
            kind_weights={**kinds, "test": way.tests, "example": way.examples},
            title_boost=way.boost,
            leads_on=way.share,
            further_factor=way.further,
        )
        inquiry = outcome.inquiry._replace(profile=changed)
        ranked = rank_proposals(inquiry, outcome.proposals, outcome.trust)
        ranked = lead_on(ranked, inquiry, outcome.proposals, services.store)
        documents = [passages[hit.chunk].document for hit in ranked[: 10 * DEPTH]]
        names = [one.path or one.id for one in documents] if unit == "chunk" else []
        found[way] = names or list(dict.fromkeys(one.id for one in documents))
    return found


class Answered(NamedTuple):
    """Of one question: its half, and a value for each way, or two."""

    chosen: bool
    values: Mapping[Way, tuple[float, ...]]


def of_collection(folder: Path, embedder: Granite) -> Iterator[Answered]:
    with Base(str(folder / ".kb/base.db"), embedder=embedder) as base:
        for one in questions_in(QUESTIONS / f"{folder.name}.jsonl"):
            found = orders(base, one.query, "chunk")
            hits = {
                way: tuple(
                    float(any(path in one.relevant for path in paths[:depth])) for depth in (1, 3)
                )
                for way, paths in found.items()
            }
            yield Answered(is_to_choose_on(Question("", one.query, {})), hits)


def of_judged(place: str, shelf: Shelf, most: int) -> Iterator[Answered]:
    for folder in read_folders(place, "test"):
        judged = [one for one in folder.questions if one.relevant]
        with shelf.base(folder) as base:
            for one in judged[:: max(1, len(judged) // most)][:most]:
                found = orders(base, one.text, "document")
                values = {way: (ndcg(ids[:10], one.relevant, 10),) for way, ids in found.items()}
                yield Answered(is_to_choose_on(one), values)


def show(name: str, answered: Sequence[Answered], *, counted: bool) -> None:
    halves = [[one.values for one in answered if one.chosen is half] for half in (True, False)]
    print(f"\n{name}: {len(halves[0])} and {len(halves[1])} questions", flush=True)
    for way in WAYS:
        cells = []
        for half in halves:
            columns = zip(*(one[way] for one in half), strict=True)
            cells.append(
                " ".join(f"{sum(c):.0f}" if counted else f"{mean(list(c)):.4f}" for c in columns)
            )
        print(f"{way!s:72}", "   ".join(cells), flush=True)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--judged", nargs="*", default=[])
    parser.add_argument("--most", type=int, default=300, help="questions of each judged folder")
    given = parser.parse_args()
    embedder = Granite()
    asked = [one for folder in given.folders for one in of_collection(folder, embedder)]
    if asked:
        show("collections", asked, counted=True)
    settings = config.load(None, os.environ)
    shelf = Shelf(cache_folder(settings.settings.eval_cache), settings, embedder)
    for place in given.judged:
        show(Path(place).name, list(of_judged(place, shelf, given.most)), counted=False)


if __name__ == "__main__":
    main()
