"""Tokens: who may ask the server, and for what. Kept as hashes in a file of their own, since they
belong to whoever serves a base, not to the base: a copy of it brings no keys along."""

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.process import filing
from knowbase.store.location import is_url
from knowbase.values.access import TOKEN_SCOPES, Access

if TYPE_CHECKING:
    from knowbase.base import Base

FILE_VARIABLE = "KB_TOKENS_FILE"
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


def change(path: str, make: Callable[[tuple[Token, ...]], Sequence[Token]]) -> None:
    """Put what is made of the tokens in their place. They are read and written under one lock:
    whoever changes them has seen every change before."""
    path = os.path.realpath(path)
    try:
        with filing.locked(path):
            filing.replace(path, ABOUT + "".join(map(_block, make(read(path)))))
    except OSError as error:
        raise InvalidInput(
            f"the file of tokens cannot be written: {error.strerror}", field=FILE_VARIABLE
        ) from error


def _block(token: Token) -> str:
    """A table of TOML, whose texts are written as JSON's are."""
    told = token._asdict().items()
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in told if value]
    return "\n".join(["", "[[token]]", *lines, ""])
