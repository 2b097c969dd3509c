"""Which embedder a base works with: its own, the one that is set, or one that is named."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from knowbase.base.embedders import Chosen, Embedders
from knowbase.config import Settings
from knowbase.embed import tokens_in
from knowbase.embed.choice import Choice, choice_of, from_source
from knowbase.errors import EmbeddingError, VectorsUnavailable

if TYPE_CHECKING:
    import re

    from knowbase.embed.survey import Usable
    from knowbase.ingest.drafts import Drafter
    from knowbase.ingest.embedding import Embedding, Step
    from knowbase.store.contract import Store
    from knowbase.values.vectors import Model


class Models:
    """Which embedders one base uses. What a base remembers decides, not the settings: a search
    uses the model of the vectors that are there."""

    def __init__(self, store: "Store", settings: Settings, home: str, embedders: Embedders) -> None:
        self._store = store
        self._settings = settings
        self._home = home
        self._embedders = embedders
        self._sources: dict[Model, str] = {}  # as far as they have been asked for

    def active(self) -> Chosen:
        """The model of the base's vectors; of a base without any, the one that is set."""
        if not self._settings.embed_vectors:
            raise VectorsUnavailable.switched_off()
        if self._embedders.given is not None:
            return self._embedders.given
        model = self._store.model()
        if model is None:
            return self.named(self._settings.embed_model, self._home)
        if model not in self._sources:
            self._sources = {one.model: one.source for one in self._store.models()}
        return self._embedders.load(from_source(self._sources[model]), model)

    def wanted(self) -> Chosen:
        """The model that new text is embedded with; the base refuses one that is not its own.
        Without vectors, the packaged one counts tokens."""
        if not self._settings.embed_vectors:
            return self._embedders.load(Choice())
        if self._embedders.given is not None or not self._settings.embed_model:
            return self.active()
        choice = choice_of(self._settings.embed_model, self._settings, self._home)
        return self._embedders.load(choice, self._store.model() if choice == Choice() else None)

    def newer(self) -> Chosen | None:
        """The packaged model, when the base was made with an earlier export of it."""
        from knowbase.embed.granite import is_earlier

        model = self._store.model()
        if self._embedders.given is not None or model is None or not is_earlier(model):
            return None
        return self._embedders.load(Choice())

    def named(self, text: str, folder: str) -> Chosen:
        """The model that a person names; a relative path starts from `folder`."""
        return self._embedders.load(choice_of(text, self._settings, folder))

    def count_tokens(self, text: str) -> int:
        """As the base's model counts them; as the packaged one does when that is away."""
        try:
            return tokens_in(text, self.active().embedder)
        except EmbeddingError:
            return tokens_in(text, self._embedders.load(Choice()).embedder)

    @property
    def service(self) -> str | None:
        """What is asked for the vectors of queries, if it is a service; no address is told."""
        model = self._store.model()
        said = self._settings.embed_model
        if model is not None:
            sources = {one.model: one.source for one in self._store.models()}
            is_service = from_source(sources[model]).kind == "service"
        else:
            is_service = said.startswith("service:")
        if not is_service or self._embedders.given is not None:
            return None
        from urllib.parse import urlsplit

        host = urlsplit(self._settings.embed_url).hostname or ""
        return "OpenAI" if host.endswith("openai.com") else "the embedding service"

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
        from knowbase.read.scanned import MEMORY_MB, Scanner
        from knowbase.text.splitting import Limits

        said = self._settings
        drafter = Drafter(
            lambda: chosen().embedder,
            lambda: chosen().source,
            Limits(said.chunk_max_tokens, said.chunk_overlap, said.chunk_min_overlap),
            codes,
            Reader(
                ReadLimits(
                    said.read_timeout,
                    said.read_memory_mb,
                    said.read_max_chunks,
                    said.read_max_data_kb,
                ),
                Scanner(
                    said.read_ocr,
                    said.read_ocr_timeout,
                    said.read_ocr_pages,
                    max(MEMORY_MB, said.read_memory_mb),
                ),
            ),
        )
        drafter.makes_vectors = said.embed_vectors
        return drafter

    def embed(
        self,
        name: str | None,
        *,
        drop_old: bool,
        progress: "Callable[[Step], None]",
        lease: float | None = None,
    ) -> "Embedding":
        """The vectors that are missing of the wanted model, or of the one that is named; of a
        model that came with a newer knowbase, all of them. With `lease`, as one of many."""
        from knowbase.ingest.embedding import drop_unused, embed_shared, embed_stored

        if not self._settings.embed_vectors:
            raise VectorsUnavailable.switched_off()
        chosen = self.named(name, os.getcwd()) if name else self.newer() or self.wanted()
        drafter = self._drafter(lambda: chosen)
        if lease is None:
            result = embed_stored(self._store, drafter, progress)
        else:
            result = embed_shared(self._store, drafter, progress, lease)
        if drop_old and not result.interrupted:
            result = result._replace(dropped=drop_unused(self._store))
        return result._replace(warnings=tuple(self._contradictions(chosen)))

    def embed_missing(self, progress: "Callable[[Step], None]") -> "Embedding":
        """The vectors that are missing of the base's own model; of no other one."""
        from knowbase.ingest.embedding import embed_missing

        chosen = self.active()  # once: another one may take its place meanwhile
        return embed_missing(self._store, self._drafter(lambda: chosen), progress)

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
        choices: list[tuple[Choice, str, Model | None]] = [
            (from_source(one.source), "of this base", one.model) for one in self._store.models()
        ]
        if settings.embed_model:
            choice = choice_of(settings.embed_model, settings, self._home)
            choices.append((choice, "set as embed.model", None))
        for folder in folders:
            for below in folders_below(os.path.abspath(folder)):
                choices.append((choice_of(below, settings, self._home), "ONNX folder", None))
        return Survey(settings, os.environ, measure).everywhere(choices)
