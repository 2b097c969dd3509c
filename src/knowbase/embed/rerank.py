"""A second look: how well each text answers a query, read together with it.

`Reranker` is the whole interface. A folder with a cross-encoder is run here; a service is asked by
its /rerank call, as Cohere, Jina, vLLM and others have it, or as TEI does.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from knowbase.errors import InvalidInput, ModelUnavailable, ServiceUnavailable

if TYPE_CHECKING:
    from knowbase.config import Settings
    from knowbase.embed.http import Client

PACKAGED = "knowbase_reranker"
SERVICES = ("service", "tei")
FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
EXPECTED = f"a folder with tokenizer.json and model.onnx, {PACKAGED}, service:NAME or tei:NAME"
LONGEST_TOKEN = 64  # characters: what lies further behind is not even tokenised


class Reranker(Protocol):
    """What looks a second time."""

    name: str

    def scores(self, query: str, texts: Sequence[str], budget: float) -> Iterator[float]:
        """How well each text answers, in their order and as they become ready; higher is better,
        on a scale of its own. Whoever has waited long enough takes no more."""


class CrossEncoder:
    """A model folder that reads a query and a text together. Each pair is run alone, so that a
    score never depends on its neighbours, and a few pairs at a time, a thread each."""

    def __init__(self, folder: str, max_tokens: int = 256, threads: int = 0) -> None:
        self.name = os.path.basename(os.path.normpath(folder))
        self._folder = folder
        self._max_tokens = max_tokens
        self._threads = threads or os.cpu_count() or 1
        _ = self._session, self._tokenizer  # before a search counts its time

    def scores(self, query: str, texts: Sequence[str], budget: float) -> Iterator[float]:  # noqa: ARG002
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._threads) as pool:
            for start in range(0, len(texts), self._threads):
                some = texts[start : start + self._threads]
                yield from pool.map(lambda text: self._score(query, text), some)

    def _score(self, query: str, text: str) -> float:
        import numpy as np

        most = self._max_tokens * LONGEST_TOKEN
        encoding = self._tokenizer.encode(query[:most], text[:most])
        known = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        session = self._session
        names = [one.name for one in session.get_inputs()]
        if not set(names) <= set(known):
            raise self._broken(f"wants other inputs than a text's tokens: {', '.join(names)}")
        feed = {name: np.array([known[name]], np.int64) for name in names}
        try:
            [output, *_] = session.run(None, feed)
        except Exception as error:
            raise self._broken("does not run") from error
        row = np.asarray(output, np.float64).reshape(-1)
        if row.size not in (1, 2) or not np.isfinite(row).all():
            raise self._broken(f"gives no score a pair: its shape is {np.asarray(output).shape}")
        return float(row[-1] - row[0] if row.size == 2 else row[0])

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        path = os.path.join(self._folder, "tokenizer.json")
        try:
            tokenizer = Tokenizer.from_file(path)
            tokenizer.no_padding()
            tokenizer.enable_truncation(self._max_tokens)
        except Exception as error:  # the library raises nothing more precise
            raise self._broken("has no tokenizer.json that can be read") from error
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        from knowbase.embed.runtime import open_session

        paths = [os.path.join(self._folder, name) for name in FILES]
        path = next(filter(os.path.isfile, paths), None)
        if path is None:
            raise self._broken("has no model.onnx")
        try:
            return open_session(path, threads=1)
        except Exception as error:
            raise self._broken("does not load") from error

    def _broken(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"the model folder {self.name!r} {what}", field="rerank.model", hint=EXPECTED
        )


class RerankService:
    """A service that is asked for all scores at once, within the budget."""

    def __init__(self, name: str, client: "Callable[[], Client]", *, tei: bool) -> None:
        self.name = name
        self._client = client
        self._tei = tei

    def scores(self, query: str, texts: Sequence[str], budget: float) -> Iterator[float]:
        if self._tei:
            asked: dict[str, Any] = {"query": query, "texts": list(texts), "truncate": True}
        else:
            asked = {"model": self.name, "query": query, "documents": list(texts)}
            asked["top_n"] = len(texts)
        answer = self._client().post("/rerank", asked, budget)
        yield from _in_order(answer, len(texts))


def _in_order(answer: Any, count: int) -> list[float]:
    """The score of each text: Cohere's and Jina's `results`, or TEI's list."""
    try:
        lines = answer["results"] if isinstance(answer, Mapping) else answer
        found = {
            int(one["index"]): float(
                one["relevance_score" if "relevance_score" in one else "score"]
            )
            for one in lines
        }
        scores = [found[place] for place in range(count)]
    except (KeyError, TypeError, ValueError):
        scores = []
    if len(scores) != count or not all(abs(one) < float("inf") for one in scores):
        raise ServiceUnavailable(
            "the reranking service answers with something else than a score a text",
            field="rerank.url",
            hint="its address is what comes before /rerank, such as https://api.cohere.com/v2",
        )
    return scores


def reranker_for(settings: "Settings", environment: Mapping[str, str], folder: str) -> Reranker:
    """What rerank.model names; a relative path starts from `folder`."""
    said = settings.rerank_model
    kind, _, name = said.partition(":")
    if kind in SERVICES and name:
        from knowbase.embed.http import rerank_client

        return RerankService(
            name, lambda: rerank_client(settings.rerank_url, environment), tei=kind == "tei"
        )
    place = _packaged() if said == PACKAGED else os.path.join(folder, os.path.expanduser(said))
    if not os.path.isdir(place):
        raise InvalidInput(f"there is no model {said!r}", field="rerank.model", hint=EXPECTED)
    return CrossEncoder(place, settings.rerank_max_tokens, settings.embed_threads)


def _packaged() -> str:
    """Where the package lies that is nothing but a model."""
    from importlib.util import find_spec

    found = find_spec(PACKAGED)
    if found is None or found.origin is None:
        raise ModelUnavailable(
            f"the package {PACKAGED} is not installed", field="rerank.model", hint=EXPECTED
        )
    return os.path.dirname(found.origin)
