"""A service that speaks OpenAI's /embeddings: OpenAI, Ollama, vLLM, LM Studio and others."""

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

from knowbase import deadline
from knowbase.embed.granite import Granite
from knowbase.embed.http import Client
from knowbase.embed.runtime import bad_vector
from knowbase.errors import ServiceUnavailable
from knowbase.values.vectors import Model, Vector, normalize_embedding, pack

MAX_TOKENS = 8191  # what OpenAI's models read; others cut by themselves, or say it
EMPTY = "(empty)"  # services refuse a text without any


class Wanted(NamedTuple):
    """Which of the service's models, and how it wants its texts."""

    name: str
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 0
    dimensions: int = 0  # asked of the service, for models that can shorten their vectors


class Pace(NamedTuple):
    """How much is asked at a time, and for how long."""

    batch: int = 32
    concurrency: int = 4
    timeout: float = 60.0  # seconds for a batch, all retries included
    query_timeout: float = 10.0  # for a search's query


class Service:
    """Vectors over HTTP. Tokens are counted as the packaged model does: a service does not say."""

    def __init__(
        self,
        wanted: Wanted,
        client: Callable[[], Client],  # made when it is first needed: splitting needs no address
        pace: Pace,
        known_dimensions: int = 0,
    ) -> None:
        self._wanted = wanted
        self._client = cache(client)
        self._pace = pace
        self._known = wanted.dimensions or known_dimensions
        self._counter = Granite()
        self.max_tokens = wanted.max_tokens or MAX_TOKENS

    @cached_property
    def model(self) -> Model:
        dimensions = self._known or self._probed()
        made_with = repr((self._wanted.query_prefix, self._wanted.document_prefix))
        digest = hashlib.sha256(made_with.encode()).hexdigest()[:6]
        return Model(self._wanted.name, f"service-{dimensions}-{digest}", dimensions)

    def _probed(self) -> int:
        [vector] = self._request(["a"], self._pace.query_timeout)
        return len(vector)

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return self._counter.token_spans(text)

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        from concurrent.futures import ThreadPoolExecutor

        size = self._pace.batch
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        pool = ThreadPoolExecutor(self._pace.concurrency)
        try:
            for vectors in pool.map(self._documents, batches):
                yield from vectors
        finally:
            # Nobody waits for answers that nobody wants any more.
            pool.shutdown(wait=False, cancel_futures=True)

    def _documents(self, texts: Sequence[str]) -> list[Vector]:
        given = [self._wanted.document_prefix + (one if one.strip() else EMPTY) for one in texts]
        return [self._vector(one) for one in self._request(given, self._pace.timeout)]

    def embed_query(self, text: str) -> Vector:
        given = self._wanted.query_prefix + (text if text.strip() else EMPTY)
        return self._vector(self._request([given], self._pace.query_timeout)[0])

    def _request(self, texts: Sequence[str], budget: float) -> list[list[float]]:
        asked: dict[str, Any] = {"model": self._wanted.name, "input": list(texts)}
        if self._wanted.dimensions:
            asked["dimensions"] = self._wanted.dimensions
        left = deadline.seconds_left()  # half of it: what is done without an answer takes time too
        budget = budget if left is None else min(budget, left / 2)
        return _embeddings(self._client().post("/embeddings", asked, budget), len(texts))

    def _vector(self, numbers: list[float]) -> Vector:
        name, wanted = self._wanted.name, self.model.dimensions
        if len(numbers) != wanted:
            raise bad_vector(name, f"it has {len(numbers)} dimensions instead of {wanted}")
        length = math.fsum(number * number for number in numbers)
        if not 0 < length < math.inf:
            raise bad_vector(name, "it has no direction: NaN, infinite or all zeros")
        return pack(normalize_embedding(numbers))


def _embeddings(answer: Any, count: int) -> list[list[float]]:
    """The numbers of each text, in the order of the texts."""
    try:
        places = sorted(answer["data"], key=lambda one: one["index"])
        found = [[float(number) for number in one["embedding"]] for one in places]
        right = [one["index"] for one in places] == list(range(count))
    except (KeyError, TypeError, ValueError):
        right, found = False, []
    if not right:
        raise ServiceUnavailable(
            "the embedding service answers with something else than a vector a text",
            field="embed.url",
            hint="its address usually ends in /v1",
        )
    return found
