"""Front matter: what a Markdown document says of itself before its text."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from knowbase.errors import ReadError
from knowbase.read.links import named_link
from knowbase.read.properties import Loaded, Value, by_key, load_json, load_properties, load_toml
from knowbase.values.documents import FIELDS, STATED
from knowbase.values.fields import Field
from knowbase.values.kinds import Unfit, clean_tags, fitted, read_flag
from knowbase.values.reading import Link
from knowbase.values.times import timestamp

UNFIT, KEPT = "The front matter's", " It is kept as meta."
"""How a value that does not fit is named, and what follows."""
_MAX_DEPTH = 40
_UNIT = "from 0 to 1"
_HIGHEST_JSON_INTEGER_BITS = 4096
_FIELDS = {key: name for name in STATED for key in FIELDS[name].keys}
"""Keys, and the field that each states."""
_ABOUT = ("description", "summary", "abstract", "excerpt", "desc")
_RELATIONS = frozenset({
    "blocked_by", "blocks", "depends_on", "depends", "dependencies", "requires", "required_by",
    "related", "related_to", "relates_to", "see_also", "implements", "implemented_by", "extends",
    "part_of", "derived_from", "based_on", "caused_by", "causes", "duplicates", "duplicate_of",
    "replaces", "replaced_by", "supersedes", "follows", "followed_by", "tracks",
    "references", "builds_on",
})  # fmt: skip
"""Keys whose values are other documents, whichever way they are written."""
_IS_LINK = re.compile(r"\[\[[^\[\]\n]{1,300}\]\]")
_TYPE = re.compile(r"[^\W_][\w .&+/-]{0,59}")
_DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y",
          "%d %B %Y", "%d %b %Y", "%a %b %d %Y", "%a, %d %b %Y %H:%M:%S %z",
          "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%d %H:%M %z", "%Y%m%d")  # fmt: skip
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")  # "May 3rd, 2021"
_SECONDS, _MILLISECONDS = 10, 13  # digits of a moment since 1970, from 2001 to 2286
# `created: {{date}}` of Obsidian's templates, `<% tp.date.now() %>` of Templater's
_TO_FILL_IN = re.compile(
    r"""(?m)^[^\s:#][^:\n]{0,100}:[ \t]*["']?(?:\{\{[^{}\n]*\}\}|<%.*%>)["']?[ \t]*$"""
)
_AHEAD = timedelta(days=1)  # of UTC, somewhere
_UNPRINTABLE = re.compile("[\0\ud800-\udfff]")


_INVALID = "its front matter is not valid {}; read as text"
_TWICE = "its front matter has {} more than once; the last one counts"
_STATEMENT = re.compile(r"""[ \t]*["']?([A-Za-z_]{1,40})["']?[ \t]*[:=]""")


class Format(NamedTuple):
    """What front matter is written in, and how it is read."""

    name: str
    load: Callable[[str], Loaded | None]


class Matter(NamedTuple):
    """What a document says of itself before its text."""

    lines: int = 0  # how many of its lines that takes
    stated: Mapping[str, Any] = {}  # fields of the document, whatever else it says as `metadata`
    warnings: tuple[str, ...] = ()

    @property
    def _others(self) -> Mapping[str, Any]:
        others: Mapping[str, Any] = self.stated.get("metadata", {})
        return others

    @property
    def description(self) -> str:
        """What it says that it is about."""
        given = {key.lower(): value for key, value in self._others.items()}
        found = [given[key] for key in _ABOUT if isinstance(given.get(key), str)]
        return " ".join(found[0].split()) if found else ""

    @property
    def links(self) -> tuple[Link, ...]:
        """The documents that it names."""
        return links_in(self._others)


def links_in(metadata: Mapping[str, Any]) -> tuple[Link, ...]:
    """The documents that metadata names: by a key that says how, or as [[links]]."""
    found = (
        named_link(text, key)
        for key, value in metadata.items()
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str) and (_is_relation(key) or _IS_LINK.fullmatch(text.strip()))
    )
    return tuple(link for link in found if link is not None)


def _is_relation(key: str) -> bool:
    return key.lower().replace("-", "_").replace(" ", "_") in _RELATIONS


def front_matter(lines: list[str]) -> Matter:
    """What stands before the text: YAML between ---, TOML between +++, JSON between ;;; or as an
    object, or properties (key:: …)."""
    start = next((at for at, line in enumerate(lines) if line.strip()), 0)
    fence = lines[start].rstrip() if lines else ""
    if fence == "---":
        return _between(lines, start, ("---", "..."), Format("YAML", _load))
    if fence == "+++":
        return _between(lines, start, ("+++",), Format("TOML", load_toml))
    if fence == ";;;":
        return _between(lines, start, (";;;",), Format("JSON", load_json))
    if fence == "{":
        return _object(lines, start)
    number, values = load_properties(lines)
    if not number:
        return Matter()
    stated, unfit = _fields(values)
    return Matter(number, stated, tuple(unfit))


def _between(lines: list[str], start: int, ends: tuple[str, ...], form: Format) -> Matter:
    end = _next(lines, start, ends)
    if not end:
        return Matter(warnings=_unclosed(lines, start, ends))
    loaded = form.load("".join(lines[start + 1 : end]))
    if loaded is None:
        return Matter(warnings=() if start else (_INVALID.format(form.name),))
    if start and not loaded.values:  # two rules
        return Matter()
    lost = [f"its front matter's {key} is not valid {form.name}; left out" for key in loaded.lost]
    twice = dict.fromkeys(_TWICE.format(key) for key in loaded.repeated)
    stated, unfit = _fields(loaded.values)
    return Matter(end + 1, stated, (*lost, *twice, *unfit))


def _unclosed(lines: list[str], start: int, ends: tuple[str, ...]) -> tuple[str, ...]:
    """What is said of a first line that nothing closes, if a document's key stands behind it; else
    it is a rule."""
    is_meant = not start and any(map(_states_a_field, lines[1:2]))
    return (f"its front matter is not closed by {ends[0]}; read as text",) if is_meant else ()


def _object(lines: list[str], start: int) -> Matter:
    """An object of JSON before a text, as Hugo has it. One that states nothing of a document, or
    stands alone, is the text itself."""
    end = _next(lines, start, ("}",))
    block = lines[start : end + 1]
    has_text = end and any(line.strip() for line in lines[end + 1 :])
    if not has_text or not any(map(_states_a_field, block)):
        return Matter()
    loaded = load_json("".join(block))
    if loaded is None:
        return Matter(warnings=(_INVALID.format("JSON"),))
    stated, unfit = _fields(loaded.values)
    return Matter(end + 1, stated, tuple(unfit))


def _next(lines: list[str], start: int, ends: tuple[str, ...]) -> int:
    """The next line behind one that is one of these; 0 when there is none."""
    return next((at for at in range(start + 1, len(lines)) if lines[at].rstrip() in ends), 0)


def _states_a_field(line: str) -> bool:
    match = _STATEMENT.match(line)
    return match is not None and match[1].lower() in _FIELDS


def _load(block: str) -> Loaded | None:
    """What a YAML block says; a mistake in it costs the key that it stands behind. What a template
    is to fill in says nothing."""
    block = _TO_FILL_IN.sub("", block)
    return _load_whole(block) or by_key(block, _load_whole)


def _load_whole(block: str) -> Loaded | None:
    import yaml

    from knowbase.read.plain_yaml import loader

    base = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        keys = _keys_of(block)
        if keys is None:
            return None
        meant = yaml.load(block, loader())  # noqa: S506 (the safe one)
        written = yaml.load(block, base)  # noqa: S506 (makes nothing but strings)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError):
        return None
    if meant is None:
        return Loaded({})
    if not isinstance(meant, dict) or not isinstance(written, dict):
        return None
    values = {_clean(str(key)): Value(value, written.get(key)) for key, value in meant.items()}
    times = Counter(keys)
    return Loaded(values, repeated=tuple(key for key in values if times[key] > 1))


def _keys_of(block: str) -> list[str] | None:
    """The keys of a block as often as they stand there; None where an alias could blow the document
    up, or nesting exhaust the stack."""
    import yaml

    keys: list[str] = []
    depth, is_key = 0, True
    for event in yaml.parse(block, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        begins = isinstance(event, yaml.CollectionStartEvent)
        if depth == 1 and (begins or isinstance(event, yaml.ScalarEvent)):
            keys += [event.value] if is_key and not begins else []
            is_key = not is_key
        depth += begins - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH or isinstance(event, yaml.AliasEvent):
            return None
    return keys


def _fields(values: dict[str, Value]) -> tuple[dict[str, Any], list[str]]:
    """What the keys state of the document, and what is to be said of those that cannot: a value
    that does not fit costs its field, which is kept as any other key."""
    stated: dict[str, Any] = {}
    metadata: dict[str, object] = {}
    unfit: list[str] = []
    for key, value in sorted(values.items(), key=_certainty):
        if value.meant is None:
            continue
        name = _FIELDS.get(key.lower())
        found = None
        try:
            found = _stated(name, key, value) if name is not None and name not in stated else None
        except ReadError as error:
            unfit.append(f"{error.message}{KEPT}{key} alone.")
        if name is None or found is None:
            metadata[key] = _jsonable(value.meant)
            unfit += _no_date(name, key, value) if name not in stated else ()
        else:
            stated[name] = found
    ordered = {_clean(key): metadata[key] for key in values if key in metadata}
    return {**stated, "metadata": ordered}, unfit


def _no_date(name: str | None, key: str, value: Value) -> list[str]:
    """What is said of a day that nobody can read, or that is to come; it costs no note."""
    if name not in ("created_at", "updated_at") or _text(value) == "":
        return []
    if isinstance(value.meant, bool):  # `published: false`
        return []
    wrong = "is not a date" if _date(value) is None else "lies in the future"
    return [f"its front matter's {key} {wrong}; it is kept as meta.{key} alone"]


def _certainty(pair: tuple[str, Value]) -> int:
    """Of keys that state the same, the first that the field names is meant."""
    key = pair[0].lower()
    return FIELDS[_FIELDS[key]].keys.index(key) if key in _FIELDS else 0


def _stated(name: str, key: str, value: Value) -> Any:
    """What a key states of its field; None when it is no value of that."""
    field = FIELDS[name]
    if field.kind == "type":
        return _type(value)
    if field.kind in ("text", "code"):
        return _text(value) or None
    if field.kind == "tags":
        return clean_tags(_items(value, r"[,\s]+"))
    if field.kind == "names":
        return _unique([item.lower() for item in _items(value, r",")])
    if field.kind == "moment":
        return _past(value) if name in ("created_at", "updated_at") else _time(key, value)
    return _fitted(field, key, value)


def _type(value: Value) -> str | None:
    """A type, whether it is one of ours or one that only this base has; a number is none."""
    if not isinstance(value.meant, str):
        return None
    text = (_text(value) or "").lower().removeprefix("[[").removesuffix("]]").strip()
    return text if _TYPE.fullmatch(text) else None


def _past(value: Value) -> str | None:
    """A moment at which something can have been written: today somewhere, or before."""
    found = _date(value)
    return found if found is None or found < _utc(datetime.now(UTC) + _AHEAD) else None


def _date(value: Value) -> str | None:
    """A moment as people write it; None when nobody can say which one it is."""
    if not isinstance(value.meant, (str, date, int)):
        return None
    text = (_text(value) or "").strip("[]")
    if text.isascii() and text.isdecimal():
        if len(text) in (_SECONDS, _MILLISECONDS):
            return timestamp(int(text) / 10 ** (len(text) - _SECONDS))
    else:
        try:
            return _utc(_moment(value))
        except (ValueError, OverflowError):
            text = _ORDINAL.sub("", text)
    for form in _DATES:
        try:
            return _utc(datetime.strptime(text, form))
        except (ValueError, OverflowError):
            continue
    return None


def _fitted(field: Field, key: str, value: Value) -> Any:
    text = (_text(value) or "").lower()
    try:
        if field.kind == "flag":
            return value.meant if isinstance(value.meant, bool) else bool(text) and read_flag(text)
        return fitted(field.check, text)
    except Unfit as error:
        wanted = error.expected.removeprefix("it must be ")
        wanted = f"a number {_UNIT}" if field.kind == "share" else wanted
        raise ReadError(f"{UNFIT} {key} must be {wanted}.", field=key) from error


def _text(value: Value) -> str | None:
    """A scalar as it was written ("007", "yes"), not as YAML understands it (7, true)."""
    if isinstance(value.meant, (dict, list, set, tuple, bytes)):
        return None
    written = value.written if isinstance(value.written, str) else str(value.meant)
    return " ".join(_clean(written).split())


def _items(value: Value, separator: str) -> list[str]:
    if isinstance(value.written, list):
        found = [item for item in value.written if isinstance(item, str)]
    else:
        found = re.split(separator, _text(value) or "")
    return [" ".join(_clean(item).split()) for item in found]


def _unique(items: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))


def _time(key: str, value: Value) -> str:
    try:
        return _utc(_moment(value))
    except (ValueError, OverflowError) as error:
        raise ReadError(
            f"{UNFIT} {key} must be a date or a time, such as 2030-12-31.", field=key
        ) from error


def _utc(moment: datetime) -> str:
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _moment(value: Value) -> datetime:
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
