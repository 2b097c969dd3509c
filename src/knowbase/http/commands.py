"""Commands about serving: serve, and tokens. Declared as operations are, run on this machine."""

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.errors import Conflict, InvalidInput, NotFound
from knowbase.operations.declare import NoParameters, Operation, Terminal
from knowbase.values.access import TOKEN_SCOPES
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from collections.abc import Iterator

    from knowbase.base import Base
    from knowbase.http.server import Serving


class Serve(NamedTuple):
    host: Annotated[
        str | None, Param("the address; other than loopback, it wants a token", metavar="ADDRESS")
    ] = None
    port: Annotated[int | None, Param("the port; 0: any that is free", least=0, most=65535)] = None


def serve(base: "Base", request: Serve) -> "Iterator[Serving]":
    from knowbase.http.server import Place
    from knowbase.http.server import serve as run

    settings = base.settings
    host = settings.serve_host if request.host is None else request.host
    port = settings.serve_port if request.port is None else request.port
    return run(base, Place(host, port))


class New(NamedTuple):
    name: Annotated[
        str, Param("what to call it; else token-1, token-2 …", positional=True, single=True)
    ] = ""
    scope: Annotated[str, Param("what it may do", choices=TOKEN_SCOPES)] = "write"
    project: Annotated[str | None, Param("hold it to this project")] = None


class NewToken(NamedTuple):
    """A token: this is the only time that it is shown."""

    name: str
    scope: str
    project: str | None
    token: str
    file: str


def new(base: "Base", request: New) -> NewToken:
    from knowbase.http import tokens

    path = tokens.tokens_file(base, os.environ)
    known = tokens.read(path)
    name = request.name.strip() or _free_name({token.name for token in known})
    if any(token.name == name for token in known):
        raise Conflict(f"there is a token {name!r} already", field="name", hint="take another name")
    for field, text in (("name", name), ("project", request.project or name)):
        if not text.strip() or not text.isprintable():
            raise InvalidInput(f"{field} cannot be {text!r}", field=field, hint="a line of text")
    token = tokens.made()
    kept = tokens.Token(name, tokens.hashed(token), request.scope, request.project, base.now())
    tokens.write(path, (*known, kept))
    return NewToken(name, request.scope, request.project, token, path)


def _text(made: NewToken) -> str:
    """TOKEN=$(kb token new)."""
    return made.token + "\n"


def _free_name(taken: set[str]) -> str:
    number = 1
    while f"token-{number}" in taken:
        number += 1
    return f"token-{number}"


class TokenLine(NamedTuple):
    name: str
    scope: str
    project: str | None
    created_at: str


class TokenList(NamedTuple):
    tokens: tuple[TokenLine, ...]
    file: str


def list_tokens(base: "Base", _: NoParameters) -> TokenList:
    from knowbase.http import tokens

    path = tokens.tokens_file(base, os.environ)
    known = tokens.read(path)
    return TokenList(
        tuple(TokenLine(one.name, one.scope, one.project, one.created_at) for one in known), path
    )


class Revoke(NamedTuple):
    name: Annotated[str, Param("what it is called; see kb tokens", positional=True, single=True)]


def revoke(base: "Base", request: Revoke) -> TokenList:
    from knowbase.http import tokens

    path = tokens.tokens_file(base, os.environ)
    known = tokens.read(path)
    kept = tuple(token for token in known if token.name != request.name)
    if len(kept) == len(known):
        raise NotFound(f"there is no token {request.name!r}", field="name", hint="see: kb tokens")
    tokens.write(path, kept)
    return list_tokens(base, NoParameters())


COMMANDS = {
    command.name: command
    for command in (
        Operation(
            "serve",
            "Serve the base over HTTP: /api, /mcp, /openapi.json, /health, /metrics",
            Serve,
            serve,
            writes=True,
            local=True,
            streams=True,
            examples=("kb serve", "KB_TOKEN=… kb serve --host 0.0.0.0 --port 8620"),
        ),
        Operation(
            "token new",
            "Make a token for those who ask the server; it is shown once",
            New,
            new,
            writes=True,
            local=True,
            terminal=Terminal(raw=_text),
            examples=("kb token new ci --scope read", "kb token new --project apollo"),
        ),
        Operation(
            "tokens",
            "List the tokens, and what they may do",
            NoParameters,
            list_tokens,
            local=True,
            examples=("kb tokens",),
        ),
        Operation(
            "token revoke",
            "Take a token back; a running server refuses it at once",
            Revoke,
            revoke,
            writes=True,
            local=True,
            examples=("kb token revoke ci",),
        ),
    )
}
