"""Sessions, and how documents take part in them."""

from typing import NamedTuple

USAGES = ("created", "recalled", "updated", "reinforced")


class Session(NamedTuple):
    """A stretch of work in which documents are made and used."""

    id: str
    project: str | None
    started_at: str
    ended_at: str | None = None
    summary: str | None = None
    uses: int = 0  # how many uses are recorded; never written


class Use(NamedTuple):
    """How a document took part in a session; one a kind."""

    session: str
    document: str
    usage: str  # of USAGES
    used_at: str = ""  # when it is written, the moment of the change
