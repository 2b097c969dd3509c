"""Sections into chunks: a section is a chunk; a long one is split with an overlap."""

import hashlib
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeAlias

from knowbase.values.documents import Chunk
from knowbase.values.reading import Reading, Section

TokenSpans: TypeAlias = Callable[[str], Sequence[tuple[int, int]]]
"""Where each of the embedding model's tokens starts and ends in a text."""

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+|(?<=[。！？])|\n")
_WORD_END = re.compile(r"\s+")
_DENSE = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\uffff\U00020000-\U0003ffff"
_LETTERS = re.compile(rf"[{_DENSE}]{{1,2}}|[^\s{_DENSE}]{{1,4}}")
SAMPLE = 2000  # characters by which a language is told
UNKNOWN_AT = 2.4  # times as many tokens: 0.6 a letter, where ranking holds a language unknown


class Limits(NamedTuple):
    """S3-27: 512 tokens; pieces overlap by a tenth, at least 50 tokens."""

    max_tokens: int = 512
    overlap: float = 0.1
    min_overlap: int = 50
    markers: int = 2  # what the model adds around every text

    @property
    def max_context(self) -> int:
        """The most tokens that title and heading may take together."""
        return self.max_tokens // 5


def chunks_of(
    reading: Reading, spans: TokenSpans, limits: Limits, most: int | None = None
) -> tuple[Chunk, ...]:
    """The chunks of a whole document in order, or the first ones: no more are made."""
    chunks = (
        chunk
        for section in reading.sections
        for chunk in split(section, reading.title, spans, limits)
    )
    return tuple(islice(chunks, most))


def are_whole(chunks: Sequence[Chunk], reading: Reading) -> bool:
    """Whether the chunks have all of the document."""
    held = sum(len(chunk.text) - chunk.overlap for chunk in chunks)
    return held == sum(len(section.text) for section in reading.sections)


def split(section: Section, title: str, spans: TokenSpans, limits: Limits) -> Iterator[Chunk]:
    """The chunks of one section."""
    context = _context(title, section.heading, spans, limits)
    used = len(spans(context)) + limits.markers
    spans = measure_of(section.text, spans)
    before = lines = counted = 0
    for index, (start, end, count) in enumerate(_pieces(section.text, spans, limits, used)):
        text = section.text[start:end]
        lines, counted = lines + section.text.count("\n", counted, start), start
        yield Chunk(
            slug=section.slug,
            chunk_index=index,
            heading=section.heading,
            header=section.header if index == 0 else "",
            text=text,
            overlap=before - start if index else 0,
            line=section.line + section.header.count("\n") + lines,
            page=section.page,
            tokens=used + count,
            hash=hashlib.sha256((context + text).encode("utf-8", "replace")).hexdigest(),
        )
        before = end


def measure_of(text: str, spans: TokenSpans) -> TokenSpans:
    """What a text is measured by: the model's tokens; by its letters where the model does not know
    the language, and cuts words so small that a paragraph would become several chunks."""
    sample = text[:SAMPLE]
    if sample.isascii() or len(spans(sample)) < UNKNOWN_AT * len(spans_by_letters(sample)):
        return spans
    return spans_by_letters


def spans_by_letters(text: str) -> list[tuple[int, int]]:
    """Where tokens would be if a model knew the language: as long as English ones are."""
    return [match.span() for match in _LETTERS.finditer(text)]


def embedding_text(chunk: Chunk, title: str, spans: TokenSpans, limits: Limits) -> str:
    """What the model reads: the title, the heading, the text."""
    return _context(title, chunk.heading, spans, limits) + chunk.text


def _context(title: str, heading: str | None, spans: TokenSpans, limits: Limits) -> str:
    lines = [title] if heading is None or heading == title else [title, heading]
    context = "\n".join(lines) + "\n"
    if context.isascii() and len(context) <= limits.max_context:  # no token is less than a letter
        return context
    places = spans(context)
    if len(places) > limits.max_context:
        context = context[: places[limits.max_context - 1][0]].rstrip() + "\n"
    return context


def _pieces(
    text: str, spans: TokenSpans, limits: Limits, used: int
) -> Iterator[tuple[int, int, int]]:
    """(start, end, tokens) of each piece; the tokens of a piece never exceed what is left."""
    room = limits.max_tokens - used
    start = done = 0
    while True:
        places = _places(text, start, room, spans)
        if len(places) <= room:
            yield start, len(text), len(places)
            return
        # A piece that starts inside a token may be read as a few tokens more: keep some room.
        hard = places[room - 8][0]
        end = _boundary(text, max(done, places[room // 3][0]), hard)
        count = bisect_right([place[1] for place in places], end)
        yield start, end, count
        overlap = max(limits.min_overlap, math.ceil(count * limits.overlap))
        overlap = min(overlap, count // 2)  # however small the limits, each piece goes on
        again = places[max(count - overlap, 1)][0] if overlap else end
        start, done = _word_start(text, start, min(again, end)), end


def _places(text: str, start: int, room: int, spans: TokenSpans) -> Sequence[tuple[int, int]]:
    """Token places from `start` on: all of them, or more than fit. Never a whole long text."""
    width = room * 6
    while True:
        window = text[start : start + width]
        places = spans(window)
        if start:
            places = [(start + begin, start + end) for begin, end in places]
        if len(places) > room + 8 or start + width >= len(text):
            return places
        width *= 2


def _boundary(text: str, low: int, hard: int) -> int:
    """The last paragraph end before `hard`, else sentence or line end, else word, else `hard`.

    Never before `low`: a short paragraph before a very long one makes no piece of its own.
    """
    for pattern in (_PARAGRAPH_END, _SENTENCE_END, _WORD_END):
        ends = [match.end() for match in pattern.finditer(text, low + 1, hard)]
        usable = [end for end in ends if low < end <= hard]
        if usable:
            return usable[-1]
    return hard


def _word_start(text: str, floor: int, at: int) -> int:
    """The start of the word that `at` lies in, looking back a little."""
    for index in range(at, max(floor + 1, at - 40), -1):
        if text[index - 1].isspace():
            return index
    return at
