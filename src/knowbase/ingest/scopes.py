"""Which sources an `add` means: new ones, known ones, or a path inside a known one."""

import os
from collections.abc import Sequence

from knowbase.errors import InvalidInput, NotFound
from knowbase.ingest.drafts import clean_tags
from knowbase.ingest.places import Home, inside
from knowbase.ingest.plan import Scope
from knowbase.types import Source


def scopes_for(
    paths: Sequence[str], tags: Sequence[str], known: Sequence[Source], home: Home
) -> list[Scope]:
    """One scope a path; nothing is read when one of the paths does not exist."""
    if not paths:
        raise InvalidInput("name at least one file or folder", field="paths")
    for path in paths:
        if not os.path.exists(path):
            raise NotFound(f"there is no file or folder {path!r}", hint="check the path")
    scopes: dict[tuple[str, str | None], Scope] = {}
    for path in dict.fromkeys(map(home.stored, paths)):
        found = [scope.source for scope in scopes.values()]
        scope = _scope(path, clean_tags(tags), [*known, *found])
        scopes[scope.source.path, scope.only] = scope
    whole = {source for source, only in scopes if only is None}
    return [scope for (source, only), scope in scopes.items() if not only or source not in whole]


def _scope(path: str, tags: tuple[str, ...], known: Sequence[Source]) -> Scope:
    for source in known:
        if source.path == path:
            merged = tuple(dict.fromkeys((*source.tags, *tags)))
            return Scope(Source(path, merged), reread=merged != source.tags, readmit=True)
    holders = [source for source in known if inside(path, source.path)]
    if holders and not tags:
        return Scope(max(holders, key=lambda source: len(source.path)), only=path, readmit=True)
    return Scope(Source(path, tags), readmit=True)
