"""The tags, projects, paths and keys that are asked for, and what to say of those that no
document has."""

from collections.abc import Collection, Iterator

from knowbase.query.conditions import AllOf, AnyOf, Compare, Condition, InPath, Meta, Not, Tagged

MOST_NAMED = 5


def named(condition: Condition) -> Iterator[tuple[str, str]]:
    """("tag", "project", "path" or "key", name), each time that it is asked for; what is excluded
    is not, but for keys: `status!=done` of a key that nobody has is a mistake as well."""
    if isinstance(condition, AllOf | AnyOf):
        for part in condition.parts:
            yield from named(part)
    elif isinstance(condition, Tagged):
        yield from (("tag", tag) for tag in condition.tags)
    elif isinstance(condition, Compare) and _is_project(condition):
        yield "project", str(condition.value)
    elif isinstance(condition, InPath):
        yield "path", str(condition.pattern)
    elif isinstance(condition, Meta):
        yield "key", condition.key
    elif isinstance(condition, Not):
        yield from (one for one in named(condition.part) if one[0] == "key")


def _is_project(condition: Compare) -> bool:
    return condition.field == "project" and condition.operator == "="


def unknown(kind: str, name: str, known: Collection[str]) -> str:
    """That no document has it, and what is spelled like it; else some that there are."""
    from difflib import get_close_matches

    by_folded = {one.casefold(): one for one in reversed(list(known))}
    near = get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    hint = f"there is no {kind} yet"
    if near:
        hint = f"did you mean {', '.join(by_folded[one] for one in near)}?"
    elif known:
        hint = f"there is {', '.join(list(known)[:MOST_NAMED])}"
        hint += ", …" if len(known) > MOST_NAMED else ""
    if kind == "key":
        return f"no document has the key {name[:64]!r} in its front matter ({hint})"
    return f"no document has the {kind} {name[:64]!r} ({hint})"
