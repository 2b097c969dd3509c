"""A passage of a few words that refers to a page is found by the page's words, and does not answer
by them: it gives way to that page, where that was found as well."""

from collections.abc import Iterator, Sequence

from knowbase.query.conditions import OneOf
from knowbase.ranking.kinds import kind_of
from knowbase.ranking.places import Moved, placed
from knowbase.ranking.rank import Ranked
from knowbase.search.rank import Outcome
from knowbase.search.services import Services
from knowbase.values.documents import Passage

LEG = "link"
LOOKED_AT = 3  # first hits that may refer to others
FEW_WORDS = 50
MOST = 30  # hits that may come before them
SIMILAR = "SIMILAR_TO"


def lead_on(outcome: Outcome, services: Services) -> Outcome:
    """The outcome with pages before the short passages that refer to them, if the profile says so
    and words were asked for."""
    profile = outcome.inquiry.profile
    if not (profile.leads_on and outcome.inquiry.query.text):
        return outcome
    first = outcome.ranked[:MOST]
    passages = [outcome.proposals.passages[hit.chunk] for hit in first]
    pairs = [
        (short, page)
        for short, page in _pairs(first, passages, profile.leads_on)
        if _may_precede(first[page], first[short], word_first=profile.word_first)
    ]
    if not pairs:
        return outcome
    documents = [passage.document.id for passage in passages]
    links = _links({documents[place] for pair in pairs for place in pair}, services)
    goals = dict[int, int]()  # place of a page → that of the first passage that refers to it
    for short in range(LOOKED_AT):
        best = [p for s, p in pairs if s == short and (documents[s], documents[p]) in links]
        if best:
            goals.setdefault(min(best), short)
    return _moved(outcome, first, goals) if goals else outcome


def _pairs(
    first: Sequence[Ranked], passages: Sequence[Passage], share: float
) -> Iterator[tuple[int, int]]:
    """Places of short passages, and of longer ones of other pages that score nearly as well; of
    each document its best. Code that a page shows is not what it refers to."""
    lengths = [len(passage.chunk.text.split()) for passage in passages]
    best = {one.document.id: place for place, one in reversed(list(enumerate(passages)))}
    pages = [place for place in best.values() if kind_of(passages[place].document) is None]
    for short in range(min(LOOKED_AT, len(first))):
        for page in pages if lengths[short] <= FEW_WORDS else ():
            is_near = page > short and first[page].score >= share * first[short].score
            if is_near and lengths[page] > lengths[short]:
                yield short, page


def _may_precede(page: Ranked, short: Ranked, *, word_first: bool) -> bool:
    """What lacks the word that is meant, or what is required, stays behind what has it."""
    if page.relaxed != short.relaxed:
        return False
    has_word = [any(part.leg == "keyword" for part in hit.contributions) for hit in (page, short)]
    return has_word[0] or not (word_first and has_word[1])


def _links(documents: set[str], services: Services) -> set[tuple[str, str]]:
    found = services.store.edges(OneOf("id", tuple(sorted(documents))))
    return {(edge.source, edge.target) for edge in found if edge.relation != SIMILAR}


def _moved(outcome: Outcome, first: Sequence[Ranked], goals: dict[int, int]) -> Outcome:
    """Each page right before the passage; hits that stay where they are keep their scores."""
    order = sorted(range(len(first)), key=lambda old: (goals.get(old, old), old not in goals, old))
    moved = [Moved(hit, 0.0, None, 0.0) for hit in first]
    hits = placed(moved, order, LEG, outcome.inquiry.profile.clamp)
    kept = [first[old] if old == new else hits[new] for new, old in enumerate(order)]
    return outcome._replace(ranked=[*kept, *outcome.ranked[len(first) :]])
