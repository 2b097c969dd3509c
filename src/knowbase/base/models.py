"""Which embedder a base works with: its own, the one that is set, or one that is named."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from knowbase.base.embedders import Chosen, Embedders
from knowbase.config import Settings
from knowbase.embed.choice import Choice, choice_of, from_source
from knowbase.errors import EmbeddingError
from knowbase.store.contract import Store

if TYPE_CHECKING:
    import re

    from knowbase.embed.survey import Usable
    from knowbase.ingest.drafts import Drafter
    from knowbase.ingest.embedding import Embedding, Step
    from knowbase.values.vectors import Model


class Models:
    """Which embedders one base uses. What a base remembers decides, not the settings: a search
    uses the model of the vectors that are there."""

    def __init__(self, store: Store, settings: Settings, home: str, embedders: Embedders) -> None:
        self._store = store
        self._settings = settings
        self._home = home
        self._embedders = embedders
        self._sources: dict[Model, str] = {}  # as far as they have been asked for

    def active(self) -> Chosen:
        """The model of the base's vectors; of a base without any, the one that is set."""
        if self._embedders.given is not None:
            return self._embedders.given
        model = self._store.model()
        if model is None:
            return self.named(self._settings.embed_model, self._home)
        if model not in self._sources:
            self._sources = {one.model: one.source for one in self._store.models()}
        return self._embedders.load(from_source(self._sources[model]), model.dimensions)

    def wanted(self) -> Chosen:
        """The model that new text is embedded with; the base refuses one that is not its own."""
        if self._embedders.given is not None or not self._settings.embed_model:
            return self.active()
        return self.named(self._settings.embed_model, self._home)

    def named(self, text: str, folder: str) -> Chosen:
        """The model that a person names; a relative path starts from `folder`."""
        return self._embedders.load(choice_of(text, self._settings, folder))

    def count_tokens(self, text: str) -> int:
        """As the base's model counts them; as the packaged one does when that is away."""
        try:
            return len(self.active().embedder.token_spans(text))
        except EmbeddingError:
            return len(self._embedders.load(Choice()).embedder.token_spans(text))

    def drafter(self, codes: "re.Pattern[str]") -> "Drafter":
        """What turns texts into drafts with vectors of the wanted model."""
        return self._drafter(cache(self.wanted), codes)

    def _drafter(
        self,
        chosen: Callable[[], Chosen],
        codes: "re.Pattern[str] | None" = None,
    ) -> "Drafter":
        from knowbase.ingest.drafts import Drafter
        from knowbase.read.confined import Reader, ReadLimits
        from knowbase.text.splitting import Limits

        said = self._settings
        return Drafter(
            lambda: chosen().embedder,
            lambda: chosen().source,
            Limits(said.chunk_max_tokens, said.chunk_overlap, said.chunk_min_overlap),
            codes,
            Reader(ReadLimits(said.read_timeout, said.read_memory_mb, said.read_max_chunks)),
        )

    def embed(
        self, name: str | None, *, drop_old: bool, progress: "Callable[[Step], None]"
    ) -> "Embedding":
        """The vectors that are missing of the wanted model, or of the one that is named."""
        from knowbase.ingest.embedding import drop_unused, embed_stored

        chosen = self.named(name, os.getcwd()) if name else self.wanted()
        result = embed_stored(self._store, self._drafter(lambda: chosen), progress)
        if drop_old and not result.interrupted:
            result = result._replace(dropped=drop_unused(self._store))
        return result._replace(warnings=tuple(self._contradictions(chosen)))

    def _contradictions(self, chosen: Chosen) -> list[str]:
        """A setting that would have the next kb add refused."""
        said = self._settings.embed_model
        if not said or self._embedders.given is not None or self.wanted().source == chosen.source:
            return []
        return [f"embed.model is set to {said}: until that is changed, kb add is refused"]

    def usable(self, folders: Sequence[str], *, measure: bool) -> "tuple[Usable, ...]":
        """What can be used here: the base's models, the one that is set, those in `folders`."""
        from knowbase.embed.survey import Survey, folders_below

        settings = self._settings
        choices = [
            (from_source(one.source), "of this base", one.model.dimensions)
            for one in self._store.models()
        ]
        if settings.embed_model:
            choice = choice_of(settings.embed_model, settings, self._home)
            choices.append((choice, "set as embed.model", 0))
        for folder in folders:
            for below in folders_below(os.path.abspath(folder)):
                choices.append((choice_of(below, settings, self._home), "ONNX folder", 0))
        return Survey(settings, os.environ, measure).everywhere(choices)
