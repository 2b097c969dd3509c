"""What a query means: shown before, or instead of, running it."""

from typing import Any, NamedTuple

from knowbase.query.conditions import describe
from knowbase.query.meaning import summary, understand
from knowbase.query.query import Query
from knowbase.query.tree import Problem, shown
from knowbase.search.request import SearchRequest
from knowbase.search.services import Language
from knowbase.search.understand import Question


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


def plan(question: Question, language: Language) -> QueryPlan:
    """The tree, the filters of both legs, and what would run."""
    request, query, profile = question.request, question.query, question.profile
    if query.tree is None:  # a plain one, which needed no parser
        query = understand(request.query, profile.match, language.context(question.now))
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
        legs=_legs(query, question.legs),
        flags=flags_in_the_language(request),
        problems=query.problems,
    )


def _legs(query: Query, wanted: tuple[str, ...]) -> tuple[str, ...]:
    if query.is_empty:
        return ("newest",)
    words = bool(query.text)
    meaning = words or bool(query.similar or query.like)
    runs = {"keyword": words, "semantic": meaning}
    return (*(leg for leg in wanted if runs[leg]), *(["graph"] if query.related else []))


def flags_in_the_language(request: SearchRequest) -> tuple[str, ...]:
    """What each flag that was given is called in a query."""
    joint = " OR " if request.tags_match == "any" else " "
    said = []
    if request.tags:
        said.append(f"--tags: {joint.join(f'tag:{tag}' for tag in request.tags)}")
    if request.type:
        said.append(f"--type: type:{','.join(request.type)}")
    if request.include:
        said.append(f"--include: include:{','.join(request.include)}")
    said += [f"--{name}: {name}:{value}" for name, value in request.operators()]
    return tuple(said)
