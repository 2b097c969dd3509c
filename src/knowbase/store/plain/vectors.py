"""Vectors of several models side by side in the plain store."""

from collections.abc import Callable, Collection, Mapping

from knowbase.errors import ModelMismatch
from knowbase.store.halves import as_kept
from knowbase.store.plain.contents import Contents
from knowbase.values.documents import Passage
from knowbase.values.vectors import IndexState, Model, StoredModel, Vector


class PlainVectors(Contents):
    """See `knowbase.store.contract.VectorStore` for what each method promises."""

    def model(self) -> Model | None:
        return self._model

    def models(self) -> list[StoredModel]:
        known = [
            StoredModel(model, source, len(self._vectors(model)), model == self._model)
            for model, source in self._sources.items()
        ]
        return sorted(known, key=lambda one: not one.active)

    def use_model(self, model: Model, source: str = "") -> None:
        if self._model is not None and self._model != model:
            raise ModelMismatch.between(self._model, model)
        if self._model is None:
            self._register(model, source)
        self._model = model

    def put_vectors(self, model: Model, source: str, vectors: Mapping[str, Vector]) -> None:
        self._register(model, source)
        for key, stored in self._state.chunks.items():
            if stored.chunk.hash in vectors and model not in stored.vectors:
                given = {**stored.vectors, model: as_kept(vectors[stored.chunk.hash])}
                self._state.chunks[key] = stored._replace(vectors=given)

    def _register(self, model: Model, source: str) -> None:
        if any(one[:2] == model[:2] and one != model for one in self._sources):
            raise ModelMismatch("the model has other dimensions here", field="embed.model")
        self._sources[model] = source

    def unembedded(self, model: Model, after: int, limit: int) -> list[Passage]:
        missing = [k for k, one in self._state.chunks.items() if model not in one.vectors]
        return [self._passage(key) for key in sorted(missing) if key > after][:limit]

    def claims(self) -> None:
        return None

    def switch_model(self, model: Model) -> bool:
        if model not in self._sources or self.unembedded(model, 0, 1):
            return False
        self._model = model
        return True

    def drop_model(self, model: Model) -> None:
        if model == self._model:
            raise ModelMismatch(f"{model.name} is the model in use", field="embed.model")
        self._sources.pop(model, None)
        for key, stored in self._state.chunks.items():
            kept = {one: vector for one, vector in stored.vectors.items() if one != model}
            self._state.chunks[key] = stored._replace(vectors=kept)

    def vectors(self, hashes: Collection[str], model: Model | None = None) -> Mapping[str, Vector]:
        of_model = self._vectors(model)
        return {
            stored.chunk.hash: of_model[key]
            for key, stored in self._state.chunks.items()
            if key in of_model and stored.chunk.hash in hashes
        }

    def renew_index(
        self,
        *,
        anew: bool = False,  # noqa: ARG002 - as the contract has it
        tell: Callable[[int, int], None] | None = None,  # noqa: ARG002
    ) -> bool:
        return False

    def vector_index(self) -> IndexState | None:
        return None
