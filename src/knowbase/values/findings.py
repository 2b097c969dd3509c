"""What looking after a base finds."""

from typing import NamedTuple

DAMAGE, PROBLEM, NOTICE = "damage", "problem", "notice"


class Finding(NamedTuple):
    """One thing that is not as it should be."""

    part: str  # of the base: file, words, documents, vectors, links, files …
    severity: str  # damage: stored values are wrong; problem: parts are out of step; notice
    message: str
    hint: str
    documents: tuple[str, ...] = ()  # codes, as far as they are known
