"""Resources: kb://document/CODE, CODE:slug for one section; kb://saved/NAME, what it finds now."""

import json
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import mcp_types as types

from knowbase.errors import NotFound
from knowbase.mcp.links import DOCUMENT, SAVED, named_in, uri_of, uri_of_saved
from knowbase.mcp.view import View
from knowbase.operations.results import plain
from knowbase.store.values import Page

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.saved import Saved
    from knowbase.types import Document

PAGE = 50  # resources that are listed at once
PLAIN = ("code", "text", "pdf")  # types whose text is no Markdown
JSON = "application/json"


def link_to(code: str) -> types.ResourceLink:
    return types.ResourceLink(uri=uri_of(code), name=code)


TEMPLATES = [
    types.ResourceTemplate(
        uri_template=DOCUMENT + "{code}",
        name="document",
        description="A document by its code; with :slug behind it, one section",
    ),
    types.ResourceTemplate(
        uri_template=SAVED + "{name}{?values*}",
        name="saved search",
        description="What a saved search finds now; its places are filled in by ?place=value",
    ),
]


def listing(base: "Base", cursor: str | None) -> types.ListResourcesResult:
    """The saved searches, then the documents, the newest first."""
    start = View(cursor=cursor).start
    found = base.documents(page=Page(PAGE, start))
    following = start + len(found.documents)
    saved = [] if start else [_search(one) for one in base.saved.all().saved]
    return types.ListResourcesResult(
        resources=[*saved, *map(_resource, found.documents)],
        next_cursor=str(following) if following < found.total else None,
    )


def _search(saved: "Saved") -> types.Resource:
    places = f" (fill in: {', '.join(saved.parameters)})" if saved.parameters else ""
    return types.Resource(
        uri=uri_of_saved(saved.name),
        name=saved.name,
        title=f"Saved search {saved.name}",
        description=f"{saved.query}{places}",
        mime_type=JSON,
    )


def _resource(document: "Document") -> types.Resource:
    return types.Resource(
        uri=uri_of(document.code),
        name=document.code,
        title=document.title,
        mime_type=_mime_type(document),
        annotations=types.Annotations(last_modified=document.updated_at),
    )


def read(base: "Base", uri: str) -> types.ReadResourceResult:
    """The text that a URI stands for."""
    reference, saved = named_in(uri, DOCUMENT), named_in(uri.partition("?")[0], SAVED)
    if reference is not None:
        content = base.get(reference)
        text, kind = content.text, _mime_type(content.document)
    elif saved is not None:
        answer = base.saved.run(saved, dict(parse_qsl(uri.partition("?")[2])))
        text, kind = json.dumps(plain(answer), ensure_ascii=False), JSON
    else:
        raise NotFound(f"there is no resource {uri!r}", hint=f"{DOCUMENT}CODE or {SAVED}NAME")
    contents = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    return types.ReadResourceResult(contents=[contents])


def _mime_type(document: "Document") -> str:
    return "text/plain" if document.type in PLAIN else "text/markdown"
