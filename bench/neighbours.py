"""Neighbours when ranking: whether what stands before and after a chunk should count for it; and
whether words should be trusted by what more than the first hit has of them.

    python bench/neighbours.py talk=locomo/conv-26,locomo/conv-30 pages=BASE:QUESTIONS,… …

Each argument is a kind of text and its sets: judged folders, whose documents stand in the order of
the corpus (neighbours have the same `session`, where the corpus names one), or bases with a file of
judged questions, where the chunks of a document are neighbours. A question belongs to the half that
the SHA-256 of its text says; printed is nDCG@10 of each way on each half of each kind.
"""

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from constants import is_to_choose_on
from knowbase import config
from knowbase.base import Base
from knowbase.embed.granite import Granite
from knowbase.evaluate.corpus import WRITTEN, Shelf, cache_folder
from knowbase.evaluate.judged import Question, read_folders, read_questions
from knowbase.evaluate.metrics import mean, ndcg
from knowbase.evaluate.own import resolved
from knowbase.query.conditions import EVERYTHING
from knowbase.ranking.rank import rank
from knowbase.ranking.trust import coverage
from knowbase.search.rank import rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.understand import understand
from knowbase.values.documents import Candidate, Page, Passage
from quality import cut

DEPTH = 100
SHARES = (0.1, 0.2, 0.3, 0.5)


class Text(NamedTuple):
    """A base with its vectors, and which chunks stand beside which."""

    base: Base
    passages: Mapping[int, Passage]
    chunks: Sequence[int]
    vectors: Any  # a row a chunk
    beside: Mapping[int, tuple[int, ...]]


def read(base: Base, sessions: Mapping[str, str] | None) -> Text:
    """With `sessions`, documents in the order of the corpus; else the chunks of each document."""
    every = base.store.documents(EVERYTHING, Page(limit=base.store.counts().documents))
    by_id = {one.id: list(base.store.chunks(one.id)) for one in every}
    if sessions is None:
        rows = list(by_id.values())
    else:
        rows = [
            [passage for name in sessions if sessions[name] == session for passage in by_id[name]]
            for session in dict.fromkeys(sessions.values())
        ]
    passages = {one.chunk_id: one for row in rows for one in row}
    beside: dict[int, tuple[int, ...]] = {}
    for row in rows:
        for one, other in pairwise(row):
            beside[one.chunk_id] = (*beside.get(one.chunk_id, ()), other.chunk_id)
            beside[other.chunk_id] = (*beside.get(other.chunk_id, ()), one.chunk_id)
    stored = base.store.vectors({one.chunk.hash for one in passages.values()})
    having = [chunk for chunk, one in passages.items() if one.chunk.hash in stored]
    table = np.array([np.frombuffer(stored[passages[one].chunk.hash], "<f4") for one in having])
    return Text(base, passages, having, table, beside)


def sessions_of(corpus: str) -> dict[str, str]:
    with open(corpus, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {one["_id"]: str(one.get("metadata", {}).get("session", "")) for one in lines}


def ways(text: Text, question: Question) -> Iterator[tuple[str, float]]:
    """What each way makes of a question."""
    base, services = text.base, text.base.search_services
    request = SearchRequest(question.text, unit="document", profile="best")
    profile = base.profile_for("best")._replace(unit="document")
    inquiry = understand(request, profile, services.language, WRITTEN)
    outcome = rank_all(inquiry, services, DEPTH)
    words = cut(outcome.proposals.legs.get("keyword", ()), outcome.proposals.passages, DEPTH)
    vector = np.frombuffer(base.embedder.embed_query(inquiry.query.text), "<f4")
    own = dict(zip(text.chunks, (text.vectors @ vector).tolist(), strict=True))

    def ranked(
        similar: Mapping[int, float], trust: Mapping[str, float] = outcome.trust
    ) -> list[tuple[int, float]]:
        ordered = sorted(similar, key=lambda one: -similar[one])[: 4 * DEPTH]
        near = cut([Candidate(one, similar[one]) for one in ordered], text.passages, DEPTH)
        legs = {"keyword": words, "semantic": near}
        used = {one.chunk: text.passages[one.chunk] for found in legs.values() for one in found}
        hits = rank(legs, used, inquiry.profile, WRITTEN, "keyword", trust)
        return [(hit.chunk, hit.score) for hit in hits]

    def value(order: Sequence[int]) -> float:
        ids = list(dict.fromkeys(text.passages[one].document.id for one in order))[:10]
        return ndcg(ids, question.relevant, 10)

    plain = ranked(own)
    scores = dict(plain)
    yield "as it is", value([chunk for chunk, _ in plain])
    keyword = inquiry.query.keyword
    beside = [(one.of, one.word) for one in keyword.also]
    covered = [coverage(keyword.words, text.passages[one.chunk], beside) for one in words[:3]]
    for name, of_all in (("mean", mean), ("best", max)):
        trust = {**outcome.trust, "keyword": of_all(covered)} if covered else outcome.trust
        way = f"coverage: the {name} of the first three"
        yield way, value([chunk for chunk, _ in ranked(own, trust)])
    for share in SHARES:
        for name, of_both in (("mean", mean), ("better", max)):
            mixed = {
                one: (1 - share) * own[one]
                + share * (of_both([own[b] for b in near if b in own] or [own[one]]))
                for one in own
                for near in [text.beside.get(one, ())]
            }
            way = f"similarity: {share:g} of the {name} neighbour"
            yield way, value([chunk for chunk, _ in ranked(mixed)])
        windowed = {
            one: score
            + share * max((scores.get(b, 0.0) for b in text.beside.get(one, ())), default=0.0)
            for one, score in plain
        }
        way = f"score: {share:g} of the better neighbour's added"
        yield way, value(sorted(windowed, key=lambda one: -windowed[one]))


def asked(place: str, shelf: Shelf, most: int) -> Iterator[tuple[bool, dict[str, float]]]:
    """The half of each question of a set, and what each way makes of it."""
    if ":" in place:
        path, _, file = place.partition(":")
        with Base(path, embedder=shelf.embedder) as base:
            text = read(base, None)
            for question in resolved(base, read_questions(file)):
                yield is_to_choose_on(question), dict(ways(text, question))
        return
    for folder in read_folders(place, "test"):
        with shelf.base(folder) as base:
            text = read(base, sessions_of(folder.corpus))
            judged = [one for one in folder.questions if one.relevant]
            for question in judged[:: max(1, len(judged) // most)][:most]:
                yield is_to_choose_on(question), dict(ways(text, question))


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("kinds", nargs="+")
    parser.add_argument("--most", type=int, default=100, help="questions of each folder")
    arguments = parser.parse_args()
    settings = config.load(None, os.environ)
    shelf = Shelf(cache_folder(settings.settings.eval_cache), settings, Granite())
    for one in arguments.kinds:
        kind, _, places = one.partition("=")
        found = [
            pair for place in places.split(",") for pair in asked(place, shelf, arguments.most)
        ]
        halves = [[values for chosen, values in found if chosen is half] for half in (True, False)]
        print(f"\n{kind}: {len(halves[0])} and {len(halves[1])} questions", flush=True)
        for way in found[0][1]:
            cells = (f"{mean([values[way] for values in half]):.3f}" for half in halves)
            print(f"{way:45}", *cells, flush=True)


if __name__ == "__main__":
    main()
