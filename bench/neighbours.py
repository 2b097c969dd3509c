"""Neighbours when ranking: whether what stands before and after a chunk should count for it;
whether words should be trusted by what more than the first hit has of them; and whether chunks that
are similar to any question, or very short, should count for less.

    python bench/neighbours.py talk=locomo/conv-26,locomo/conv-30 pages=BASE:QUESTIONS,… …

Each argument is a kind of text and its sets: judged folders, whose documents stand in the order of
the corpus (neighbours have the same `session`, where the corpus names one), or bases with a file of
judged questions, where the chunks of a document are neighbours. A question belongs to the half that
the SHA-256 of its text says; printed is nDCG@10 of each way on each half of each kind. `--only
background` asks the ways alone whose names begin so; `--only context` embeds every chunk once more,
between the one before and the one after it, and `--only turns` those alone that are like turns of a
conversation.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
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
from knowbase.ranking.rank import Traits, rank
from knowbase.ranking.trust import coverage
from knowbase.search.rank import rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.strangers import LATIN
from knowbase.search.understand import understand
from knowbase.values.documents import Candidate, Page, Passage
from quality import cut

DEPTH = 100
SHARES = (0.1, 0.2, 0.3, 0.5)
AS_IT_IS, CONTEXT = "as it is", "context"
FEW_WORDS = 20  # a turn or chunk of fewer is short
TURN = 40  # words: a chunk of fewer beside another such one is like a turn of a conversation
TURNS = "turns"


class Text(NamedTuple):
    """A base with its vectors, and which chunks stand beside which."""

    base: Base
    passages: Mapping[int, Passage]
    chunks: Sequence[int]
    vectors: Any  # a row a chunk
    beside: Mapping[int, tuple[int, ...]]
    usual: Mapping[int, float]  # by how much a chunk is more similar to any question than others
    short: Mapping[int, float]  # 1 for a chunk without words, 0 for one with FEW_WORDS
    turns: frozenset[int]  # chunks that are like turns
    within: Any  # the vectors of chunks embedded between their neighbours, where that is asked for


def read(base: Base, sessions: Mapping[str, str] | None, only: str) -> Text:
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
    others = np.array([np.frombuffer(base.embedder.embed_query(one), "<f4") for one in LATIN])
    usual = (table @ others.T).mean(axis=1)
    words = [len(passages[one].chunk.text.split()) for one in having]
    few = {one for one, number in zip(having, words, strict=True) if number < TURN}
    turns = frozenset(one for one in few if not few.isdisjoint(beside.get(one, ())))
    return Text(
        base,
        passages,
        having,
        table,
        beside,
        dict(zip(having, (usual - usual.mean()).tolist(), strict=True)),
        dict(zip(having, (max(0.0, 1 - one / FEW_WORDS) for one in words), strict=True)),
        turns,
        embedded_within(base, passages, [(one, *beside.get(one, ())) for one in having])
        if only.startswith(CONTEXT)
        else with_turns(base, passages, having, table, turns, beside)
        if only.startswith(TURNS)
        else table,
    )


def with_turns(
    base: Base,
    passages: Mapping[int, Passage],
    having: Sequence[int],
    table: Any,
    turns: frozenset[int],
    beside: Mapping[int, tuple[int, ...]],
) -> Any:
    """The vectors as they are, but for turns: these between the turns around them."""
    found = table.copy()
    rows = [row for row, one in enumerate(having) if one in turns]
    windows = [(having[row], *(b for b in beside[having[row]] if b in turns)) for row in rows]
    if rows:
        found[rows] = embedded_within(base, passages, windows)
    return found


def embedded_within(
    base: Base, passages: Mapping[int, Passage], windows: Sequence[tuple[int, ...]]
) -> Any:
    """Each chunk between the one before and the one after it, in their order."""
    texts = ["\n".join(passages[one].chunk.text for one in sorted(some)) for some in windows]
    return np.array([np.frombuffer(one, "<f4") for one in base.embedder.embed_documents(texts)])


def sessions_of(corpus: str) -> dict[str, str]:
    with open(corpus, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {one["_id"]: str(one.get("metadata", {}).get("session", "")) for one in lines}


def around_turns(text: Text, own: Mapping[int, float]) -> dict[int, float]:
    """The mean similarity of the turns around each turn."""
    near = {one: [own[b] for b in text.beside[one] if b in text.turns] for one in text.turns}
    return {one: mean(similar) for one, similar in near.items()}


def ways(text: Text, question: Question) -> dict[str, Callable[[], float]]:
    """What each way would make of a question."""
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
        traits = Traits(trust=trust, text=inquiry.query.text)
        hits = rank(legs, used, inquiry.profile, WRITTEN, traits)
        return [(hit.chunk, hit.score) for hit in hits]

    def value(order: Sequence[int]) -> float:
        ids = list(dict.fromkeys(text.passages[one].document.id for one in order))[:10]
        return ndcg(ids, question.relevant, 10)

    def covered_by(of_all: Callable[[list[float]], float]) -> float:
        keyword = inquiry.query.keyword
        beside = [(one.of, one.word) for one in keyword.also]
        covered = [coverage(keyword.words, text.passages[one.chunk], beside) for one in words[:3]]
        trust = {**outcome.trust, "keyword": of_all(covered)} if covered else outcome.trust
        return value([chunk for chunk, _ in ranked(own, trust)])

    def without(share: float, of: Mapping[int, float]) -> float:
        left = {one: similar - share * of[one] for one, similar in own.items()}
        return value([chunk for chunk, _ in ranked(left)])

    def blended(share: float, others: Mapping[int, float]) -> float:
        similar = {one: (1 - share) * own[one] + share * others[one] for one in own}
        return value([chunk for chunk, _ in ranked(similar)])

    def mixed(share: float, of_both: Callable[[list[float]], float]) -> float:
        near = {one: [own[b] for b in text.beside.get(one, ()) if b in own] for one in own}
        return blended(share, {one: of_both(near[one] or [own[one]]) for one in own})

    def windowed(share: float) -> float:
        plain = ranked(own)
        scores = dict(plain)
        added = {
            one: score
            + share * max((scores.get(b, 0.0) for b in text.beside.get(one, ())), default=0.0)
            for one, score in plain
        }
        return value(sorted(added, key=lambda one: -added[one]))

    def within(share: float) -> float:
        close = (text.within @ vector).tolist()
        return blended(share, dict(zip(text.chunks, close, strict=True)))

    around = {**own, **around_turns(text, own)}
    found: dict[str, Callable[[], float]] = {
        AS_IT_IS: lambda: value([chunk for chunk, _ in ranked(own)]),
        "coverage: the mean of the first three": lambda: covered_by(mean),
        "coverage: the best of the first three": lambda: covered_by(max),
    }
    for share in SHARES:
        found |= {
            f"similarity: {share:g} of the mean neighbour": partial(mixed, share, mean),
            f"similarity: {share:g} of the better neighbour": partial(mixed, share, max),
            f"score: {share:g} of the better neighbour's added": partial(windowed, share),
            f"background: {2 * share:g} of it taken off": partial(without, 2 * share, text.usual),
            f"background: {share / 2:g} less for short ones": partial(
                without, share / 2, text.short
            ),
            f"{CONTEXT}: {2 * share:g} of the vector with neighbours": partial(within, 2 * share),
            f"{TURNS}: {share:g} of the vector with neighbours": partial(within, share),
            f"{TURNS}: similarity: {share:g} of the mean neighbour": partial(
                blended, share, around
            ),
        }
    return found


def measured(text: Text, question: Question, only: str) -> dict[str, float]:
    """What the ways that are asked for make of a question."""
    found = ways(text, question).items()
    return {name: way() for name, way in found if name == AS_IT_IS or name.startswith(only)}


def asked(
    place: str, shelf: Shelf, most: int, only: str
) -> Iterator[tuple[bool, dict[str, float]]]:
    """The half of each question of a set, and what each way makes of it."""
    if ":" in place:
        path, _, file = place.partition(":")
        with Base(path, embedder=shelf.embedder) as base:
            text = read(base, None, only)
            for question in resolved(base, read_questions(file)):
                yield is_to_choose_on(question), measured(text, question, only)
        return
    for folder in read_folders(place, "test"):
        with shelf.base(folder) as base:
            text = read(base, sessions_of(folder.corpus), only)
            judged = [one for one in folder.questions if one.relevant]
            for question in judged[:: max(1, len(judged) // most)][:most]:
                yield is_to_choose_on(question), measured(text, question, only)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("kinds", nargs="+")
    parser.add_argument("--most", type=int, default=100, help="questions of each folder")
    parser.add_argument("--only", default="", help="ways whose names begin so")
    arguments = parser.parse_args()
    settings = config.load(None, os.environ)
    shelf = Shelf(cache_folder(settings.settings.eval_cache), settings, Granite())
    for one in arguments.kinds:
        kind, _, places = one.partition("=")
        found = [
            pair
            for place in places.split(",")
            for pair in asked(place, shelf, arguments.most, arguments.only)
        ]
        halves = [[values for chosen, values in found if chosen is half] for half in (True, False)]
        print(f"\n{kind}: {len(halves[0])} and {len(halves[1])} questions", flush=True)
        for way in found[0][1]:
            cells = (f"{mean([values[way] for values in half]):.3f}" for half in halves)
            print(f"{way:45}", *cells, flush=True)


if __name__ == "__main__":
    main()
