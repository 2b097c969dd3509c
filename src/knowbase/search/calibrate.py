"""What a base learns of its own answers: it is asked questions whose answers are known.

Some are made from its own documents, asked once with their document and once without; the others
come from elsewhere (`strangers.py`). No model is trained: a few means and spreads are measured.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.query.conditions import EVERYTHING, Condition, Not, OneOf, Visible
from knowbase.query.predicate import passes
from knowbase.ranking.profile import PROFILES
from knowbase.ranking.verdict import (
    FORM,
    LEGS,
    PRIOR,
    Evidence,
    Examples,
    Numbers,
    learn,
    only,
    topic,
)
from knowbase.search.changed import MOST_CHANGED, changed_share, sample_of
from knowbase.search.evidence import as_prior_knows, evidence_of, mark_of
from knowbase.search.request import SearchRequest
from knowbase.search.retrieve import retrieve
from knowbase.search.services import Services
from knowbase.search.strangers import strangers_for
from knowbase.search.understand import understand
from knowbase.text.analysis import tokens
from knowbase.text.stopwords import STOP_WORDS
from knowbase.values.calibration import Calibration
from knowbase.values.documents import Passage

if TYPE_CHECKING:
    from knowbase.store.contract import Store

QUESTIONS = 48  # made from the base, each asked twice
FEWEST = 12  # with fewer there is nothing to learn
DRAWN = 400  # chunks that are looked at for them
DEPTH = 10
NOT_STRANGE = 0.9  # a question from elsewhere that this base may well answer is left out
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_SHORTEST, _LONGEST = 30, 300  # characters of a sentence that says something
_WIDEST = 8  # characters taken of a word in a script without spaces


class Made(NamedTuple):
    """A question, and the document that it was made from."""

    text: str
    document: str


class SignalLine(NamedTuple):
    """What a signal is for questions from elsewhere, and for those of the base."""

    signal: str
    strange: float
    own: float
    spread: float


class Calibrated(NamedTuple):
    """What a base has learnt of its answers."""

    made_at: str | None  # None: nothing yet, or the base holds too little
    questions: int = 0
    strangers: int = 0
    separation: Mapping[str, float] = {}
    signals: tuple[SignalLine, ...] = ()
    changed: float = 0.0  # the share of the base that is another one since


def calibrate(
    services: Services, now: str, each: Callable[[int, int], None] = lambda *_: None
) -> Calibration | None:
    """What the base has learnt; None when it holds too little. `each` is told how many questions
    of how many were asked. The same base gives the same numbers."""
    examples = examples_of(services, now, each)
    if examples is None:
        return None
    answered, missing, strange = examples
    numbers = learn(examples)
    measured = {f"{legs}.separation": _separation(numbers, legs, missing, strange) for legs in LEGS}
    counted = {"questions": float(len(answered)), "strangers": float(len(strange))}
    learnt = {**numbers, **measured, **counted, **_state(services)}
    return Calibration(now, {**learnt, **sample_of(services.store)})


def examples_of(
    services: Services, now: str, each: Callable[[int, int], None] = lambda *_: None
) -> Examples | None:
    """What the legs see of the questions that a base learns from; None when it gives too few."""
    made = _questions(_drawn(services, now))
    if len(made) < FEWEST:
        return None
    others = strangers_for(" ".join(one.text for one in made))
    ask = _Asking(services, now, each, 2 * len(made) + len(others))
    answered, missing = [], []
    for one in made:
        answered.append(ask(one.text))
        missing.append(ask(one.text, Not(OneOf("id", (one.document,)))))
    elsewhere = [ask(text) for text in others]
    strange = [one for one in elsewhere if _is_strange(one, services)] or elsewhere
    return Examples(answered, missing, strange)


def _is_strange(evidence: Evidence, services: Services) -> bool:
    return topic(as_prior_knows(evidence, services.store.model()), PRIOR) < NOT_STRANGE


def _separation(
    numbers: Numbers, legs: str, missing: Sequence[Evidence], strange: Sequence[Evidence]
) -> float:
    """How often a question of the base, its document taken out, is above one from elsewhere."""
    kept = LEGS[legs]
    own, other = ([topic(only(one, kept), numbers) for one in some] for some in (missing, strange))
    wins = sum((high > low) + 0.5 * (high == low) for high in own for low in other)
    return wins / (len(own) * len(other))


def told(calibration: Calibration | None, store: "Store | None" = None) -> Calibrated:
    """What was learnt, to be shown."""
    if calibration is None:
        return Calibrated(None)
    numbers = calibration.numbers
    return Calibrated(
        calibration.made_at,
        int(numbers.get("questions", 0)),
        int(numbers.get("strangers", 0)),
        {legs: numbers[f"{legs}.separation"] for legs in LEGS if f"{legs}.separation" in numbers},
        tuple(
            SignalLine(
                name,
                numbers[f"{name}.strange"],
                numbers[f"{name}.own"],
                numbers[f"{name}.strange.spread"],
            )
            for name in Evidence._fields
            if f"{name}.strange.spread" in numbers
        ),
        round(changed_share(calibration, store), 2) if store else 0.0,
    )


def is_due(services: Services, known: Calibration | None) -> bool:
    """Whether a base has not been calibrated as it is now."""
    state = _state(services)
    if known is None:
        return state["chunks"] >= FEWEST
    is_other = changed_share(known, services.store) > MOST_CHANGED
    learnt = known.numbers
    return is_other or learnt.get("model") != state["model"] or learnt.get("form") != FORM


def _state(services: Services) -> dict[str, float]:
    """What the numbers depend on: how much there is, and which model it is."""
    store = services.store
    model = store.model() if services.has_vectors else None
    return {"chunks": float(store.frequencies(()).chunks), "model": mark_of(model)}


class _Asking:
    """Asks as the profile of measurement does, without presenting anything."""

    def __init__(
        self, services: Services, now: str, each: Callable[[int, int], None], total: int
    ) -> None:
        self._services, self._now = services, now
        self._each, self._total, self._done = each, total, 0

    def __call__(self, text: str, among: Condition = EVERYTHING) -> Evidence:
        self._done += 1
        self._each(self._done, self._total)
        mode = "hybrid" if self._services.has_vectors else "keyword"
        request = SearchRequest(text, syntax="plain", mode=mode, only=among)
        language = self._services.language
        inquiry = understand(request, PROFILES["best"], language, self._now)
        proposals = retrieve(inquiry, self._services, DEPTH)
        return evidence_of(inquiry, proposals, self._services, among)


def _drawn(services: Services, now: str) -> Iterator[Passage]:
    """Chunks of documents that are shown, one a document, in an order of chance."""
    draw = random.Random(0)  # noqa: S311 - a draw that can be repeated
    last = services.store.copying().frame().next_chunk - 1
    numbers = range(1, last + 1)
    wanted = draw.sample(numbers, min(DRAWN, last)) if last > 0 else []
    found = services.store.passages(wanted)
    seen: set[str] = set()
    for number in wanted:
        passage = found.get(number)
        if passage is None or passage.document.id in seen:
            continue
        if passes(passage.document, Visible(now), lambda _: False):
            seen.add(passage.document.id)
            yield passage


def _questions(passages: Iterable[Passage]) -> list[Made]:
    """By turns a sentence, a few words of a text as somebody remembers it, and a heading."""
    draw = random.Random(1)  # noqa: S311 - as above
    ways = (_sentence, _few_words, _heading)
    made: list[Made] = []
    for place, passage in enumerate(passages):
        first = place % len(ways)
        texts = (way(passage, draw) for way in (*ways[first:], *ways[:first]))
        text = next(filter(None, texts), None)
        if text is not None:
            made.append(Made(text, passage.document.id))
        if len(made) == QUESTIONS:
            break
    return made


def _sentence(passage: Passage, draw: random.Random) -> str | None:
    found = [one.strip("-*+#>| \t") for one in _SENTENCE.split(passage.chunk.text)]
    usable = [one for one in found if _SHORTEST <= len(one) <= _LONGEST]
    return " ".join(draw.choice(usable).split()) if usable else None


def _few_words(passage: Passage, draw: random.Random) -> str | None:
    text = passage.chunk.text
    counts: Counter[str] = Counter()
    for token in tokens(text):
        word = text[token.start : token.end]
        if len(word) > 2 and not word.isdigit() and word.lower() not in STOP_WORDS:
            counts[word if word.isascii() else word[:_WIDEST]] += 1
    if len(counts) < 3:
        return None
    chosen = draw.sample(sorted(counts), min(len(counts), draw.randint(3, 6)))
    return " ".join(chosen)


def _heading(passage: Passage, _: random.Random) -> str | None:
    """With the title, which alone would say it all."""
    heading, title = (passage.chunk.heading or "").strip(), passage.document.title.strip()
    return f"{title} {heading}".strip() if heading and heading != title else None
