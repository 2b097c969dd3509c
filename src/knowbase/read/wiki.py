"""Text of wikis: MediaWiki's, and Zim's, which has headings and links like it."""

import re
from typing import Any

from knowbase.read.about import moment, stated
from knowbase.read.blocks import Block, Paragraphs, reading_of
from knowbase.read.file import File
from knowbase.read.links import wiki_link
from knowbase.values.reading import Link, Reading

_MOST_SIGNS = 6  # of a heading
_REMARK = re.compile(r"<!--(?:(?!<!--).){0,20000}?-->", re.DOTALL)
_TEMPLATE = re.compile(r"\{\{[^{}]{0,5000}\}\}")
_DEEPEST = 5  # templates in templates
_NOTE = re.compile(r"<ref(?:\s[^<>/]{0,200})?>((?:(?!<ref).){1,2000}?)</ref>", re.DOTALL)
_ORDERED = re.compile(r"^#+(?=\s)")
_TAG = re.compile(r"</?(?:[a-zA-Z]+)(?:\s[^<>]{0,500})?/?>")
_LINK = re.compile(r"\[\[([^\[\]\n]{1,500})\]\]")
_PLACE = re.compile(r"\[(?:https?|ftp|mailto):\S+(?:\s+([^\]\n]*))?\]")
_QUOTES = re.compile(r"'{2,5}")
_SWITCH = re.compile(r"__[A-Z]+__")
_CELLS = re.compile(r"\|\||!!")
_CELL_STYLE = re.compile(r"^(?:\s*[\w-]+\s*=\s*\"[^\"]*\")+\s*\|(?!\|)")
_PICTURES = ("file:", "image:", "media:")


def read_wiki(file: File) -> Reading:
    """A page of MediaWiki."""
    text = _REMARK.sub("", file.text)
    for _ in range(_DEEPEST):
        text = _TEMPLATE.sub("", text)
    text = _NOTE.sub(r" (\1)", text)
    links: list[Link] = []
    tags: list[str] = []
    paragraphs = Paragraphs()
    row: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        shown = _shown(line, links, tags)
        if heading := _heading(shown):
            paragraphs.heading(*heading, number)
        elif not _is_of_table(line):
            paragraphs.add(shown, number)
        elif cells := _cells(shown):
            row += cells
        elif row:
            paragraphs.end()
            paragraphs.blocks.append(Block(" | ".join(row), number, tight=True))
            row = []
    paragraphs.end()
    reading = reading_of("text", paragraphs.blocks, None, file.called)
    return reading._replace(stated=stated({}, ",".join(tags)), links=tuple(dict.fromkeys(links)))


def read_zim(file: File) -> Reading:
    """A page of Zim: a header, then text."""
    head, _, body = file.text.partition("\n\n")
    said = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    links: list[Link] = []
    paragraphs = Paragraphs()
    for number, line in enumerate(body.split("\n"), head.count("\n") + 3):
        shown = _LINK.sub(lambda match: _linked(match[1], links, []), line)
        if heading := _heading(shown):
            paragraphs.heading(heading[0], _MOST_SIGNS + 1 - heading[1], number)
        else:
            paragraphs.add(shown, number)
    paragraphs.end()
    made = moment(said.get("Creation-Date"))
    fields: dict[str, Any] = {"created_at": made} if made else {}
    reading = reading_of("text", paragraphs.blocks, None, file.called)
    return reading._replace(stated=fields, links=tuple(dict.fromkeys(links)))


def _heading(line: str) -> tuple[str, int] | None:
    """Of a line in signs: `== Title ==`; Zim's highest one has six."""
    line = line.strip()
    signs = min(len(line) - len(line.lstrip("=")), _MOST_SIGNS)
    text = line[signs:-signs].strip() if signs and line.endswith("=" * signs) else ""
    return (text, signs) if text else None


def _shown(line: str, links: list[Link], tags: list[str]) -> str:
    line = _LINK.sub(lambda match: _linked(match[1], links, tags), line)
    line = _PLACE.sub(lambda match: match[1] or "", line)
    return _ORDERED.sub("1.", _SWITCH.sub("", _QUOTES.sub("", _TAG.sub("", line))), count=1)


def _linked(inside: str, links: list[Link], tags: list[str]) -> str:
    target, _, shown = inside.partition("|")
    lowered = target.strip().lower()
    if lowered.startswith(_PICTURES):
        return inside.rpartition("|")[2] if shown else ""
    if lowered.startswith("category:"):
        tags.append(target.partition(":")[2].strip())
        return ""
    if link := wiki_link(target.strip().lstrip(":").partition("#")[0]):
        links.append(link)
    return shown or target


def _is_of_table(line: str) -> bool:
    return line.lstrip().startswith(("{|", "|", "!"))


def _cells(line: str) -> list[str]:
    """Of a line of a table; none of one that begins a row, or the table, or ends it."""
    line = line.strip()
    if line.startswith(("{|", "|-", "|}", "|+")):
        return []
    return [_CELL_STYLE.sub("", cell).strip() for cell in _CELLS.split(line[1:])]
