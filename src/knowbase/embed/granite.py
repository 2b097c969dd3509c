"""The packaged default: granite-embedding-30m-english on onnxruntime, nothing to download."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import knowbase_granite as packaged
from knowbase.embed.runtime import LONGEST_TOKEN, in_order, of_one_length, open_session
from knowbase.errors import ModelUnavailable
from knowbase.values.vectors import Model, Vector

BATCH_TOKENS = 256  # of one run: beyond, a batch is slower than its texts one by one
WINDOW = 256  # texts that are looked through for equal lengths


class Granite:
    """Texts of one length are run together, without padding: the model quantises each token by
    itself, so a text has the same vector alone and among others (see bench/embed.py).

    `revision` is what the vectors are called: that of an earlier export, for a base made with it.
    """

    max_tokens = packaged.MAX_TOKENS

    def __init__(self, threads: int = 0, revision: str = packaged.REVISION) -> None:
        self.model = Model(packaged.NAME, revision, packaged.DIMENSIONS)
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
        tokens = self._tokenizer.encode(text, add_special_tokens=False).ids
        start, end = self._markers
        return [start, *tokens[: packaged.MAX_TOKENS - 2], end]

    def _run(self, ids: Sequence[Sequence[int]]) -> list[Vector]:
        import numpy as np

        [rows] = self._session.run(None, {"input_ids": np.array(ids, np.int64)})
        return [row.astype("<f4").tobytes() for row in rows]

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


def revision_for(stored: Model | None) -> str:
    """Under which the vectors of a base go on: an earlier one if the base was made with that."""
    if stored is not None and is_earlier(stored):
        return stored.revision
    return packaged.REVISION


def is_earlier(model: Model) -> bool:
    """Whether it is an export of the packaged model that this one has taken the place of."""
    return model.name == packaged.NAME and model.revision in packaged.EARLIER


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
