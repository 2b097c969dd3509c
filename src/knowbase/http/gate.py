"""Which tokens a running server knows: compared in constant time, read again when they change."""

import hmac
import os
import time
from collections.abc import Mapping

from knowbase.errors import InvalidInput
from knowbase.http.tokens import Token, hashed, read
from knowbase.http.uses import Uses
from knowbase.logs import log

VARIABLE = "KB_TOKEN"
SHORTEST = 16  # characters of a token that a person chooses
UNSETTLED = 2.0  # seconds in which a file may change once more without looking changed
Stamp = tuple[int, ...] | None  # changes when the file does


class Gate:
    """Knows the tokens; the file is read again when it changed, so revoking takes effect.

    Once a token was wanted, one is: taking back the last one does not open the door.
    """

    def __init__(self, path: str, environment: Mapping[str, str]) -> None:
        self._path = path
        self._own = _own_token(environment)
        self._stamp = _stamp(path)
        self._read = read(path)
        self._is_open = not (self._own or self._read)
        self._failed = False
        self.uses = Uses(os.path.realpath(path))

    @property
    def tokens(self) -> tuple[Token, ...]:
        stamp = _stamp(self._path)
        if stamp != self._stamp or self._failed or _is_unsettled(stamp):
            self._read_again(stamp)
        tokens = (*self._own, *self._read)
        self._is_open = self._is_open and not tokens
        return tokens

    def _read_again(self, stamp: Stamp) -> None:
        """Whatever goes wrong, the door is shut until the file can be read."""
        was_open = self._is_open
        self._read, self._is_open = (), False
        try:
            self._read = read(self._path)
        except InvalidInput as error:
            if not self._failed:  # said once, tried with each request
                log("error", "the file of tokens cannot be read", reason=error.hint)
            self._failed = True
        else:
            self._stamp, self._is_open, self._failed = stamp, was_open, False

    @property
    def is_open(self) -> bool:
        """Whether everybody may do everything, as there never was a token."""
        return not self.tokens and self._is_open

    def known(self, token: str) -> Token | None:
        """The token that was given; every known one is looked at, whichever it is."""
        given, found = hashed(token), None
        for one in self.tokens:
            if hmac.compare_digest(one.sha256, given):
                found = one
        if found is not None and found not in self._own:
            self.uses.note(found.sha256)
        return found


def _own_token(environment: Mapping[str, str]) -> tuple[Token, ...]:
    token = environment.get(VARIABLE, "")
    if token and len(token) < SHORTEST:
        raise InvalidInput(
            f"{VARIABLE} is too short to be a secret",
            field=VARIABLE,
            hint=f"at least {SHORTEST} characters; kb token new makes one",
        )
    return (Token(VARIABLE, hashed(token)),) if token else ()


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ino, found.st_size, found.st_ctime_ns)


def _is_unsettled(stamp: Stamp) -> bool:
    """Changed so lately that the clock of the file system may not tell the next change apart."""
    return stamp is not None and abs(time.time() - stamp[0] / 1e9) < UNSETTLED
