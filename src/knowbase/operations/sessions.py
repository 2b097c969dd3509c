"""Operations on sessions: list, start, end, show."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import TEXT_KB, Operation
from knowbase.values.documents import Page
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.memory.sessions import SessionList, SessionView
    from knowbase.values.sessions import Session


class SessionsRequest(NamedTuple):
    project: Annotated[str | None, Param("only of this project")] = None
    limit: Annotated[int, Param("how many", least=1, most=10_000, metavar="N", short="n")] = 20


def sessions(base: "Base", request: SessionsRequest) -> "SessionList":
    return base.sessions.recent(request.project, Page(request.limit))


class Start(NamedTuple):
    session: Annotated[
        str | None, Param("its name; else one is made up", positional=True, grammar="session")
    ] = None
    project: Annotated[str | None, Param("the project that it is about")] = None


def start(base: "Base", request: Start) -> "Session":
    return base.sessions.start(request.session, request.project)


class End(NamedTuple):
    session: Annotated[str, Param("its name", positional=True, grammar="session")]
    summary: Annotated[str | None, Param("what came of it", metavar="TEXT")] = None


def end(base: "Base", request: End) -> "Session":
    return base.sessions.end(request.session, request.summary)


class Show(NamedTuple):
    session: Annotated[str, Param("its name", positional=True, grammar="session")]


def show(base: "Base", request: Show) -> "SessionView":
    return base.sessions.show(request.session)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "sessions",
            "List sessions, the last started first",
            SessionsRequest,
            sessions,
            examples=("kb sessions --project web",),
        ),
        Operation(
            "session start",
            "Start a session, in which documents are made and recalled",
            Start,
            start,
            writes=True,
            examples=("kb session start --project web", "kb session start s1"),
        ),
        Operation(
            "session end",
            "End a session, and say what came of it",
            End,
            end,
            writes=True,
            most_kb=TEXT_KB,
            examples=('kb session end s1 --summary "Chose React; deploys wait for CI"',),
        ),
        Operation(
            "session show",
            "Show what was made and used in a session",
            Show,
            show,
            examples=("kb session show s1",),
        ),
    )
}
