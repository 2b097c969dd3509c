"""The whole of an evaluation: from a target to the numbers and files."""

import os
from collections.abc import Callable, Sequence

from knowbase.base import Base
from knowbase.errors import InvalidInput
from knowbase.evaluate import files
from knowbase.evaluate.asking import FLOORS, QuestionResults, System, ask, verdicts
from knowbase.evaluate.corpus import Shelf
from knowbase.evaluate.evaluation import (
    Evaluation,
    Hard,
    Telling,
    differences_of,
    groups_of,
    scores_of,
    telling,
    values_of,
)
from knowbase.evaluate.hard import hardest, worst_first
from knowbase.evaluate.judged import Folder, Question, read_folders
from knowbase.evaluate.own import reduced, resolved
from knowbase.ingest.report import Progress
from knowbase.ranking.verdict import Verdict

MOST_FOREIGN = 300  # questions of other sets that a base is asked


class Job:
    """What is to be measured, beside the questions."""

    def __init__(
        self,
        profiles: tuple[str, ...],
        gate: str | None = None,
        save: tuple[str, ...] = (),
        progress: Callable[[Progress], None] = lambda _: None,
        hard: int = 0,
        foreign: Sequence[Question] = (),
    ) -> None:
        self.profiles = profiles
        self.gate = gate
        self.save = save
        self.progress = progress
        self.hard = hard
        self.foreign = foreign  # questions that have nothing to do with what is asked

    def systems(self, base: Base) -> tuple[System, ...]:
        """The profiles, then the floors; an unknown profile is an error."""
        for floor in FLOORS:
            if floor.name in self.profiles:
                message = f"{floor.name} is measured in any case, and no profile's name here"
                raise InvalidInput(message, field="compare")
        wanted = [System(name, base.profile(name).about, name) for name in self.profiles]
        return (*wanted, *FLOORS)

    def check(self) -> None:
        """Refuse before the work what would fail after it."""
        files.check_paths(self.save)
        if self.gate is not None:
            files.load_baseline(self.gate)


class Counter:
    """Tells how many of all questions are done."""

    def __init__(self, total: int, name: str, progress: Callable[[Progress], None]) -> None:
        self._done, self._total, self._name, self._progress = 0, total, name, progress

    def __call__(self) -> None:
        self._done += 1
        self._progress(Progress(self._done, self._total, 0, self._name, "questions"))


def evaluate_folder(path: str, shelf: Shelf, job: Job, qrels: str = "test") -> Evaluation:
    """A judged folder, or all the judged folders in it, averaged over all their questions."""
    job.check()
    folders = read_folders(path, qrels)
    asked: list[QuestionResults] = []
    documents = 0
    notices: list[str] = []
    hard: list[Hard] = []
    systems: tuple[System, ...] = ()
    counter = Counter(sum(len(one.questions) for one in folders), path, job.progress)
    bases = [shelf.base(folder) for folder in folders]  # all of them before the first question
    strange: list[Verdict] = []
    try:
        for folder, base in zip(folders, bases, strict=True):
            systems = job.systems(base)
            if job.foreign:
                _calibrate(base)
            documents += base.store.counts().documents
            notices += _not_there(folder, base)
            group = folder.name if len(folders) > 1 else ""
            answered = ask(base, folder.questions, systems, group, counter)
            hard += hardest(base, answered, systems[0], job.hard)
            asked += answered
            others = [one for one in job.foreign if one not in folder.questions]
            strange += verdicts(base, others[:MOST_FOREIGN], systems[0])
    finally:
        for base in bases:
            base.close()
    name = os.path.basename(os.path.abspath(path))
    begun = Evaluation(name, documents, hard=worst_first(hard, job.hard))
    return _concluded(begun, asked, systems, job, strange)._replace(notices=tuple(notices))


def evaluate_own(base: Base, questions: Sequence[Question], name: str, job: Job) -> Evaluation:
    """A user's own questions, asked of their own base."""
    job.check()
    systems = job.systems(base)
    counter = Counter(len(questions), name, job.progress)
    with reduced(base, questions) as asked_base:
        known = resolved(asked_base, questions)
        asked = ask(asked_base, known, systems, each=counter)
        documents = asked_base.store.counts().documents
        hard = hardest(asked_base, asked, systems[0], job.hard)
        strange = verdicts(asked_base, job.foreign[:MOST_FOREIGN], systems[0])
    return _concluded(Evaluation(name, documents, hard=tuple(hard)), asked, systems, job, strange)


def _calibrate(base: Base) -> None:
    """As a server does it for a base that it serves."""
    from knowbase.search.calibrate import is_due

    if is_due(base.search_services, base.store.calibration()):
        base.calibrate()


def _not_there(folder: Folder, base: Base) -> list[str]:
    """Judged documents that the corpus lacks: nothing can find them."""
    judged = {one for question in folder.questions for one in question.relevant}
    known = {one for one in judged if (found := base.store.find(one)) and found.id == one}
    missing = len(judged) - len(known)
    return [f"{folder.name}: {missing} judged documents are not in the corpus"] if missing else []


def _concluded(
    begun: Evaluation,
    asked: Sequence[QuestionResults],
    systems: tuple[System, ...],
    job: Job,
    strange: Sequence[Verdict],
) -> Evaluation:
    """The evaluation with its numbers, held against the baseline, and written."""
    values = values_of(asked, systems)
    answerable = len(values.ids)
    evaluation = begun._replace(
        questions=answerable,
        unanswerable=len(asked) - answerable,
        systems=scores_of(asked, systems),
        differences=differences_of(values, systems),
        groups=groups_of(asked, systems),
        telling=_told_apart(asked, systems[0], strange),
    )
    if job.gate is not None:
        stored = files.load_baseline(job.gate)
        evaluation = evaluation._replace(gate=files.gate(job.gate, stored, values))
    for path in job.save:
        files.save(path, evaluation, values)
    return evaluation._replace(written=job.save)


def _told_apart(
    asked: Sequence[QuestionResults], system: System, strange: Sequence[Verdict]
) -> tuple[Telling, ...]:
    """How well the first profile's verdicts tell what has no answer."""
    found: dict[bool, list[Verdict]] = {True: [], False: []}
    for one in asked:
        found[bool(one.question.relevant)].append(one.results[system.name].verdict)
    kinds = {"foreign": strange, "missing": found[False]}
    return tuple(
        telling(kind, found[True], rest) for kind, rest in kinds.items() if rest and found[True]
    )
