"""Asking a base its questions, system by system, as a user would."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from knowbase.base import Base
from knowbase.errors import EmbeddingError
from knowbase.evaluate.judged import Question
from knowbase.evaluate.metrics import METRICS, measured
from knowbase.ranking.profile import PROFILES, Profile
from knowbase.ranking.verdict import Verdict
from knowbase.search.answer import Answer
from knowbase.search.filling_up import filled_up
from knowbase.search.rank import rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.retrieve import texts_to_embed
from knowbase.search.search import search
from knowbase.search.understand import Inquiry, understand

SHOWN, DEEP = 10, 100
SECTION = "section "


class System(NamedTuple):
    """One way to search: a profile, and the legs that run."""

    name: str
    about: str
    profile: str | None  # None: `kb` as it is shipped, whatever kb.toml says
    mode: str = "hybrid"


FLOORS = (
    System("bm25", "words alone: plain BM25 over every word", None, "keyword"),
    System("semantic", "meaning alone: cosine similarity", None, "semantic"),
)


class Result(NamedTuple):
    """What one system made of one question."""

    values: dict[str, float]
    best_score: float  # of the first hit; no score at all is below every score
    milliseconds: float
    verdict: Verdict = Verdict()


class QuestionResults(NamedTuple):
    """A question that was asked, and each system's result."""

    question: Question
    group: str  # the set that it belongs to
    results: dict[str, Result]


def ask(
    base: Base,
    questions: Sequence[Question],
    systems: Sequence[System],
    group: str = "",
    each: Callable[[], None] = lambda: None,
) -> list[QuestionResults]:
    """Every question to every system; taking turns, so that a busy moment hits them alike."""
    asked = []
    for question in questions[:1]:  # loads the model, which no time should count
        _embedding(base, question, systems)
        _search(base, question, systems[0])
    for question in questions:
        embedding = _embedding(base, question, systems)
        results = {
            system.name: _result(base, question, system, embedding[system.name])
            for system in systems
        }
        asked.append(QuestionResults(question, group, results))
        each()
    return asked


def _embedding(base: Base, question: Question, systems: Sequence[System]) -> dict[str, float]:
    """How long it takes each system to embed what it reads of a question: with its marks or
    without. It is remembered then: each that wants it is charged for it, not the first alone."""
    read = {
        system.name: texts_to_embed(asked_as(base, question, system).query)
        for system in systems
        if system.mode != "keyword"
    }
    took = {text: _timed(base, text) for texts in read.values() for text in texts}
    return {one.name: sum(took[text] for text in read.get(one.name, ())) for one in systems}


def _timed(base: Base, text: str) -> float:
    """As of a question that nobody has asked before, whatever the user's cache holds."""
    embedder = base.embedder
    embed = getattr(embedder, "embed_query_anew", embedder.embed_query)
    started = time.perf_counter()
    try:
        embed(text)
    except EmbeddingError:
        return 0.0  # a search will tell
    return (time.perf_counter() - started) * 1000


def _result(base: Base, question: Question, system: System, embedding: float) -> Result:
    """Ten hits are what a user sees; a hundred are asked for apart, as depth can change order."""
    started = time.perf_counter()
    answer = _search(base, question, system)
    hits = answer.hits
    milliseconds = (time.perf_counter() - started) * 1000 + embedding
    score = hits[0].score if hits else float("-inf")
    if not question.relevant:
        return Result(dict.fromkeys(METRICS, 0.0), score, milliseconds, answer.verdict)
    first = _keys([Place(hit.id, hit.section) for hit in hits], question)
    deep = _keys(_deep(base, question, system), question)
    values = measured(first, deep, question.relevant)
    return Result(values, score, milliseconds, answer.verdict)


class Place(NamedTuple):
    """Where a hit is: a document's id, and its section."""

    document: str
    section: str


def asked_as(base: Base, question: Question, system: System, top: int = SHOWN) -> Inquiry:
    """A question, understood as a system asks it."""
    request, profile = _request(question, system, top), _profile(base, system)
    return understand(request, profile, base.search_services.language, base.now())


def verdicts(base: Base, questions: Sequence[Question], system: System) -> list[Verdict]:
    """What the system says of each question's answer."""
    return [_search(base, question, system).verdict for question in questions]


def places_of(base: Base, question: Question, system: System) -> list[str]:
    """What a user gets to see, as the judgments name it."""
    hits = _search(base, question, system).hits
    return _keys([Place(hit.id, hit.section) for hit in hits], question)


def _search(base: Base, question: Question, system: System) -> Answer:
    """What a user gets to see."""
    request = _request(question, system, SHOWN)
    return search(request, _profile(base, system), base.search_services, base.now())


def _deep(base: Base, question: Question, system: System) -> list[Place]:
    """A hundred hits, found and ranked as ever, without making their snippets."""
    asked = asked_as(base, question, system, DEEP)
    outcome = rank_all(asked, base.search_services, asked.profile.candidates(DEEP))
    outcome = filled_up(outcome, base.search_services, DEEP)
    passages = [outcome.proposals.passages[hit.chunk] for hit in outcome.ranked[:DEEP]]
    return [Place(one.document.id, f"{one.document.code}:{one.chunk.slug}") for one in passages]


def _request(question: Question, system: System, top: int) -> SearchRequest:
    return SearchRequest(
        question.text,
        top=top,
        mode=system.mode,
        unit="chunk" if _asks_for_sections(question) else "document",
        profile=system.profile,
    )


def _profile(base: Base, system: System) -> Profile:
    """The system's profile, deep enough."""
    profile = base.profile_for(system.profile) if system.profile else PROFILES["kb"]
    return profile._replace(max_top=max(profile.max_top, DEEP))


def _keys(places: Sequence[Place], question: Question) -> list[str]:
    """What was found as the judgments name it, each once."""
    by_section = _asks_for_sections(question)
    keys = [
        section_key(section) if by_section and document not in question.relevant else document
        for document, section in places
    ]
    return list(dict.fromkeys(keys))


def _asks_for_sections(question: Question) -> bool:
    return any(key.startswith(SECTION) for key in question.relevant)


def section_key(section: str) -> str:
    """How a section is named among what is relevant; other names are ids of documents."""
    return SECTION + section
