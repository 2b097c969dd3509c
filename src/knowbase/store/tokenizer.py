"""FTS5's own tokenizer, lent to `knowbase.text`: every store counts the same words."""

import threading
from typing import Any, cast

import apsw


class _Local(threading.local):
    """One tokenizer a thread: a connection must not be shared."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.tokenizer = self.connection.fts5_tokenizer("porter", ["unicode61"])


_local = _Local()


def porter_unicode61(text: bytes) -> list[tuple[int, int, str]]:
    """Where each word starts and ends in the bytes, and its stem."""
    found = _local.tokenizer(text, apsw.FTS5_TOKENIZE_DOCUMENT, None)
    return cast("list[tuple[int, int, str]]", found)


def stems_alone(text: str) -> list[str]:
    """The stem of each word, in order: faster, where nobody asks where they stand."""
    found: Any = _local.tokenizer(
        text.encode("utf-8", "replace"),
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return found  # type: ignore[no-any-return]
