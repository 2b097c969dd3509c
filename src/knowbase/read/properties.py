"""What front matter is written in besides sound YAML: TOML, JSON, properties, and YAML with a
mistake."""

import re
from collections.abc import Callable
from typing import NamedTuple

_KEY = re.compile(
    r"""("[^"\n]+"|'[^'\n]+'|[^\s#:&*!|>%@`\-\[\]{},?"'][^:\n]*?)[ \t]*:(?:[ \t]|$)"""
)
_STRUCTURE = ("[", "{", "&", "!", "|", ">")  # what begins with it is not a mere text
_PROPERTY = re.compile(r"(?:- )?([^\W\d_][\w./-]{0,60}):: ?(.*)")
_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_LISTS = ("tags", "alias", "aliases", "roles")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_MOST_KEYS = 500
_DEEPEST = 40  # object or list within another one, of JSON


class Value(NamedTuple):
    """A value as its format understands it, and as it was written when it is a scalar or a list."""

    meant: object
    written: object


class Loaded(NamedTuple):
    """What a block says, the keys that nobody can make sense of, and those that stand there more
    than once."""

    values: dict[str, Value]
    lost: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


def by_key(block: str, load: Callable[[str], Loaded | None]) -> Loaded | None:
    """Each key of a YAML block by itself; None when none of them can be read."""
    values: dict[str, Value] = {}
    lost: list[str] = []
    repeated: list[str] = []
    for key, lines in _keys(block)[:_MOST_KEYS]:
        loaded = load("".join(lines))
        found = loaded.values if loaded and loaded.values else _as_text(key, lines)
        if found:
            repeated += [one for one in found if one in values]
            values |= found
        else:
            lost.append(key)
    return Loaded(values, tuple(lost), tuple(repeated)) if values else None


def _keys(block: str) -> list[tuple[str, list[str]]]:
    """The lines of each key; none when the block begins with something else."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines(keepends=True):
        match = _KEY.match(line)
        if match:
            found.append((match[1].strip("\"'"), [line]))
        elif found:
            found[-1][1].append(line)
        elif line.strip() and not line.startswith("#"):
            return []
    return found


def _as_text(key: str, lines: list[str]) -> dict[str, Value]:
    """`title: Kafka: a guide` is a text to everyone but YAML."""
    text = lines[0].partition(":")[2].strip()
    if not text or text.startswith(_STRUCTURE) or any(line.strip() for line in lines[1:]):
        return {}
    text = text.strip("\"'")
    return {key: Value(text, text)}


def load_toml(block: str) -> Loaded | None:
    """What a TOML block says."""
    import tomllib

    try:
        values = tomllib.loads(block)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return _toml_by_line(block)
    return Loaded({key: Value(value, _written(value)) for key, value in values.items()})


def _toml_by_line(block: str) -> Loaded | None:
    """Each line of a block with a mistake by itself."""
    import tomllib

    values: dict[str, Value] = {}
    lost: list[str] = []
    repeated: list[str] = []
    for line in block.splitlines()[:_MOST_KEYS]:
        try:
            found = tomllib.loads(line)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            lost += [line.partition("=")[0].strip()] if "=" in line else []
            continue
        repeated += [key for key in found if key in values]
        values |= {key: Value(value, _written(value)) for key, value in found.items()}
    return Loaded(values, tuple(lost), tuple(repeated)) if values else None


def load_json(block: str) -> Loaded | None:
    """What a JSON object says; between ;;; its brackets may be left out."""
    import json

    block = block.strip()
    try:
        values = json.loads(block if block.startswith("{") else f"{{{block}}}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or not _is_shallow(values, _DEEPEST):
        return None
    return Loaded({key: Value(value, _written(value)) for key, value in values.items()})


def _is_shallow(value: object, most: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return most > 0 and all(_is_shallow(one, most - 1) for one in inner)


def _written(value: object) -> object:
    if isinstance(value, list):
        return [_written(one) for one in value]
    return value if isinstance(value, str | dict) else str(value)


def load_properties(lines: list[str]) -> tuple[int, dict[str, Value]]:
    """The properties that a page begins with, as Logseq writes them, and how many lines they take.

    A page that begins with the properties of its first block alone has none of its own.
    """
    values: dict[str, Value] = {}
    number = 0
    for line in lines:
        match = _PROPERTY.fullmatch(line.strip())
        if match is None:
            break
        number += 1
        values[match[1]] = _property(match[1], match[2].strip())
    following = lines[number : number + 1]
    while following and following[0].strip() in ("", "-"):
        number += 1
        following = lines[number : number + 1]
    return (number, values) if values else (0, {})


def _property(key: str, text: str) -> Value:
    """Names in brackets or behind # are the names; what is listed is a list."""
    if key.lower() in _LISTS:
        parts = [_LINK.sub(r"\1", part).strip().lstrip("#") for part in text.split(",")]
        items = [part for part in parts if part]
        return Value(items, items)
    if text in ("true", "false"):
        return Value(text == "true", text)
    if _NUMBER.fullmatch(text):
        return Value(float(text) if "." in text else int(text), text)
    links = _LINK.findall(text)
    if links and not _LINK.sub("", text).strip(" ,#"):
        items = [f"[[{link}]]" for link in links]
        return Value(items, items) if len(items) > 1 else Value(items[0], items[0])
    return Value(text, text)
