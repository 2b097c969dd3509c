"""Documents that belong together by their links."""

from typing import NamedTuple

from knowbase.values.documents import Document


class Community(NamedTuple):
    """Documents that belong together."""

    label: str  # its most telling words and tags
    size: int
    central: tuple[Document, ...]  # its most important ones
    codes: tuple[str, ...]  # of all of its documents


class Communities(NamedTuple):
    """The largest first; documents without any link are in none."""

    communities: tuple[Community, ...]
    modularity: float
    algorithm: str
    unlinked: int
