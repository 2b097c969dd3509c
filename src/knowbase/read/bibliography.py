"""Bibliographies (.bib, .ris): a document an entry."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from knowbase.read.about import stated
from knowbase.read.file import File
from knowbase.read.latex import braced, shown
from knowbase.read.plain import whole
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Part, Reading, Section

_ENTRY = re.compile(r"@\s*(\w+)\s*[{(]")
_KEY = re.compile(r"\s*([^\s,{}()]+)\s*,")
_FIELD = re.compile(r"\s*([\w-]+)\s*=\s*")
_RIS = re.compile(r"([A-Z][A-Z0-9])  - ?(.*)$")
_RIS_FIELDS = {
    "TI": "title", "T1": "title", "AU": "author", "A1": "author", "PY": "year", "Y1": "year",
    "JO": "journal", "JF": "journal", "T2": "journal", "AB": "abstract", "N2": "abstract",
    "KW": "keywords", "DO": "doi", "UR": "url", "PB": "publisher", "VL": "volume", "IS": "number",
    "N1": "note", "ID": "id", "SN": "isbn",
}  # fmt: skip
_MANY = ("author", "keywords")
_WHERE = ("journal", "booktitle", "publisher", "school", "institution", "howpublished")
_ABOUT = ("author", "editor", "year", "journal", "booktitle", "publisher", "doi", "url", "isbn")


class _Entry(NamedTuple):
    kind: str
    key: str
    fields: dict[str, str]
    line: int


def read_bib(file: File) -> Reading:
    """A bibliography of BibTeX or BibLaTeX."""
    return _reading(file, list(_bib_entries(file.text)))


def read_ris(file: File) -> Reading:
    """A bibliography as reference managers exchange it."""
    return _reading(file, list(_ris_entries(file.text)))


def _reading(file: File, entries: list[_Entry]) -> Reading:
    """The file itself says only how much it holds: its words are its entries'."""
    if not entries:
        return Reading("text", file.name, whole(file.text))
    limit = file.most or len(entries)
    kept = entries[:limit]
    names = unique_slugs(entry.key for entry in kept)
    parts = tuple(Part(name, _document(entry)) for name, entry in zip(names, kept, strict=True))
    years = sorted(year for entry in entries if (year := entry.fields.get("year", "")[:4]))
    span = f" from {years[0]} to {years[-1]}" if years else ""
    word = "entry" if len(entries) == 1 else "entries"
    text = f"Bibliography of {len(entries)} {word}{span}.\n"
    told = (f"only its first {limit} entries are read",) if limit < len(entries) else ()
    return Reading("reference", file.name, whole(text), warnings=told, parts=parts)


def _document(entry: _Entry) -> Reading:
    fields = entry.fields
    title = fields.get("title") or entry.key
    where = ", ".join(fields[name] for name in _WHERE if fields.get(name))
    lines = [
        ". ".join(part for part in (fields.get("author", fields.get("editor", "")), title) if part),
        " ".join(part for part in (where, fields.get("year", "")) if part),
    ]
    lines += [fields[name] for name in ("abstract", "note", "annote") if fields.get(name)]
    if fields.get("keywords"):
        lines.append(f"Keywords: {fields['keywords']}")
    lines += [f"{name}: {fields[name]}" for name in ("doi", "url", "isbn") if fields.get(name)]
    text = "\n\n".join(line for line in lines if line) + "\n"
    about = {name: fields.get(name) for name in _ABOUT} | {"entry": entry.kind, "key": entry.key}
    section = Section("_preamble", None, "", text, entry.line)
    return Reading("reference", title, (section,), stated(about, fields.get("keywords", "")))


def _bib_entries(text: str) -> Iterator[_Entry]:
    macros: dict[str, str] = {}
    at = counted = 0
    line = 1
    while match := _ENTRY.search(text, at):
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        body, at = braced(text, match.end())
        kind = match[1].lower()
        if kind == "string":
            macros |= _fields(body, macros)
        elif kind not in ("comment", "preamble") and (key := _KEY.match(body)):
            fields = _fields(body[key.end() :], macros)
            fields.setdefault("year", fields.get("date", "")[:4])
            fields.setdefault("journal", fields.get("journaltitle", ""))
            yield _Entry(kind, key[1], fields, line)


def _fields(body: str, macros: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while match := _FIELD.search(body, at):
        value, at = _value(body, match.end(), macros)
        text = " ".join(shown(value).split())
        name = match[1].lower()
        found[name] = text.replace(" and ", "; ") if name in ("author", "editor") else text
    return found


def _value(body: str, at: int, macros: dict[str, str]) -> tuple[str, int]:
    """Braces, quotes, numbers and names of strings, joined by #."""
    parts: list[str] = []
    while at < len(body):
        if body[at] == "{":
            part, at = braced(body, at + 1)
        elif body[at] == '"':
            end = _quote_end(body, at + 1)
            part, at = body[at + 1 : end], end + 1
        else:
            match = re.compile(r"[^\s,#{}]*").match(body, at)
            assert match is not None
            part, at = macros.get(match[0].lower(), match[0]), match.end()
        parts.append(part)
        joined = re.compile(r"\s*#\s*").match(body, at)
        if not joined:
            break
        at = joined.end()
    return "".join(parts), max(at, 1)


def _quote_end(body: str, at: int) -> int:
    depth = 0
    while at < len(body):
        if body[at] == "\\":
            at += 1
        elif body[at] == '"' and depth == 0:
            return at
        else:
            depth += (body[at] == "{") - (body[at] == "}")
        at += 1
    return at


def _ris_entries(text: str) -> Iterator[_Entry]:
    fields: dict[str, str] = {}
    kind, line = "", 1
    for number, one in enumerate(text.split("\n"), 1):
        match = _RIS.match(one.strip("\ufeff"))
        if not match:
            continue
        if match[1] == "TY":
            kind, line, fields = match[2].strip().lower(), number, {}
        elif match[1] == "ER":
            if fields:
                yield _Entry(kind, _ris_key(fields, number), fields, line)
            fields = {}
        elif name := _RIS_FIELDS.get(match[1]):
            value = match[2].strip()
            if name in fields and name in _MANY:
                fields[name] += (", " if name == "keywords" else "; ") + value
            else:
                fields.setdefault(name, value[:4] if name == "year" else value)


def _ris_key(fields: dict[str, str], number: int) -> str:
    first = fields.get("author", "").partition(",")[0]
    named = f"{first} {fields.get('year', '')} {fields.get('title', '')[:40]}".strip()
    return fields.get("id") or named or f"entry {number}"
