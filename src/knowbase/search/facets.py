"""Facets: how many of the documents that match have which type, tag, project, folder and age, and
in which week they came."""

from collections.abc import Mapping

from knowbase.query.conditions import AllOf, AnyOf, Condition, Contains, both
from knowbase.query.moments import span
from knowbase.search.answer import FacetCount
from knowbase.search.understand import Inquiry
from knowbase.store.contract import RetrievalStore
from knowbase.store.facets import Ages

MOST_VALUES = 20  # of one facet, those with the most documents
MOST_WEEKS = 1_000  # the newest
_AGES = {"day": "1d", "week": "7d", "month": "30d", "year": "365d"}


def facets(inquiry: Inquiry, store: RetrievalStore) -> Mapping[str, tuple[FacetCount, ...]]:
    """The counts that were asked for: over every document that passes the filters and has the
    words, whether it is among the hits or not."""
    ages = Ages(tuple((name, _before(inquiry.now, long)) for name, long in _AGES.items()))
    wanted = tuple(dict.fromkeys(inquiry.request.facets))
    found = store.facets(_matching(inquiry), wanted, ages)
    return {
        name: tuple(FacetCount(*one) for one in found.get(name, ())[: _most(name)])
        for name in wanted
    }


def _most(facet: str) -> int:
    return MOST_WEEKS if facet == "week" else MOST_VALUES


def _before(now: str, long: str) -> str:
    found = span(long, now)
    assert found is not None
    return found.start


def _matching(inquiry: Inquiry) -> Condition:
    """What matches: the filters, and the words unless only the meaning is looked for, which is
    like everything to some degree."""
    query = inquiry.query
    passing = both(inquiry.visible, inquiry.filter)
    if "keyword" not in inquiry.legs or not query.keyword.words or query.open_ended:
        return both(passing, query.filter)
    having = tuple(Contains(word) for word, _ in query.keyword.weighed)
    words = AllOf(having) if query.keyword.match == "all" else AnyOf(having)
    return both(passing, query.keyword_filter, words)
