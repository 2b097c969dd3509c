"""Wrong tokens: after some of them an address has to wait, so that guessing is slow.

Many may share an address (NAT, a proxy). So a token that was right from there passes at once, and
any other is looked at in its turn, right or wrong: nobody learns from the time which it was.
"""

import time
from collections import OrderedDict
from collections.abc import Callable

from knowbase.http.failures import TooMany
from knowbase.logs import log

BURST = 10  # wrong tokens before an address has to wait
FORGIVEN = 6.0  # seconds after which one of them is forgotten
TURN = 0.2  # seconds between two tokens of an address that has to wait
LONGEST = 2.0  # seconds that somebody is let wait; who would wait longer is told to come again
MOST = 1024  # addresses, and right tokens, that are remembered


class _Wrong:
    """What is known of an address."""

    def __init__(self, now: float) -> None:
        self.number = 0.0
        self.at = now
        self.turn = now  # when its next token is looked at


class Attempts:
    """Counts wrong tokens by address, in a fixed amount of memory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, _Wrong] = OrderedDict()
        self._right: OrderedDict[tuple[str, str], None] = OrderedDict()

    def delay(self, address: str, sha256: str) -> float:
        """Seconds until this token is looked at; refused if that is too long."""
        if (address, sha256) in self._right or not self.has_to_wait(address):
            return 0.0
        known, now = self._wrong[address], self._clock()
        turn = max(known.turn + TURN, now)
        if turn - now > LONGEST:
            raise too_many(turn - now)
        known.turn = turn
        return turn - now

    def has_to_wait(self, address: str) -> bool:
        known = self._wrong.get(address)
        if known is None:
            return False
        now = self._clock()
        known.number = max(0.0, known.number - (now - known.at) / FORGIVEN)
        known.at = now
        return known.number > BURST - 1

    def was_right(self, address: str, sha256: str) -> None:
        self._right[address, sha256] = None
        self._right.move_to_end((address, sha256))
        if len(self._right) > MOST:
            self._right.popitem(last=False)

    def was_wrong(self, address: str) -> bool:
        """Count it; whether the address had to wait already."""
        waited = self.has_to_wait(address)
        known = self._wrong.setdefault(address, _Wrong(self._clock()))
        known.number = min(known.number + 1, 2 * BURST)
        self._wrong.move_to_end(address)
        if len(self._wrong) > MOST:
            self._wrong.popitem(last=False)
        if not waited and self.has_to_wait(address):
            log("warning", "many wrong tokens", address=address)
        return waited


def too_many(seconds: float) -> TooMany:
    return TooMany("too many wrong tokens from this address", seconds, field="Authorization")
