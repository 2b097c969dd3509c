"""Which sources an `add` means: new ones, known ones, or a path inside a known one."""

import os
from collections.abc import Sequence

from knowbase.errors import InvalidInput, NotFound
from knowbase.ingest.pending import Scope
from knowbase.ingest.places import Home, closest, inside
from knowbase.values.files import Source
from knowbase.values.kinds import clean_tags


def scopes_for(
    paths: Sequence[str],
    wanted: Source,
    known: Sequence[Source],
    home: Home,
    untag: Sequence[str] = (),
) -> list[Scope]:
    """One scope a path, each with the tags and parents of `wanted`, and without the tags `untag`
    that were given to it before.

    Nothing is read when one of the paths does not exist.
    """
    if not paths:
        raise InvalidInput("name at least one file or folder", field="paths")
    for path in paths:
        if not os.path.exists(path):
            raise NotFound(f"there is no file or folder {path!r}", hint="check the path")
    scopes: dict[tuple[str, str | None], Scope] = {}
    tags = clean_tags(untag)
    for path in dict.fromkeys(map(home.stored, paths)):
        sources = [*known, *(scope.source for scope in scopes.values())]
        left = _untagged(path, tags, sources) if tags else sources
        scope = _scope(wanted._replace(path=path), left)
        if tags:  # files say their own tags again
            scope = scope._replace(reread=True)
        scopes[scope.source.path, scope.only] = scope
    whole = {source for source, only in scopes if only is None}
    return [scope for (source, only), scope in scopes.items() if not only or source not in whole]


def _untagged(path: str, tags: Sequence[str], known: Sequence[Source]) -> list[Source]:
    """The sources, this one without these tags that it gives its documents."""
    source = next((one for one in known if one.path == path), None)
    missing = [tag for tag in tags if source is None or tag not in source.tags]
    if source is None or missing:
        holder = closest(path, [one.path for one in known])
        giving = holder if holder and holder != path else None
        raise InvalidInput(
            f"{path} does not give its files the tag {missing[0]!r}",
            field="untag",
            hint=f"it lies in {giving}: kb add {giving} --untag …" if giving else "kb status",
        )
    left = tuple(tag for tag in source.tags if tag not in tags)
    return [one._replace(tags=left) if one is source else one for one in known]


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
