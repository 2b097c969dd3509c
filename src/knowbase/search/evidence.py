"""What the legs saw of an answer: the signals of its verdict."""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as Stems
from typing import TYPE_CHECKING, NamedTuple

from knowbase.query.conditions import EVERYTHING, Condition
from knowbase.query.query import Query
from knowbase.query.words import KeywordQuery
from knowbase.ranking.trust import fluency, has_stems, stems_of
from knowbase.ranking.verdict import (
    FORM,
    LEGS,
    STRONG,
    Evidence,
    Numbers,
    Verdict,
    at_least_likely,
    at_most_weak,
    judge,
    only,
)
from knowbase.search.rank import Outcome
from knowbase.search.retrieve import Proposals
from knowbase.search.services import Services
from knowbase.search.understand import Inquiry
from knowbase.store.bm25 import idf
from knowbase.text.analysis import Word, tokens
from knowbase.text.stopwords import STOP_WORDS
from knowbase.values.calibration import Calibration
from knowbase.values.documents import Candidate, Passage

if TYPE_CHECKING:
    from knowbase.values.vectors import Model

FLUENT = 0.5  # how well a model must know a language for its similarities to be evidence
FEW = 30  # chunks: idf is nearly nothing for half of them, and BM25 with it
_MARKS = ".,;:!?()[]{}\"'"  # that stand around a code in a sentence
OUTDATED = "{:.0%} of the base changed since it learnt how its answers look: kb calibrate"
MOST_WORDS = 64  # of a query that are looked up; so many say what it is about


class Judged(NamedTuple):
    """The verdict, and what is to be said of it."""

    verdict: Verdict = Verdict()
    notices: tuple[str, ...] = ()


def judged(outcome: Outcome, services: Services) -> Judged:
    known = services.store.calibration()
    verdict = _verdict(outcome, services, known)
    if known is None or not verdict.calibrated:
        return Judged(verdict)
    from knowbase.search.changed import MOST_CHANGED, changed_share

    share = changed_share(known, services.store)
    return Judged(verdict, (OUTDATED.format(share),) if share > MOST_CHANGED else ())


def _verdict(outcome: Outcome, services: Services, known: Calibration | None) -> Verdict:
    """Whether the answer is among the hits. What is found by filters or by links alone is what was
    asked for."""
    seen = outcome.relaxed or outcome
    inquiry = outcome.inquiry
    evidence = evidence_of(seen.inquiry, seen.proposals, services)
    if evidence == Evidence():
        return Verdict(STRONG, 1.0)
    verdict = _judged(evidence, known.numbers if known else None, services)
    if _says_nothing(inquiry.query):
        return at_most_weak(verdict)
    return at_least_likely(verdict) if _is_exact(outcome) else verdict


def _says_nothing(query: Query) -> bool:
    """Whether it has words, and all of them are ones that every text has, or none a letter."""
    if not query.text or query.similar or query.like or query.related:
        return False
    words = [query.text[one.start : one.end].lower() for one in tokens(query.text)]
    return all(word in STOP_WORDS for word in words)


def _is_exact(outcome: Outcome) -> bool:
    """Whether the first hit is named by its code, or has what is quoted."""
    first = outcome.ranked[0]
    if _is_named(outcome.inquiry.query.text, outcome.proposals.passages[first.chunk]):
        return True
    tree = outcome.inquiry.query.tree
    if tree is None or first.relaxed:
        return False
    from knowbase.query.softening import requires_phrase

    return requires_phrase(tree)


def _is_named(text: str, passage: Passage) -> bool:
    """By the code alone, or among other words by one that has a digit and so is no word."""
    code, text = passage.document.code.lower(), " ".join(text.lower().split())
    if text == code:
        return True
    is_word = not any(one.isdigit() for one in code)
    return not is_word and code in (one.strip(_MARKS) for one in text.split())


def _judged(evidence: Evidence, numbers: Numbers | None, services: Services) -> Verdict:
    """By what was learnt with the model that is used, or else by what holds of the packaged one."""
    numbers = numbers if numbers and numbers.get("form") == FORM else None
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
    return evidence if is_packaged else _by_words(evidence)


def evidence_of(
    inquiry: Inquiry, proposals: Proposals, services: Services, among: Condition = EVERYTHING
) -> Evidence:
    """The signals of one answer; `among` are the documents that there are, if not all of them."""
    legs, words = proposals.legs, inquiry.query.keyword.words[:MOST_WORDS]
    keyword, semantic = legs.get("keyword", ()), legs.get("semantic", ())
    evidence = Evidence()
    if "semantic" in legs:
        evidence = evidence._replace(similarity=semantic[0].score if semantic else 0.0)
    if "keyword" not in legs or not words:
        return evidence
    first, nearest = _first(keyword, proposals), _first(semantic, proposals)
    asked = _asked(inquiry.query.keyword, words)
    every = [one.word for group in asked for one in group]
    counted = services.store.frequencies(every, among)
    numbers = dict(zip(every, counted.having, strict=True))
    there: Stems[str] = stems_of(first) if first else frozenset()
    searched = [_searched(group, numbers, there) for group in asked]
    weights = [one.weight * _weight(counted.chunks, numbers[one.word]) for one in searched]
    total = sum(weights) or 1.0
    if counted.chunks < FEW:
        best = _had(asked, weights, there)
    else:
        best = keyword[0].score if keyword else 0.0
    known = sum(w for w, one in zip(weights, searched, strict=True) if numbers[one.word])
    # Many texts have both of two words, and hardly one all of a long question, wherever it belongs.
    long = math.sqrt(len(words))
    evidence = evidence._replace(rarity=long * best / total, known=known / total)
    if nearest is not None:
        shared = long * _had(asked, weights, stems_of(nearest)) / total
        evidence = evidence._replace(shared=shared)
    if evidence.similarity is None or _is_in_known_language(inquiry.query, services):
        return evidence
    return _by_words(evidence)


def _by_words(evidence: Evidence) -> Evidence:
    return only(evidence, LEGS["keyword"])


def _is_in_known_language(query: Query, services: Services) -> bool:
    """Whether similarities say anything of it: those of a language that the model never learnt are
    nearly all alike."""
    if not query.text or query.similar:
        return True
    from knowbase.embed import tokens_in
    from knowbase.ranking.profile import PROFILES

    tokens = tokens_in(query.text, services.embedder())
    best = PROFILES["best"]
    return fluency(tokens, len(query.text), best.fluent_at, best.foreign_at) >= FLUENT


class _Asked(NamedTuple):
    """A word that is looked for, and how much it counts."""

    word: Word
    weight: float = 1.0


def _asked(keyword: KeywordQuery, words: Sequence[Word]) -> list[list[_Asked]]:
    """Each word, and behind it what is looked for beside it; what stands for several words is
    shared among them."""
    beside: dict[str, list[_Asked]] = {}
    for also in keyword.also[:MOST_WORDS] if keyword.match == "any" else ():
        parts = also.of.split()
        for part in parts:
            beside.setdefault(part, []).append(_Asked(also.word, also.weight / len(parts)))
    return [[_Asked(word), *beside.get(word.surface.lower(), ())] for word in words]


def _searched(group: Sequence[_Asked], numbers: Mapping[Word, int], there: Stems[str]) -> _Asked:
    """What the words are judged by in place of one: what the best chunk has; else what is known."""
    known = [one for one in group if numbers[one.word]]
    had = (one for one in known if has_stems(there, one.word))
    return next(had, known[0] if known else group[0])


def _had(asked: Sequence[Sequence[_Asked]], weights: Sequence[float], there: Stems[str]) -> float:
    """The weights of those words that a chunk has, or what is looked for beside them."""
    return sum(
        weight
        for group, weight in zip(asked, weights, strict=True)
        if any(has_stems(there, one.word) for one in group)
    )


def _weight(chunks: int, having: int) -> float:
    """How rare a word is; in a few chunks none is rare, and all count alike."""
    return 1.0 if chunks < FEW else idf(chunks, min(having, chunks))


def _first(candidates: Sequence[Candidate], proposals: Proposals) -> Passage | None:
    return next((proposals.passages.get(one.chunk) for one in candidates), None)
