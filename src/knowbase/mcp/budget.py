"""Keeping an answer within a number of tokens."""

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from knowbase.mcp.links import uri_of


class AgentAnswer(NamedTuple):
    """An answer in both its forms: JSON for programs, text for the model.

    A client shows its model one of the two, so each has to fit.
    """

    data: dict[str, Any]
    text: str
    links: tuple[str, ...] = ()  # codes of documents, told beside the text

    @property
    def spoken(self) -> str:
        """The text with its links: what a model gets that is not shown the JSON."""
        return "\n".join((self.text, *(f"{code} {uri_of(code)}" for code in self.links)))


class Budget:
    """So many tokens, as the base's model counts them, or four letters each if that is more."""

    def __init__(
        self,
        most: int,
        count: Callable[[str], int],
    ) -> None:
        self.most = most
        self.count = count

    def tokens(self, text: str) -> int:
        return max(self.count(text), math.ceil(len(text) / 4))

    @property
    def longest(self) -> int:
        """Letters that could fit at most."""
        return 4 * self.most

    def holds(self, told: AgentAnswer) -> bool:
        return all(self._fits(text) for text in (told.spoken, as_text(told.data)))

    def _fits(self, text: str) -> bool:
        if len(text) > self.longest:  # no tokenizer is asked about what is too long
            return False
        return len(text.encode()) <= self.most or self.tokens(text) <= self.most

    def most_of(self, size: int, tell: Callable[[int], AgentAnswer]) -> int:
        """How much of `size` can be told, as `tell` tells a part of it; 0 if nothing can."""
        if self.holds(tell(size)):
            return size
        low, high = 0, size  # what fits, and what does not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.holds(tell(middle)) else (low, middle)
        return low


def as_text(data: Any) -> str:
    """JSON as it goes over the wire."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
