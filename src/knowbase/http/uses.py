"""When each token was last used: told by a running server now and then, beside the tokens.

A file of its own: a server never writes the tokens themselves, so it cannot bring one back.
"""

import threading
import time
from contextlib import suppress

from knowbase.process import filing
from knowbase.values.times import timestamp

EVERY = 60.0  # seconds between two writes, however many requests come
KEPT = 16  # letters of a token's hash


def read(tokens: str) -> dict[str, str]:
    """The last use of each token, by the start of its hash."""
    with suppress(OSError, ValueError), open(_place(tokens), encoding="utf-8") as file:
        return dict(line.split() for line in file if len(line.split()) == 2)
    return {}


class Uses:
    """Notes what a server sees, and writes it down at most once a minute."""

    def __init__(self, tokens: str) -> None:
        self._tokens = tokens
        self._seen: dict[str, float] = {}
        self._written = -EVERY
        self._writing = threading.Lock()

    def note(self, sha256: str) -> None:
        """A token was used now. Whoever asks does not wait for the disk."""
        self._seen[sha256[:KEPT]] = time.time()
        if time.monotonic() - self._written >= EVERY:
            self._written = time.monotonic()
            threading.Thread(target=self.write, daemon=True).start()

    def write(self) -> None:
        """As far as it can be: that a token was used is never worth a failure."""
        with self._writing, suppress(OSError):
            seen = {name: timestamp(at) for name, at in self._seen.copy().items()}
            if not seen:
                return
            with filing.locked(_place(self._tokens)):
                known = read(self._tokens)
                latest = {name: max(at, known.get(name, "")) for name, at in seen.items()}
                lines = (f"{name} {at}\n" for name, at in sorted((known | latest).items()))
                filing.replace(_place(self._tokens), "".join(lines))


def _place(tokens: str) -> str:
    return f"{tokens}.used"
