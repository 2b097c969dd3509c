"""Text into vectors. `Embedder` is the whole interface; each backend is one file here."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from knowbase.values.vectors import Model, Vector


class Embedder(Protocol):
    """One embedding model. A text has the same vector, whatever it is embedded with.

    It may also have a `fineness`: see `fineness_of`.
    """

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


def fineness_of(embedder: Embedder) -> float:
    """How finely it tells meanings apart, the packaged model being 1: the share of that model's
    weight that it has in a ranking. An embedder that does not say is as fine."""
    return float(getattr(embedder, "fineness", 1.0))
