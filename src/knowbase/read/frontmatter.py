"""Front matter: the YAML block at the start of a Markdown document."""

import math
import re
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from knowbase.errors import ReadError
from knowbase.values.documents import DOCUMENT_TYPES, FIELDS, STATED
from knowbase.values.fields import Field
from knowbase.values.kinds import Unfit, clean_tags, fitted, read_flag

_MAX_DEPTH = 40
_UNIT = "from 0 to 1"
_HIGHEST_JSON_INTEGER_BITS = 4096
_FIELDS = {key: name for name in STATED for key in FIELDS[name].keys}
"""Keys, and the field that each states."""
_UNPRINTABLE = re.compile("[\0\ud800-\udfff]")


class _Value(NamedTuple):
    """A value as YAML understands it, and as it was written when it is a scalar or a list."""

    meant: object
    written: object


def front_matter_lines(lines: list[str]) -> int:
    """How many leading lines look like front matter, both fences included; 0 for none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() in ("---", "..."):
            return number
    return 0


def parse_front_matter(block: str) -> dict[str, Any] | None:
    """The fields of a document that a YAML block states, whatever else it says as `metadata`;
    None when it is broken or no mapping."""
    values = _load(block)
    return None if values is None else _fields(values)


def _load(block: str) -> dict[str, _Value] | None:
    import yaml

    from knowbase.read.plain_yaml import loader

    base = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        if not _is_harmless(block):
            return None
        meant = yaml.load(block, loader())  # noqa: S506 (the safe one)
        written = yaml.load(block, base)  # noqa: S506 (makes nothing but strings)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError):
        return None
    if meant is None:
        return {}
    if not isinstance(meant, dict) or not isinstance(written, dict):
        return None
    return {_clean(str(key)): _Value(value, written.get(key)) for key, value in meant.items()}


def _is_harmless(block: str) -> bool:
    """Whether no alias can blow the document up and no nesting can exhaust the stack."""
    import yaml

    depth = 0
    for event in yaml.parse(block, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH or isinstance(event, yaml.AliasEvent):
            return False
    return True


def _fields(values: dict[str, _Value]) -> dict[str, Any]:
    stated: dict[str, Any] = {}
    metadata: dict[str, object] = {}
    for key, value in values.items():
        if value.meant is None:
            continue
        name = _FIELDS.get(key.lower())
        found = _stated(name, key, value) if name is not None else None
        if name is None or found is None:
            metadata[key] = _jsonable(value.meant)
        else:
            stated.setdefault(name, found)
    return {**stated, "metadata": metadata}


def _stated(name: str, key: str, value: _Value) -> Any:
    """What a key states of its field; None when it is no value of that."""
    field = FIELDS[name]
    if field.kind == "type":
        kind = (_text(value) or "").lower()
        return kind if kind in DOCUMENT_TYPES else None
    if field.kind in ("text", "code"):
        return _text(value) or None
    if field.kind == "tags":
        return clean_tags(_items(value, r"[,\s]+"))
    if field.kind == "names":
        return _unique([item.lower() for item in _items(value, r",")])
    if field.kind == "moment":
        return _time(key, value)
    return _fitted(field, key, value)


def _fitted(field: Field, key: str, value: _Value) -> Any:
    text = (_text(value) or "").lower()
    try:
        if field.kind == "flag":
            return value.meant if isinstance(value.meant, bool) else bool(text) and read_flag(text)
        return fitted(field.check, text)
    except Unfit as error:
        wanted = error.expected.removeprefix("it must be ")
        wanted = f"a number {_UNIT}" if field.kind == "share" else wanted
        raise ReadError(f"The front matter's {key} must be {wanted}.", field=key) from error


def _text(value: _Value) -> str | None:
    """A scalar as it was written ("007", "yes"), not as YAML understands it (7, true)."""
    if isinstance(value.meant, (dict, list, set, tuple, bytes)):
        return None
    written = value.written if isinstance(value.written, str) else str(value.meant)
    return " ".join(_clean(written).split())


def _items(value: _Value, separator: str) -> list[str]:
    if isinstance(value.written, list):
        found = [item for item in value.written if isinstance(item, str)]
    else:
        found = re.split(separator, _text(value) or "")
    return [" ".join(_clean(item).split()) for item in found]


def _unique(items: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))


def _time(key: str, value: _Value) -> str:
    try:
        moment = _moment(value)
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ReadError(
            f"The front matter's {key} must be a date or a time, such as 2030-12-31.", field=key
        ) from error
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _moment(value: _Value) -> datetime:
    if isinstance(value.meant, datetime):
        return value.meant
    if isinstance(value.meant, date):
        return datetime(value.meant.year, value.meant.month, value.meant.day)
    return datetime.fromisoformat(_text(value) or "")


def _jsonable(value: object) -> object:
    if isinstance(value, dict):
        return {_clean(str(key)): _jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if isinstance(value, set):
        return sorted(_clean(str(_jsonable_scalar(item))) for item in value)
    return _jsonable_scalar(value)


def _jsonable_scalar(value: object) -> object:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > _HIGHEST_JSON_INTEGER_BITS:
        return hex(value)
    return value


def _clean(text: str) -> str:
    # YAML escapes can spell characters that neither UTF-8 nor a database can hold.
    return _UNPRINTABLE.sub("\ufffd", text)
