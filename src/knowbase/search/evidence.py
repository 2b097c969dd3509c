"""What the legs saw of an answer: the signals of its verdict."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from knowbase.query.conditions import EVERYTHING, Condition
from knowbase.query.words import Frequencies
from knowbase.ranking.trust import weight_had
from knowbase.ranking.verdict import LEGS, STRONG, Evidence, Verdict, judge, only
from knowbase.search.rank import Outcome
from knowbase.search.retrieve import Proposals
from knowbase.search.services import Services
from knowbase.search.understand import Inquiry
from knowbase.store.bm25 import idf
from knowbase.values.documents import Candidate, Passage

if TYPE_CHECKING:
    from knowbase.values.vectors import Model

NEIGHBOURS = 10  # the nearest is held against the last of so many
FEW = 30  # chunks: idf is nearly nothing for half of them, and BM25 with it
MOST_WORDS = 64  # of a query that are looked up; so many say what it is about


def verdict_of(outcome: Outcome, services: Services) -> Verdict:
    """Whether the answer is among the hits. What is found by filters or by links alone is what was
    asked for."""
    seen = outcome.relaxed or outcome
    evidence = evidence_of(seen.inquiry, seen.proposals, services)
    if evidence == Evidence():
        return Verdict(STRONG, 1.0)
    known = services.store.calibration()
    numbers = known.numbers if known else None
    if evidence.similarity is None:  # what words say does not depend on a model
        return judge(evidence, numbers)
    model = services.store.model()
    if numbers and numbers.get("model") == mark_of(model):
        return judge(evidence, numbers)
    return judge(as_prior_knows(evidence, model))


def mark_of(model: "Model | None") -> float:
    """A number for a model, as a calibration keeps it."""
    from zlib import crc32

    return float(crc32(f"{model.name} {model.revision}".encode())) if model else 0.0


def as_prior_knows(evidence: Evidence, model: "Model | None") -> Evidence:
    """What can be judged before anything is learnt: similarities are those of the packaged model,
    of another one the words alone."""
    from knowbase_granite import NAME

    is_packaged = model is not None and model.name == NAME
    return evidence if is_packaged else only(evidence, LEGS["keyword"])


def evidence_of(
    inquiry: Inquiry, proposals: Proposals, services: Services, among: Condition = EVERYTHING
) -> Evidence:
    """The signals of one answer; `among` are the documents that there are, if not all of them."""
    legs, words = proposals.legs, inquiry.query.keyword.words[:MOST_WORDS]
    keyword, semantic = legs.get("keyword", ()), legs.get("semantic", ())
    evidence = Evidence()
    if "semantic" in legs:
        near = [one.score for one in semantic[:NEIGHBOURS]] or [0.0]
        evidence = evidence._replace(similarity=near[0], margin=near[0] - near[-1])
    if "keyword" not in legs or not words:
        return evidence
    counted = services.store.frequencies(words, among)
    weights = _weights(counted)
    known = [w for w, one in zip(weights, counted.having, strict=True) if one]
    total = sum(weights) or 1.0
    first, nearest = _first(keyword, proposals), _first(semantic, proposals)
    if counted.chunks < FEW:
        best = weight_had(words, weights, first) if first else 0.0
    else:
        best = keyword[0].score if keyword else 0.0
    evidence = evidence._replace(rarity=best / total, known=sum(known) / total)
    if nearest is not None:
        evidence = evidence._replace(shared=weight_had(words, weights, nearest) / total)
    return evidence


def _weights(counted: Frequencies) -> list[float]:
    """How rare each word is; in a few chunks none is rare, and all count alike."""
    if counted.chunks < FEW:
        return [1.0] * len(counted.having)
    return [idf(counted.chunks, min(one, counted.chunks)) for one in counted.having]


def _first(candidates: Sequence[Candidate], proposals: Proposals) -> Passage | None:
    return next((proposals.passages.get(one.chunk) for one in candidates), None)
