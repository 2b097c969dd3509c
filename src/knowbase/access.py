"""Who asks: whether they may write, and the one project that they are held to."""

from contextvars import ContextVar
from typing import NamedTuple


class Access(NamedTuple):
    """What a caller may do; by default everything, as on one's own machine."""

    write: bool = True
    project: str | None = None

    @property
    def is_full(self) -> bool:
        return self.write and self.project is None


current: ContextVar[Access] = ContextVar("access", default=Access())  # noqa: B039 - a value, never changed
