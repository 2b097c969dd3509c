"""Things that a memory knows, and what they have to do with each other: a document for each."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from knowbase.exchange.sources.conversation import line_of
from knowbase.ingest.foreign import Foreign, id_of

_PLAIN = re.compile(r"[^\[\]|#^\n]{1,200}")


class Relation(NamedTuple):
    """How one thing stands to another."""

    kind: str
    target: str  # its name
    key: str  # of its document


def entity(
    key: str,
    name: str,
    observations: Sequence[str],
    relations: Sequence[Relation],
    stated: Mapping[str, Any],
) -> Foreign:
    """As basic-memory writes them: observations and relations are lists that are read as such."""
    title = line_of(name, "Untitled")
    parts = [] if observations or relations else [f"# {title}"]
    if observations:
        parts.append("## Observations\n\n" + "\n".join(f"- {_item(one)}" for one in observations))
    if relations:
        parts.append("## Relations\n\n" + "\n".join(map(_relation, relations)))
    return Foreign(key, "note", title, "\n\n".join(parts) + "\n", stated, tagged=False)


def _item(text: str) -> str:
    return " ".join(text.split()) or "…"


def _relation(one: Relation) -> str:
    name = line_of(one.target, "Untitled")
    # A name that means something else in a link is only shown.
    link = f"[[{name}]]" if _PLAIN.fullmatch(name) else f"[[{id_of(one.key)}|{_shown(name)}]]"
    return f"- {_kind(one.kind)} {link}"


def _kind(text: str) -> str:
    return re.sub(r"\W+", "_", text.strip().lower()).strip("_") or "related_to"


def _shown(name: str) -> str:
    return re.sub(r"[\[\]|]", " ", name)
