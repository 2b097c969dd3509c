"""Models of sentence-transformers, if it is installed; nothing is ever downloaded here."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from knowbase.embed.recipe import NO_PREFIX, Recipe
from knowbase.embed.runtime import packed
from knowbase.errors import ModelUnavailable
from knowbase.values.vectors import Model, Vector

BATCH = 32


class SentenceTransformers:
    """A folder, or a name that is in the library's own cache."""

    def __init__(self, name: str, wanted: Recipe, threads: int = 0) -> None:
        self.name = name
        self._wanted = wanted
        self._threads = threads

    @cached_property
    def model(self) -> Model:
        prompts = repr((self._prompt("query"), self._prompt("document"), self.max_tokens))
        digest = hashlib.sha256(prompts.encode())
        digest.update(self._state.encode())
        name = os.path.basename(os.path.normpath(self.name))
        return Model(name, digest.hexdigest()[:12], len(self.embed_query("a")) // 4)

    @cached_property
    def max_tokens(self) -> int:
        return int(self._wanted.max_tokens or self._loaded.max_seq_length or 512)

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        encoded = self._loaded.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False
        )
        spans: list[tuple[int, int]] = encoded["offset_mapping"]
        return spans

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        for start in range(0, len(texts), BATCH):
            yield from self._embed(texts[start : start + BATCH], "document")

    def embed_query(self, text: str) -> Vector:
        return self._embed([text], "query")[0]

    def _embed(self, texts: Sequence[str], task: str) -> list[Vector]:
        rows = self._loaded.encode(
            list(texts), prompt=self._prompt(task), show_progress_bar=False, batch_size=BATCH
        )
        return packed(rows, self.name)

    def _prompt(self, task: str) -> str:
        """The prefix that is set, else the model's own."""
        given = self._wanted.query_prefix if task == "query" else self._wanted.document_prefix
        if given is not None:
            return "" if given == NO_PREFIX else given
        prompts: dict[str, str] = self._loaded.prompts
        own = prompts.get(task) or (prompts.get("passage") if task == "document" else "")
        return own or ""

    @property
    def _state(self) -> str:
        """The checksum of the weights as they are in memory."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self._loaded.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()

    @cached_property
    def _loaded(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ModelUnavailable(
                "sentence-transformers is not installed",
                field="embed.model",
                hint="pip install sentence-transformers; an ONNX folder needs nothing more",
            ) from error
        try:
            loaded = SentenceTransformer(self.name, local_files_only=True)
        except Exception as error:  # whatever the library, its hub client or torch raise
            raise ModelUnavailable(
                f"sentence-transformers does not load {self.name!r}",
                field="embed.model",
                hint="a folder, or a model that was downloaded before",
            ) from error
        if self._wanted.max_tokens:
            loaded.max_seq_length = self._wanted.max_tokens
        if self._threads:
            import torch

            torch.set_num_threads(self._threads)
        return loaded
