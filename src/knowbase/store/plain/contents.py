"""What the plain store holds beside its state, and what all its parts ask of both."""

from typing import TYPE_CHECKING

from knowbase.query.conditions import Condition
from knowbase.store.plain.filtering import passing
from knowbase.store.plain.state import State
from knowbase.values.documents import Document, Passage
from knowbase.values.vectors import Model, Vector

if TYPE_CHECKING:
    from knowbase.store.keeping import Keeps
    from knowbase.values.edges import Edge


class Contents:
    """Everything in one base."""

    keeps: "Keeps | None" = None

    def __init__(self) -> None:
        self._state = State()
        self._model: Model | None = None
        self._sources: dict[Model, str] = {}  # of every model, in order of arrival
        self._similar: list[Edge] = []

    def _passing(self, condition: Condition) -> list[Document]:
        return passing(self._state, condition)

    def _passage(self, key: int) -> Passage:
        stored = self._state.chunks[key]
        return Passage(key, stored.chunk, self._state.documents[stored.document])

    def _is_alive(self, document: str) -> bool:
        return self._state.documents[document].deleted_at is None

    def _vectors(self, model: Model | None) -> dict[int, Vector]:
        """Each chunk's vector of the model, or of the active one."""
        wanted = model or self._model
        chunks = self._state.chunks.items()
        return {k: one.vectors[wanted] for k, one in chunks if wanted and wanted in one.vectors}
