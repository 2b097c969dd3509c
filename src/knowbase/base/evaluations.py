"""The last evaluations of a base, kept beside it: a server that is started anew shows them too."""

import os
from typing import TYPE_CHECKING, Any

from knowbase.base.tasks import Evaluation, LanguageScore, TaskScore
from knowbase.logs import log
from knowbase.process import filing
from knowbase.store.location import is_url
from knowbase.values.plain import as_dict

if TYPE_CHECKING:
    from knowbase.base.base import Base

MOST_KEPT = 10


def kept(base: "Base") -> tuple[Evaluation, ...]:
    """The last one first; none where the file is not there, or not one of ours."""
    import json

    try:
        with open(_file(base), encoding="utf-8") as file:
            return tuple(_read(one) for one in json.load(file)[:MOST_KEPT])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, KeyError) as error:
        log("warning", "the last evaluations cannot be read", reason=str(error))
        return ()


def keep(base: "Base", made: Evaluation) -> None:
    """Write it before the others; where nothing can be written, it is for this server alone."""
    import json

    path = _file(base)
    try:
        with filing.locked(path):
            rows = [as_dict(one) for one in (made, *kept(base))[:MOST_KEPT]]
            filing.replace(path, json.dumps(rows, indent=1) + "\n")
    except OSError as error:
        log("warning", "the evaluation cannot be kept", reason=str(error))


def _read(row: dict[str, Any]) -> Evaluation:
    languages = tuple(
        LanguageScore(
            str(one["language"]), int(one["documents"]), int(one["questions"]), _scores(one)
        )
        for one in row.get("languages", ())
    )
    return Evaluation(str(row["at"]), int(row["questions"]), _scores(row), languages)


def _scores(row: dict[str, Any]) -> tuple[TaskScore, ...]:
    return tuple(
        TaskScore(str(one["system"]), float(one["first"]), float(one["third"]))
        for one in row["scores"]
    )


def _file(base: "Base") -> str:
    """Beside a base in a file; of a database, in the user's own folder."""
    if not is_url(base.path):
        return f"{os.path.realpath(base.path)}.evaluations.json"
    from hashlib import sha256

    name = sha256(base.shown.encode()).hexdigest()[:16]
    given = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(given, "knowbase", f"evaluations-{name}.json")
