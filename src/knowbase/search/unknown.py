"""Tags, projects and keys of front matter that were asked for and that no document has."""

from typing import TYPE_CHECKING

from knowbase.query.conditions import Meta, both
from knowbase.query.named import named, unknown
from knowbase.search.understand import Inquiry

if TYPE_CHECKING:
    from knowbase.store.contract import DocumentStore

MOST_CHECKED = 16


def unknown_names(
    inquiry: Inquiry, store: "DocumentStore", *, keys_alone: bool = False
) -> list[str]:
    """What is to be said of each that no document has which is shown."""
    wanted = list(dict.fromkeys(named(both(inquiry.filter, inquiry.query.filter))))
    wanted = [one for one in wanted if one[0] == "key" or not keys_alone]
    lists = {"tag": store.tags, "project": store.projects, "key": store.meta_keys}
    known = {kind: [name for name, _ in lists[kind](inquiry.visible)] for kind in dict(wanted)}
    missing = [
        (kind, name)
        for kind, name in wanted
        if name not in known[kind] and not (kind == "key" and _is_key(name, inquiry, store))
    ]
    return [unknown(kind, name, known[kind]) for kind, name in missing[:MOST_CHECKED]]


def _is_key(name: str, inquiry: Inquiry, store: "DocumentStore") -> bool:
    """In any case, or in what another key holds."""
    return store.count(both(inquiry.visible, Meta(name, "present"))) > 0
