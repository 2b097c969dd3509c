"""What is looked for, and how: the query that a search runs."""

from typing import TYPE_CHECKING, NamedTuple

from knowbase.query.conditions import EVERYTHING, Condition
from knowbase.query.words import MAX_WORDS, KeywordQuery, keyword_query
from knowbase.values.characters import clean

if TYPE_CHECKING:
    from knowbase.query.operators import Like, Related, Weights
    from knowbase.query.tree import Node, Problem

HOPS = 2  # S3-12: how far `related:` goes unless it is said
_MARKS = frozenset('":()+-#*“„”«»')
_CONNECTIVES = frozenset(("AND", "OR", "NOT"))


class Query(NamedTuple):
    """What is looked for, and how."""

    text: str  # what the semantic leg embeds
    keyword: KeywordQuery
    filter: Condition  # filters, required and excluded words: for the semantic leg
    keyword_filter: Condition  # the same with AND, OR and groups: for the keyword leg
    similar: tuple[str, ...] = ()
    like: "tuple[Like, ...]" = ()
    include: frozenset[str] = frozenset()
    weights: "Weights | None" = None
    tree: "Node | None" = None
    problems: "tuple[Problem, ...]" = ()
    open_ended: bool = False  # the filter alone can be enough: auth OR tag:x
    related: "tuple[Related, ...]" = ()
    hops: int = HOPS
    as_of: str | None = None  # the moment that it asks of, as it is written

    @property
    def intent(self) -> str:
        """S3-38: what the query asks for."""
        if self.related:
            return "graph"
        return "semantic" if self.similar or self.like else "keyword"

    @property
    def is_empty(self) -> bool:
        """Whether nothing is looked for: only filters, or nothing at all."""
        return not (self.text or self.similar or self.like or self.related)


def is_plain(text: str) -> bool:
    """Whether a text is certain to be words and nothing else: then no parser need be loaded."""
    if not _MARKS.isdisjoint(text):
        return False
    words = text.split()
    return len(words) <= MAX_WORDS and _CONNECTIVES.isdisjoint(words)


def plain_query(text: str, match: str) -> Query:
    """A text whose every word is a word: no operators."""
    words = keyword_query(text, match)
    return Query(clean(text).strip(), words, EVERYTHING, EVERYTHING)


def saying_something(query: Query) -> Query:
    """Punctuation alone says nothing: a model would rank everything by it."""
    if query.keyword.words or any(one.isalnum() for one in query.text):
        return query
    from unicodedata import category

    says = any(category(one)[0] not in "PZC" and category(one) != "Sk" for one in query.text)
    return query if says else query._replace(text="")
