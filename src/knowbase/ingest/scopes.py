"""Which sources an `add` means: new ones, known ones, or a path inside a known one."""

import os
from collections.abc import Sequence

from knowbase.errors import InvalidInput, NotFound
from knowbase.ingest.pending import Scope
from knowbase.ingest.places import Home, inside
from knowbase.values.files import Source
from knowbase.values.kinds import clean_tags


def scopes_for(
    paths: Sequence[str], wanted: Source, known: Sequence[Source], home: Home
) -> list[Scope]:
    """One scope a path, each with the tags and parents of `wanted`.

    Nothing is read when one of the paths does not exist.
    """
    if not paths:
        raise InvalidInput("name at least one file or folder", field="paths")
    for path in paths:
        if not os.path.exists(path):
            raise NotFound(f"there is no file or folder {path!r}", hint="check the path")
    scopes: dict[tuple[str, str | None], Scope] = {}
    for path in dict.fromkeys(map(home.stored, paths)):
        found = [scope.source for scope in scopes.values()]
        scope = _scope(wanted._replace(path=path), [*known, *found])
        scopes[scope.source.path, scope.only] = scope
    whole = {source for source, only in scopes if only is None}
    return [scope for (source, only), scope in scopes.items() if not only or source not in whole]


def _scope(wanted: Source, known: Sequence[Source]) -> Scope:
    for source in known:
        if source.path == wanted.path:
            merged = Source(
                source.path,
                clean_tags((*source.tags, *wanted.tags)),
                wanted.parent or source.parent,
                wanted.tree or source.tree,
            )
            return Scope(merged, reread=merged != source, readmit=True)
    holders = [source for source in known if inside(wanted.path, source.path)]
    if holders and wanted == Source(wanted.path):
        closest = max(holders, key=lambda source: len(source.path))
        return Scope(closest, only=wanted.path, readmit=True)
    return Scope(wanted._replace(tags=clean_tags(wanted.tags)), readmit=True)
