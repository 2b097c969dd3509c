"""Operations of memory: remember, what becomes of documents, sessions, time, feedback."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import Operation, Param, Terminal
from knowbase.operations.search import INCLUDE
from knowbase.values.documents import SCOPES, SECTORS, TIERS
from knowbase.values.edges import RELATIONS

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.memory.brief import Brief
    from knowbase.memory.sessions import DocumentContext, Timeline
    from knowbase.memory.use import Feedback
    from knowbase.values.notes import Remembered

REFERENCE = Param("a code, id, number or path", positional=True, single=True, metavar="DOCUMENT")
SESSION = Param("the session that it happens in; made if need be", metavar="ID")
PROJECT = Param("of this project")


class Remember(NamedTuple):
    text: Annotated[str, Param("the text; else standard input or $EDITOR", positional=True)] = ""
    type: Annotated[str | None, Param("fact (the default), decision, lesson, summary …")] = None
    title: Annotated[str | None, Param("its title; else the first line")] = None
    tags: Annotated[tuple[str, ...], Param("its tags", metavar="TAG,TAG")] = ()
    project: Annotated[str | None, Param("the project that it belongs to")] = None
    scope: Annotated[
        str | None, Param("whom it concerns; else project if it has one", choices=SCOPES)
    ] = None
    sector: Annotated[str | None, Param("the kind of memory", choices=SECTORS)] = None
    tier: Annotated[str | None, Param("how long it matters", choices=TIERS)] = None
    roles: Annotated[tuple[str, ...], Param("for whom it is meant", metavar="ROLE,ROLE")] = ()
    session: Annotated[str | None, SESSION] = None
    ttl: Annotated[str | None, Param("it expires after: 30min, 12h, 90d, 1y", metavar="TIME")] = (
        None
    )
    expires: Annotated[str | None, Param("it expires on: 2026-12-31", metavar="DATE")] = None
    confidence: Annotated[float | None, Param("how sure it is", least=0, most=1)] = None
    salience: Annotated[float | None, Param("how much it matters", least=0, most=1)] = None
    code: Annotated[str | None, Param("a short code of its own")] = None
    parent: Annotated[str | None, Param("the document it lies under", metavar="CODE")] = None
    supersede: Annotated[str | None, Param("the document whose place it takes", metavar="CODE")] = (
        None
    )
    replace: Annotated[str | None, Param("write it in place of this text", metavar="CODE")] = None


def remember(base: "Base", request: Remember) -> "Remembered":
    from knowbase.values.notes import Note

    given = request._asdict()
    expires_at = _expiry(base, given.pop("ttl"), given.pop("expires"))
    names = {"replace": "replaces", "supersede": "supersedes"}
    fields = {names.get(name, name): value for name, value in given.items()}
    return base.remember(Note(**fields, expires_at=expires_at))


def _expiry(base: "Base", ttl: str | None, expires: str | None) -> str | None:
    from knowbase.errors import InvalidInput
    from knowbase.query.moments import ahead

    if ttl is not None and expires is not None:
        raise InvalidInput("ttl and expires say the same twice", field="ttl", hint="choose one")
    given = expires if ttl is None else ttl
    if given is None:
        return None
    moment = ahead(given, base.now())
    if moment is None or moment <= base.now():
        field, hint = "ttl", "such as 30min, 12h, 90d, 8w or 1y"
        if ttl is None:
            field, hint = "expires", "a day to come, such as 2030-12-31"
        raise InvalidInput(f"{field} cannot be {given!r}", field=field, hint=hint)
    return moment


class TimelineRequest(NamedTuple):
    anchor: Annotated[str, REFERENCE._replace(metavar="ANCHOR")]
    before: Annotated[int, Param("how many made before it", least=0, most=1000, metavar="N")] = 5
    after: Annotated[int, Param("how many made after it", least=0, most=1000, metavar="N")] = 5
    include: Annotated[tuple[str, ...], INCLUDE] = ()


def timeline(base: "Base", request: TimelineRequest) -> "Timeline":
    return base.sessions.timeline(*request)


class Reference(NamedTuple):
    reference: Annotated[str, REFERENCE]


def context(base: "Base", request: Reference) -> "DocumentContext":
    return base.sessions.context(request.reference)


class Relate(NamedTuple):
    source: Annotated[str, REFERENCE._replace(metavar="SOURCE")]
    target: Annotated[str, REFERENCE._replace(metavar="TARGET")]
    relation: Annotated[str, Param("what they have to do with each other", choices=RELATIONS)] = (
        "RELATED_TO"
    )
    remove: Annotated[bool, Param("say that it is so no more")] = False


def relate(base: "Base", request: Relate) -> "DocumentContext":
    return base.relate(request.source, request.target, request.relation, remove=request.remove)


class FeedbackRequest(NamedTuple):
    hit: Annotated[str, Param("a hit: its code, section or id", positional=True, metavar="HIT")]
    verdict: Annotated[
        str,
        Param(
            "whether it was what you needed",
            choices=("good", "bad"),
            positional=True,
            single=True,
            metavar="VERDICT",
        ),
    ]
    session: Annotated[str | None, SESSION] = None


def feedback(base: "Base", request: FeedbackRequest) -> "Feedback":
    return base.feedback(request.hit, request.verdict, request.session)


class BriefRequest(NamedTuple):
    project: Annotated[str | None, PROJECT] = None
    max_tokens: Annotated[int, Param("how long it may be", least=50, most=100_000, metavar="N")] = (
        2000
    )


def brief(base: "Base", request: BriefRequest) -> "Brief":
    return base.brief(request.project, request.max_tokens)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "remember",
            "Remember a fact, decision or lesson, unless it is known already",
            Remember,
            remember,
            writes=True,
            terminal=Terminal(input_field="text"),
            examples=(
                'kb remember "We use React with TypeScript" --type decision --project web',
                'kb remember "Staging is down until Friday" --ttl 3d --session s1',
                'kb remember "We use Svelte" --type decision --project web --supersede KB-7',
            ),
        ),
        Operation(
            "timeline",
            "Show what was made in the same project before and after a document",
            TimelineRequest,
            timeline,
            examples=("kb timeline KB-7 --before 5 --after 5",),
        ),
        Operation(
            "context",
            "Show a document's sessions and relations",
            Reference,
            context,
            examples=("kb context KB-7",),
        ),
        Operation(
            "relate",
            "Say that two documents have to do with each other",
            Relate,
            relate,
            writes=True,
            examples=("kb relate KB-7 KB-9", "kb relate KB-7 KB-9 --remove"),
        ),
        Operation(
            "feedback",
            "Say whether a hit was good; it counts once a session or a day",
            FeedbackRequest,
            feedback,
            writes=True,
            examples=("kb feedback KB-7 good", "kb feedback KB-9 bad --session s1"),
        ),
        Operation(
            "brief",
            "Tell what is worth knowing before work starts, within a number of tokens",
            BriefRequest,
            brief,
            examples=("kb brief --project web --max-tokens 2000",),
        ),
    )
}
