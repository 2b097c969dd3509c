"""What a store refuses that shows a base as it was."""

from knowbase.errors import Conflict


def refused() -> Conflict:
    return Conflict(
        "what the base was cannot be changed",
        field="as_of",
        hint="without as_of; kb restore CODE@WHEN makes a document again what it was",
    )
