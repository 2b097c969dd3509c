"""Embedders that are loaded: each once, for everybody who looks at a base."""

import os
import threading
from typing import NamedTuple

from knowbase.config import Settings
from knowbase.embed import Embedder
from knowbase.embed.choice import Choice, embedder_for


class Chosen(NamedTuple):
    """An embedder, and what a base remembers of how it was made."""

    embedder: Embedder
    source: str


class Embedders:
    """What a base has loaded. It knows no store: all views of the base share it."""

    def __init__(self, settings: Settings, given: Embedder | None = None) -> None:
        self.given = Chosen(given, "") if given is not None else None
        self._settings = settings
        self._made: dict[tuple[Choice, int], Embedder] = {}
        self._making = threading.Lock()  # two threads load no model twice

    def load(self, choice: Choice, dimensions: int = 0) -> Chosen:
        """The embedder of a choice, made when it is first asked for."""
        key = (choice, dimensions)
        with self._making:
            if key not in self._made:
                self._made[key] = embedder_for(choice, self._settings, os.environ, dimensions)
        return Chosen(self._made[key], choice.source)
