"""From candidates to an ordered list: floor, fuse, boost, order. Pure: `now` is an argument."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

from knowbase.ranking.boosts import Factor, Fit, factors, signals
from knowbase.ranking.fusion import Contribution, Fused, Legs, lift, linear, minmax, rrf
from knowbase.ranking.profile import LEGS, Profile
from knowbase.values.documents import Candidate, Document, Passage


class Ranked(NamedTuple):
    """A chunk with its score, and what the score was computed from."""

    chunk: int
    score: float
    contributions: tuple[Contribution, ...] = ()
    factors: tuple[Factor, ...] = ()
    more: int = 0  # further proposed chunks that stand for the same
    relaxed: bool = False  # it has the words, and not what the query requires
    copies: tuple[int, ...] = ()  # of them, one of each other document that has the same text


class Traits(NamedTuple):
    """What a query says of how its candidates are ranked."""

    intent: str = "keyword"
    trust: Mapping[str, float] = {}  # factors of the legs' weights
    text: str = ""  # its words


def rank(
    legs: Legs,
    passages: Mapping[int, Passage],
    profile: Profile,
    now: str,
    traits: Traits = Traits(),  # noqa: B008 - a value, never changed
) -> list[Ranked]:
    """Best first; ties by newest document, then by seq, then by place in the document (C29)."""
    legs = {leg: _usable(leg, legs[leg], passages, profile) for leg in LEGS if leg in legs}
    if profile.unit == "document":
        legs = _by_document(legs, passages)
    ranked = []
    fit = Fit(traits.text, profile)
    for chunk, gains in _fuse(legs, profile, traits).items():
        document = passages[chunk].document
        parts = (*gains, *signals(document, profile, now))
        boosts = (*factors(document, profile, now), *fit.factors(document))
        ranked.append(Ranked(chunk, total(parts, boosts, profile.clamp), parts, boosts))
    if profile.further_factor != 1.0:
        ranked = _further_less(ranked, passages, profile)
    if profile.word_first:
        ranked = _word_first(ranked, profile.clamp)
    ranked.sort(key=lambda hit: _order(hit, passages[hit.chunk].document), reverse=True)
    if profile.word_first:  # the sort is stable
        ranked.sort(key=_has_the_word, reverse=True)
    return _distinct(ranked, passages, profile)


def _order(hit: Ranked, document: Document) -> tuple[float, str, int, int]:
    return hit.score, document.updated_at, -document.seq, -hit.chunk


def _further_less(
    ranked: list[Ranked], passages: Mapping[int, Passage], profile: Profile
) -> list[Ranked]:
    """Of each document the best section counts as it is, every other one a little less: what is
    nearly as good elsewhere comes before more of the same page."""
    best: dict[int, tuple[tuple[bool, float, int], str]] = {}  # of each: how good, and its slug
    for hit in ranked:
        _, chunk, document = passages[hit.chunk]
        worth = (profile.word_first and _has_the_word(hit), hit.score, -hit.chunk)
        known = best.get(document.seq)
        if known is None or worth > known[0]:
            best[document.seq] = worth, chunk.slug
    found = []
    for hit in ranked:
        _, chunk, document = passages[hit.chunk]
        is_best = best[document.seq][1] == chunk.slug
        found.append(hit if is_best else _as_further(hit, document.code, profile))
    return found


def _as_further(hit: Ranked, code: str, profile: Profile) -> Ranked:
    factor = Factor("further", profile.further_factor, f"a further passage of {code}")
    boosts = (*hit.factors, factor)
    score = total(hit.contributions, boosts, profile.clamp)
    return Ranked(hit.chunk, score, hit.contributions, boosts)


def _word_first(ranked: list[Ranked], clamp: bool) -> list[Ranked]:
    """S3-07, S3-18: what has the word gets as much as the best of what has not, so that it stands
    before that, and scores still fall."""
    most = max((hit.score for hit in ranked if not _has_the_word(hit)), default=0.0)
    if most <= 0:
        return ranked
    return [_with_word(hit, most, clamp) if _has_the_word(hit) else hit for hit in ranked]


def _with_word(hit: Ranked, most: float, clamp: bool) -> Ranked:
    gain = most / (prod(factor.value for factor in hit.factors) or 1.0)  # which it is multiplied by
    parts = (*hit.contributions, Contribution("word", None, 1.0, 1.0, gain, gain))
    return hit._replace(score=total(parts, hit.factors, clamp), contributions=parts)


def _has_the_word(hit: Ranked) -> bool:
    return any(part.leg == "keyword" for part in hit.contributions)


def keys_of(passage: Passage, profile: Profile) -> tuple[object, ...]:
    """What a chunk stands for: its document or section; where copies stand together, its exact
    text, too.

    Two hits never share one of them: pieces of one section do not fill the page.
    """
    document, chunk = passage.document.seq, passage.chunk
    place: object = document if profile.unit == "document" else (document, chunk.slug)
    return (place, chunk.hash) if profile.copies == "together" else (place,)


def _distinct(
    ranked: list[Ranked], passages: Mapping[int, Passage], profile: Profile
) -> list[Ranked]:
    """The best of what stands for the same, with how many more there are, and where."""
    keys_by_chunk = {chunk: keys_of(passage, profile) for chunk, passage in passages.items()}
    proposed = Counter([keys[0] for keys in keys_by_chunk.values()])
    first: dict[object, int] = {}  # key → place in `kept`
    kept: list[Ranked] = []
    for hit in ranked:
        keys = keys_by_chunk[hit.chunk]
        known = first.get(keys[0])
        if known is None:
            known = first.get(keys[-1])
        if known is None:
            known = len(kept)
            more = proposed[keys[0]] - 1
            kept.append(hit._replace(more=more) if more else hit)
        elif keys[0] not in first:
            kept[known] = _with_copy(kept[known], hit, passages, proposed[keys[0]])
        for key in keys:
            first[key] = known
    return kept


def _with_copy(kept: Ranked, copy: Ranked, passages: Mapping[int, Passage], chunks: int) -> Ranked:
    """The hit with what stands for the same elsewhere; each other document is named once."""
    known = {passages[one].document.seq for one in (kept.chunk, *kept.copies)}
    is_new = passages[copy.chunk].document.seq not in known
    copies = (*kept.copies, copy.chunk) if is_new else kept.copies
    return kept._replace(more=kept.more + chunks, copies=copies)


def total(
    contributions: Sequence[Contribution], boosts: Sequence[Factor], clamp: bool = False
) -> float:
    """The score: the sum of the gains, times the factors. Explanations use it too."""
    score = sum([part.gain for part in contributions])
    for factor in boosts:
        score *= factor.value
    return min(1.0, max(0.0, score)) if clamp else score


def _usable(
    leg: str, found: Sequence[Candidate], passages: Mapping[int, Passage], profile: Profile
) -> list[Candidate]:
    """C6: what is too unlike the query is no candidate of the semantic leg."""
    floor = profile.min_similarity if leg == "semantic" else float("-inf")
    return [one for one in found if one.score >= floor and one.chunk in passages]


def _by_document(legs: Legs, passages: Mapping[int, Passage]) -> dict[str, list[Candidate]]:
    """Each leg with one candidate a document: its best chunk there gives the place and score.

    A document stands for itself in every leg through the same chunk: the one that ranks
    best in any leg, the keyword leg first among equals.
    """
    best: dict[int, tuple[int, int]] = {}  # seq → (rank, chunk)
    for found in legs.values():
        for place, one in enumerate(found):
            seq = passages[one.chunk].document.seq
            if seq not in best or place < best[seq][0]:
                best[seq] = (place, one.chunk)
    collapsed: dict[str, list[Candidate]] = {}
    for leg, found in legs.items():
        first: dict[int, float] = {}
        for one in found:
            first.setdefault(passages[one.chunk].document.seq, one.score)
        collapsed[leg] = [Candidate(best[seq][1], score) for seq, score in first.items()]
    return collapsed


def _fuse(legs: Legs, profile: Profile, traits: Traits) -> Fused:
    weights = {
        leg: weight * traits.trust.get(leg, 1.0)
        for leg, weight in profile.weights_for(traits.intent).items()
    }
    if profile.fusion == "linear":
        return linear(legs, weights, profile.keyword_full_at)
    if profile.fusion == "minmax":
        return minmax(legs, weights)
    if profile.fusion == "lift":
        return lift(legs, weights, max(1, profile.depth_least))
    return rrf(legs, profile.rrf_k, weights)
