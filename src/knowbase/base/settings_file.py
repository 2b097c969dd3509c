"""Changing settings in a base's kb.toml: line by line, so that whatever else stands there stays."""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from typing import Any, NamedTuple

from knowbase import config
from knowbase.errors import BaseReadOnly, Conflict, DiskFull, InvalidInput
from knowbase.memory.keep import rules_of
from knowbase.process import filing
from knowbase.ranking.custom import profiles
from knowbase.store.location import FOLDER, replica_urls


class SettingChange(NamedTuple):
    """What a change of a setting is, before or after it was made."""

    key: str
    value: Any  # from now on
    before: Any
    origin: str  # of the value that counts then: kb.toml or default
    file: str
    diff: tuple[str, ...]  # of the file, line by line
    dry_run: bool
    restart: bool = True  # what runs already goes on with what it has read


def change_setting(
    home: str,
    key: str,
    text: str | None,  # None: as by default
    environment: Mapping[str, str],
    *,
    dry_run: bool = False,
) -> SettingChange:
    """Write one setting into the folder's kb.toml, or take it out; validated as when it is read."""
    if dry_run:
        return _change(home, key, text, environment, dry_run=True)
    with _alone_in(home):
        return _change(home, key, text, environment, dry_run=False)


@contextmanager
def _alone_in(home: str) -> Iterator[None]:
    """Whoever else changes the same file, by whatever name, waits."""
    folder = os.path.dirname(os.path.realpath(os.path.join(home, config.FILE_NAME)))
    inside = os.path.join(folder, FOLDER)
    name = config.FILE_NAME if os.path.isdir(inside) else f".{config.FILE_NAME}"
    try:
        with filing.locked(os.path.join(inside if os.path.isdir(inside) else folder, name)):
            yield
    except OSError as error:
        told = f"{config.FILE_NAME} cannot be written: {error.strerror or error}"
        is_full = error.errno in (ENOSPC, EDQUOT)
        raise (DiskFull if is_full else BaseReadOnly)(told, field=config.FILE_NAME) from error


def _change(
    home: str, key: str, text: str | None, environment: Mapping[str, str], *, dry_run: bool
) -> SettingChange:
    name = config.name_of(key)
    before = config.load(home, environment)
    origin = before.origins[name]
    if origin not in ("default", config.FILE_NAME):
        raise Conflict(
            f"{key} is set by {origin}, which counts before {config.FILE_NAME}",
            field="key",
            hint=f"unset {origin}",
        )
    value = getattr(config.DEFAULTS, name) if text is None else config.read_value(name, text)
    _check(home, name, value)
    path = os.path.join(home, config.FILE_NAME)
    old = _read(path)
    new = _changed(old, key, None if text is None else value)
    if not dry_run and new != old:
        filing.replace(path, new, private=False)
    return SettingChange(
        key,
        value,
        getattr(before.settings, name),
        "default" if text is None else config.FILE_NAME,
        path,
        _diff(old, new),
        dry_run,
    )


def _check(home: str, name: str, value: Any) -> None:
    """What only the base can say of a value."""
    if name == "search_profile":
        known = profiles(config.load(home, {}).profiles, {})
        if value not in known:
            hint = "one of " + ", ".join(known)
            raise InvalidInput(f"unknown profile {value!r}", field="value", hint=hint)
    if name == "base_read" and value:
        replica_urls(value)
    if name == "history_keep":
        rules_of(value)
    if name == "graph_code_pattern":
        try:
            re.compile(value)
        except re.error as error:
            told = f"it is not a regular expression: {error}"
            raise InvalidInput(told, field="value", hint=r"such as PROJ-[A-Z]-\d{4}") from error


def _read(path: str) -> str:
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _changed(text: str, key: str, value: Any) -> str:
    """The file with another value of one key; refused if anything else would change."""
    section, _, name = key.partition(".")
    expected = tomllib.loads(text)
    table = expected.setdefault(section, {})
    if value is None:
        table.pop(name, None)
    else:
        table[name] = list(value) if isinstance(value, tuple) else value
    new = _with_line(text, section, name, None if value is None else f"{name} = {_toml(value)}\n")
    try:
        found = tomllib.loads(new)
    except tomllib.TOMLDecodeError:
        found = None
    if found is None or {**found, section: found.get(section, {})} != expected:
        raise InvalidInput(
            f"{config.FILE_NAME} is written in a way that cannot be changed here",
            field="key",
            hint=f"write {key} = {_toml(value)} into it by hand"
            if value is not None
            else f"take {key} out of it by hand",
        )
    return new


def _with_line(text: str, section: str, name: str, line: str | None) -> str:
    header = re.search(rf"^[ \t]*\[[ \t]*{section}[ \t]*\][^\n]*(?:\n|$)", text, re.MULTILINE)
    if header is None:
        if line is None:
            return text
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[{section}]\n{line}"
    start = header.end()
    following = re.search(r"^[ \t]*\[", text[start:], re.MULTILINE)
    end = start + following.start() if following else len(text)
    body = text[start:end]
    there = re.search(rf"^[ \t]*{name}[ \t]*=[^\n]*(?:\n|$)", body, re.MULTILINE)
    if there is not None:
        body = body[: there.start()] + (line or "") + body[there.end() :]
    elif line is not None:
        body = line + body
    joint = "" if header[0].endswith("\n") or not body else "\n"
    return text[:start] + joint + body + text[end:]


def _toml(value: Any) -> str:
    """JSON's texts, numbers, flags and lists are TOML's, but for one letter."""
    told = json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
    return told.replace("\x7f", "\\u007f")


def _diff(old: str, new: str) -> tuple[str, ...]:
    from difflib import unified_diff

    lines = unified_diff(old.splitlines(), new.splitlines(), "", "", lineterm="", n=1)
    return tuple(line for line in lines if not line.startswith(("---", "+++", "@@")))
