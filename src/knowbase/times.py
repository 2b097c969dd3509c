"""Moments as text."""

import time

LATEST = 253_402_300_799.0  # the end of the year 9999: years keep their width


def timestamp(seconds: float) -> str:
    """ISO 8601 in UTC with a fixed width: the order of the texts is the order in time."""
    seconds = min(max(seconds, 0.0), LATEST)
    whole, part = divmod(int(seconds * 1_000_000), 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{part:06d}Z"


def days_between(earlier: str, later: str) -> float:
    """Days from one timestamp to another, fractions included; negative when they are swapped."""
    from datetime import datetime

    age = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return age.total_seconds() / 86_400
