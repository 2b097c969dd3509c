"""What may stand where somebody types: the types, tags, profiles and documents of a base.

Shells ask for it (`kb completion values KIND TYPED`): whatever is wrong, they get nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from knowbase.values.parameters import Parameter

if TYPE_CHECKING:
    from knowbase.base import Base

MOST = 200
_BY_NAME = {
    "type": "type", "tags": "tag", "untag": "tag", "add": "tag", "remove": "tag",
    "profile": "profile", "project": "project", "reference": "code", "references": "code",
    "source": "code", "target": "code", "old": "code", "new": "code", "anchor": "code",
    "parent": "code", "under": "code", "children": "code", "replace": "code", "supersede": "code",
}  # fmt: skip
_BY_COMMAND = {("saved run", "name"): "saved", ("saved rm", "name"): "saved"}


def kind_of(command: str, field: Parameter) -> str | None:
    """What a base can offer for a parameter."""
    if field.kind is bool or field.param.choices:
        return None
    return _BY_COMMAND.get((command, field.name), _BY_NAME.get(field.name))


def values(arguments: Sequence[str]) -> str:
    """A line each: what `values [--base PLACE] KIND TYPED` may become."""
    rest = list(arguments)
    place = None
    if rest[:1] == ["--base"]:
        place, rest = next(iter(rest[1:]), None), rest[2:]
    kind, typed = (*rest, "", "")[:2]
    try:
        from knowbase.base import open as open_base

        with open_base(place) as base:
            return "\n".join(_fitting(kind, typed, base))
    except Exception:
        return ""


def _fitting(kind: str, typed: str, base: "Base") -> Iterable[str]:
    """Those that begin so; of a list, what stands before the last comma stays."""
    before, comma, start = typed.rpartition(",") if kind in ("type", "tag") else ("", "", typed)
    folded = start.casefold()
    found = (one for one in _KINDS[kind](base, start) if one.casefold().startswith(folded))
    said = set(before.split(","))
    shown = [one for one in dict.fromkeys(found) if one.isprintable() and one not in said][:MOST]
    return (before + comma + one for one in shown)


def _types(base: "Base", _: str) -> Iterable[str]:
    return (*base.store.counts().types, *base.types)


def _tags(base: "Base", _: str) -> Iterable[str]:
    return (tag for tag, _ in base.tags())


def _profiles(base: "Base", _: str) -> Iterable[str]:
    return base.profiles()


def _projects(base: "Base", _: str) -> Iterable[str]:
    from knowbase.query.conditions import Visible

    return (name for name, _ in base.store.projects(Visible(base.now())))


def _saved(base: "Base", _: str) -> Iterable[str]:
    return (one.name for one in base.saved.all().saved)


def _codes(base: "Base", typed: str) -> Iterable[str]:
    """Codes, and the names of files that begin so and that one alone has."""
    yield from base.store.codes()
    if not typed or "/" in typed or set(typed) & set("*?[\\"):
        return
    from knowbase.query.conditions import FORGOTTEN, InPath, Not, both
    from knowbase.text.paths import path_pattern
    from knowbase.values.documents import Page

    pattern = path_pattern(f"{typed}*")
    if pattern is not None:
        found = base.store.documents(both(Not(FORGOTTEN), InPath(pattern)), Page(MOST))
        names = Counter((one.path or "").rpartition("/")[2] for one in found)
        yield from (name for name, number in names.items() if number == 1)


_KINDS: dict[str, Callable[["Base", str], Iterable[str]]] = {
    "type": _types,
    "tag": _tags,
    "profile": _profiles,
    "project": _projects,
    "saved": _saved,
    "code": _codes,
}
