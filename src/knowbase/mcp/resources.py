"""Documents as resources: kb://document/CODE, and CODE:slug for one section."""

from typing import TYPE_CHECKING

import mcp_types as types

from knowbase.errors import NotFound
from knowbase.mcp.links import DOCUMENT, reference_in, uri_of
from knowbase.mcp.view import View
from knowbase.store.values import Page

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.types import Document

PAGE = 50  # resources that are listed at once
PLAIN = ("code", "text", "pdf")  # types whose text is no Markdown


def link_to(code: str) -> types.ResourceLink:
    return types.ResourceLink(uri=uri_of(code), name=code)


TEMPLATES = [
    types.ResourceTemplate(
        uri_template=DOCUMENT + "{code}",
        name="document",
        description="A document by its code; with :slug behind it, one section",
    )
]


def listing(base: "Base", cursor: str | None) -> types.ListResourcesResult:
    """The documents, the newest first."""
    start = View(cursor=cursor).start
    found = base.documents(page=Page(PAGE, start))
    following = start + len(found.documents)
    return types.ListResourcesResult(
        resources=[_resource(document) for document in found.documents],
        next_cursor=str(following) if following < found.total else None,
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
    reference = reference_in(uri)
    if reference is None:
        raise NotFound(f"there is no resource {uri!r}", hint=f"such as {DOCUMENT}CODE")
    content = base.get(reference)
    text = types.TextResourceContents(
        uri=uri, mime_type=_mime_type(content.document), text=content.text
    )
    return types.ReadResourceResult(contents=[text])


def _mime_type(document: "Document") -> str:
    return "text/plain" if document.type in PLAIN else "text/markdown"
