"""How a parameter of a request is described; `operations/declare.py` reads the descriptions."""

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Param(NamedTuple):
    """What a field of a request is for, and what it may be."""

    text: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    positional: bool = False
    single: bool = False  # the last positional one takes one word, not the rest of the line
    keeps_commas: bool = False  # an item of a list may hold one
    metavar: str | None = None
    short: str | None = None
    aliases: Mapping[str, str] = {}  # flags that stand for a value: --fts-only → keyword
    format: str | None = None  # as JSON Schema names it; told, not checked
    type: "type" = str  # in a group alone: elsewhere the annotation says it


class Group(NamedTuple):
    """A field of a request that stands for several parameters: those of another request, or
    of a table, which become a mapping of what is given."""

    of: "type | Callable[[], Mapping[str, Param]]"
