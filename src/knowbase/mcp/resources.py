"""Documents as resources: kb://document/CODE, and CODE:slug for one section."""

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import mcp_types as types

from knowbase.errors import InvalidInput, NotFound
from knowbase.store.values import Page

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.types import Document

DOCUMENT = "kb://document/"
PAGE = 50  # resources that are listed at once
PLAIN = ("code", "text", "pdf")  # types whose text is no Markdown


def uri_of(code: str) -> str:
    return DOCUMENT + quote(code, safe=":")


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
    start = _start(cursor)
    found = base.documents(page=Page(PAGE, start))
    following = start + len(found.documents)
    return types.ListResourcesResult(
        resources=[_resource(document) for document in found.documents],
        next_cursor=str(following) if following < found.total else None,
    )


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise InvalidInput("cursor is none of ours", field="cursor")
    return int(cursor)


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
    if not uri.startswith(DOCUMENT):
        raise NotFound(f"there is no resource {uri!r}", hint=f"such as {DOCUMENT}CODE")
    content = base.get(unquote(uri.removeprefix(DOCUMENT)))
    text = types.TextResourceContents(
        uri=uri, mime_type=_mime_type(content.document), text=content.text
    )
    return types.ReadResourceResult(contents=[text])


def _mime_type(document: "Document") -> str:
    return "text/plain" if document.type in PLAIN else "text/markdown"
