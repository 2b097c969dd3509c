"""Settings and data (.json, .jsonl, .yaml, .toml, .ini): split where their upper keys stand."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from knowbase.read.file import File
from knowbase.read.plain import whole
from knowbase.read.tables import GROUP, Budget, Row, grouped, sections_of
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Reading, Section

_YAML_KEY = re.compile(r"([^\s#\-{\[\]}%!&*|>@`'\"][^#\n]*?|'[^']+'|\"[^\"]+\")\s*:(?:\s|$)")
_TABLE = re.compile(r"\s*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}\s*(?:[#;].*)?")
_JSON_KEY = re.compile(r"\"((?:[^\"\\]|\\.)+)\"\s*:")
_LONGEST_LINE = 2000
_MOST_COLUMNS = 30
_DEEPEST = 50
_NAMED = 3  # keys that a heading names


class _Start(NamedTuple):
    """A line at which a section may begin, and what it is called."""

    line: int
    key: str


def read_yaml(file: File) -> Reading:
    """Settings with their comments, split at the upper keys."""
    lines = file.text.split("\n")
    starts = [
        _Start(number, match[1].strip("'\""))
        for number, line in enumerate(lines)
        if (match := _YAML_KEY.match(line))
    ]
    return _split(file, lines, starts, "#")


def read_toml(file: File) -> Reading:
    """The same, split at the tables or sections."""
    lines = file.text.split("\n")
    starts = [
        _Start(number, match[1])
        for number, line in enumerate(lines)
        if (match := _TABLE.fullmatch(line))
    ]
    return _split(file, lines, starts, "#;")


def read_json(file: File) -> Reading:
    """Settings as they are written; what was written for programs, as lines for people."""
    text = file.text
    lines = text.split("\n")
    longest = max(map(len, lines))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _split(file, lines, _json_starts(lines), "")
    if _is_table(value):
        return _records(file, value)
    if longest <= _LONGEST_LINE and len(lines) > 2:
        return _split(file, lines, _json_starts(lines), "")
    return _outlined(file, value if isinstance(value, dict) else {"": value})


def read_json_lines(file: File) -> Reading:
    """A record a line."""
    records, broken = [], 0
    for line in file.text.split("\n"):
        if line.strip():
            try:
                records.append(json.loads(line))
            except (ValueError, RecursionError):
                broken += 1
    if not records:
        return Reading("text", file.name, whole(file.text[: file.most_data]))
    reading = _records(file, records)
    if not broken:
        return reading
    told = f"{broken} of its lines are no JSON, and left out"
    return reading._replace(warnings=(*reading.warnings, told))


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(v, dict) for v in value)


def _records(file: File, records: list[Any]) -> Reading:
    """Flat records as a table, others as outlines one after the other."""
    budget = Budget(file.most_data)
    flat = all(_is_flat(record) for record in records)
    columns = list(dict.fromkeys(key for one in records[:100] if flat for key in one))
    if flat and len(columns) <= _MOST_COLUMNS:
        rows = (Row(n, [_scalar(one.get(c)) for c in columns]) for n, one in enumerate(records, 1))
        groups = list(grouped(_with_header(columns, rows), budget))
        sections = sections_of(groups)
    else:
        sections = tuple(_outlines(records, budget))
    reading = Reading("text", file.name, sections)
    if not budget.is_spent:
        return reading
    last = (sections[-1].heading or "").rpartition("–")[2] if sections else "0"
    told = budget.told(f"its first {last} of {len(records)} records")
    return reading._replace(warnings=(told,))


def _with_header(columns: list[str], rows: Iterable[Row]) -> Iterator[Row]:
    yield Row(1, columns)
    yield from rows


def _is_flat(record: Any) -> bool:
    return isinstance(record, dict) and not any(
        isinstance(v, (dict, list)) for v in record.values()
    )


def _outlines(records: list[Any], budget: Budget) -> Iterator[Section]:
    group: list[str] = []
    first = 1
    for number, record in enumerate(records, 1):
        text = "\n".join(_outline(record, 0)) + "\n"
        if not budget.take(text):
            break
        if group and sum(map(len, group)) + len(text) > GROUP:
            yield _record_section(group, first, number - 1)
            group, first = [], number
        group.append(text)
    if group:
        yield _record_section(group, first, first + len(group) - 1)


def _record_section(group: list[str], first: int, last: int) -> Section:
    heading = f"Records {first}–{last}"
    return Section(f"records-{first}-{last}", heading, "", "\n".join(group), first)


def _outlined(file: File, value: dict[str, Any]) -> Reading:
    budget = Budget(file.most_data)
    lines: list[str] = []
    starts: list[_Start] = []
    for key, inner in value.items():
        starts.append(_Start(len(lines), key))
        for line in _outline({key: inner} if key else inner, 0):
            if not budget.take(line):
                break
            lines.append(line)
    reading = _split(file, lines, starts, "")
    reading = reading._replace(sections=tuple(one._replace(line=1) for one in reading.sections))
    if not budget.is_spent:
        return reading
    return reading._replace(warnings=(budget.told(f"its first {len(lines)} values"),))


def _outline(value: Any, depth: int) -> Iterator[str]:
    """A value as indented lines of "key: value"."""
    indent = "  " * depth
    if depth > _DEEPEST:
        yield f"{indent}…"
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, (dict, list)) and inner:
                yield f"{indent}{key}:"
                yield from _outline(inner, depth + 1)
            else:
                yield f"{indent}{key}: {_scalar(inner)}"
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, (dict, list)):
                yield from _outline(inner, depth + 1)
            else:
                yield f"{indent}- {_scalar(inner)}"
    else:
        yield f"{indent}{_scalar(value)}"


def _scalar(value: Any) -> str:
    if value is None or value in ({}, []):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json_starts(lines: list[str]) -> list[_Start]:
    """Where the keys stand that are indented least."""
    found = [
        (len(line) - len(line.lstrip()), number, match[1])
        for number, line in enumerate(lines)
        if (match := _JSON_KEY.match(line.lstrip()))
    ]
    least = min((indent for indent, _, _ in found), default=0)
    return [_Start(number, key) for indent, number, key in found if indent == least]


def _split(file: File, lines: list[str], starts: list[_Start], comment: str) -> Reading:
    """Sections of neighbouring keys, as many as fit; each with the comment above it."""
    lines, told = _capped(file, lines)
    starts = [start for start in starts if start.line < len(lines)]
    if not starts or sum(map(len, lines)) <= GROUP:
        text = "\n".join(lines)
        return Reading("text", file.name, whole(text), warnings=told)
    places = [_above(lines, start, comment) for start in starts]
    if places[0].line and "".join(lines[: places[0].line]).strip():
        places.insert(0, _Start(0, ""))
    places[0] = places[0]._replace(line=0)
    groups = list(_groups(lines, places))
    headings = [", ".join(key for key in keys[:_NAMED] if key) for _, _, keys in groups]
    headings = [
        name + " …" if len(keys) > _NAMED else name
        for name, (_, _, keys) in zip(headings, groups, strict=True)
    ]
    slugs = unique_slugs(headings)
    sections = tuple(
        Section(slug, heading or None, "", "\n".join(lines[start:end]) + "\n", start + 1)
        for slug, heading, (start, end, _) in zip(slugs, headings, groups, strict=True)
    )
    return Reading("text", file.name, sections, warnings=told)


def _capped(file: File, lines: list[str]) -> tuple[list[str], tuple[str, ...]]:
    size = 0
    for number, line in enumerate(lines):
        size += len(line) + 1
        if size > file.most_data:
            told = Budget(0).told(f"its first {number} of {len(lines)} lines")
            return lines[:number] or [line[: file.most_data]], (told,)
    return lines, ()


def _above(lines: list[str], start: _Start, comment: str) -> _Start:
    line = start.line
    while comment and line and lines[line - 1].lstrip()[:1] in tuple(comment):
        line -= 1
    return start._replace(line=line)


def _groups(lines: list[str], places: list[_Start]) -> Iterator[tuple[int, int, list[str]]]:
    """From line, to line, and the keys between."""
    ends = [*(place.line for place in places[1:]), len(lines)]
    first, size = 0, 0
    keys: list[str] = []
    for place, end in zip(places, ends, strict=True):
        length = sum(map(len, lines[place.line : end]))
        if keys and size + length > GROUP:
            yield first, place.line, keys
            first, size, keys = place.line, 0, []
        size += length
        keys = [*keys, place.key]
    yield first, len(lines), keys
