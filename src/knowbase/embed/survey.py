"""Which models are usable here: how large, how fast on this machine, or what is missing."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from knowbase.config import Settings
from knowbase.embed import Embedder
from knowbase.embed.choice import PACKAGED, STATIC, Choice, embedder_for
from knowbase.errors import KnowbaseError
from knowbase.values.vectors import Model

SAMPLE = (
    "The release is built on Thursday evening and goes out when the tests of the night have passed."
    " Whoever is on call watches the error rate for an hour and takes it back when it doubles. "
)
TOKENS = 128  # about what a section of a handbook has
PATIENCE = 2.0  # seconds of measuring a model


class Usable(NamedTuple):
    """One model: what to write after --model, and what it is like."""

    model: str
    about: str
    name: str = ""
    revision: str = ""
    dimensions: int = 0
    max_tokens: int = 0
    size_bytes: int | None = None  # on disk; None: not here
    texts_per_second: float | None = None  # of TOKENS tokens each
    problem: str | None = None  # why it cannot be used
    hint: str | None = None


class Survey(NamedTuple):
    """What a survey works with."""

    settings: Settings
    environment: Mapping[str, str]
    measure: bool = True

    def of(self, choice: Choice, about: str, stored: Model | None = None) -> Usable:
        """Try one model."""
        found = Usable(choice.shown, about)
        try:
            # Without the cache: it is the model that is measured.
            plain = self.settings._replace(embed_cache_mb=0)
            embedder = embedder_for(choice, plain, self.environment, stored)
            found = found._replace(
                name=embedder.model.name,
                revision=embedder.model.revision,
                dimensions=embedder.model.dimensions,
                max_tokens=embedder.max_tokens,
                size_bytes=_size(embedder),
            )
            speed = _speed(embedder) if self.measure else None
        except KnowbaseError as error:
            return found._replace(problem=error.message, hint=error.hint)
        return found._replace(texts_per_second=speed)

    def everywhere(self, choices: Sequence[tuple[Choice, str, Model | None]]) -> tuple[Usable, ...]:
        """The packaged and the installable ones, then those that are given, each once."""
        known = [
            (Choice(PACKAGED), "packaged, no download", None),
            (Choice(STATIC), "static vectors: instant, less precise", None),
        ]
        once: dict[str, Usable] = {}
        for choice, about, stored in (*choices, *known):
            if choice.shown not in once:
                once[choice.shown] = self.of(choice, about, stored)
        return tuple(once.values())


def folders_below(path: str) -> list[str]:
    """The folder itself when it holds a model, else those right below it that do."""
    from knowbase.embed.onnx import FILES

    def holds_a_model(folder: str) -> bool:
        return any(os.path.isfile(os.path.join(folder, name)) for name in FILES)

    below = [os.path.join(path, name) for name in sorted(os.listdir(path))]
    return [path] if holds_a_model(path) else [one for one in below if holds_a_model(one)]


def _size(embedder: Embedder) -> int | None:
    found: Any = getattr(embedder, "size_bytes", None)
    return found if isinstance(found, int) else None


def _speed(embedder: Embedder) -> float:
    """Texts a second, once the model is loaded: twice as many each time until it takes a while."""
    sample = _sample(embedder)
    embedder.embed_query(sample)
    number, taken = 4, 0.0
    while True:
        started = time.perf_counter()
        for _ in embedder.embed_documents([f"{place} {sample}" for place in range(number)]):
            pass
        taken = time.perf_counter() - started
        if taken * 2 > PATIENCE / 2 or number >= 4096:
            return round(number / taken, 1)
        number *= 2


def _sample(embedder: Embedder) -> str:
    text = SAMPLE * 8
    spans = embedder.token_spans(text)
    return text[: spans[min(TOKENS, len(spans) - 1)][0]]
