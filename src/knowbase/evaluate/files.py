"""Evaluations as files: JSON that a gate can read again, Markdown, a plot."""

import os
from collections.abc import Sequence
from typing import Any

from knowbase.errors import InvalidInput
from knowbase.evaluate.evaluation import Evaluation, Gate, Values, falls_of
from knowbase.evaluate.metrics import METRICS

ENDINGS = (".json", ".md", ".svg")
FORMAT = 1
_DIGITS = 6


def check_paths(paths: Sequence[str]) -> None:
    """Refuse before the work what could not be written after it."""
    for path in paths:
        if os.path.splitext(path)[1] not in ENDINGS:
            hint = "it must end in " + ", ".join(ENDINGS)
            raise InvalidInput(f"save cannot be {path!r}", field="save", hint=hint)
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise InvalidInput(f"there is no folder {folder}", field="save")


def save(path: str, evaluation: Evaluation, values: Values) -> None:
    """Write it as its ending says; a whole file or none."""
    ending = os.path.splitext(path)[1]
    if ending == ".md":
        from knowbase.evaluate.markdown import markdown

        text = markdown(evaluation)
    elif ending == ".svg":
        from knowbase.evaluate.plot import plot

        text = plot(evaluation)
    else:
        text = _json(evaluation, values)
    new = f"{path}.{os.getpid()}.new"
    try:
        with open(new, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(new, path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}", field="save") from error
    finally:
        if os.path.exists(new):
            os.remove(new)


def _json(evaluation: Evaluation, values: Values) -> str:
    import json

    whole = {
        "format": FORMAT,
        "target": evaluation.target,
        "documents": evaluation.documents,
        "questions": evaluation.questions,
        "unanswerable": evaluation.unanswerable,
        "systems": [system._asdict() for system in evaluation.systems],
        "differences": [difference._asdict() for difference in evaluation.differences],
        "groups": [group._asdict() for group in evaluation.groups],
        "telling": [one._asdict() for one in evaluation.telling],
        "per_question": {
            "ids": values.ids,
            "systems": {
                name: {
                    metric: [round(value, _DIGITS) for value in series]
                    for metric, series in metrics.items()
                }
                for name, metrics in values.systems.items()
            },
        },
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def load_baseline(path: str) -> Values:
    """The values of a stored evaluation."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            stored: Any = json.load(file)
        questions = stored["per_question"]
        ids = tuple(map(str, questions["ids"]))
        systems = {
            name: {metric: [float(one) for one in series[metric]] for metric in METRICS}
            for name, series in questions["systems"].items()
        }
        whole = all(len(s) == len(ids) for series in systems.values() for s in series.values())
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise InvalidInput(message, field="gate", hint="make one with: --save FILE.json") from error
    except (ValueError, KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise InvalidInput(
            f"{path} is not a stored evaluation",
            field="gate",
            hint="make one with: --save FILE.json",
        )
    return Values(ids, systems)


def gate(path: str, stored: Values, now: Values) -> Gate:
    """Whether anything fell; a baseline of other questions or systems says nothing."""
    rounded = {
        name: {
            metric: [round(value, _DIGITS) for value in series]  # as they were stored
            for metric, series in metrics.items()
        }
        for name, metrics in now.systems.items()
    }
    systems, questions, falls = falls_of(stored, Values(now.ids, rounded))
    for what, number in (("system", len(systems)), ("question", questions)):
        if not number:
            raise InvalidInput(
                f"{path} has no {what} in common with this evaluation",
                field="gate",
                hint="give the same target and profiles that it was saved with",
            )
    return Gate(path, questions, systems, falls)
