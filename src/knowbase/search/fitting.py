"""How a query changes the profile that it runs under, and a profile the query."""

from knowbase.query.conditions import AnyOf, Contains, both, is_everything
from knowbase.query.query import Query
from knowbase.ranking.profile import Profile

SIMILAR_TOP = 15  # S3-25: hits of similar: and like: when nothing is asked
SIMILAR_FLOOR = 0.5  # S3-26: their least cosine similarity, unless the profile has its own


def fitting(profile: Profile, query: Query) -> Profile:
    """The profile as the query changes it."""
    if query.weights is not None:
        weights = {**profile.weights, **query.weights._asdict()}
        profile = profile._replace(weights=weights, intents={})
    elif query.related and "graph" not in profile.weights:
        counts = max(profile.weights.get(leg, 0.0) for leg in ("keyword", "semantic"))
        profile = profile._replace(weights={**profile.weights, "graph": counts})
    if query.similar or query.like:
        floor = profile.min_similarity if profile.min_similarity > -1 else SIMILAR_FLOOR
        profile = profile._replace(min_similarity=floor, default_top=SIMILAR_TOP)
    return profile._replace(word_first=profile.word_first and _has_no_doubt(query))


def _has_no_doubt(query: Query) -> bool:
    """Whether one word is asked for, a beginning*, or words with AND or OR: they are meant."""
    if query.intent != "keyword":
        return False
    if len(query.keyword.words) == 1 or query.tree is None:
        return len(query.keyword.words) == 1
    from knowbase.query.meaning import says_which_words

    return says_which_words(query.tree)


def bound(query: Query, is_narrowed: bool) -> Query:
    """S3-07, S3-18: in a profile that takes a query at its word (`boolean`), whatever passes the
    filters has one of the words, whichever leg proposes it; words alone are a hybrid search."""
    is_narrowed = is_narrowed or not (
        is_everything(query.filter) and is_everything(query.keyword_filter)
    )
    words = query.keyword.words
    if query.intent != "keyword" or query.open_ended or not (is_narrowed and words):
        return query  # open-ended: the filter alone is enough, as in auth OR tag:x
    having = AnyOf(tuple(Contains(word) for word in words))
    return query._replace(filter=both(query.keyword_filter, having))
