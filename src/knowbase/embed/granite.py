"""The packaged default: granite-embedding-30m-english on onnxruntime, nothing to download."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import knowbase_granite as packaged
from knowbase import deadline
from knowbase.embed.runtime import LONGEST_TOKEN, open_session
from knowbase.errors import ModelUnavailable
from knowbase.values.vectors import Model, Vector


class Granite:
    """One text at a time: the model quantises by batch, so a batch would change the vectors.

    On two cores, one text a thread is also the fastest way (see bench/).
    """

    model = Model(packaged.NAME, packaged.REVISION, packaged.DIMENSIONS)
    max_tokens = packaged.MAX_TOKENS

    def __init__(self, threads: int = 0) -> None:
        self._threads = threads or os.cpu_count() or 1

    @property
    def size_bytes(self) -> int:
        return sum(map(os.path.getsize, (packaged.MODEL, packaged.TOKENIZER)))

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        spans: list[tuple[int, int]] = self._tokenizer.encode(
            text, add_special_tokens=False
        ).offsets
        return spans

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        from concurrent.futures import ThreadPoolExecutor

        if texts:
            _ = self._session, self._markers  # loaded once, before the threads want it
        with ThreadPoolExecutor(self._threads) as pool:
            try:
                for vector in pool.map(self._embed, texts):
                    deadline.check()  # nobody waits for the rest: it is left
                    yield vector
            finally:
                pool.shutdown(cancel_futures=True)

    def embed_query(self, text: str) -> Vector:
        return self._embed(text)

    def _embed(self, text: str) -> Vector:
        import numpy as np

        text = text[: packaged.MAX_TOKENS * LONGEST_TOKEN]
        tokens = self._tokenizer.encode(text, add_special_tokens=False).ids
        start, end = self._markers
        ids = np.array([[start, *tokens[: packaged.MAX_TOKENS - 2], end]], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        vector: bytes = self._session.run(None, feed)[0][0].astype("<f4").tobytes()
        return vector

    @cached_property
    def _markers(self) -> tuple[int, int]:
        start, end = self._tokenizer.encode("").ids
        return start, end

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_str(_checked(packaged.TOKENIZER).decode())

    @cached_property
    def _session(self) -> Any:
        try:
            return open_session(_checked(packaged.MODEL), threads=1)
        except ModelUnavailable:
            raise
        except Exception as error:
            raise ModelUnavailable(
                "the packaged embedding model does not load", hint="reinstall knowbase"
            ) from error


def _checked(path: str) -> bytes:
    """The file's bytes, once their checksum is right."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ModelUnavailable(
            "the packaged embedding model is missing", hint="reinstall knowbase"
        ) from error
    if hashlib.sha256(data).hexdigest() != packaged.SHA256[path]:
        raise ModelUnavailable(
            "the packaged embedding model is damaged: its checksum is wrong",
            hint="reinstall knowbase",
        )
    return data
