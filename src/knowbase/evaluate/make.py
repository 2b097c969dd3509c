"""A test set from a base itself: questions whose answers are known because of how they are made.

known-item  a few telling words of a section, as somebody remembers it
heading     the heading of a section
held-out    a sentence that is taken out of a copy of the base; the rest of its document is meant
no-answer   a sentence of a document that is taken out of the copy altogether
"""

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from knowbase.base import Base
from knowbase.errors import InvalidInput
from knowbase.evaluate.judged import Question, Without
from knowbase.ingest.report import Progress
from knowbase.query.conditions import Visible
from knowbase.text.analysis import tokens
from knowbase.text.stopwords import STOP_WORDS
from knowbase.values.documents import Document, Page, Passage

KINDS = ("known-item", "heading", "held-out", "no-answer")
MOST_READ = 20_000  # documents; of a larger base this many are drawn
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_SHORTEST, _LONGEST = 40, 300  # characters of a sentence that says something
_LEFT = 200  # characters that a document must keep when a sentence is taken out
_ALIKE = 3  # a heading that more sections have asks for nothing in particular
_WIDEST = 8  # characters taken of a word in a script without spaces


class Source(NamedTuple):
    """A document that questions are made from."""

    document: Document
    passages: tuple[Passage, ...]

    @property
    def text(self) -> str:
        return "".join(passage.chunk.text[passage.chunk.overlap :] for passage in self.passages)


def make(
    base: Base, number: int, seed: int, progress: Callable[[Progress], None] = lambda _: None
) -> list[Question]:
    """About a quarter of each kind; the same base and seed give the same questions."""
    sources = _sources(base, seed, progress)
    maker = _Maker(sources, random.Random(seed))  # noqa: S311 - a draw that can be repeated
    shares = [number // 4 + (place < number % 4) for place in range(4)]
    made: list[Question] = []
    for kind in (KINDS[-1], *KINDS[:-1]):  # what is taken out is not asked for later
        made += maker.questions(kind, shares[KINDS.index(kind)])
    if not made:
        raise InvalidInput(
            "the base holds too little to make questions from", field="make", hint="kb add FOLDER"
        )
    made.sort(key=lambda question: KINDS.index(question.kind))
    return [question._replace(id=f"q{place}") for place, question in enumerate(made, start=1)]


def lines(questions: Sequence[Question]) -> Iterator[str]:
    """The questions as a judgments file."""
    import json

    for question in questions:
        line: dict[str, object] = {
            "id": question.id,
            "kind": question.kind,
            "query": question.text,
            "relevant": list(question.relevant),
        }
        if question.without is not None:
            line["without"] = {k: v for k, v in question.without._asdict().items() if v}
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _sources(base: Base, seed: int, progress: Callable[[Progress], None]) -> list[Source]:
    visible = Visible(base.now())
    documents = base.store.documents(visible, Page(limit=max(1, base.store.count(visible))))
    documents.sort(key=lambda document: document.seq)
    if len(documents) > MOST_READ:
        documents = random.Random(seed).sample(documents, MOST_READ)  # noqa: S311
    sources = []
    for place, document in enumerate(documents, start=1):
        sources.append(Source(document, tuple(base.store.chunks(document.id))))
        progress(Progress(place, len(documents), 0, document.title, "documents read"))
    return sources


class _Maker:
    def __init__(self, sources: Sequence[Source], draw: random.Random) -> None:
        self._draw = draw
        self._sources = list(sources)
        self._taken: set[str] = set()  # documents that give no further question
        self._removed: set[str] = set()  # codes of those that are taken out altogether
        self._codes: dict[str, list[str]] = {}  # hash of a chunk → codes of those that have it
        self._headings: dict[str, list[str]] = {}  # heading → sections that have it
        self._frequency: Counter[str] = Counter()
        for source in sources:
            self._learn(source)

    def _learn(self, source: Source) -> None:
        code = source.document.code
        for passage in source.passages:
            codes = self._codes.setdefault(passage.chunk.hash, [])
            codes += [code] if code not in codes else []
            heading = (passage.chunk.heading or "").strip().casefold()
            section = f"{code}:{passage.chunk.slug}"
            sections = self._headings.setdefault(heading, [])
            sections += [section] if section not in sections else []
        self._frequency.update({token.stem for token in tokens(source.text)})

    def questions(self, kind: str, share: int) -> list[Question]:
        """At most `share` of a kind, a document giving one at a time."""
        ways = {
            "known-item": self._known_item,
            "heading": self._heading,
            "held-out": self._held_out,
            "no-answer": self._no_answer,
        }
        made: list[Question] = []
        texts: set[str] = set()
        for _ in range(4):  # a small base gives several questions a document
            self._draw.shuffle(self._sources)
            for source in self._sources:
                if len(made) == share:
                    return made
                if source.document.id in self._taken:
                    continue
                question = ways[kind](source)
                if question is not None and question.text not in texts:
                    texts.add(question.text)
                    made.append(question._replace(kind=kind))
        return made

    def _known_item(self, source: Source) -> Question | None:
        passage = self._draw.choice(source.passages) if source.passages else None
        words = self._telling(passage.chunk.text) if passage else []
        if passage is None or len(words) < 3:
            return None
        text = " ".join(words)
        return Question("", text, dict.fromkeys(self._codes[passage.chunk.hash], 1.0))

    def _telling(self, text: str) -> list[str]:
        """Three to six words, the likelier the oftener here and the rarer elsewhere."""
        counts: Counter[str] = Counter()
        written: dict[str, str] = {}
        for token in tokens(text):
            word = text[token.start : token.end]
            if len(word) > 2 and not word.isdigit() and word.lower() not in STOP_WORDS:
                counts[token.stem] += 1
                written.setdefault(token.stem, word if word.isascii() else word[:_WIDEST])
        weights = {
            stem: count * math.log(1 + len(self._sources) / self._frequency[stem])
            for stem, count in counts.items()
            if self._frequency[stem]  # a piece of a cut word stands in no document
        }
        chosen: list[str] = []
        for _ in range(min(self._draw.randint(3, 6), len(weights))):
            stem = self._draw.choices(list(weights), list(weights.values()))[0]
            del weights[stem]
            chosen.append(written[stem])
        return chosen

    def _heading(self, source: Source) -> Question | None:
        headings = [p.chunk.heading for p in source.passages if (p.chunk.heading or "").strip()]
        heading = self._draw.choice(headings) if headings else None
        alike = self._headings[heading.strip().casefold()] if heading else []
        sections = [one for one in alike if one.partition(":")[0] not in self._removed]
        if heading is None or len(sections) > _ALIKE:
            return None
        return Question("", heading.strip(), dict.fromkeys(sections, 1.0))

    def _held_out(self, source: Source) -> Question | None:
        sentence = self._sentence(source)
        if sentence is None or len(source.text) < len(sentence) + _LEFT:
            return None
        self._taken.add(source.document.id)  # one sentence a document: much of it must be left
        code = source.document.code
        return Question("", _asked(sentence), {code: 1.0}, without=Without(code, sentence))

    def _no_answer(self, source: Source) -> Question | None:
        sentence = self._sentence(source)
        if sentence is None or len(self._taken) * 4 >= len(self._sources):
            return None  # a base without a quarter of its documents is another base
        self._taken.add(source.document.id)
        self._removed.add(source.document.code)
        return Question("", _asked(sentence), {}, without=Without(source.document.code))

    def _sentence(self, source: Source) -> str | None:
        """A sentence that stands in one place only."""
        if any(len(self._codes[passage.chunk.hash]) > 1 for passage in source.passages):
            return None
        found = [
            sentence.strip()
            for passage in source.passages
            for sentence in _SENTENCE.split(passage.chunk.text)
        ]
        usable = [
            sentence
            for sentence in found
            if _SHORTEST <= len(sentence) <= _LONGEST and source.text.count(sentence) == 1
        ]
        return self._draw.choice(usable) if usable else None


def _asked(sentence: str) -> str:
    """The sentence without list marks and quotes, which a query would take for operators."""
    return " ".join(sentence.lstrip("-*+#>| ").replace('"', " ").split())
