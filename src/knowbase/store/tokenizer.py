"""FTS5's own tokenizer, lent to `knowbase.text`: every store counts the same words."""

import threading
from typing import TYPE_CHECKING, Any, cast

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Local(threading.local):
    """One tokenizer a thread: a connection must not be shared."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.tokenizer = self.connection.fts5_tokenizer("porter", ["unicode61"])


_local = _Local()
BOUND = b"\xff"
"""The piece between texts: no text has this byte."""
_BETWEEN = b" \xff "
_LETTERS = b"0123456789abcdefghijklmnopqrstuvwxyz"
_CUT = bytes(
    byte if byte in _LETTERS or byte > 127 else ord(" ") for byte in bytes(range(256)).lower()
)


def porter_unicode61(text: bytes) -> list[tuple[int, int, str]]:
    """Where each word starts and ends in the bytes, and its stem."""
    found = _local.tokenizer(text, apsw.FTS5_TOKENIZE_DOCUMENT, None)
    return cast("list[tuple[int, int, str]]", found)


def stems_alone(text: str) -> list[str]:
    """The stem of each word, in order: faster, where nobody asks where they stand."""
    return stems_of(text.encode("utf-8", "replace"))


def pieces_of(texts: "Iterable[str]") -> list[bytes]:
    """Texts cut where every text is cut, whatever stands around it, with a bound after each. The
    stems of its pieces are those of a text; most pieces are one word, and most words come again."""
    whole = _BETWEEN.join([*(text.encode("utf-8", "surrogateescape") for text in texts), b""])
    return whole.translate(_CUT).split()


def stems_of(text: bytes) -> list[str]:
    """The stem of each word, of a text in UTF-8."""
    found: Any = _local.tokenizer(
        text,
        apsw.FTS5_TOKENIZE_DOCUMENT,
        None,
        include_offsets=False,
        include_colocated=False,
    )
    return found  # type: ignore[no-any-return]
