"""Client: what can be asked of a base that a server serves."""

import os
from functools import cache
from typing import TYPE_CHECKING, Any, Self, cast

from knowbase.base import given
from knowbase.client.served import with_texts
from knowbase.client.typed import typed
from knowbase.client.wire import VARIABLE, Wire, is_server
from knowbase.errors import InvalidInput
from knowbase.operations import NAMES, load
from knowbase.operations.schema import result_type
from knowbase.search.answer import Answer
from knowbase.search.request import SearchRequest
from knowbase.values.arguments import checks_arguments
from knowbase.values.documents import Page
from knowbase.values.parameters import build, values_of

if TYPE_CHECKING:
    from typing import Unpack

    from knowbase.base.keywords import SearchKeywords, Texts
    from knowbase.base.status import Status
    from knowbase.ingest.removal import Removal
    from knowbase.memory.brief import Brief
    from knowbase.memory.sessions import DocumentContext
    from knowbase.memory.use import Feedback
    from knowbase.operations.declare import Operation
    from knowbase.search.plan import QueryPlan
    from knowbase.search.whynot import WhyNot
    from knowbase.text.sections import Content
    from knowbase.values.documents import Document, Listing
    from knowbase.values.notes import Note, Remembered

__all__ = ["Client", "connect", "is_server"]

PATIENCE = 120.0  # seconds; a server has its own bound, which is shorter


def connect(url: str, token: str | None = None, *, timeout: float = PATIENCE) -> "Client":
    """A base that is served at an address; the token is KB_TOKEN unless it is given."""
    return Client(url, token, timeout=timeout)


@checks_arguments
class Client:
    """A base at the other end of a network, as `Base` has it where the server lets it."""

    def __init__(self, url: str, token: str | None = None, *, timeout: float = PATIENCE) -> None:
        token = os.environ.get(VARIABLE, "") if token is None else token
        self._wire = Wire(url, token.strip(), timeout)

    @property
    def shown(self) -> str:
        """Where the base is served."""
        return self._wire.url

    def call(self, operation: str, /, **values: Any) -> Any:
        """Any operation by its name, with its parameters: call("related", reference="KB-1")."""
        declared = _operation(operation)
        return self.run(declared, build(declared.request, values))

    def run(self, operation: "Operation", request: Any) -> Any:
        """The result of a request that was built here."""
        if operation.local:
            raise InvalidInput(
                f"kb {operation.name} works on this machine: a server does not do it",
                field="base",
                hint="run it where the base is",
            )
        path = "/api/" + operation.name.replace(" ", "/")
        found = typed(_result_type(operation.name), self._wire.post(path, values_of(request)))
        if not isinstance(found, Answer):
            return found
        return with_texts(found, lambda section: self.get(section).text)

    def close(self) -> None:
        """Nothing stays open between calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # as a base has them

    def search(
        self, request: SearchRequest | str = "", **keywords: "Unpack[SearchKeywords]"
    ) -> "Answer":
        """Hits for a query, best first. A hit's `document` has what the answer says of it; its
        `text` is its section's, fetched at first use."""
        return cast("Answer", self.call("search", **_asked(request, keywords)))

    def plan(
        self, request: SearchRequest | str = "", **keywords: "Unpack[SearchKeywords]"
    ) -> "QueryPlan":
        """What a query means, and what would run."""
        return cast("QueryPlan", self.call("query", **_asked(request, keywords)))

    def why_not(
        self,
        reference: str,
        request: SearchRequest | str = "",
        **keywords: "Unpack[SearchKeywords]",
    ) -> "WhyNot":
        """Which stage of a search drops this document, or which place it has."""
        asked = _asked(request, keywords)
        return cast("WhyNot", self.call("why-not", reference=reference, **asked))

    def get(self, reference: str, as_of: str | None = None) -> "Content":
        """A document by code, id, number or path; `:slug` behind it names one section."""
        return cast("Content", self.call("get", reference=reference, as_of=as_of))

    def documents(  # noqa: PLR0913 - what can be asked for
        self,
        *,
        tags: "Texts" = (),
        types: "Texts" = (),
        where: "Texts" = (),
        path: str | None = None,
        project: str | None = None,
        include: "Texts" = (),
        page: Page = Page(),  # noqa: B008 - a value, never changed
    ) -> "Listing":
        """Documents, newest first."""
        asked = {
            "tags": tags,
            "type": types,
            "where": where,
            "path": path,
            "project": project,
            "include": include,
        }
        return cast("Listing", self.call("list", **asked, limit=page.limit, offset=page.offset))

    def tags(self) -> tuple[tuple[str, int], ...]:
        """Every tag and how many documents have it, most used first."""
        return tuple((one.tag, one.documents) for one in self.call("tags").tags)

    def status(self) -> "Status":
        return cast("Status", self.call("status"))

    def note(self, note: "Note | str") -> "Document":
        """Write a note; it is sectioned and embedded like a file."""
        return cast("Document", self.call("note", **_written(note, supersedes=False)))

    def remember(self, note: "Note | str") -> "Remembered":
        """Write a memory, unless its text is known; what says almost the same is told."""
        return cast("Remembered", self.call("remember", **_written(note)))

    def feedback(self, reference: str, verdict: str, session: str | None = None) -> "Feedback":
        """Whether a hit was good: a use that counts, once a session or a day."""
        values = {"hit": reference, "verdict": verdict, "session": session}
        return cast("Feedback", self.call("feedback", **values))

    def relate(
        self,
        source: str,
        target: str,
        relation: str = "RELATED_TO",
        *,
        by: str = "user",
        remove: bool = False,
    ) -> "DocumentContext":
        """Say what two documents have to do with each other, or that it is so no more."""
        values = {"source": source, "target": target, "relation": relation}
        return cast("DocumentContext", self.call("relate", **values, by=by, remove=remove))

    def brief(self, project: str | None = None, max_tokens: int = 2000) -> "Brief":
        """What is worth knowing before work starts, packed to a number of tokens."""
        return cast("Brief", self.call("brief", project=project, max_tokens=max_tokens))

    def expire(
        self,
        within: str | None = None,
        *,
        delete: bool = False,
        page: Page = Page(),  # noqa: B008 - a value, never changed
    ) -> "Listing | Removal":
        """What has expired or will; with `delete`, all that has is removed for good."""
        limit = min(page.offset + page.limit, MOST_LISTED)  # the operation takes no offset
        found = self.call("expire", within=within, delete=delete, limit=limit)
        if delete:
            return cast("Removal", found)
        return cast("Listing", found._replace(documents=found.documents[page.offset :]))

    def remove(self, references: "Texts", *, dry_run: bool = False) -> "Removal":
        """Remove documents, or a source with all its documents, from the base; never a file."""
        return cast("Removal", self.call("rm", references=references, dry_run=dry_run))


MOST_LISTED = 10_000  # as many as one answer lists


def _operation(name: str) -> "Operation":
    if name not in NAMES:
        raise InvalidInput(
            f"there is no operation {name!r}", field="operation", hint="kb help lists them"
        )
    return load(name)


@cache
def _result_type(name: str) -> Any:
    return result_type(load(name))


def _asked(request: SearchRequest | str, keywords: Any) -> dict[str, Any]:
    return values_of(given.search_request(request, keywords))


def _written(note: "Note | str", *, supersedes: bool = True) -> dict[str, Any]:
    """A note as the parameters of its operation."""
    from knowbase.values.notes import as_note

    note = as_note(note)
    values = {"text": note.text, "replace": note.replaces, **note.stated}
    if "expires_at" in values:
        values["expires"] = values.pop("expires_at")
    if supersedes:
        values |= {"supersede": note.supersedes, "session": note.session}
    return values
