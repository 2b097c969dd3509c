"""A conversation as a document: a section for each message, under who said it and when."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from knowbase.ingest.foreign import Foreign

_HEADING = re.compile(r" {0,3}(#{1,6})(?=\s)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class Message(NamedTuple):
    """What one side said."""

    speaker: str
    at: str | None
    text: str


def conversation(
    key: str, title: str, messages: Iterable[Message], stated: Mapping[str, Any]
) -> Foreign:
    parts = []
    for one in messages:
        if one.text.strip():
            when = f" · {one.at[:16].replace('T', ' ')}" if one.at else ""
            parts.append(f"## {one.speaker}{when}\n\n{below_headings(one.text.strip())}\n")
    text = "\n".join(parts)
    return Foreign(key, "conversation", title, text, stated, tagged=False)


def below_headings(text: str) -> str:
    """A message's own headings lie below it, and what it left open ends with it."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        opened = _FENCE.match(line)
        if fence:
            closed = opened and opened[1].startswith(fence) and not line.strip().strip(fence[0])
            fence = "" if closed else fence
        elif opened:
            fence = opened[1]
        elif _HEADING.match(line):
            line = _HEADING.sub(lambda found: "#" * min(6, len(found[1]) + 2), line)
        elif _UNDERLINE.fullmatch(line) and lines and lines[-1].strip():
            lines.append("")  # else the line before it would be a heading
        lines.append(line)
    return "\n".join([*lines, fence] if fence else lines)


def piece_of_work(name: str, text: str, language: str | None = None) -> str:
    """What was made in a conversation, under its name; as code when it has a language."""
    if not text:
        return ""
    if language is None:
        return f"### {name}\n\n{below_headings(text)}"
    runs = re.findall("`{3,}", text)
    fence = "`" * (max(map(len, runs), default=2) + 1)
    return f"### {name}\n\n{fence}{language}\n{text}\n{fence}"


def line_of(text: str, fallback: str) -> str:
    """A title: one line."""
    return " ".join(text.split())[:200] or fallback
