"""What a person reads of synonyms."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, safe

if TYPE_CHECKING:
    from knowbase.search.synonyms import (
        ImportedSynonyms,
        RemovedSynonyms,
        SynonymList,
        Synonyms,
    )


def render_list(paint: Painter, result: "SynonymList") -> Iterable[str]:
    for one in result.synonyms:
        yield from render_synonyms(paint, one)
    given = sum(one.defined_in is None for one in result.synonyms)
    yield paint("dim", f"{given} given, {len(result.synonyms) - given} found in documents")


def render_synonyms(paint: Painter, one: "Synonyms") -> Iterable[str]:
    where = paint("dim", f"  {safe(one.defined_in)} defines it") if one.defined_in else ""
    yield safe(" = ".join(one.words)) + where


def render_removed(paint: Painter, one: "RemovedSynonyms") -> Iterable[str]:  # noqa: ARG001
    yield "removed " + safe(" = ".join(one.words))


def render_imported(paint: Painter, result: "ImportedSynonyms") -> Iterable[str]:
    for problem in result.problems:
        yield paint("red", "note: ") + safe(problem)
    yield f"{result.groups} group" + "s" * (result.groups != 1)
