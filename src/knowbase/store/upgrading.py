"""Saying that a base is no longer what it was."""

from knowbase.logs import announce


def announce_upgrade(before: int, steps: int) -> None:
    """Once, when an older base was upgraded; a new one has no schema before."""
    if 0 < before < steps:
        announce(
            f"the base was upgraded from schema {before} to {steps};"
            " an older knowbase does not open it any more"
        )
