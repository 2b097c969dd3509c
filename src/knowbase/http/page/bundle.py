"""The files of the page, as they were built: their names have their content's hash."""

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

PREFIX = "/ui/"
FOREVER = "public, max-age=31536000, immutable"  # another content has another name
_KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}


class Built(NamedTuple):
    """One file."""

    content: bytes
    media_type: str


@cache
def built() -> dict[str, Built]:
    """Every file by its name; the manifest is for us alone."""
    found = {}
    for one in files(__package__).joinpath("ui").iterdir():
        kind = _KINDS.get(one.name.rpartition(".")[2])
        if kind is not None:
            found[one.name] = Built(one.read_bytes(), kind)
    return found


@cache
def _manifest() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(files(__package__).joinpath("ui/manifest.json").read_bytes())
    return told


def address(name: str) -> str:
    """Where the file lies that the manifest calls so: app, style, icon."""
    return PREFIX + str(_manifest()[name])


def needed() -> list[str]:
    """The files that the script cannot start without."""
    return [PREFIX + str(name) for name in _manifest()["needed"]]
