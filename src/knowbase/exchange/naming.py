"""What documents of another base are called here: who has a code that is taken gets a new one, and
whatever names a document by its code there names it by its code here."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

from knowbase.query.conditions import EVERYTHING
from knowbase.read.frontmatter import links_in
from knowbase.store.contract import CopySource, DocumentStore
from knowbase.text.sections import stored_sections
from knowbase.values.changes import SavedSearch
from knowbase.values.copies import Copy, in_batches
from knowbase.values.documents import ALL, Document, Passage
from knowbase.values.reading import Link, Reading, content_hash, stored_reading

_CODED = ("under", "children", "parent")
"""Filters whose value is the code of a document."""
_NAMED = ("parent", "superseded_by")
"""Fields whose value is another document."""
_BARE = r"(?<![\w/.-])({})(?![\w-]|\.\w)"
_WIKI = r"(?<=\[\[)(\s*)({})(?=\s*[\]|#^])"
_MARKDOWN = r"(?<=\]\()(\s*<?)({})(?=[)#>\s])"


class Called(NamedTuple):
    """What is called otherwise here than there."""

    ids: Mapping[str, str]  # of every document
    codes: Mapping[str, str]  # by the code there, in lower case

    def name(self, name: str | None) -> str | None:
        """What a document is called here that is named by its id or code."""
        if name is None:
            return None
        return self.ids.get(name) or self.codes.get(name.lower(), name)


class _Known(NamedTuple):
    """As much of a document as tells it from others."""

    id: str
    seq: int
    code: str
    path: str | None
    updated_at: str


class Renamed(NamedTuple):
    """A document by the names of this base."""

    copy: Copy
    reading: Reading
    is_rewritten: bool  # its text names others, so that it is not split as it was


def called_here(store: DocumentStore, source: CopySource) -> Called:
    """The names for everything in the source: the same when an import is gone on with."""
    theirs = [_known(one.document) for batch in in_batches(source) for one in batch]
    mine = [_known(one) for one in store.documents(EVERYTHING, ALL)]
    known = dict(_pairs(mine, theirs))
    taken = {one.code.lower(): one.id for one in mine}
    free = _free(mine, theirs)
    codes: dict[str, str] = {}
    for one in theirs:
        old = known.get(one.id)
        is_later = old is None or one.updated_at > old.updated_at
        if is_later and taken.get(one.code.lower(), old and old.id) == (old and old.id):
            continue
        code = old.code if old else next(free)
        if code != one.code:
            codes[one.code.lower()] = code
    return Called({one.id: known.get(one.id, one).id for one in theirs}, codes)


def _known(document: Document) -> _Known:
    return _Known(*(getattr(document, name) for name in _Known._fields))


def _pairs(mine: Iterable[_Known], theirs: Iterable[_Known]) -> Iterator[tuple[str, _Known]]:
    """Those that are here: by id, or by their file, unless that has moved there."""
    by_id = {one.id: one for one in mine}
    by_path = {one.path: one for one in mine if one.path}
    paths = {one.id: one.path for one in theirs}
    for one in theirs:
        old = by_id.get(one.id) or by_path.get(one.path or "")
        if old and (old.id == one.id or paths.get(old.id, old.path) == old.path):
            yield one.id, old


def _free(mine: Iterable[_Known], theirs: Iterable[_Known]) -> Iterator[str]:
    """Codes that nobody has; what has come from there already does not move where they start."""
    imported = {one.id for one in theirs}
    reserved = {one.code.lower() for one in (*mine, *theirs)}
    start = max((one.seq for one in mine if one.id not in imported), default=0)
    for number in count(start + 1):
        if f"kb-{number}" not in reserved:
            yield f"KB-{number}"


def renamed(copy: Copy, called: Called) -> Renamed:
    """What a file says is its own: only where its links lead is told here."""
    document = copy.document
    passages = [Passage(one.id, one.chunk, document) for one in copy.chunks]
    sections = stored_sections(passages)
    given = stored_reading(document, sections)._replace(links=copy.links)
    reading = renamed_reading(given, called, in_text=document.path is None)
    said = {name: called.name(str(value)) if name == "superseded_by" and value else value
            for name, value in copy.said.items()}  # fmt: skip
    stated = {name: reading.value(name) for name in ("code", *_NAMED, "metadata")}
    document = document._replace(title=reading.title, **stated)
    is_rewritten = reading.sections != sections
    if is_rewritten:
        document = document._replace(content_hash=content_hash(reading))
    copy = copy._replace(document=document, said=said, links=reading.links)
    return Renamed(copy, reading, is_rewritten)


def renamed_reading(reading: Reading, called: Called, *, in_text: bool = True) -> Reading:
    """What a text says, by the names of this base."""
    code = reading.value("code")
    named = {name: called.name(reading.value(name)) for name in _NAMED if reading.value(name)}
    if code:
        named["code"] = called.codes.get(code.lower(), code)
    rewriting = _Rewriting(reading.links, called)
    links = tuple(_link(one, called) for one in reading.links)
    if in_text and rewriting.has_work:
        reading = rewriting.reading(reading)
    return reading._replace(links=links).stating(**named)


def _link(link: Link, called: Called) -> Link:
    name, mark, place = link.target.partition("#")
    return link._replace(target=f"{called.name(name)}{mark}{place}")


class _Rewriting:
    """A text whose links say what their targets are called here."""

    def __init__(self, links: Iterable[Link], called: Called) -> None:
        self._called = called
        found = [(one.target.partition("#")[0].strip(), one.kind) for one in links]
        coded = [(name, kind) for name, kind in found if name.lower() in called.codes]
        bare = {name for name, kind in coded if kind == "code"}
        linked = {name for name, kind in coded if kind != "code"}
        self._patterns = [_pattern(_BARE, bare)] if bare else []
        self._patterns += [_pattern(one, linked) for one in (_WIKI, _MARKDOWN) if linked]

    @property
    def has_work(self) -> bool:
        return bool(self._patterns)

    def reading(self, reading: Reading) -> Reading:
        sections = tuple(
            one._replace(
                heading=one.heading and self._text(one.heading),
                header=self._text(one.header),
                text=self._text(one.text),
            )
            for one in reading.sections
        )
        metadata = {key: self._value(key, one) for key, one in reading.value("metadata").items()}
        title = self._text(reading.title)
        return reading._replace(sections=sections, title=title).stating(metadata=metadata)

    def _text(self, text: str) -> str:
        for pattern in self._patterns:
            text = pattern.sub(self._renamed, text)
        return text

    def _renamed(self, found: re.Match[str]) -> str:
        return "".join(found.groups()[:-1]) + (self._called.name(found.groups()[-1]) or "")

    def _value(self, key: str, value: Any) -> Any:
        """What front matter says; only what is a link there."""
        if isinstance(value, list):
            return [self._value(key, one) for one in value]
        if not isinstance(value, str) or not links_in({key: value}):
            return value
        return self._called.codes.get(value.strip().lower()) or self._text(value)


def _pattern(form: str, names: Iterable[str]) -> re.Pattern[str]:
    either = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return re.compile(form.format(either), re.IGNORECASE)


def renamed_search(search: SavedSearch, called: Called) -> SavedSearch:
    """A saved search that asks for what lies below a document."""
    if not called.codes:
        return search
    names = "|".join(sorted(map(re.escape, called.codes), key=len, reverse=True))
    asked = re.compile(rf"(\b(?:{'|'.join(_CODED)}):\"?)({names})(?![\w-])", re.IGNORECASE)
    query = asked.sub(lambda found: f"{found[1]}{called.name(found[2])}", search.query)
    return search._replace(query=query, options=_options(search.options, called))


def _options(options: Mapping[str, Any], called: Called) -> dict[str, Any]:
    return {
        key: _options(value, called) if isinstance(value, Mapping)
        else called.name(value) if key in _CODED and isinstance(value, str)
        else value
        for key, value in options.items()
    }  # fmt: skip
