"""Kinds of values and their bounds: the one place that says whether a value fits.

Settings, parameters of operations, notes and front matter are all checked here; each says in its
own words where the value stood.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from knowbase.values.characters import composed

MOST_WHOLE = 2**63  # what a database holds as a whole number
_NAMES = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    tuple: "a list of texts",
}
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Unfit(ValueError):
    """A value, or an item of a list, that does not fit; `expected` says what would."""

    def __init__(self, value: Any, expected: str) -> None:
        super().__init__(expected)
        self.value = value
        self.expected = expected


class Kind(NamedTuple):
    """What a value may be."""

    type: type = str  # str, int, float, bool, or tuple for a list of texts
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()


def fitted(kind: Kind, value: Any) -> Any:
    """The value with the kind's type and within its bounds; text is taken for a number."""
    value = _converted(kind.type, value)
    for one in value if isinstance(value, tuple) else (value,):
        if kind.choices and one not in kind.choices:
            raise Unfit(one, "one of " + ", ".join(filter(None, kind.choices)))
        if (kind.least is not None and not one >= kind.least) or (
            kind.most is not None and not one <= kind.most
        ):
            raise Unfit(one, _range(kind))
    return value


def read_flag(text: str) -> bool:
    """A flag from text, as files and the environment have it."""
    if text.strip().lower() not in _WORDS:
        raise Unfit(text, f"it must be {_NAMES[bool]}")
    return _WORDS[text.strip().lower()]


def _converted(wanted: type, value: Any) -> Any:
    if wanted is tuple:
        items = (value,) if isinstance(value, str) else value
        if isinstance(items, list | tuple) and all(isinstance(one, str) for one in items):
            return tuple(one for item in items if (one := item.strip()))
    elif wanted in (int, float):
        number = _number(wanted, value)
        if number is not None:
            return number
    elif isinstance(value, wanted):
        return value
    raise Unfit(value, f"it must be {_NAMES[wanted]}")


def _number(wanted: type, value: Any) -> float | None:
    """The value as a finite number of that type; a whole number is no cut-off fraction."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and (not value.isascii() or "_" in value):  # not what people write
        return None
    try:
        number = _whole(value) if wanted is int else float(value)
    except (ValueError, OverflowError):
        return None
    most = MOST_WHOLE if wanted is int else float("inf")
    return number if number is not None and abs(number) < most else None


def _whole(value: float | str) -> int | None:
    """7.0 is one too: JSON does not tell them apart."""
    if isinstance(value, str):
        digits, _, zeros = value.partition(".")
        return int(value if zeros.strip("0") or not zeros else digits)
    return int(value) if isinstance(value, int) or value.is_integer() else None


def _range(kind: Kind) -> str:
    if kind.least is not None and kind.most is not None:
        return f"from {kind.least} to {kind.most}"
    return f"at least {kind.least}" if kind.least is not None else f"at most {kind.most}"


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """As tags are stored: without the leading #, in lower case, each once."""
    cleaned = (composed(tag).strip().lstrip("#").strip().lower() for tag in tags)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))
