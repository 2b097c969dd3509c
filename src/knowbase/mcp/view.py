"""How much of an answer an agent wants to see, and from where on."""

from typing import Annotated, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.values.parameters import Param

DETAILS = ("ids", "snippets", "full")
LEAST_TOKENS, MOST_TOKENS = 200, 100_000


class View(NamedTuple):
    """What a tool takes beside the operation's own parameters."""

    detail: Annotated[str, Param("how much of each result", choices=DETAILS)] = "snippets"
    max_tokens: Annotated[
        int, Param("the answer is cut to this", least=LEAST_TOKENS, most=MOST_TOKENS)
    ] = 4000
    cursor: Annotated[str | None, Param("next_cursor of the answer before")] = None

    @property
    def start(self) -> int:
        """The place that the cursor stands for."""
        if self.cursor is None:
            return 0
        if not (self.cursor.isascii() and self.cursor.isdecimal() and len(self.cursor) < 10):
            raise InvalidInput(
                f"cursor cannot be {self.cursor!r}",
                field="cursor",
                hint="next_cursor of the answer before, as it was given",
            )
        return int(self.cursor)
