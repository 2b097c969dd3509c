"""Operations of memory: remember, timeline, context, relations, feedback, the brief."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from knowbase.operations.declare import TEXT_KB, Operation, Terminal, as_it_was
from knowbase.search.request import AS_OF, INCLUDE
from knowbase.values.documents import FIELDS
from knowbase.values.edges import RELATIONS
from knowbase.values.parameters import Group, Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.memory.brief import Brief
    from knowbase.memory.sessions import DocumentContext, Timeline
    from knowbase.memory.use import Feedback
    from knowbase.values.fields import Field
    from knowbase.values.notes import Remembered

REFERENCE = Param("a code, id, number or path", positional=True, single=True, metavar="DOCUMENT")
SESSION = Param("the session that it happens in; made if need be", metavar="ID", grammar="session")
PROJECT = Param("of this project")


def stated_parameters() -> Mapping[str, Param]:
    """A parameter for each field of a document that a note may state."""
    stated = {name: _parameter(field) for name, field in FIELDS.items() if field.note}
    return {**stated, "code": stated["code"]._replace(grammar="code")}


def _parameter(field: "Field") -> Param:
    check = field.check
    metavars = {"tags": "TAG,TAG", "names": "NAME,NAME", "share": "SHARE", "code": "CODE"}
    metavar = metavars.get(field.kind)
    return Param(
        field.note,
        check.least,
        check.most,
        check.choices,
        metavar=metavar,
        type=check.type,
        grammar="types" if field.kind == "type" else "",
    )


class Remember(NamedTuple):
    text: Annotated[
        str, Param("the text; else standard input or $EDITOR", positional=True, grammar="text")
    ] = ""
    stated: Annotated[Mapping[str, Any], Group(stated_parameters)] = {}
    session: Annotated[str | None, SESSION] = None
    ttl: Annotated[
        str | None,
        Param("it expires after: 30min, 12h, 90d, 1y", metavar="TIME", grammar="duration"),
    ] = None
    expires: Annotated[
        str | None, Param("it expires on: 2026-12-31", metavar="DATE", grammar="ahead")
    ] = None
    supersede: Annotated[str | None, Param("the document whose place it takes", metavar="CODE")] = (
        None
    )
    replace: Annotated[str | None, Param("write it in place of this text", metavar="CODE")] = None


def remember(base: "Base", request: Remember) -> "Remembered":
    from knowbase.values.notes import Note

    note = Note(
        request.text,
        replaces=request.replace,
        supersedes=request.supersede,
        session=request.session,
        expires_at=_expiry(base, request.ttl, request.expires),
        **request.stated,
    )
    return base.remember(note)


def _expiry(base: "Base", ttl: str | None, expires: str | None) -> str | None:
    from knowbase.errors import Conflict, InvalidInput
    from knowbase.query.moments import ahead

    if ttl is not None and expires is not None:
        raise Conflict("ttl and expires say the same twice", field="ttl", hint="choose one")
    given = expires if ttl is None else ttl
    if given is None:
        return None
    moment = ahead(given, base.now())
    if moment is None or moment <= base.now():
        field, hint = "ttl", "such as 30min, 12h, 90d, 8w or 1y"
        if ttl is None:
            field, hint = "expires", "a day to come, such as 2030-12-31"
        refusal = InvalidInput if moment is None else Conflict  # it has passed already
        raise refusal(f"{field} cannot be {given!r}", field=field, hint=hint)
    return moment


class TimelineRequest(NamedTuple):
    anchor: Annotated[str, REFERENCE._replace(metavar="ANCHOR")]
    before: Annotated[int, Param("how many made before it", least=0, most=1000, metavar="N")] = 5
    after: Annotated[int, Param("how many made after it", least=0, most=1000, metavar="N")] = 5
    include: Annotated[tuple[str, ...], INCLUDE] = ()
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def timeline(base: "Base", request: TimelineRequest) -> "Timeline":
    return base.sessions.timeline(request.anchor, request.before, request.after, request.include)


class Reference(NamedTuple):
    reference: Annotated[str, REFERENCE]
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def context(base: "Base", request: Reference) -> "DocumentContext":
    return base.sessions.context(request.reference)


class Relate(NamedTuple):
    source: Annotated[str, REFERENCE._replace(metavar="SOURCE")]
    target: Annotated[str, REFERENCE._replace(metavar="TARGET")]
    relation: Annotated[str, Param("what they have to do with each other", choices=RELATIONS)] = (
        "RELATED_TO"
    )
    remove: Annotated[bool, Param("say that it is so no more")] = False
    by: Annotated[str, Param("who says so: user, or an agent's name", metavar="NAME")] = "user"


def relate(base: "Base", request: Relate) -> "DocumentContext":
    return base.relate(
        request.source, request.target, request.relation, by=request.by, remove=request.remove
    )


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
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def brief(base: "Base", request: BriefRequest) -> "Brief":
    found = base.brief(request.project, request.max_tokens)
    told = unknown_project(base, request.project) if request.project and not found.parts else ""
    return found._replace(notices=(told,)) if told else found


def unknown_project(base: "Base", project: str) -> str:
    """What is to be said of a project that no document has."""
    from knowbase.query.conditions import EVERYTHING
    from knowbase.query.named import unknown

    known = [name for name, _ in base.store.projects(EVERYTHING)]
    return "" if project in known else unknown("project", project, known)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "remember",
            "Remember a fact, decision or lesson, unless it is known already",
            Remember,
            remember,
            writes=True,
            most_kb=TEXT_KB,
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
