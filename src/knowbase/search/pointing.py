"""A passage of a few words that refers to a page is found by the page's words, and does not answer
by them: it gives way to that page, where that was found as well."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from knowbase.query.conditions import OneOf
from knowbase.ranking.kinds import kind_of
from knowbase.ranking.rank import Ranked
from knowbase.values.documents import Passage

if TYPE_CHECKING:
    from knowbase.search.retrieve import Proposals
    from knowbase.search.understand import Inquiry
    from knowbase.store.contract import Store

LEG = "link"
LOOKED_AT = 3  # first hits that may refer to others
FEW_WORDS = 50
MOST = 30  # hits that may come before them
SIMILAR = "SIMILAR_TO"


def lead_on(
    ranked: list[Ranked], inquiry: "Inquiry", proposals: "Proposals", store: "Store"
) -> list[Ranked]:
    """The hits with pages before the short passages that refer to them, if the profile says so and
    words were asked for."""
    profile = inquiry.profile
    if not (profile.leads_on and inquiry.query.text):
        return ranked
    first = ranked[:MOST]
    passages = [proposals.passages[hit.chunk] for hit in first]
    pairs = [
        (short, page)
        for short, page in _pairs(first, passages, profile.leads_on)
        if not profile.word_first or _has_word(first[page]) or not _has_word(first[short])
    ]
    if not pairs:
        return ranked
    documents = [passage.document.id for passage in passages]
    links = _links({documents[place] for pair in pairs for place in pair}, store)
    goals = dict[int, int]()  # place of a page → that of the first passage that refers to it
    for short in range(LOOKED_AT):
        best = [p for s, p in pairs if s == short and (documents[s], documents[p]) in links]
        if best:
            goals.setdefault(min(best), short)
    return [*_moved(first, goals, profile.clamp), *ranked[MOST:]] if goals else ranked


def _pairs(
    first: Sequence[Ranked], passages: Sequence[Passage], share: float
) -> Iterator[tuple[int, int]]:
    """Places of short passages, and of long ones of other pages that score nearly as well; of
    each document its best. Code that a page shows is not what it refers to."""
    if not any(_length(passage) <= FEW_WORDS for passage in passages[:LOOKED_AT]):
        return  # as mostly: texts are packed, and none of the others is looked at
    lengths = [_length(passage) for passage in passages]
    best = {one.document.id: place for place, one in reversed(list(enumerate(passages)))}
    pages = [place for place in best.values() if kind_of(passages[place].document) is None]
    for short in range(min(LOOKED_AT, len(first))):
        for page in pages if lengths[short] <= FEW_WORDS else ():
            is_near = page > short and first[page].score >= share * first[short].score
            if is_near and lengths[page] > FEW_WORDS:
                yield short, page


def _length(passage: Passage) -> int:
    return len(passage.chunk.text.split())


def _has_word(hit: Ranked) -> bool:
    """What lacks the word that is meant stays behind what has it."""
    return any(part.leg == "keyword" for part in hit.contributions)


def _links(documents: set[str], store: "Store") -> set[tuple[str, str]]:
    found = store.edges(OneOf("id", tuple(sorted(documents))))
    return {(edge.source, edge.target) for edge in found if edge.relation != SIMILAR}


def _moved(first: Sequence[Ranked], goals: dict[int, int], clamp: bool) -> list[Ranked]:
    """Each page right before the passage; hits that stay where they are keep their scores."""
    from knowbase.ranking.places import Moved, placed  # hardly any search comes here

    order = sorted(range(len(first)), key=lambda old: (goals.get(old, old), old not in goals, old))
    hits = placed([Moved(hit, 0.0, None, 0.0) for hit in first], order, LEG, clamp)
    return [first[old] if old == new else hits[new] for new, old in enumerate(order)]
