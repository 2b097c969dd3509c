"""Lists that say more than their text: `- [decision] …`, `- pairs_with [[Note]]`, `up:: [[Note]]`.

Basic-memory writes observations and relations so, Dataview and Logseq properties.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it.token import Token

_CATEGORY = re.compile(r"\[([^\W\d_][\w -]{1,30})\]\s+[^\s(\[]")
_PROPERTY = re.compile(r"([^\W\d_][\w-]{0,40})::\s*#?\[\[")
_RELATION = re.compile(r"([^\W\d_][^\W_]{0,20}(?:_[^\W_]{1,20}){1,5})\s+\[\[")
_WORDS = re.compile(r"([^\W\d_][\w-]{0,40}(?: [\w-]{1,20}){0,3})\s+\[\[")
_RELATIONS = frozenset({"relations", "relationships"})


class Inline(NamedTuple):
    """A stretch of running text, and where it stands."""

    token: "Token"
    is_item: bool  # the beginning of a list's item
    among_relations: bool  # below a heading that says so

    def relations(self) -> list[str]:
        """For each of its lines, the relation that stands before its links; "" for none."""
        lines = self.token.content.split("\n")
        return [self._relation(line, self.is_item and not at) for at, line in enumerate(lines)]

    def _relation(self, line: str, is_item: bool) -> str:
        if "[[" not in line:
            return ""
        found = _PROPERTY.match(line)
        if found is None and is_item:
            found = (_WORDS if self.among_relations else _RELATION).match(line)
        return found[1] if found else ""


def inlines(tokens: Sequence["Token"]) -> Iterator[Inline]:
    """Every stretch of running text."""
    before = ("", "")
    among_relations = False
    for token in tokens:
        if token.type == "inline":
            if before[1] == "heading_open":
                among_relations = token.content.strip().lower() in _RELATIONS
            is_item = before == ("list_item_open", "paragraph_open")
            yield Inline(token, is_item, among_relations)
        before = (before[1], token.type)


def categories(tokens: Sequence["Token"]) -> list[str]:
    """The kinds of observations that the lists of a text hold, each once."""
    items = (one.token.content for one in inlines(tokens) if one.is_item)
    found = (_CATEGORY.match(text) for text in items)
    return sorted({match[1].strip().lower() for match in found if match})
