"""Operations that read: get, list, tags, status."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import NoParameters, Operation, Terminal, as_it_was
from knowbase.search.request import AS_OF, INCLUDE, TAGS, TYPE, WHERE, filter_parameters
from knowbase.values.documents import Page
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.base.status import Status
    from knowbase.text.sections import Content
    from knowbase.values.documents import Listing


MOST_VALUES = 8  # of a list
UNTOLD = (
    "fingerprint",
    "etag",
    "last_modified_header",
    "history_of",
)  # what programs alone need of metadata
LONGEST_VALUE = 80  # characters of front matter that are shown beside a text


class Get(NamedTuple):
    reference: Annotated[
        str, Param("a code, id, number or path; :slug behind it for one section", positional=True)
    ]
    as_of: Annotated[str | None, AS_OF] = None


def get(base: "Base", request: Get) -> "Content":
    return base.get(request.reference, request.as_of)


def _text(content: "Content") -> str:
    return content.text


def _aside(content: "Content") -> str:
    """What its front matter says besides, and what has taken its place."""
    metadata = content.document.metadata
    told = [f"{key}: {_short(value)}" for key, value in metadata.items() if key not in UNTOLD]
    if content.current:
        told.append(f"{content.document.code} is superseded by {content.current}")
    return " · ".join(told)


def _short(value: object) -> str:
    if isinstance(value, list):
        more = f" … ({len(value)})" if len(value) > MOST_VALUES else ""
        return ", ".join(map(_short, value[:MOST_VALUES])) + more
    text = _written(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def _written(value: object) -> str:
    """As YAML has it on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_written(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return " ".join(str(value).split())


class List(NamedTuple):
    tags: Annotated[tuple[str, ...], TAGS] = ()
    type: Annotated[tuple[str, ...], TYPE] = ()
    where: Annotated[tuple[str, ...], WHERE] = ()
    path: Annotated[str | None, filter_parameters()["path"]] = None
    project: Annotated[str | None, Param("only of this project", metavar="NAME")] = None
    include: Annotated[tuple[str, ...], INCLUDE] = ()
    limit: Annotated[int, Param("how many", least=1, most=10_000, metavar="N", short="n")] = 50
    offset: Annotated[
        int, Param("how many to leave out first", least=0, most=10**9, metavar="N")
    ] = 0
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def list_documents(base: "Base", request: List) -> "Listing":
    return base.documents(
        tags=request.tags,
        types=request.type,
        where=request.where,
        path=request.path,
        project=request.project,
        include=request.include,
        page=Page(request.limit, request.offset),
    )


class TagCount(NamedTuple):
    tag: str
    documents: int


class Tags(NamedTuple):
    tags: tuple[TagCount, ...]


class TagsRequest(NamedTuple):
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def tags(base: "Base", _: TagsRequest) -> Tags:
    return Tags(tuple(TagCount(*pair) for pair in base.tags()))


def status(base: "Base", _: NoParameters) -> "Status":
    return base.status()


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "get",
            "Show a document, or one section of it",
            Get,
            get,
            terminal=Terminal(raw=_text, aside=_aside),
            examples=(
                "kb get KB-12",
                "kb get docs/deploy.md:rollback",
                "kb get KB-12@'last friday'",
            ),
        ),
        Operation(
            "list",
            "List documents, newest first",
            List,
            list_documents,
            examples=(
                "kb list --type note --tags ops",
                "kb list --path docs/ --limit 10",
                "kb list --as-of 'last friday' --project web",
            ),
        ),
        Operation(
            "tags",
            "List tags and how many documents have them",
            TagsRequest,
            tags,
            examples=("kb tags", "kb tags --as-of 2026-03-01 --json"),
        ),
        Operation(
            "status",
            "Show what the base holds and what could not be read",
            NoParameters,
            status,
            whole=True,
            examples=("kb status", "kb status --base ~/notes.db"),
        ),
    )
}
