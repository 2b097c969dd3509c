"""Embedders that are loaded: each once, for everybody who looks at a base."""

import os
import threading
from typing import TYPE_CHECKING, NamedTuple

from knowbase.config import Settings
from knowbase.embed import Embedder
from knowbase.embed.choice import Choice, embedder_for
from knowbase.values.vectors import Model

if TYPE_CHECKING:
    from knowbase.embed.rerank import Reranker


class Chosen(NamedTuple):
    """An embedder, and what a base remembers of how it was made."""

    embedder: Embedder
    source: str


class Embedders:
    """What a base has loaded. It knows no store: all views of the base share it."""

    def __init__(self, settings: Settings, given: Embedder | None = None) -> None:
        self.given = Chosen(given, "") if given is not None else None
        self._settings = settings
        self._made: dict[tuple[Choice, Model | None], Embedder] = {}
        self._reranker: Reranker | None = None
        self._making = threading.Lock()  # two threads load no model twice

    def reranker(self, folder: str) -> "Reranker":
        """What looks a second time, as it is set; a relative path starts from `folder`."""
        from knowbase.embed.rerank import reranker_for

        with self._making:
            if self._reranker is None:
                self._reranker = reranker_for(self._settings, os.environ, folder)
        return self._reranker

    def load(self, choice: Choice, stored: Model | None = None) -> Chosen:
        """The embedder of a choice, made when it is first asked for; `stored` is the model of the
        vectors that it is to go with."""
        key = (choice, stored)
        with self._making:
            if key not in self._made:
                self._made[key] = embedder_for(choice, self._settings, os.environ, stored)
        return Chosen(self._made[key], choice.source)
