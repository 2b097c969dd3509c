"""Who asks: whether they may write, and the one project that they are held to."""

from contextvars import ContextVar
from typing import NamedTuple

from knowbase.errors import NotAllowed

TOKEN_SCOPES = ("read", "write")
"""What a token may be for; writing is reading, too."""


class Access(NamedTuple):
    """What a caller may do; by default everything, as on one's own machine."""

    write: bool = True
    project: str | None = None

    @property
    def is_full(self) -> bool:
        return self.write and self.project is None

    def within(self, most: "Access") -> "Access":
        """What both allow; two projects allow nothing together."""
        if self.project is not None and most.project not in (None, self.project):
            raise NotAllowed("this token is for another project")
        project = self.project if most.project is None else most.project
        return Access(self.write and most.write, project)


NOBODY = "user"  # whoever sits at this machine, as far as is known
speaker: ContextVar[str] = ContextVar("speaker", default=NOBODY)
"""Who asks, as it is written beside what they decide: the name of a token, if there is one."""

current: ContextVar[Access] = ContextVar("access", default=Access())  # noqa: B039 - a value, never changed
