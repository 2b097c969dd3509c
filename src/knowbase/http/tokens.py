"""Tokens: who may ask the server, and for what. Kept as hashes, compared in constant time."""

import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.logs import log
from knowbase.store.location import is_url
from knowbase.values.access import TOKEN_SCOPES, Access

if TYPE_CHECKING:
    from knowbase.base import Base

VARIABLE, FILE_VARIABLE = "KB_TOKEN", "KB_TOKENS_FILE"
SHORTEST = 16  # characters of a token that a person chooses
Stamp = tuple[int, int, int] | None  # changes when the file does
ABOUT = "# Tokens of kb serve, as SHA-256 hashes. Made by: kb token new\n"


class Token(NamedTuple):
    """What is kept of a token: everything but itself."""

    name: str
    sha256: str
    scope: str = "write"
    project: str | None = None
    created_at: str = ""

    @property
    def access(self) -> Access:
        return Access(self.scope == "write", self.project)


def hashed(token: str) -> str:
    """A token has 256 random bits: a plain hash of it cannot be searched."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def made() -> str:
    """A new token."""
    return "kb_" + secrets.token_urlsafe(32)


def tokens_file(base: "Base", environment: Mapping[str, str]) -> str:
    """Where the tokens of a base are kept: beside it, or for a database in the user's own
    settings, whatever the working folder; unless KB_TOKENS_FILE says otherwise."""
    given = environment.get(FILE_VARIABLE)
    if given:
        return os.path.abspath(os.path.expanduser(given))
    if is_url(base.path):
        home = environment.get("XDG_CONFIG_HOME") or os.path.join(
            os.path.expanduser("~"), ".config"
        )
        return os.path.join(home, "knowbase", f"tokens-{hashed(base.shown)[:16]}.toml")
    # Whichever link leads to the base, it has the same tokens.
    return f"{os.path.realpath(base.path)}.tokens.toml"


def read(path: str) -> tuple[Token, ...]:
    """The tokens in a file; none when there is no file."""
    import tomllib

    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file).get("token", [])
        return tuple(_checked(table) for table in tables)
    except FileNotFoundError:
        return ()
    except (ValueError, TypeError, AttributeError, OSError) as error:  # not UTF-8, no TOML
        raise InvalidInput(
            "the file of tokens cannot be read", field=FILE_VARIABLE, hint=str(error)
        ) from error


def _checked(table: Mapping[str, str]) -> Token:
    token = Token(**table)
    is_hash = len(token.sha256) == 64 and not set(token.sha256) - set("0123456789abcdef")
    if token.scope not in TOKEN_SCOPES or not is_hash or token.project == "":
        raise InvalidInput(
            f"the token {token.name!r} is not well-formed",
            field=FILE_VARIABLE,
            hint="sha256 as 64 lower-case digits, scope read or write",
        )
    return token


def write(path: str, tokens: Sequence[Token]) -> None:
    """The whole file at once, for nobody else to read."""
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, exist_ok=True)
        descriptor, new = tempfile.mkstemp(dir=folder, suffix=".new")
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(ABOUT + "".join(map(_block, tokens)))
        os.replace(new, path)
    except OSError as error:
        raise InvalidInput(
            f"the file of tokens cannot be written: {error.strerror}", field=FILE_VARIABLE
        ) from error


def _block(token: Token) -> str:
    """A table of TOML, whose texts are written as JSON's are."""
    told = token._asdict().items()
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in told if value]
    return "\n".join(["", "[[token]]", *lines, ""])


class Gate:
    """Tells a token's access; the file is read again when it changed, so revoking takes effect.

    Once a token was wanted, one is: taking back the last one does not open the door.
    """

    def __init__(self, path: str, environment: Mapping[str, str]) -> None:
        self._path = path
        self._own = _own_token(environment)
        self._stamp = _stamp(path)
        self._read = read(path)
        self._is_open = not (self._own or self._read)

    @property
    def tokens(self) -> tuple[Token, ...]:
        stamp = _stamp(self._path)
        if stamp != self._stamp:
            self._read_again(stamp)
        tokens = (*self._own, *self._read)
        self._is_open = self._is_open and not tokens
        return tokens

    def _read_again(self, stamp: Stamp) -> None:
        """Whatever goes wrong, the door is shut until the file can be read."""
        known = self._is_open
        self._read, self._is_open = (), False
        try:
            self._read = read(self._path)
        except InvalidInput as error:
            log("error", "the file of tokens cannot be read", reason=error.hint)
        else:
            self._stamp, self._is_open = stamp, known

    @property
    def is_open(self) -> bool:
        """Whether everybody may do everything, as there never was a token."""
        return not self.tokens and self._is_open

    def access(self, token: str) -> Access | None:
        """What this token may do; every known one is looked at, whichever it is."""
        given, found = hashed(token), None
        for known in self.tokens:
            if hmac.compare_digest(known.sha256, given):
                found = known.access
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
    return (found.st_ino, found.st_mtime_ns, found.st_size)
