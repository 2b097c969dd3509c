"""How documents and saved searches are named as resources."""

from urllib.parse import quote, unquote

DOCUMENT = "kb://document/"
SAVED = "kb://saved/"


def uri_of(code: str) -> str:
    """The URI of the document with this code, or of a section: CODE:slug."""
    return DOCUMENT + quote(code, safe=":")


def uri_of_saved(name: str) -> str:
    """The URI of the answer to a saved search."""
    return SAVED + quote(name)


def named_in(uri: str, kind: str) -> str | None:
    """What a URI of this kind names."""
    return unquote(uri.removeprefix(kind)) if uri.startswith(kind) else None
