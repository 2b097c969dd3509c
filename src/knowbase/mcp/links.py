"""How documents and saved searches are named as resources."""

from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote

DOCUMENT = "kb://document/"
SAVED = "kb://saved/"
TAG = "kb://tag/"
PROJECT = "kb://project/"


class SavedCall(NamedTuple):
    """A saved search, and what is filled in."""

    name: str
    values: dict[str, str]


def uri_of(code: str) -> str:
    """The URI of the document with this code, or of a section: CODE:slug."""
    return DOCUMENT + quote(code, safe=":")


def reference_in(uri: str) -> str | None:
    """The document or section that a URI names."""
    return unquote(uri.removeprefix(DOCUMENT)) if uri.startswith(DOCUMENT) else None


def saved_uri(name: str) -> str:
    return SAVED + quote(name, safe="")


def saved_in(uri: str) -> SavedCall | None:
    """The saved search that a URI names: kb://saved/NAME?place=value."""
    if not uri.startswith(SAVED):
        return None
    name, _, values = uri.removeprefix(SAVED).partition("?")
    return SavedCall(unquote(name), dict(parse_qsl(values)))


def listed_in(uri: str) -> dict[str, str] | None:
    """The tag or the project whose documents a URI names."""
    for name, start in (("tag", TAG), ("project", PROJECT)):
        if uri.startswith(start) and len(uri) > len(start):
            return {name: unquote(uri.removeprefix(start))}
    return None
