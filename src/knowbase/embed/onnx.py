"""Any model in a folder of its own: tokenizer.json and model.onnx, run by onnxruntime."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from knowbase.embed.recipe import Recipe, has_dense_layer, recipe_of
from knowbase.embed.runtime import (
    LONGEST_TOKEN,
    bad_vector,
    in_order,
    of_one_length,
    open_session,
    packed,
    provider_names,
)
from knowbase.errors import ModelUnavailable
from knowbase.values.vectors import Model, Vector

FILES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
POOLED = ("sentence_embedding", "embedding", "text_embeds")
BATCH_TOKENS = 512  # of one run, padding included: short texts together, a long one alone
WINDOW = 256  # texts that are sorted by length together
_QUANTISED_BY_BATCH = b"DynamicQuantize"


_AS_STATED = Recipe()


class Content(NamedTuple):
    """What makes the vectors: its checksum, and whether it quantises by batch."""

    digest: bytes
    by_batch: bool


class OnnxFolder:
    """Texts of like length are run together, a thread a run (see bench/embed.py); of one length,
    if the model has no mask for padding; alone, if it quantises by batch: then a text's vector
    would depend on its neighbours."""

    def __init__(
        self,
        folder: str,
        wanted: Recipe = _AS_STATED,
        threads: int = 0,
        providers: Sequence[str] = (),
    ) -> None:
        self._folder = os.path.abspath(folder)
        self._threads = threads or os.cpu_count() or 1
        self._providers = providers
        self.name = _name(self._folder)
        if not os.path.isdir(self._folder):
            raise ModelUnavailable(
                f"there is no model folder {self.name!r}",
                field="embed.model",
                hint="a folder with tokenizer.json and model.onnx",
            )
        self._path = self._file(FILES)
        self._recipe = recipe_of(self._folder, self.name, wanted)

    @cached_property
    def model(self) -> Model:
        digest = hashlib.sha256(repr(self._recipe).encode())
        digest.update(self._content.digest)
        return Model(self.name, digest.hexdigest()[:12], self._dimensions)

    @cached_property
    def max_tokens(self) -> int:
        """The document prefix takes its part of what the model reads."""
        return self._recipe.max_tokens - len(self.token_spans(self._recipe.document_prefix or ""))

    @property
    def size_bytes(self) -> int:
        return sum(map(os.path.getsize, (*self._weights, self._tokenizer_file)))

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        spans: list[tuple[int, int]] = encoding.offsets
        return spans

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        for start in range(0, len(texts), WINDOW):
            prefix = self._recipe.document_prefix or ""
            yield from self._embed([prefix + text for text in texts[start : start + WINDOW]])

    def embed_query(self, text: str) -> Vector:
        return next(self._embed([(self._recipe.query_prefix or "") + text]))

    def _embed(self, texts: Sequence[str]) -> Iterator[Vector]:
        ids = [self._ids(text) for text in texts]
        if self._content.by_batch:
            batches = [[place] for place in range(len(ids))]
        elif "attention_mask" in self._inputs:
            batches = list(_batches(ids))
        else:
            batches = of_one_length(ids, BATCH_TOKENS)
        _ = self._session, self._inputs, self._output  # loaded before the threads want them
        yield from in_order(
            batches, lambda batch: self._run([ids[place] for place in batch]), self._threads
        )

    def _ids(self, text: str) -> list[int]:
        front, back = self._markers
        room = self._recipe.max_tokens - len(front) - len(back)
        text = text[: room * LONGEST_TOKEN]
        tokens = self._tokenizer.encode(text, add_special_tokens=False).ids
        return [*front, *tokens[:room], *back]

    def _run(self, batch: Sequence[Sequence[int]]) -> list[Vector]:
        """One run of the model over texts padded to the longest of them."""
        import numpy as np

        longest = max(map(len, batch))
        ids = np.zeros((len(batch), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(batch):
            ids[row, : len(one)] = one
            mask[row, : len(one)] = 1
        known = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.broadcast_to(np.arange(longest), ids.shape),
        }
        session, wanted, feed = self._session, self._output, {n: known[n] for n in self._inputs}
        try:
            [output] = session.run([wanted], feed)
        except Exception as error:
            raise self._broken("does not run") from error
        rows = output if output.ndim == 2 else self._pooled(output, mask)
        if rows.shape != (len(batch), rows.shape[-1]):
            raise bad_vector(self.name, f"its shape is {rows.shape}")
        return packed(rows, self.name)

    def _pooled(self, states: Any, mask: Any) -> Any:
        """One vector a text from one a token."""
        import numpy as np

        if self._recipe.pooling == "cls":
            return states[:, 0]
        if self._recipe.pooling == "last":
            return states[np.arange(len(states)), mask.sum(1) - 1]
        return (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)

    # what is in the folder

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        path = self._tokenizer_file
        try:
            tokenizer = Tokenizer.from_file(path)
        except Exception as error:  # the library raises nothing more precise
            raise self._broken("has a tokenizer.json that cannot be read") from error
        tokenizer.no_truncation()  # some files bring a length of their own, and padding
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _markers(self) -> tuple[list[int], list[int]]:
        """What the model wants before and after every text."""
        encoding = self._tokenizer.encode("a")
        marked = encoding.special_tokens_mask
        inner = [place for place, is_marker in enumerate(marked) if not is_marker] or [len(marked)]
        return encoding.ids[: inner[0]], encoding.ids[inner[-1] + 1 :]

    @cached_property
    def _session(self) -> Any:
        providers = provider_names(self._providers)
        try:
            return open_session(self._path, 1, providers)
        except Exception as error:
            raise self._broken("does not load") from error

    @cached_property
    def _inputs(self) -> list[str]:
        names = [one.name for one in self._session.get_inputs()]
        usual = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
        if "input_ids" not in names or not set(names) <= usual:
            raise self._broken(f"wants other inputs than a text's tokens: {', '.join(names)}")
        return names

    @cached_property
    def _output(self) -> str:
        """The pooled vectors when the model has them, else the states of the tokens."""
        shapes = {one.name: len(one.shape) for one in self._session.get_outputs()}
        pooled = [name for name in POOLED if shapes.get(name) == 2]
        states = [name for name, rank in shapes.items() if rank == 3]
        flat = [name for name, rank in shapes.items() if rank == 2]
        if not pooled and states and has_dense_layer(self._folder):
            raise self._broken("has a Dense layer after pooling, which knowbase does not apply")
        found: list[str] = [*pooled, *states, *flat]
        if not found:
            raise self._broken("gives no vectors: its outputs are " + ", ".join(shapes))
        return found[0]

    @cached_property
    def _dimensions(self) -> int:
        shape = {one.name: one.shape for one in self._session.get_outputs()}[self._output]
        if isinstance(shape[-1], int):
            return shape[-1]
        return len(self._run([self._ids("a")])[0]) // 4

    @cached_property
    def _content(self) -> "Content":
        return _content((*self._weights, self._tokenizer_file))

    @property
    def _tokenizer_file(self) -> str:
        return self._file(("tokenizer.json", "onnx/tokenizer.json"))

    @property
    def _weights(self) -> list[str]:
        """The model's file, and beside it those that hold its larger parts."""
        beside = [self._path + end for end in ("_data", ".data")]
        return [self._path, *(path for path in beside if os.path.exists(path))]

    def _file(self, names: Sequence[str]) -> str:
        for name in names:
            path = os.path.join(self._folder, name)
            if os.path.isfile(path):
                return path
        raise self._broken(f"has no {names[0]}")

    def _broken(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(
            f"the model folder {self.name!r} {what}",
            field="embed.model",
            hint="a folder with tokenizer.json and model.onnx; kb models FOLDER tries one",
        )


def _name(folder: str) -> str:
    """What the folder is called; one called `onnx` lies in the model's own."""
    front, name = os.path.split(folder)
    return os.path.basename(front) if name == "onnx" else name


def _content(paths: Sequence[str]) -> Content:
    digest, by_batch = hashlib.sha256(), False
    for path in paths:
        tail = b""
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
                by_batch = by_batch or _QUANTISED_BY_BATCH in tail + part
                tail = part[-len(_QUANTISED_BY_BATCH) :]
    return Content(digest.digest(), by_batch)


def _batches(ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Places of texts, the shortest first, as many together as bound the padded tokens."""
    batch: list[int] = []
    for place in sorted(range(len(ids)), key=lambda place: len(ids[place])):
        if batch and (len(batch) + 1) * len(ids[place]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
