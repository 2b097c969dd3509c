"""Characters that not every database can hold, and letters that can be written in two ways."""

from collections.abc import Callable
from itertools import chain
from typing import Any, TypeVar

T = TypeVar("T")
REPLACEMENT = "\ufffd"
_HARMLESS = frozenset({int, float, bool, bytes, type(None)})
_NONE = {0: REPLACEMENT, **dict.fromkeys(range(0xD800, 0xE000), REPLACEMENT)}


def clean(text: str) -> str:
    """The text with U+FFFD for each NUL and each lone surrogate, the same in every store."""
    return text if _is_clean(text) else text.translate(_NONE)


def composed(name: str) -> str:
    """A name as it is compared: é is one character, however it was typed (NFC)."""
    if name.isascii():
        return name
    from unicodedata import normalize

    return normalize("NFC", name)


def composed_within(value: T) -> T:
    """The same value, with all texts in it composed, however deep they lie."""
    return _mapped(value, composed)


def spellings(name: str) -> tuple[str, ...]:
    """A name as it is given, composed and decomposed, each once: a file keeps the name that it
    has on its disk, and macOS writes é as two characters."""
    if name.isascii():
        return (name,)
    from unicodedata import normalize

    return tuple(dict.fromkeys((name, normalize("NFC", name), normalize("NFD", name))))


def storable(value: T) -> T:
    """The same value, cleaned of such characters however deep they lie; what has none is
    returned itself."""
    return value if _is_storable(value) else _mapped(value, clean)


def storable_rows(rows: list[Any]) -> list[Any]:
    """The same for many rows of plain values: their texts are looked at as one."""
    texts = "".join([part for part in chain.from_iterable(rows) if isinstance(part, str)])
    return rows if _is_clean(texts) else [storable(row) for row in rows]


def _is_storable(value: object) -> bool:
    """Looked at first, as nearly every value is; what holds others looks at those itself, since
    most of them are numbers and short texts."""
    if isinstance(value, str):
        return _is_clean(value)
    if isinstance(value, dict):
        return _is_storable(tuple(value)) and _is_storable(tuple(value.values()))
    if not isinstance(value, (tuple, list, set, frozenset)):
        return True
    for part in value:
        kind = type(part)
        if kind in _HARMLESS or (kind is str and part.isascii() and "\0" not in part):
            continue
        if not _is_storable(part):
            return False
    return True


def _mapped(value: T, change: Callable[[str], str]) -> T:
    mapped: Any = value
    if isinstance(value, str):
        mapped = change(value)
    elif isinstance(value, (tuple, list, set, frozenset)):
        make: Any = getattr(type(value), "_make", type(value))
        mapped = make([_mapped(part, change) for part in value])
    elif isinstance(value, dict):
        mapped = {_mapped(key, change): _mapped(one, change) for key, one in value.items()}
    return mapped  # type: ignore[no-any-return]


def _is_clean(text: str) -> bool:
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
