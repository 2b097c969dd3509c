"""How a field of a document is declared: once, on `Document`, for everything that knows fields.

A store's rows, front matter, notes, conditions, the query language's operators, flags, schemas
and the reference pages are made from these declarations. CONTRIBUTING.md adds one step by step.
"""

from typing import Any, NamedTuple

from knowbase.values.kinds import Kind


class Filter(NamedTuple):
    """One way to ask for a field: an operator of the query language, and the flag of its name."""

    operator: str
    rule: str  # how what stands behind the colon is read: see query/operators.py
    flag: str = ""  # what the flag is for; "": there is no flag
    metavar: str | None = None
    value: str = ""  # what may stand there, for the reference


class Field(NamedTuple):
    """What a field of a document is; its name and default are the annotated ones."""

    about: str
    kind: str = "text"  # of KINDS
    choices: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()  # of front matter: what has some is stated by a document's text
    note: str = ""  # what the flag of kb remember is for; "": there is no flag
    command: bool = False  # commands change it, and outlive what the text says
    kept: bool = False  # a text that does not state it leaves it as it is
    filters: tuple[Filter, ...] = ()

    @property
    def check(self) -> Kind:
        """What a value of it may be."""
        return KINDS[self.kind]._replace(choices=self.choices)


KINDS = {
    "text": Kind(str),
    "code": Kind(str),  # of another document
    "choice": Kind(str),
    "type": Kind(str),
    "moment": Kind(str),
    "share": Kind(float, 0, 1),
    "count": Kind(int),
    "flag": Kind(bool),
    "names": Kind(tuple),  # in lower case
    "tags": Kind(tuple),
    "other": Kind(str),  # whatever the front matter says besides
}


def fields_of(document: Any) -> dict[str, Field]:
    """The fields that a class of documents declares in its annotations, by name."""
    return {name: one.__metadata__[0] for name, one in document.__annotations__.items()}
