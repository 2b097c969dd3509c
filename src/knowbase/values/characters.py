"""Characters that not every database can hold."""

from operator import is_not
from typing import Any, TypeVar

T = TypeVar("T")
REPLACEMENT = "\ufffd"
_NONE = {0: REPLACEMENT, **dict.fromkeys(range(0xD800, 0xE000), REPLACEMENT)}


def clean(text: str) -> str:
    """The text with U+FFFD for each NUL and each lone surrogate, the same in every store."""
    return text if _is_clean(text) else text.translate(_NONE)


def storable(value: T) -> T:
    """The same value, cleaned of such characters however deep they lie; what has none is
    returned itself."""
    cleaned: Any = value
    if isinstance(value, str):
        cleaned = clean(value)
    elif isinstance(value, (tuple, list, set, frozenset)):
        parts = [storable(part) for part in value]
        if any(map(is_not, parts, value)):
            make: Any = getattr(type(value), "_make", type(value))
            cleaned = make(parts)
    elif isinstance(value, dict):
        keys, values = storable(tuple(value)), storable(tuple(value.values()))
        if keys != tuple(value) or any(map(is_not, values, value.values())):
            cleaned = dict(zip(keys, values, strict=True))
    return cleaned  # type: ignore[no-any-return]


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
