"""Commands about tokens: made, listed, revoked; served to this machine alone, too."""

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.errors import Conflict, InvalidInput, NotFound
from knowbase.operations.declare import NoParameters, Operation, Terminal
from knowbase.values.access import TOKEN_SCOPES
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.http.tokens import Token


class New(NamedTuple):
    name: Annotated[
        str,
        Param(
            "what to call it; else token-1, token-2 …",
            positional=True,
            single=True,
            grammar="line",
            blank=True,
        ),
    ] = ""
    scope: Annotated[str, Param("what it may do", choices=TOKEN_SCOPES)] = "write"
    project: Annotated[str | None, Param("hold it to this project", grammar="line")] = None


class NewToken(NamedTuple):
    """A token: this is the only time that it is shown."""

    name: str
    scope: str
    project: str | None
    token: str
    file: str


def new(base: "Base", request: New) -> NewToken:
    from knowbase.http import tokens

    given = {"name": request.name.strip() or None, "project": request.project}
    for field, text in given.items():
        if text is not None and (not text.strip() or not text.isprintable()):
            raise InvalidInput(f"{field} cannot be {text!r}", field=field, hint="a line of text")
    path, token = tokens.tokens_file(base, os.environ), tokens.made()
    kept = tokens.Token("", tokens.hashed(token), request.scope, request.project, base.now())

    def with_it(known: "tuple[Token, ...]") -> "tuple[Token, ...]":
        nonlocal kept
        kept = kept._replace(name=_name(request.name.strip(), {one.name for one in known}))
        return (*known, kept)

    tokens.change(path, with_it)
    return NewToken(kept.name, request.scope, request.project, token, path)


def _text(made: NewToken) -> str:
    """TOKEN=$(kb token new)."""
    return made.token + "\n"


def _name(wanted: str, taken: set[str]) -> str:
    if wanted in taken:
        raise Conflict(
            f"there is a token {wanted!r} already", field="name", hint="take another name"
        )
    free = (f"token-{number}" for number in range(1, len(taken) + 2))
    return wanted or next(name for name in free if name not in taken)


class TokenLine(NamedTuple):
    name: str
    scope: str
    project: str | None
    created_at: str
    last_used_at: str | None  # as a server told it: to the minute


class TokenList(NamedTuple):
    tokens: tuple[TokenLine, ...]
    file: str


def list_tokens(base: "Base", _: NoParameters) -> TokenList:
    from knowbase.http import tokens, uses

    path = tokens.tokens_file(base, os.environ)
    used = uses.read(os.path.realpath(path))
    lines = (
        TokenLine(
            one.name, one.scope, one.project, one.created_at, used.get(one.sha256[: uses.KEPT])
        )
        for one in tokens.read(path)
    )
    return TokenList(tuple(lines), path)


class Revoke(NamedTuple):
    name: Annotated[str, Param("its name; see kb token list", positional=True, single=True)]


def revoke(base: "Base", request: Revoke) -> TokenList:
    from knowbase.http import tokens

    def without_it(known: "tuple[Token, ...]") -> "tuple[Token, ...]":
        kept = tuple(token for token in known if token.name != request.name)
        if len(kept) == len(known):
            raise NotFound(
                f"there is no token {request.name!r}", field="name", hint="see: kb token list"
            )
        return kept

    tokens.change(tokens.tokens_file(base, os.environ), without_it)
    return list_tokens(base, NoParameters())


COMMANDS = {
    command.name: command
    for command in (
        Operation(
            "token new",
            "Make a token for those who ask the server; it is shown once",
            New,
            new,
            writes=True,
            local=True,
            near=True,
            whole=True,
            terminal=Terminal(raw=_text),
            examples=("kb token new ci --scope read", "kb token new --project apollo"),
        ),
        *(
            Operation(
                name,
                "List the tokens: what they may do, when they were made and last used",
                NoParameters,
                list_tokens,
                local=True,
                near=name == "token list",
                whole=True,
                examples=(f"kb {name}",),
            )
            for name in ("token list", "tokens")
        ),
        Operation(
            "token revoke",
            "Take a token back; a running server refuses it at once",
            Revoke,
            revoke,
            writes=True,
            local=True,
            near=True,
            whole=True,
            examples=("kb token revoke ci",),
        ),
    )
}
