"""Headings and paragraphs, as most formats have them, and the sections that they make."""

from collections.abc import Sequence
from typing import NamedTuple

from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Reading, Section

_DEEPEST_INDENT = 20
_LEVELS = 2  # of headings at which sections begin


class Block(NamedTuple):
    """A heading, a paragraph, an item of a list or a row of a table."""

    text: str
    line: int = 1
    level: int = 0  # of a heading; 0 for any other text
    tight: bool = False  # list items and table rows follow each other without a blank line
    page: int | None = None

    @property
    def shown(self) -> str:
        return "#" * min(self.level, 6) + " " + self.text if self.level else self.text


def item(text: str, depth: int = 0, mark: str = "-", line: int = 1) -> Block:
    """An item of a list that lies in `depth` others."""
    indent = "  " * min(_DEEPEST_INDENT, max(0, depth))
    return Block(f"{indent}{mark} {text}", line, tight=True)


def row(cells: Sequence[str], line: int = 1) -> Block:
    """A row of a table."""
    return Block(" | ".join(" ".join(cell.split()) for cell in cells), line, tight=True)


def reading_of(
    kind: str, blocks: Sequence[Block], title: str | None, fallback_title: str
) -> Reading:
    """The blocks as a document: sections at its two upper levels of headings. One heading that
    stands above all others is its title, and does not count."""
    levels = sorted({block.level for block in blocks if block.level})
    rank = {level: number for number, level in enumerate(levels, 1)}
    ranked = [block._replace(level=rank.get(block.level, 0)) for block in blocks]
    tops = [number for number, block in enumerate(ranked) if block.level == 1]
    first = next((number for number, block in enumerate(ranked) if block.level), None)
    alone = len(tops) == 1 and tops[0] == first
    deepest = _LEVELS + 1 if alone else _LEVELS
    starts = [number for number, block in enumerate(ranked) if 1 <= block.level <= deepest]
    if alone and tops[0] == 0:
        starts = starts[1:]
    named = (title or "").strip() or (ranked[tops[0]].text if alone else None)
    return Reading(kind, named or fallback_title, sections_at(ranked, starts))


def sections_at(blocks: Sequence[Block], starts: Sequence[int]) -> tuple[Section, ...]:
    """A section from each of these headings to the next, and what stands before the first."""
    first = starts[0] if starts else len(blocks)
    slugs = unique_slugs(blocks[start].text for start in starts)
    ends = [*starts, len(blocks)][1:]
    preamble = blocks[:first]
    found = [_preamble(preamble)] if preamble else []
    for start, slug, end in zip(starts, slugs, ends, strict=True):
        head = blocks[start]
        text = text_of(blocks[start + 1 : end])
        header = f"{head.shown}\n\n"
        found.append(Section(slug, head.text, header, text, head.line, head.page))
    return tuple(found)


def _preamble(blocks: Sequence[Block]) -> Section:
    return Section("_preamble", None, "", text_of(blocks), blocks[0].line, blocks[0].page)


def text_of(blocks: Sequence[Block]) -> str:
    """The blocks as paragraphs, a blank line after each but within lists and tables."""
    parts: list[str] = []
    for number, block in enumerate(blocks):
        following = blocks[number + 1 : number + 2]
        tight = block.tight and bool(following) and following[0].tight
        parts.append(block.shown + ("\n" if tight else "\n\n"))
    return "".join(parts)


class Paragraphs:
    """Gathers blocks from a text that is gone through line by line."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._lines: list[str] = []
        self._start = 1

    def heading(self, text: str, level: int, line: int) -> None:
        self.end()
        if text.strip():
            self.blocks.append(Block(" ".join(text.split()), line, level))

    def add(self, text: str, line: int) -> None:
        """A line of the paragraph that is under way; a blank one ends it."""
        if not text.strip():
            self.end()
            return
        if not self._lines:
            self._start = line
        self._lines.append(text.rstrip())

    def end(self) -> None:
        if self._lines:
            self.blocks.append(Block("\n".join(self._lines), self._start))
        self._lines = []
