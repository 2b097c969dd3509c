"""The packaged default: granite-embedding-30m-english on onnxruntime, nothing to download."""

import os
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Any

import knowbase_granite as packaged
from knowbase.embed.intact import check
from knowbase.embed.pieces import Counted, Pieces
from knowbase.embed.runtime import (
    LONGEST_TOKEN,
    in_order,
    of_one_length,
    open_session,
    provider_names,
)
from knowbase.errors import ModelUnavailable
from knowbase.logs import log
from knowbase.values.vectors import Model, Vector

BATCH_TOKENS = 256  # of one run: beyond, a batch is slower than its texts one by one
WINDOW = 256  # texts that are looked through for equal lengths


class Granite:
    """Texts of one length are run together, without padding: the model quantises each token by
    itself, so a text has the same vector alone and among others (see bench/embed.py).

    `revision` is what the vectors are called: that of an earlier export, for a base made with it.
    """

    max_tokens = packaged.MAX_TOKENS

    def __init__(
        self,
        threads: int = 0,
        revision: str = packaged.REVISION,
        providers: Sequence[str] = (),
    ) -> None:
        self.model = Model(packaged.NAME, revision, packaged.DIMENSIONS)
        self._threads = threads or os.cpu_count() or 1
        self._providers = tuple(providers)

    @property
    def size_bytes(self) -> int:
        return sum(map(os.path.getsize, (packaged.MODEL, packaged.TOKENIZER)))

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        count = self._pieces.count(text)
        return self._spans(text) if count is None else Counted(count, lambda: self._spans(text))

    def _spans(self, text: str) -> Sequence[tuple[int, int]]:
        spans: list[tuple[int, int]] = self._tokenizer.encode(
            text, add_special_tokens=False
        ).offsets
        return spans

    def count_tokens(self, text: str) -> int | None:
        tokens = self._short(text)
        return None if tokens is None else len(tokens)

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        for start in range(0, len(texts), WINDOW):
            ids = [self._ids(text) for text in texts[start : start + WINDOW]]
            _ = self._session  # loaded once, before the threads want it
            yield from in_order(
                of_one_length(ids, BATCH_TOKENS),
                lambda batch, ids=ids: self._run([ids[place] for place in batch]),  # type: ignore[misc]
                self._threads,
            )

    def embed_query(self, text: str) -> Vector:
        return self._run([self._ids(text)])[0]

    def _ids(self, text: str) -> list[int]:
        text = text[: packaged.MAX_TOKENS * LONGEST_TOKEN]
        tokens = self._short(text)
        if tokens is None:
            tokens = self._tokenizer.encode(text, add_special_tokens=False).ids
        start, end = packaged.MARKERS
        return [start, *tokens[: packaged.MAX_TOKENS - 2], end]

    def _short(self, text: str) -> list[int] | None:
        """The tokens of a short text, as long as the tokenizer, which is quicker, is not there."""
        return None if "_tokenizer" in self.__dict__ else self._pieces.ids(text)

    def _run(self, ids: Sequence[Sequence[int]]) -> list[Vector]:
        import numpy as np

        [rows] = self._session.run(None, {"input_ids": np.array(ids, np.int64)})
        return [row.astype("<f4").tobytes() for row in rows]

    @cached_property
    def _pieces(self) -> Pieces:
        _check(packaged.MERGES)
        return Pieces(packaged.MERGES)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        _check(packaged.TOKENIZER)
        return Tokenizer.from_file(packaged.TOKENIZER)

    @cached_property
    def _session(self) -> Any:
        _check(packaged.MODEL, packaged.GRAPH)
        providers = tuple(provider_names(self._providers))
        try:
            return _opened(packaged.GRAPH, packaged.MODEL, providers)
        except Exception as error:
            raise ModelUnavailable(
                "the packaged embedding model does not load", hint="reinstall knowbase"
            ) from error


@cache
def _opened(graph: str, model: str, providers: tuple[str, ...]) -> Any:
    """One for all bases of a process, and for its children. The graph maps the weights out of the
    other file; where that may not be (both must really lie in one folder), the whole model is
    read."""
    try:
        return open_session(graph, 1, providers, ready=True)
    except Exception as error:
        log("debug", "the weights could not be mapped", reason=str(error))
        return open_session(model, 1, providers, ready=True)


def revision_for(stored: Model | None) -> str:
    """Under which the vectors of a base go on: an earlier one if the base was made with that."""
    if stored is not None and is_earlier(stored):
        return stored.revision
    return packaged.REVISION


def is_earlier(model: Model) -> bool:
    """Whether it is an export of the packaged model that this one has taken the place of."""
    return model.name == packaged.NAME and model.revision in packaged.EARLIER


def _check(*paths: str) -> None:
    check({path: packaged.SHA256.get(path, "") for path in paths}, os.environ)
