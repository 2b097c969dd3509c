"""What a query means: shown before, or instead of, running it."""

from typing import Any, NamedTuple

from knowbase.query.conditions import describe
from knowbase.query.meaning import summary, understand
from knowbase.query.query import Query
from knowbase.query.tree import Problem, shown
from knowbase.search.present import COMMUNITIES, asks_for_communities
from knowbase.search.services import Language
from knowbase.search.understand import Inquiry
from knowbase.values.kinds import clean_tags
from knowbase.values.plain import as_dict


class QueryPlan(NamedTuple):
    """What a query means: its tree, the filter, and what would run."""

    query: str
    tree: str
    summary: dict[str, Any]  # terms, tags, negations, scope, operators
    words: tuple[str, ...]
    match: str
    semantic_text: str
    filter: str
    keyword_filter: str
    intent: str
    weights: dict[str, float]
    legs: tuple[str, ...]
    flags: tuple[str, ...]  # the flags of the request, as they are said in the language
    problems: tuple[Problem, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As `kb query --json` has it."""
        return as_dict(self)


def plan(inquiry: Inquiry, language: Language) -> QueryPlan:
    """The tree, the filters of both legs, and what would run."""
    request, query, profile = inquiry.request, inquiry.query, inquiry.profile
    if query.tree is None:  # a plain one, which needed no parser
        context, literal = language.context(inquiry.now), request.syntax == "plain"
        query = understand(request.query, profile.match, context, literal=literal)
    return QueryPlan(
        query=request.query,
        tree=shown(query.tree) if query.tree is not None else "nothing",
        summary=summary(query.tree)._asdict(),
        words=tuple(word.surface + "*" * word.prefix for word in query.keyword.words),
        match=query.keyword.match,
        semantic_text=" ".join(query.similar) or query.text,
        filter=describe(query.filter),
        keyword_filter=describe(query.keyword_filter),
        intent=query.intent,
        weights=dict(profile.weights_for(query.intent)),
        legs=(
            *_legs(query, inquiry.legs),
            *([COMMUNITIES] if asks_for_communities(inquiry) else []),
        ),
        flags=flags_in_the_language(inquiry),
        problems=query.problems,
    )


def _legs(query: Query, wanted: tuple[str, ...]) -> tuple[str, ...]:
    if query.is_empty:
        return ("newest",)
    words = bool(query.text)
    meaning = words or bool(query.similar or query.like)
    runs = {"keyword": words, "semantic": meaning}
    return (*(leg for leg in wanted if runs[leg]), *(["graph"] if query.related else []))


def flags_in_the_language(inquiry: Inquiry) -> tuple[str, ...]:
    """What each flag that was given is called in a query."""
    request = inquiry.request
    match = request.tags_match or inquiry.profile.tags_match
    said = []
    if request.tags:
        tags = [f"tag:{tag}" for tag in clean_tags(request.tags)]
        said.append(f"--tags: {(' OR ' if match == 'any' else ' ').join(tags)}")
    if request.type:
        said.append(f"--type: type:{','.join(request.type)}")
    if request.include:
        said.append(f"--include: include:{','.join(request.include)}")
    said += [f"--{name}: {name}:{value}" for name, value in request.filters.items()]
    if request.session_filter is not None:
        said.append(f"--session-filter: session:{request.session_filter}")
    if request.session is not None:
        said.append(f"--session: session:{request.session}")
    if request.min_salience is not None:
        said.append(f"--min-salience: salience:>={request.min_salience}")
    return tuple(said)
