"""Where in a server a base lies: postgresql://host/database?schema=team#name."""

import re
from typing import NamedTuple
from urllib.parse import unquote

from knowbase.errors import InvalidInput
from knowbase.store.location import split_url
from knowbase.store.postgres.connection import SCHEMA

DEFAULT_NAME = "default"
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
_OTHERS = ("public", "information_schema")


class Place(NamedTuple):
    """What a URL says."""

    database: str  # the URL as libpq takes it
    schema: str
    name: str


def place_in(url: str) -> Place:
    rest, name = split_url(url)
    database, schemas = _without_schema(rest)
    schema = schemas[-1] if schemas else SCHEMA
    if not _SCHEMA.fullmatch(schema) or schema in _OTHERS:
        raise InvalidInput(
            f"the schema cannot be called {schema[:40]!r}",
            field="base",
            hint="small letters, digits and _, such as ?schema=team; public is others'",
        )
    return Place(database, schema, unquote(name) or DEFAULT_NAME)


def _without_schema(url: str) -> tuple[str, list[str]]:
    """libpq knows no such parameter, so it is taken out; one in a password is left alone."""
    front, mark, query = url.rpartition("?")
    parameters = query.split("&") if mark and "@" not in query else []
    schemas = [unquote(one[len("schema=") :]) for one in parameters if one.startswith("schema=")]
    if not schemas:
        return url, []
    kept = "&".join(one for one in parameters if not one.startswith("schema="))
    return front + (f"?{kept}" if kept else ""), schemas
