"""Static vectors: wordllama's table of one vector a token, averaged. Instant, and less precise."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from knowbase.embed.runtime import LONGEST_TOKEN, packed
from knowbase.errors import ModelUnavailable
from knowbase.values.vectors import Model, Vector

NAME = "wordllama-l2-supercat-256"
WEIGHTS = os.path.join("weights", "l2_supercat_256.safetensors")
TOKENIZER = os.path.join("tokenizers", "l2_supercat_tokenizer_config.json")
TENSOR = "embedding.weight"
MAX_TOKENS = 8192  # an average over more says nothing
EMPTY = "(empty)"  # a text without any token has no average


class WordLlama:
    """Reads the files of the package `wordllama` without importing it: that would load an HTTP
    client and turn on logging for the whole program."""

    max_tokens = MAX_TOKENS
    fineness = 1 / 3  # measured: no worse than words alone (docs/models.md)

    @cached_property
    def model(self) -> Model:
        with open(self._path(WEIGHTS), "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Model(NAME, digest[:12], self._table.shape[1])

    @property
    def size_bytes(self) -> int:
        return sum(os.path.getsize(self._path(name)) for name in (WEIGHTS, TOKENIZER))

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        spans: list[tuple[int, int]] = encoding.offsets
        return spans

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        return map(self.embed_query, texts)

    def embed_query(self, text: str) -> Vector:
        import numpy as np

        given = text[: MAX_TOKENS * LONGEST_TOKEN]
        given = given if given.strip() else EMPTY
        tokens = self._tokenizer.encode(given, add_special_tokens=False).ids[:MAX_TOKENS]
        places = np.clip(tokens, 0, len(self._table) - 1)
        return packed(self._table[places].mean(0, dtype=np.float32)[None], NAME)[0]

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(self._path(TOKENIZER))

    @cached_property
    def _table(self) -> Any:
        """The tensor in a safetensors file: the header's length, the header, the numbers."""
        import numpy as np

        path = self._path(WEIGHTS)
        try:
            with open(path, "rb") as file:
                length = int.from_bytes(file.read(8), "little")
                about = json.loads(file.read(length))[TENSOR]
            kind = {"F16": "<f2", "F32": "<f4"}[about["dtype"]]
            start, shape = 8 + length + about["data_offsets"][0], tuple(about["shape"])
            return np.memmap(path, kind, "r", start, shape)
        except (OSError, ValueError, KeyError) as error:
            raise ModelUnavailable(
                "the vectors of wordllama cannot be read", hint="pip install -U wordllama"
            ) from error

    def _path(self, name: str) -> str:
        path = os.path.join(package_folder() or "", name)
        if not os.path.exists(path):
            raise ModelUnavailable(
                "static vectors need the package wordllama",
                field="embed.model",
                hint="pip install 'knowbase[static]'",
            )
        return path


def package_folder() -> str | None:
    """Where wordllama is installed."""
    from importlib.util import find_spec

    spec = find_spec("wordllama")
    found = spec.submodule_search_locations if spec is not None else None
    return next(iter(found), None) if found else None
