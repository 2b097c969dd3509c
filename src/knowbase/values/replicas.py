"""Copies of a base's server that searches are answered by."""

from typing import NamedTuple


class ReadFrom(NamedTuple):
    """Where searches may be answered, and how many seconds these may lag."""

    urls: tuple[str, ...] = ()
    lag: float = 10.0


class ReplicaState(NamedTuple):
    """A replica, and whether it is of use now."""

    base: str  # its URL, without a password
    state: str  # of STATES
    behind_seconds: float | None = None  # None when that cannot be known
    reason: str = ""  # why it is not used


STATES = ("used", "behind", "away", "refused")
