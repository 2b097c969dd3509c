"""Resources: documents (kb://document/CODE, or CODE:slug for one section), saved searches, and the
documents of a tag or a project."""

from typing import TYPE_CHECKING

import mcp_types as types

from knowbase.errors import NotFound
from knowbase.mcp.links import (
    DOCUMENT,
    PROJECT,
    SAVED,
    TAG,
    listed_in,
    reference_in,
    saved_in,
    saved_uri,
    uri_of,
)
from knowbase.mcp.quoting import cleaned
from knowbase.mcp.shape import shaped
from knowbase.mcp.view import View
from knowbase.mcp.wording import found_text, text_of
from knowbase.operations.results import plain
from knowbase.values.documents import Page
from knowbase.values.visible import one_line, visible

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.search.saved import Saved
    from knowbase.values.documents import Document

PAGE = 50  # resources that are listed at once
PLAIN = ("code", "text", "pdf")  # types whose text is no Markdown


def link_to(code: str) -> types.ResourceLink:
    return types.ResourceLink(uri=uri_of(code), name=one_line(code))


TEMPLATES = [
    types.ResourceTemplate(
        uri_template=DOCUMENT + "{code}",
        name="document",
        description="A document by its code; with :slug behind it, one section",
    ),
    types.ResourceTemplate(
        uri_template=SAVED + "{name}",
        name="saved search",
        description="What a saved search finds now; ?place=value fills a place in",
    ),
    types.ResourceTemplate(
        uri_template=TAG + "{tag}", name="tag", description="The newest documents with a tag"
    ),
    types.ResourceTemplate(
        uri_template=PROJECT + "{project}",
        name="project",
        description="The newest documents of a project",
    ),
]


def listing(base: "Base", cursor: str | None) -> types.ListResourcesResult:
    """The saved searches, then the documents, the newest first."""
    start = View(cursor=cursor).start
    found = base.documents(page=Page(PAGE, start))
    following = start + len(found.documents)
    return types.ListResourcesResult(
        resources=[
            *([] if start else map(_saved_resource, base.saved.all().saved)),
            *map(_resource, found.documents),
        ],
        next_cursor=str(following) if following < found.total else None,
    )


def _resource(document: "Document") -> types.Resource:
    return types.Resource(
        uri=uri_of(document.code),
        name=one_line(document.code),
        title=one_line(document.title),
        mime_type=_mime_type(document),
        annotations=types.Annotations(last_modified=document.updated_at),
    )


def _saved_resource(saved: "Saved") -> types.Resource:
    places = "&".join(f"{one}=…" for one in saved.parameters)
    return types.Resource(
        uri=saved_uri(saved.name),
        name=saved.name,
        title=one_line(f"Saved search: {saved.query}"),
        description=f"needs ?{places}" if places else None,
        mime_type="text/markdown",
    )


def read(base: "Base", uri: str) -> types.ReadResourceResult:
    """The text that a URI stands for."""
    saved = saved_in(uri)
    if saved is not None:
        found = plain(base.saved.run(saved.name, saved.values))
        return _text(uri, "text/markdown", found_text(cleaned(found)))
    listed = listed_in(uri)
    if listed is not None:
        return _text(uri, "text/markdown", _listed(base, **listed))
    reference = reference_in(uri)
    if reference is None:
        raise NotFound(f"there is no resource {uri!r}", hint=f"such as {DOCUMENT}CODE")
    content = base.get(reference)
    return _text(uri, _mime_type(content.document), visible(content.text))


def _listed(base: "Base", tag: str | None = None, project: str | None = None) -> str:
    held = base.access.project
    if project is not None and held not in (None, project):
        raise NotFound(f"there is no project {project!r}")
    found = base.browse(tags=(tag,) if tag else (), project=project, page=Page(PAGE))
    return text_of("kb_list", shaped(found._replace(folders=()), "snippets"))


def _text(uri: str, mime_type: str, text: str) -> types.ReadResourceResult:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.ReadResourceResult(contents=[contents])


def _mime_type(document: "Document") -> str:
    return "text/plain" if document.type in PLAIN else "text/markdown"
