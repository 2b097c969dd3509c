"""Judged questions: what is asked, and what should be found."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from knowbase.errors import InvalidInput

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
LAYOUT = f"a judged folder holds {CORPUS}, {QUERIES} and {QRELS}/test.tsv"
QUESTION_FIELDS = ("query", "relevant", "id", "kind", "without")


class Without(NamedTuple):
    """What is taken out of a copy of the base before a question is asked of it."""

    document: str  # a reference
    text: str = ""  # this passage of it; all of it when there is none


class Question(NamedTuple):
    """A question and what answers it; nothing does when `relevant` is empty."""

    id: str
    text: str
    relevant: Mapping[str, float]  # what should be found → how good an answer it is
    kind: str = ""
    without: Without | None = None


class Folder(NamedTuple):
    """A judged set in BEIR layout."""

    name: str
    corpus: str  # the path of its documents
    questions: tuple[Question, ...]


def is_folder(path: str) -> bool:
    return os.path.isdir(path)


def read_folders(path: str, qrels: str) -> list[Folder]:
    """The judged set that a folder is, or all those in it."""
    path = os.path.normpath(path)
    if os.path.exists(os.path.join(path, CORPUS)):
        return [_folder(path, os.path.basename(os.path.abspath(path)), qrels)]
    found = sorted(parent for parent, _, files in os.walk(path) if CORPUS in files)
    if not found:
        raise InvalidInput(f"there is no judged set in {path}", field="target", hint=LAYOUT)
    return [_folder(one, os.path.relpath(one, path), qrels) for one in found]


def _folder(path: str, name: str, qrels: str) -> Folder:
    texts = {}
    for where, line in _lines(os.path.join(path, QUERIES)):
        texts[_text(line, "_id", where)] = _text(line, "text", where)
    relevant: dict[str, dict[str, float]] = {}
    for question, document, score in _judgments(os.path.join(path, QRELS), qrels):
        if score > 0:
            relevant.setdefault(question, {})[document] = score
    questions = tuple(
        Question(one, text, relevant[one]) for one, text in texts.items() if one in relevant
    )
    if not questions:
        raise InvalidInput(f"no question of {path} has a judgment", field="target", hint=LAYOUT)
    return Folder(name, os.path.join(path, CORPUS), questions)


def _judgments(folder: str, name: str) -> Iterator[tuple[str, str, float]]:
    """Question, document and score of each line; TREC's four columns are read too."""
    path = os.path.join(folder, f"{name}.tsv")
    if not os.path.exists(path):
        there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        names = [one.removesuffix(".tsv") for one in there if one.endswith(".tsv")]
        hint = "one of " + ", ".join(names) if names else LAYOUT
        raise InvalidInput(f"there is no {path}", field="qrels", hint=hint)
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            parts = line.rstrip("\n").split("\t" if "\t" in line else None)
            try:
                yield parts[0], parts[-2], float(parts[-1])
            except (ValueError, IndexError):
                if number > 1 and line.strip():  # the first may be a header
                    raise _bad(f"{path}, line {number}", "is not a judgment") from None


def read_documents(corpus: str) -> Iterator[tuple[str, str, str]]:
    """Id, title and text of each document of a corpus."""
    for where, line in _lines(corpus):
        yield (
            _text(line, "_id", where),
            str(line.get("title") or ""),
            str(line.get("text") or ""),
        )


def read_questions(path: str) -> list[Question]:
    """A user's own judgments: a JSON object a line, with `query` and `relevant`."""
    questions = [
        _question(line, where, number) for number, (where, line) in enumerate(_lines(path), start=1)
    ]
    if not questions:
        raise InvalidInput(f"{path} holds no question", field="target")
    return questions


def _question(line: dict[str, Any], where: str, number: int) -> Question:
    for name in line:
        if name not in QUESTION_FIELDS:
            raise _bad(
                where, f"has an unknown field {name!r}", "one of " + ", ".join(QUESTION_FIELDS)
            )
    relevant, without = line.get("relevant", []), line.get("without")
    if isinstance(relevant, str):
        relevant = [relevant]
    if isinstance(relevant, list):
        relevant = dict.fromkeys(map(str, relevant), 1)
    if not isinstance(relevant, dict) or not all(_is_score(one) for one in relevant.values()):
        raise _bad(where, "relevant must be references, or references with scores")
    if without is not None and not isinstance(without, dict):
        raise _bad(where, "without must be an object with document and text")
    return Question(
        id=str(line.get("id", number)),
        text=_text(line, "query", where),
        relevant={reference: float(score) for reference, score in relevant.items() if score > 0},
        kind=str(line.get("kind", "")),
        without=Without(_text(without, "document", where), str(without.get("text", "")))
        if without
        else None,
    )


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < float("inf")


def _lines(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line's place and object; a line that is none is an error that names it."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                where = f"{path}, line {number}"
                try:
                    value = json.loads(line)
                except ValueError:
                    raise _bad(where, "is not JSON") from None
                if not isinstance(value, dict):
                    raise _bad(where, "is not a JSON object")
                yield where, value
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise InvalidInput(
            f"{path} cannot be read: {reason}",
            field="target",
            hint=f"{LAYOUT}; a judgments file has a JSON object a line",
        ) from error


def _text(line: Mapping[str, Any], name: str, where: str) -> str:
    value = line.get(name)
    if not isinstance(value, str | int) or not str(value).strip():
        raise _bad(where, f"has no {name}")
    return str(value)


def _bad(where: str, problem: str, hint: str | None = None) -> InvalidInput:
    return InvalidInput(f"{where} {problem}", field="target", hint=hint)
