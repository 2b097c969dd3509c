"""A second look at the first hits: a reranker's, and one for hits that say the same.

Each only changes the order of what was found. Within its budget the reranker looks at as many hits
as it can, best first; the others keep their places.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from knowbase.errors import Conflict, EmbeddingError
from knowbase.logs import log
from knowbase.ranking.places import Moved, farthest_first, mixed, placed, ranks
from knowbase.ranking.rank import Ranked
from knowbase.search.rank import Outcome
from knowbase.search.services import Second, Services
from knowbase.values.documents import Passage

if TYPE_CHECKING:
    from knowbase.values.vectors import Vector

USUAL_WEIGHT = 0.5  # of a look that is asked for, where the profile has none
USUAL_DIVERSITY = 0.5
LOOKED_AT = 30  # hits that change their order to be diverse
CODE = "code"
SIGNS = "(){}[]=;_<>"
SIGNS_OF_CODE = 0.04  # of the letters: prose has one in a hundred, code one in fifteen


def second_look(outcome: Outcome, services: Services) -> Outcome:
    """The outcome with its first hits in another order, if they are to be looked at again."""
    started = time.perf_counter()
    if _is_wanted(outcome, services.second) and services.second is not None:
        outcome = _reranked(outcome, services.second)
    if outcome.is_diverse:
        outcome = _diverse(outcome, services)
    took = round((time.perf_counter() - started) * 1000, 3)
    return outcome._replace(milliseconds=outcome.milliseconds + took)


def _is_wanted(outcome: Outcome, second: Second | None) -> bool:
    request, profile, query = (
        outcome.inquiry.request,
        outcome.inquiry.profile,
        outcome.inquiry.query,
    )
    if request.rerank == "on" and second is None:
        raise Conflict(
            "there is nothing to look a second time with",
            field="rerank",
            hint="set rerank.model: a folder with a cross-encoder, or a service",
        )
    if request.rerank is not None:
        return request.rerank == "on" and bool(query.text)
    # Words that are meant as they stand are not doubted, and a search by words loads no model.
    doubted = not profile.word_first and request.mode != "keyword"
    return profile.rerank > 0 and doubted and bool(query.text)


def _reranked(outcome: Outcome, second: Second) -> Outcome:
    first = _alike(outcome.ranked)[: second.top]
    if len(first) < 2:
        return outcome
    passages = [outcome.proposals.passages[hit.chunk] for hit in first]
    try:
        scores = _scores(second, outcome.inquiry.query.text, passages)
    except EmbeddingError as error:
        hint = f" ({error.hint})" if error.hint else ""
        log("warning", "second look did not run", reason=error.message, exc_info=error)
        return _noted(outcome, f"the second look did not run: {error.message}{hint}")
    if len(scores) < 2:
        return _noted(outcome, "the second look did not run: rerank.budget is too small")
    share = (outcome.inquiry.profile.rerank or USUAL_WEIGHT) * (1 - _code(passages))
    values = mixed(scores, share)
    moved = [
        Moved(hit, score, rank, value)
        for hit, score, rank, value in zip(first, scores, ranks(scores), values, strict=False)
    ]
    order = sorted(range(len(moved)), key=lambda place: -moved[place].value)
    return _in_place(outcome, placed(moved, order, "rerank", outcome.inquiry.profile.clamp))


def _scores(second: Second, query: str, passages: Sequence[Passage]) -> list[float]:
    """Of as many as fit into the budget."""
    reranker = second.reranker()
    ends = time.monotonic() + second.budget
    found: list[float] = []
    given = reranker.scores(query, [_text(one) for one in passages], second.budget)
    for score in given:
        found.append(score)
        if time.monotonic() > ends:
            break
    return found


def _text(passage: Passage) -> str:
    document, chunk = passage.document, passage.chunk
    parts = (document.title, chunk.heading or "", chunk.text)
    return "\n".join(dict.fromkeys(part for part in parts if part))


def _code(passages: Sequence[Passage]) -> float:
    """The share of the hits that are code: rerankers have learnt from prose, and know little of
    it."""
    return sum(map(_is_code, passages)) / len(passages)


def _is_code(passage: Passage) -> bool:
    """By its type, or by its signs: functions lie in notes and answers, too."""
    text = passage.chunk.text
    return passage.document.type == CODE or sum(map(text.count, SIGNS)) > SIGNS_OF_CODE * len(text)


def _diverse(outcome: Outcome, services: Services) -> Outcome:
    first = _alike(outcome.ranked)[:LOOKED_AT]
    hashes = [outcome.proposals.passages[hit.chunk].chunk.hash for hit in first]
    try:
        stored = services.store.vectors(hashes) if services.has_vectors else {}
    except EmbeddingError:
        stored = {}
    if len(first) < 2:
        return outcome
    if not stored:
        return _noted(outcome, "there are no vectors to tell which hits say the same (kb embed)")
    alike = _similarities([stored.get(one) for one in hashes])
    weight = outcome.inquiry.profile.diverse or USUAL_DIVERSITY
    order = farthest_first([hit.score for hit in first], alike, weight)
    nearest = [
        max((alike[place][other] for other in order[: order.index(place)]), default=0.0)
        for place in range(len(first))
    ]
    moved = [Moved(hit, near, None, -near) for hit, near in zip(first, nearest, strict=True)]
    return _in_place(outcome, placed(moved, order, "diverse", outcome.inquiry.profile.clamp))


def _similarities(vectors: "Sequence[Vector | None]") -> list[list[float]]:
    """Of each with each; what has no vector is like nothing."""
    import numpy as np

    size = max(len(one) for one in vectors if one is not None) // 4
    rows = [
        np.frombuffer(one, "<f4") if one is not None else np.zeros(size, "<f4") for one in vectors
    ]
    table = np.asarray(rows, np.float64)
    found: list[list[float]] = (table @ table.T).tolist()
    return found


def _alike(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The first hits of one kind: relaxed ones stay behind the others."""
    kind = ranked[0].relaxed if ranked else False
    end = next((place for place, hit in enumerate(ranked) if hit.relaxed != kind), len(ranked))
    return list(ranked[:end])


def _in_place(outcome: Outcome, first: list[Ranked]) -> Outcome:
    return outcome._replace(ranked=[*first, *outcome.ranked[len(first) :]])


def _noted(outcome: Outcome, notice: str) -> Outcome:
    return outcome._replace(notices=(*outcome.notices, notice))
