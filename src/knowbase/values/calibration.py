"""What a base has learnt of itself: how answers look that are there, and those that are not."""

from collections.abc import Mapping
from typing import NamedTuple


class Calibration(NamedTuple):
    """Numbers by name, and when they were made; what they mean is `ranking/verdict.py`'s."""

    made_at: str
    numbers: Mapping[str, float]
