"""Operations on synonyms: add, list, remove, import."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import TEXT_KB, NoParameters, Operation, Terminal
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.search.synonyms import (
        ImportedSynonyms,
        RemovedSynonyms,
        SynonymList,
        Synonyms,
    )


class AddRequest(NamedTuple):
    words: Annotated[
        tuple[str, ...],
        Param(
            "words or names that stand for each other",
            positional=True,
            keeps_commas=True,
            grammar="word",
        ),
    ]


def add(base: "Base", request: AddRequest) -> "Synonyms":
    return base.synonyms.add(request.words)


def show_all(base: "Base", _: NoParameters) -> "SynonymList":
    return base.synonyms.all()


class RemoveRequest(NamedTuple):
    word: Annotated[str, Param("one of the words", positional=True, single=True)]


def remove(base: "Base", request: RemoveRequest) -> "RemovedSynonyms":
    return base.synonyms.remove(request.word)


class ImportRequest(NamedTuple):
    text: Annotated[
        str, Param("a group a line: HPA, Horizontal Pod Autoscaler", grammar="text")
    ] = ""


def load(base: "Base", request: ImportRequest) -> "ImportedSynonyms":
    return base.synonyms.load(request.text)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "synonyms add",
            "Let words or names stand for each other in searches",
            AddRequest,
            add,
            writes=True,
            whole=True,
            examples=('kb synonyms add HPA "Horizontal Pod Autoscaler"',),
        ),
        Operation(
            "synonyms list",
            "List the synonyms: what was given, and what documents define",
            NoParameters,
            show_all,
            whole=True,
            examples=("kb synonyms list",),
        ),
        Operation(
            "synonyms remove",
            "Let the words of a group no longer stand for each other",
            RemoveRequest,
            remove,
            writes=True,
            whole=True,
            examples=("kb synonyms remove HPA",),
        ),
        Operation(
            "synonyms import",
            "Take over synonyms, a group a line, from standard input",
            ImportRequest,
            load,
            writes=True,
            whole=True,
            examples=("kb synonyms import < synonyms.txt",),
            terminal=Terminal(input_field="text"),
            most_kb=TEXT_KB,
        ),
    )
}
