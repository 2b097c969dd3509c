"""How often a base finds what questions were made of: the short evaluation that a server runs."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from knowbase.base import Base
from knowbase.base.tasks import LanguageScore, TaskScore
from knowbase.evaluate.asking import QuestionResults, System, ask
from knowbase.evaluate.evaluation import values_of
from knowbase.evaluate.judged import Question
from knowbase.evaluate.make import make
from knowbase.evaluate.measure import Counter as Counting
from knowbase.evaluate.measure import Job
from knowbase.evaluate.metrics import mean
from knowbase.evaluate.own import reduced, resolved
from knowbase.ingest.report import Progress
from knowbase.query.conditions import Visible
from knowbase.store.sqlite import SqliteStore
from knowbase.text.languages import NONE, language_of
from knowbase.values.documents import Page

MOST_LOOKED_AT = 2_000  # documents whose language is told, the newest


class Found(NamedTuple):
    """By the base's profile, by plain BM25 and by meaning alone; and so in each language."""

    questions: int
    scores: tuple[TaskScore, ...]
    languages: tuple[LanguageScore, ...] = ()


def ask_itself(base: Base, number: int, progress: Callable[[Progress], None]) -> Found:
    """Make questions of the base, as `kb eval --make` does, and ask them; nothing is written."""
    systems = Job((base.settings.search_profile,)).systems(base)
    made = make(base, (number * 4 + 2) // 3, 0, progress)
    is_file = isinstance(base.store, SqliteStore)  # only then text can be taken out of a copy
    questions = [one for one in made if one.relevant and (is_file or one.without is None)]
    counter = Counting(len(questions), "questions", progress)
    with reduced(base, questions) as asked_base:
        asked = ask(asked_base, resolved(asked_base, questions), systems, each=counter)
    languages = {one.id: _asked_in(base, one) for one in questions}
    told = tuple(_by_language(base, asked, systems, languages))
    return Found(len(values_of(asked, systems).ids), _scores(asked, systems), told)


def _scores(asked: Sequence[QuestionResults], systems: Sequence[System]) -> tuple[TaskScore, ...]:
    values = values_of(asked, systems)
    ranks = {name: metrics["mrr@10"] for name, metrics in values.systems.items()}
    return tuple(
        TaskScore(one.name, _within(ranks[one.name], 1), _within(ranks[one.name], 3))
        for one in systems
    )


def _within(reciprocals: Sequence[float], place: int) -> float:
    """The share whose first right hit has this place or a better one."""
    return mean([float(one > 1 / (place + 0.5)) for one in reciprocals])


def _asked_in(base: Base, question: Question) -> str:
    """The language of what a question was made of."""
    content = base.get(next(iter(question.relevant)))
    return language_of("\n".join(one.text for one in content.sections))


def _by_language(
    base: Base,
    asked: Sequence[QuestionResults],
    systems: Sequence[System],
    languages: dict[str, str],
) -> Iterator[LanguageScore]:
    """The commonest first."""
    newest = base.store.documents(Visible(base.now()), Page(MOST_LOOKED_AT, order="created last"))
    texts = base.store.openings([one.id for one in newest])
    held = Counter(map(language_of, texts.values()))
    held.update(dict.fromkeys(set(languages.values()) - set(held), 0))
    for language, documents in held.most_common():
        some = [one for one in asked if languages[one.question.id] == language]
        if language != NONE:
            scores = _scores(some, systems) if some else ()
            yield LanguageScore(language, documents, len(some), scores)
