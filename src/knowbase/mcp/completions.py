"""Completions: codes, tags, projects, saved searches and folders that begin as what is typed."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import mcp_types as types

from knowbase.query.conditions import Visible

if TYPE_CHECKING:
    from knowbase.base import Base

MOST = 100  # values that the protocol lets an answer have


def complete(base: "Base", params: types.CompleteRequestParams) -> types.CompleteResult:
    """The values of an argument; none for an argument that anything can be."""
    known = _VALUES.get(params.argument.name)
    typed = params.argument.value.casefold()
    values = list(known(base)) if known and _is_ours(params.ref) else []
    near = [one for one in values if one.casefold().startswith(typed)]
    known_near = set(near)
    near += [one for one in values if typed in one.casefold() and one not in known_near]
    return types.CompleteResult(
        completion=types.Completion(values=near[:MOST], total=len(near), has_more=len(near) > MOST)
    )


def _is_ours(ref: Any) -> bool:
    from knowbase.mcp.prompts import listing
    from knowbase.mcp.resources import TEMPLATES

    if isinstance(ref, types.PromptReference):
        return ref.name in {prompt.name for prompt in listing().prompts}
    return ref.uri in {template.uri_template for template in TEMPLATES}


def _codes(base: "Base") -> Iterable[str]:
    return base.store.codes()


def _tags(base: "Base") -> Iterable[str]:
    return (tag for tag, _ in base.tags())


def _projects(base: "Base") -> Iterable[str]:
    return (project for project, _ in base.store.projects(Visible(base.now())) if project)


def _saved(base: "Base") -> Iterable[str]:
    return (saved.name for saved in base.saved.all().saved)


_VALUES: Mapping[str, "Callable[[Base], Iterable[str]]"] = {
    "code": _codes,
    "tag": _tags,
    "project": _projects,
    "name": _saved,
}
