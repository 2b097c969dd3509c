"""How a document is named as a resource."""

from urllib.parse import quote, unquote

DOCUMENT = "kb://document/"


def uri_of(code: str) -> str:
    """The URI of the document with this code, or of a section: CODE:slug."""
    return DOCUMENT + quote(code, safe=":")


def reference_in(uri: str) -> str | None:
    """The document or section that a URI names."""
    return unquote(uri.removeprefix(DOCUMENT)) if uri.startswith(DOCUMENT) else None
