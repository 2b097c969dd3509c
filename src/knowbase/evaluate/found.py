"""How often a base finds what questions were made of: the short evaluation that a server runs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from knowbase.base import Base
from knowbase.base.tasks import TaskScore
from knowbase.evaluate.asking import ask
from knowbase.evaluate.evaluation import values_of
from knowbase.evaluate.make import make
from knowbase.evaluate.measure import Counter, Job
from knowbase.evaluate.metrics import mean
from knowbase.evaluate.own import reduced, resolved
from knowbase.ingest.report import Progress
from knowbase.store.sqlite import SqliteStore


class Found(NamedTuple):
    """By the base's profile, by plain BM25 and by meaning alone."""

    questions: int
    scores: tuple[TaskScore, ...]


def ask_itself(base: Base, number: int, progress: Callable[[Progress], None]) -> Found:
    """Make questions of the base, as `kb eval --make` does, and ask them; nothing is written."""
    systems = Job((base.settings.search_profile,)).systems(base)
    made = make(base, (number * 4 + 2) // 3, 0, progress)
    is_file = isinstance(base.store, SqliteStore)  # only then text can be taken out of a copy
    questions = [one for one in made if one.relevant and (is_file or one.without is None)]
    counter = Counter(len(questions), "questions", progress)
    with reduced(base, questions) as asked_base:
        asked = ask(asked_base, resolved(asked_base, questions), systems, each=counter)
    values = values_of(asked, systems)
    ranks = {name: metrics["mrr@10"] for name, metrics in values.systems.items()}
    scores = (
        TaskScore(one.name, _within(ranks[one.name], 1), _within(ranks[one.name], 3))
        for one in systems
    )
    return Found(len(values.ids), tuple(scores))


def _within(reciprocals: Sequence[float], place: int) -> float:
    """The share whose first right hit has this place or a better one."""
    return mean([float(one > 1 / (place + 0.5)) for one in reciprocals])
