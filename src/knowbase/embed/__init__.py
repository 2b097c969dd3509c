"""Text into vectors. `Embedder` is the whole interface; each backend is one file here."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from knowbase.values.vectors import Model, Vector


class Embedder(Protocol):
    """One embedding model. A text has the same vector, whatever it is embedded with.

    It may also have a `fineness`: see `fineness_of`, and `count_tokens`: see `tokens_in`.
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


def tokens_in(text: str, embedder: Embedder) -> int:
    """How many tokens a text has. An embedder may know without loading its tokenizer; it says
    None if not."""
    count = getattr(embedder, "count_tokens", None)
    known = count(text) if count is not None else None
    return len(embedder.token_spans(text)) if known is None else int(known)
