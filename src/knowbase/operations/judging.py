"""Operations on memories that wait for somebody: inbox, verdict."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.memory.inbox import GROUPS, Wanted
from knowbase.memory.judging import VERDICTS
from knowbase.operations.declare import TEXT_KB, Operation
from knowbase.values.documents import Page
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.memory.inbox import Inbox
    from knowbase.memory.judging import Judged


class InboxRequest(NamedTuple):
    project: Annotated[str | None, Param("only of this project", metavar="NAME")] = None
    since: Annotated[
        str | None,
        Param("made on or after: 2026-01-31, 7d", metavar="DATE", grammar="past"),
    ] = None
    group: Annotated[str | None, Param("only these", choices=GROUPS)] = None
    limit: Annotated[int, Param("how many", least=1, most=200, metavar="N", short="n")] = 20
    offset: Annotated[
        int, Param("how many to leave out first", least=0, most=10**9, metavar="N")
    ] = 0


def inbox(base: "Base", request: InboxRequest) -> "Inbox":
    from knowbase.errors import InvalidInput, NotFound
    from knowbase.operations.memory import unknown_project
    from knowbase.query.moments import span

    since = None
    if request.since is not None:
        found = span(request.since, base.now())
        if found is None:
            hint = "such as 7d, yesterday or 2026-01-31"
            raise InvalidInput(f"since cannot be {request.since!r}", field="since", hint=hint)
        since = found[0]
    if request.project is not None and (told := unknown_project(base, request.project)):
        raise NotFound(told, field="project")
    page = Page(request.limit, request.offset)
    return base.inbox(Wanted(request.project, since, request.group, page))


class VerdictRequest(NamedTuple):
    reference: Annotated[
        str, Param("a code, id, number or path", positional=True, metavar="DOCUMENT")
    ]
    verdict: Annotated[
        str, Param("what is to become of it", positional=True, choices=VERDICTS, metavar="VERDICT")
    ]
    other: Annotated[
        str | None,
        Param(
            "what it takes the place of, or is merged with",
            positional=True,
            single=True,
            metavar="OTHER",
        ),
    ] = None
    text: Annotated[str, Param("of merge: what both become; else the texts of both")] = ""


def verdict(base: "Base", request: VerdictRequest) -> "Judged":
    from knowbase.values.access import speaker

    return base.verdict(*request, by=speaker.get())


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "inbox",
            "List memories that nobody has decided on yet, and what each is like",
            InboxRequest,
            inbox,
            examples=("kb inbox", "kb inbox --group near_duplicate", "kb inbox --since 7d"),
        ),
        Operation(
            "verdict",
            "Decide on a memory: accept, forget, supersede, merge, later; undo takes it back",
            VerdictRequest,
            verdict,
            writes=True,
            most_kb=TEXT_KB,
            examples=(
                "kb verdict KB-12 accept",
                "kb verdict KB-12 supersede KB-7",
                "kb verdict KB-12 undo",
            ),
        ),
    )
}
