"""`search` and `fetch`: the pair of tools that ChatGPT's connectors and deep research ask for.

Their names, arguments and results are as OpenAI describes them; underneath they are the search and
the reading of everybody else.
"""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.mcp.links import uri_of
from knowbase.operations.declare import Operation
from knowbase.search.request import SearchRequest
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base

MOST_FOUND = 10
LONGEST = 400_000  # letters of a document that is fetched


class Query(NamedTuple):
    query: Annotated[str, Param("what to look for, in plain words")]


class Found(NamedTuple):
    id: str
    title: str
    url: str


class FoundAll(NamedTuple):
    results: tuple[Found, ...]


def search(base: "Base", request: Query) -> FoundAll:
    asked = SearchRequest(request.query, syntax="plain", top=MOST_FOUND, unit="document")
    hits = base.search(asked).hits if request.query.strip() else ()
    return FoundAll(tuple(Found(hit.code, hit.title, uri_of(hit.code)) for hit in hits))


class Fetch(NamedTuple):
    id: Annotated[str, Param("id of a search result")]


class Fetched(NamedTuple):
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


def fetch(base: "Base", request: Fetch) -> Fetched:
    content = base.get(request.id)
    document = content.document
    stated = {"type": document.type, "path": document.path, "project": document.project}
    told = {name: value for name, value in stated.items() if value}
    told |= {"updated_at": document.updated_at, "tags": ", ".join(document.tags)}
    text = content.text
    if len(text) > LONGEST:
        told |= {
            "cut": f"{len(text) - LONGEST} letters more; fetch a section: {document.code}:slug"
        }
    url = uri_of(document.code)
    return Fetched(document.code, document.title, text[:LONGEST], url, told)


CONNECTORS = {
    operation.name: operation
    for operation in (
        Operation("search", "Find documents of the knowledge base.", Query, search),
        Operation("fetch", "Read a document that search found, whole.", Fetch, fetch),
    )
}
