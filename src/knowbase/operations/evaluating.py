"""The operation that measures: eval."""

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.errors import BaseMissing, InvalidInput
from knowbase.operations.declare import Operation
from knowbase.store.location import FOLDER
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from knowbase.base import Base
    from knowbase.evaluate.corpus import Shelf
    from knowbase.evaluate.evaluation import Evaluation
    from knowbase.evaluate.judged import Question
    from knowbase.evaluate.measure import Job
    from knowbase.ingest.report import Progress

MADE = "questions.jsonl"
TARGETS = "a judged folder, a judgments file, or --make N"


class Eval(NamedTuple):
    target: Annotated[
        str,
        Param("a judged folder (BEIR layout), or a file of your own judgments", positional=True),
    ] = ""
    compare: Annotated[
        tuple[str, ...], Param("the profiles to measure; else the default", metavar="NAME,NAME")
    ] = ()
    make: Annotated[
        int | None,
        Param("make this many questions from the base itself", least=4, most=100_000, metavar="N"),
    ] = None
    seed: Annotated[int, Param("another number makes other questions", least=0, metavar="N")] = 0
    gate: Annotated[
        str | None, Param("fail (7) when a metric fell below this one's", metavar="FILE.json")
    ] = None
    save: Annotated[
        tuple[str, ...], Param("write it to .json, .md and .svg files", metavar="FILE,FILE")
    ] = ()
    qrels: Annotated[str, Param("which judgments of a folder: qrels/NAME.tsv", metavar="NAME")] = (
        "test"
    )
    hard: Annotated[
        int | None,
        Param(
            "list this many questions that a leg alone answers better, and why",
            least=1,
            most=1000,
            metavar="N",
        ),
    ] = None
    foreign: Annotated[
        tuple[str, ...],
        Param(
            "also ask the questions of these judged folders or files, which have no answer here",
            metavar="PATH,PATH",
        ),
    ] = ()
    fresh: Annotated[bool, Param("index the corpus again, though a finished one is kept")] = False


def evaluate(
    base: "Base | None", request: Eval, progress: "Callable[[Progress], None]" = lambda _: None
) -> "Evaluation":
    from knowbase.evaluate.judged import is_folder, read_questions
    from knowbase.evaluate.measure import Job, evaluate_folder, evaluate_own

    shelf = _shelf(base, request.fresh, progress)
    default = shelf.configuration.settings.search_profile
    profiles = tuple(dict.fromkeys(request.compare)) or (default,)
    foreign = _foreign(request)
    job = Job(profiles, request.gate, request.save, progress, request.hard or 0, foreign)
    if is_folder(request.target) and request.make is None:
        return evaluate_folder(request.target, shelf, job, request.qrels)
    if request.target and request.make is None and not os.path.exists(request.target):
        raise InvalidInput(f"there is no {request.target}", field="target", hint=TARGETS)
    if base is None:
        raise BaseMissing("there is no base here or in any folder above", hint="say --base PATH")
    if request.make is not None:
        return _made(base, request, job)
    if not request.target:
        raise InvalidInput("there is nothing to evaluate with", field="target", hint=TARGETS)
    questions = read_questions(request.target)
    return evaluate_own(base, questions, os.path.basename(request.target), job)


def _foreign(request: Eval) -> "list[Question]":
    """The questions of other sets, by turns."""
    from itertools import chain, zip_longest

    from knowbase.evaluate.judged import is_folder, read_folders, read_questions

    sets: list[Sequence[Question]] = []
    for path in request.foreign:
        if not os.path.exists(path):
            raise InvalidInput(f"there is no {path}", field="foreign", hint=TARGETS)
        if is_folder(path):
            sets += [one.questions for one in read_folders(path, request.qrels)]
        else:
            sets.append(read_questions(path))
    return [one for one in chain.from_iterable(zip_longest(*sets)) if one is not None]


def _shelf(base: "Base | None", fresh: bool, progress: "Callable[[Progress], None]") -> "Shelf":
    from knowbase import config
    from knowbase.embed.choice import choice_of, embedder_for
    from knowbase.evaluate.corpus import Shelf, cache_folder

    configuration = base.configuration if base else config.load(os.getcwd(), os.environ)
    settings = configuration.settings
    if base is not None and not settings.embed_model:
        embedder = base.embedder
    else:  # as the settings say, so that models can be compared
        choice = choice_of(settings.embed_model, settings, os.getcwd())
        embedder = embedder_for(choice, settings, os.environ)
    return Shelf(cache_folder(settings.eval_cache), configuration, embedder, fresh, progress)


def _made(base: "Base", request: Eval, job: "Job") -> "Evaluation":
    """Questions from the base itself: written, then asked."""
    from knowbase.evaluate.make import lines, make
    from knowbase.evaluate.measure import evaluate_own

    job.check()
    path = request.target or _place_of_questions(base)
    questions = make(base, request.make or 0, request.seed, job.progress)
    _write(path, "".join(lines(questions)))
    evaluation = evaluate_own(base, questions, os.path.basename(path), job)
    short = (request.make or 0) - len(questions)
    notices = (f"the base gives no more than {len(questions)} questions",) if short else ()
    return evaluation._replace(notices=notices, written=(path, *evaluation.written))


def _place_of_questions(base: "Base") -> str:
    """Beside the base, where no sync finds them: indexed, they would be their own answers."""
    folder = os.path.dirname(base.path)
    hidden = os.path.basename(folder) == FOLDER
    return os.path.relpath(os.path.join(folder, MADE)) if hidden else MADE


def _write(path: str, text: str) -> None:
    """A file with other questions is somebody's work, and is not written over."""
    try:
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                if file.read() == text:
                    return
            raise InvalidInput(
                f"{path} is there already, with other questions",
                field="target",
                hint="name another: kb eval FILE.jsonl --make N",
            )
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}", field="target") from error


OPERATIONS = {
    "eval": Operation(
        "eval",
        "Measure how good the search is, on judged questions",
        Eval,
        evaluate,
        local=True,
        examples=(
            "kb eval beir/scifact",
            "kb eval my-judgments.jsonl --compare kb,entries",
            "kb eval beir/scifact --hard 10",
            "kb eval beir/scifact --foreign beir/cisi,beir/nq",
            "kb eval --make 200 --save eval.json,eval.md,eval.svg",
            "kb eval my-judgments.jsonl --gate eval.json",
        ),
        base_optional=True,
        progress=True,
    )
}
