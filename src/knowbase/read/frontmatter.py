"""Front matter: the YAML block at the start of a Markdown document."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from knowbase.errors import ReadError
from knowbase.values.documents import DOCUMENT_TYPES, SCOPES, SECTORS, TIERS

_MAX_DEPTH = 40
_HIGHEST_JSON_INTEGER_BITS = 4096
_TEXT_KEYS = {
    "title": "title",
    "code": "code",
    "short_code": "code",
    "parent": "parent",
    "project": "project",
    "superseded_by": "superseded_by",
}
_CHOICES = {"scope": SCOPES, "sector": SECTORS, "tier": TIERS}
_MOMENTS = {"expires": "expires_at", "expires_at": "expires_at", "valid_until": "valid_until"}
_UNPRINTABLE = re.compile("[\0\ud800-\udfff]")


class FrontMatter(NamedTuple):
    """The fields that a document states about itself."""

    type: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    code: str | None = None
    parent: str | None = None
    project: str | None = None
    roles: tuple[str, ...] = ()
    confidence: float | None = None
    archived: bool = False
    expires_at: str | None = None
    superseded_by: str | None = None
    valid_until: str | None = None
    scope: str | None = None
    sector: str | None = None
    tier: str | None = None
    salience: float | None = None
    metadata: Mapping[str, object] = {}


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


def parse_front_matter(block: str) -> FrontMatter | None:
    """The fields in a YAML block; None when it is broken or no mapping."""
    values = _load(block)
    return None if values is None else _fields(values)


def _load(block: str) -> dict[str, _Value] | None:
    import yaml

    safe = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    base = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        if not _is_harmless(block):
            return None
        meant = yaml.load(block, safe)  # noqa: S506 (both are the safe loader)
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


def _fields(values: dict[str, _Value]) -> FrontMatter:
    known: dict[str, Any] = {}
    metadata: dict[str, object] = {}
    for key, value in values.items():
        if value.meant is None:
            continue
        field = _field(key.lower(), value)
        if field is None:
            metadata[key] = _jsonable(value.meant)
        else:
            known.setdefault(*field)
    return FrontMatter(metadata=metadata)._replace(**known)


def _field(key: str, value: _Value) -> tuple[str, object] | None:
    """The known field that the key sets and its value; None when it is none of them."""
    if key in _TEXT_KEYS:
        text = _text(value)
        return (_TEXT_KEYS[key], text) if text else None
    if key == "type":
        kind = (_text(value) or "").lower()
        return ("type", kind) if kind in DOCUMENT_TYPES else None
    if key == "tags":
        return "tags", _tags(value)
    if key == "roles":
        return "roles", _unique([role.lower() for role in _items(value, r",")])
    return _checked_field(key, value)


def _checked_field(key: str, value: _Value) -> tuple[str, object] | None:
    if key in ("confidence", "salience"):
        return key, _share(key, value)
    if key in _CHOICES:
        return key, _choice(key, value)
    if key == "archived":
        return key, _archived(value)
    if key in _MOMENTS:
        return _MOMENTS[key], _time(key, value)
    return None


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


def _tags(value: _Value) -> tuple[str, ...]:
    return _unique([tag.lstrip("#").strip() for tag in _items(value, r"[,\s]+")])


def _unique(items: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))


def _share(key: str, value: _Value) -> float:
    try:
        number = float(_text(value) or "")
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise ReadError(f"The front matter's {key} must be a number from 0 to 1.", field=key)
    return number


def _choice(key: str, value: _Value) -> str:
    word = (_text(value) or "").lower()
    if word not in _CHOICES[key]:
        allowed = ", ".join(_CHOICES[key])
        raise ReadError(f"The front matter's {key} must be one of {allowed}.", field=key)
    return word


def _archived(value: _Value) -> bool:
    if isinstance(value.meant, bool):
        return value.meant
    word = (_text(value) or "").lower()
    if word in ("true", "yes", "1"):
        return True
    if word in ("false", "no", "0", ""):
        return False
    raise ReadError("The front matter's archived must be true or false.", field="archived")


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
