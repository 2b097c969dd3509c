"""The part of a long document that is shown at once."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from knowbase.text.sections import SectionText

BEFORE = 20  # lines of a long section that are shown above the one asked for


class Start(NamedTuple):
    """Where to begin: at a line as `place_of` counts, or in a section, near one of its lines."""

    line: int = 1
    slug: str | None = None


class Part(NamedTuple):
    """Sections that follow each other, where they begin, and where the rest does."""

    sections: tuple[SectionText, ...]
    first: int
    following: int | None
    is_whole: bool


def slug_of(section: SectionText) -> str:
    return section.section.rpartition(":")[2]


def places_of(sections: Sequence[SectionText]) -> list[int]:
    """What each section is asked for by: its line, its page, or its number where all sections
    have the same line."""
    if any(one.page is not None for one in sections):
        return [one.page or 1 for one in sections]
    lines = [one.line for one in sections]
    is_rising = all(one < other for one, other in pairwise(lines))
    return lines if is_rising else list(range(1, len(lines) + 1))


def part_of(sections: Sequence[SectionText], start: Start, most: int) -> Part:
    """As many characters as may be shown; all of a document that has no more."""
    places = places_of(sections)
    if sum(len(one.text) for one in sections) <= most:
        return Part(tuple(sections), places[0] if places else 1, None, True)
    begin = _begin(sections, places, start)
    first, skipped = _from_line(sections[begin], start, most)
    kept: list[SectionText] = []
    left = most
    following: int | None = None
    for number, one in enumerate((first, *sections[begin + 1 :]), begin):
        if len(one.text) > left:
            if not kept:
                cut, lines = _cut(one, left)
                kept.append(cut)
                # A line that is too long in itself has no other part.
                following = places[number] + skipped + lines if lines else None
            else:
                following = places[number]
            break
        kept.append(one)
        left -= len(one.text)
    return Part(tuple(kept), places[begin] + skipped, following, False)


def _begin(sections: Sequence[SectionText], places: list[int], start: Start) -> int:
    if start.slug is not None:
        named = (at for at, one in enumerate(sections) if slug_of(one) == start.slug)
        return next(named, 0)
    return max((at for at, place in enumerate(places) if place <= start.line), default=0)


def _from_line(section: SectionText, start: Start, most: int) -> tuple[SectionText, int]:
    """A section that is too long, from a line on; and how many lines were left out."""
    wanted = start.line - section.line - (BEFORE if start.slug is not None else 0)
    if wanted <= 0 or len(section.text) <= most or section.page is not None:
        return section, 0
    at, skipped = 0, 0
    while skipped < wanted and (end := section.text.find("\n", at)) >= 0:
        at, skipped = end + 1, skipped + 1
    return section._replace(text=section.text[at:], line=section.line + skipped), skipped


def _cut(section: SectionText, most: int) -> tuple[SectionText, int]:
    end = section.text.rfind("\n", 0, most) + 1 or most
    return section._replace(text=section.text[:end]), section.text.count("\n", 0, end)


def lines_of(sections: Sequence[SectionText]) -> int:
    """How many lines a document has."""
    if places_of(sections) != [one.line for one in sections]:
        return sum(one.text.rstrip("\n").count("\n") + 1 for one in sections)
    return max((one.line + one.text.rstrip("\n").count("\n") for one in sections), default=0)
