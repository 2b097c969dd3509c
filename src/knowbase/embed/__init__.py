"""Text into vectors. `Embedder` is the whole interface; each backend is one file here."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from knowbase.values.vectors import Model, Vector


class Embedder(Protocol):
    """One embedding model. A text has the same vector, whatever it is embedded with."""

    @property
    def model(self) -> Model: ...

    @property
    def max_tokens(self) -> int:
        """How many tokens of a text are read, markers included; what is longer is cut."""

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Where each token of the text starts and ends, the model's markers left out."""

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """A vector for each text, in order, as they become ready."""

    def embed_query(self, text: str) -> Vector: ...
