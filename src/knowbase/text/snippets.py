"""Snippets: the most telling stretch of a chunk, with the matched words marked."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from knowbase.text.analysis import Token, Word, located, stems

MARK, END_MARK = "<mark>", "</mark>"
# The same until all else is done: no text has a NUL, so none can be taken for what a text has.
_FROM, _TO = "\0\1", "\0\2"
WIDTH = 240  # characters


@cache
def _quoting() -> re.Pattern[str]:
    return re.compile(r"^[ \t]*(?:>[ \t]?)+", re.M)


@cache
def _heading() -> re.Pattern[str]:
    return re.compile(r"^#{1,6}[ \t]+(.*?\S)[ \t]*#*[ \t]*$(?=\s*\S)", re.M)


@cache
def _last_marks() -> re.Pattern[str]:
    return re.compile(r"^#{1,6}[ \t]+", re.M)


@cache
def _link() -> re.Pattern[str]:
    """[shown](target), ![shown](target), [[target|shown]]"""
    return re.compile(
        r"""!?\[(?P<shown>[^\[\]\n]*)\]\((?P<target>[^()\s]*)(?:\s+"[^"\n]*")?\)"""
        r"|!?\[\[(?:(?P<note>[^\[\]|\n]*)\|)?(?P<name>[^\[\]|\n]+)\]\]"
    )


@cache
def _bold() -> re.Pattern[str]:
    return re.compile(r"(?<![\w*])\*\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*\*(?![\w*])")


@cache
def _fence() -> re.Pattern[str]:
    return re.compile(r"^[ \t>]*(?P<marks>```+|~~~+)[ \t]*(?P<info>[^`\n]*)$", re.M)


class Snippet(NamedTuple):
    """A stretch of a text, and on which of its lines, from 0, the match stands."""

    text: str
    line: int
    code: str = ""  # with its line breaks, where it is code


def snippet(
    text: str,
    words: Sequence[Word],
    width: int = WIDTH,
    *,
    is_code: bool = False,
    is_page: bool = False,
) -> Snippet:
    """The stretch of `text` with the most different query words, matches in <mark>; of a page,
    without the marks of headings, quotations, links and bold words."""
    matches = _matches(text, words)
    start, end = _window(text, matches, width)
    marked = _marked(text, start, end, matches)
    shown = _shown(marked, is_page)
    if is_page and end < len(text) and (room := width - len(shown)) > width // 4:
        end = _end(text, end + room)  # links took it
        marked = _marked(text, start, end, matches)
        shown = _shown(marked, is_page)
    before = "…" if text[:start].strip() else ""
    after = "…" if end < len(text.rstrip()) else ""
    place = next((token.start for token in matches if token.start >= start), start)
    code = _final(marked) if is_code else _fenced(text, start, end, place, matches)
    return Snippet(before + shown + after, text.count("\n", 0, place), code)


def _shown(lines: str, is_page: bool) -> str:
    return _final(" ".join((_as_read(lines) if is_page else lines).split()))


def _as_read(lines: str) -> str:
    """Without marks; a heading is told from what follows by a colon."""
    text = _quoting().sub("", lines) if ">" in lines else lines
    if "#" in text:
        text = _last_marks().sub("", _heading().sub(_heading_as_read, text))
    if "](" in text or "[[" in text:
        text = _link().sub(_link_as_read, text)
    return _bold().sub(r"\1", text) if "**" in text else text


def _link_as_read(match: re.Match[str]) -> str:
    """What it shows; whole where what was looked for stands in its target alone."""
    shown, target = match["shown"] or match["name"] or "", match["target"] or match["note"] or ""
    return match[0] if _FROM in target and _FROM not in shown else shown


def _heading_as_read(match: re.Match[str]) -> str:
    heading = match[1]
    plain = heading.removesuffix(_TO)
    return heading if plain.endswith((":", "?", "!", ".", "…")) else f"{heading}:"


def matches_in(text: str, words: Sequence[Word]) -> list[Token]:
    """Where a text has the words, one after the other."""
    return _merged(_matches(text, words))


def _matches(text: str, words: Sequence[Word]) -> list[Token]:
    exact, leading = _stems_of(tuple(words))
    if not exact and not leading:
        return []
    return located(text, exact, leading)


@lru_cache(8)
def _stems_of(words: tuple[Word, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The stems of words, and those that others may begin with: the same for all hits."""
    exact = frozenset(stem for word in words if not word.prefix for stem in stems(word.surface))
    return exact, tuple(stem for word in words if word.prefix for stem in stems(word.surface))


def _fenced(text: str, start: int, end: int, place: int, matches: list[Token]) -> str:
    """What the stretch shows of the block of code between ``` that `place` is in."""
    if not _has_fences(text):
        return ""
    for first, last in _code_blocks(text):
        if first <= place < last:
            return _final(_marked(text, max(start, first), min(end, last), matches))
    return ""


def _has_fences(text: str) -> bool:
    return "```" in text or "~~~" in text


def _code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Where the code of each fenced block starts and ends. A text may be a piece of a longer one
    and begin within a block: a single fence that names no language may be its end."""
    fences = list(_fence().finditer(text))
    if len(fences) == 1 and not fences[0]["info"]:
        return
    opening: re.Match[str] | None = None
    for fence in fences:
        if opening is None:
            opening = fence
        elif not fence["info"] and fence["marks"].startswith(opening["marks"]):
            yield opening.end() + 1, fence.start()
            opening = None
    if opening is not None:
        yield opening.end() + 1, len(text)


def _window(text: str, matches: list[Token], width: int) -> tuple[int, int]:
    """Where the snippet starts and ends."""
    lead = width // 4
    if matches:
        start = _line_start(text, _best_start(matches, width - lead), lead)
    else:
        start = _first_text(text)
    return start, _end(text, start + width)


def _end(text: str, end: int) -> int:
    return _back_to_space(text, end) if end < len(text) else len(text)


def _best_start(matches: list[Token], width: int) -> int:
    """Where the shortest stretch with the most different words starts."""
    best, best_start = (0, 0), 0
    for index, first in enumerate(matches):
        kinds: set[str] = set()
        span = 0
        for token in matches[index : index + 40]:
            if token.end > first.start + width:
                break
            if token.stem not in kinds:
                kinds.add(token.stem)
                span = token.end - first.start
        if (len(kinds), -span) > best:
            best, best_start = (len(kinds), -span), first.start
    return best_start


def _first_text(text: str) -> int:
    start = len(text) - len(text.lstrip())
    fence = _fence().match(text, start) if _has_fences(text) else None
    return min(fence.end() + 1, len(text)) if fence else start


def _line_start(text: str, at: int, most: int) -> int:
    """A little context before the match: from the line's start, else from a word's start."""
    floor = max(0, at - most)
    newline = text.rfind("\n", floor, at)
    if newline >= 0 or floor == 0:
        return newline + 1
    space = text.find(" ", floor, at)
    return space + 1 if space >= 0 else at


def _back_to_space(text: str, end: int) -> int:
    space = max(text.rfind(" ", end - 30, end), text.rfind("\n", end - 30, end))
    return space if space > 0 else end


def _marked(text: str, start: int, end: int, matches: list[Token]) -> str:
    out, at = [], start
    for token in _merged(matches):
        if token.start < at or token.end > end:
            continue
        out += [text[at : token.start], _FROM, text[token.start : token.end], _TO]
        at = token.end
    return "".join([*out, text[at:end]])


def _final(marked: str) -> str:
    """With <mark>; those that the text itself has in capitals: the same in HTML, never a match."""
    own = marked.replace(MARK, MARK.upper()).replace(END_MARK, END_MARK.upper())
    return own.replace(_FROM, MARK).replace(_TO, END_MARK)


def _merged(matches: list[Token]) -> list[Token]:
    """Overlapping matches as one, so that marks never nest."""
    merged: list[Token] = []
    for token in matches:
        if merged and token.start < merged[-1].end:
            last = merged.pop()
            token = Token(last.stem, last.start, max(last.end, token.end))
        merged.append(token)
    return merged
