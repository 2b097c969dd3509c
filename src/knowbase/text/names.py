"""What a document is called, and what documents a text speaks of: both as keys that can be joined.

A link is never resolved in the text: it keeps the key that it looks for, and whoever has that
key is the target, now or when it arrives.
"""

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from knowbase.values.edges import WEIGHTS, weight_of
from knowbase.values.reading import Link

ID, CODE, PATH, PLACE, ENDING, TITLE = range(6)
"""The kinds of names, the most certain first: a link takes the first that it reaches."""

_REACH = {"markdown": PLACE, "wiki": TITLE, "code": CODE}
_INDEX_PAGES = ("readme", "index", "_index")
_LONGEST = 200  # characters of a key; both sides are cut alike, for an index has its limits
_PARTS = 4  # how many folders of a path may stand before a name in a wiki link
_SITE_PARTS = 8  # … and of a link that starts at the top of a site
# Where sites keep their pages; behind it stands what their links start with.
_ROOTS = frozenset({
    "content", "contents", "docs", "doc", "documentation", "src", "source", "pages", "site",
    "website", "public", "static", "posts", "_posts", "_docs", "_pages", "app", "en",
})  # fmt: skip
_DATED = re.compile(r"(\d{4})-(\d\d)-(\d\d)-(.+)", re.DOTALL)
_PAGES = (".md", ".mdx", ".markdown")
_SITE_EXTENSIONS = (".md", ".mdx", ".markdown", ".html", ".htm")
_ALIASES = ("aliases", "alias", "permalink", "url", "redirect_from", "slug", "id")
_MOST_ALIASES = 200
ADDRESS = "address"  # where a document is on the web: [[https://…]] leads to it


class Named(NamedTuple):
    """What names a document, and what it names itself."""

    id: str
    code: str
    title: str
    path: str | None = None
    parent: str | None = None
    superseded_by: str | None = None
    metadata: str | Mapping[str, Any] = "{}"  # as its store keeps it


class Mention(NamedTuple):
    """A document speaks of another one by this key."""

    name: str
    relation: str
    target: str  # as it is written
    origin: str
    reach: int  # the least certain kind of name that counts
    inverse: bool = False  # the other one is the source of the edge

    @property
    def weight(self) -> float:
        return weight_of(self.relation)


def key_of(text: str) -> str:
    """Case and the way of writing an accent do not matter."""
    if text.isascii():  # the same, in a third of the time
        folded = text.strip().lower()
    else:
        folded = unicodedata.normalize("NFC", text.strip()).casefold()
    return folded[:_LONGEST].replace("\0", "\ufffd")


def names_of_document(document: Named) -> dict[str, int]:
    """Every key that leads to the document, with the most certain kind of name it is."""
    found: dict[str, int] = {}
    for name, kind in _names(document):
        key = key_of(name)
        if key and kind < found.get(key, TITLE + 1):
            found[key] = kind
    return found


def _names(document: Named) -> Iterable[tuple[str, int]]:
    yield document.id, ID
    yield document.code, CODE
    yield document.title, TITLE
    for alias in _aliases(document.metadata):
        yield (_site(alias), PLACE) if alias.startswith("/") else (alias, TITLE)
    if not document.path:
        return
    path = document.path.replace("\\", "/")
    bare = posixpath.splitext(path)[0]
    yield document.path, PATH
    yield path, PATH
    yield bare, PLACE
    folder, page = posixpath.split(bare)
    if page.lower() in _INDEX_PAGES and folder:
        yield folder, PLACE
    for whole in (path, bare):
        parts = whole.split("/")
        for start in range(max(0, len(parts) - _PARTS), len(parts)):
            yield "/".join(parts[start:]), ENDING
    yield "/" + path.lstrip("/"), PATH
    yield from _places(bare)
    if dated := _DATED.fullmatch(page):  # what a blog makes of it
        yield from _places("/".join((folder, *dated.groups())))
    if page.lower() in _INDEX_PAGES:
        yield from _places(folder)


def _places(path: str) -> Iterator[tuple[str, int]]:
    """What a link may call it that starts with a slash: seen from a folder that sites start at it
    is as certain as its whole path, seen from any other folder above it is a guess."""
    parts = [part for part in path.split("/") if part]
    if not parts:
        return
    if any(part.startswith("_") for part in parts):  # Jekyll's _docs/x.md is /docs/x
        yield from _places("/".join(part.lstrip("_") for part in parts))
    for start in sorted({0, *range(max(0, len(parts) - _SITE_PARTS), len(parts))}):
        sure = start == 0 or all(part.lower() in _ROOTS for part in parts[:start])
        yield "/" + "/".join(parts[start:]), PLACE if sure else ENDING


def _aliases(metadata: str | Mapping[str, Any]) -> Iterator[str]:
    """Other names that a document gives to itself: as Obsidian's aliases, or as a site's paths."""
    if isinstance(metadata, str):
        if not any(f'"{key}"' in metadata.lower() for key in (*_ALIASES, ADDRESS)):
            return
        metadata = _loaded(metadata)
    address = metadata.get(ADDRESS)
    if isinstance(address, str) and address.startswith(("http://", "https://")):
        yield address.split("#", 1)[0]
    values = [value for key, value in metadata.items() if key.lower() in _ALIASES]
    texts = [text for value in values for text in (value if isinstance(value, list) else [value])]
    for text in texts[:_MOST_ALIASES]:
        if isinstance(text, str) and "://" not in text and text.strip(" /"):
            yield text.strip()


def _loaded(metadata: str) -> dict[str, Any]:
    import json

    try:
        found = json.loads(metadata)
    except ValueError:  # damaged: whoever reads the document says so
        return {}
    return found if isinstance(found, dict) else {}


def mentions_of(document: Named, links: Iterable[Link]) -> list[Mention]:
    """What a document says of others: its parent, what took its place, and its links. Of those
    that a link gives, the one with the least reach that leads somewhere counts."""
    found = [mention for link in links for mention in _mentions(document, link)]
    if document.parent:
        key = key_of(document.parent)
        found.append(Mention(key, "PARENT_OF", document.parent, "hierarchy", PATH, True))
    if document.superseded_by:
        key = key_of(document.superseded_by)
        found.append(Mention(key, "SUPERSEDES", document.superseded_by, "lifecycle", PATH, True))
    return [mention for mention in found if mention.name]


def _mentions(document: Named, link: Link) -> Iterator[Mention]:
    """A wiki link by a name alone means the file beside it before all others that have the name.
    `[x](note.md)` means the file beside it, too; Obsidian and plugins of sites write it so of a
    note wherever it lies, or with its folders from the top of the vault."""
    mention = _mention(document, link)
    folder = posixpath.dirname((document.path or "").replace("\\", "/"))
    if mention.origin == "wiki" and folder and mention.name and "/" not in mention.name:
        yield mention._replace(name=key_of(f"{folder}/{mention.name}"), reach=PLACE)
    yield mention
    if mention.origin == "markdown" and folder:
        page = link.target.split("#", 1)[0].split("?", 1)[0].replace("\\", "/")
        if _is_telling(page):
            yield mention._replace(name=key_of(page), reach=ENDING)


def _is_telling(page: str) -> bool:
    """Whether it names a page by itself, and not only from where it is said."""
    bare, extension = posixpath.splitext(page)
    if page.startswith(("/", ".")) or extension.lower() not in _PAGES:
        return False
    return posixpath.basename(bare).lower() not in _INDEX_PAGES


def _mention(document: Named, link: Link) -> Mention:
    target = link.target.replace("\\", "/")
    reach, relation = _REACH.get(link.kind, TITLE), "REFERENCES"
    if link.kind != "code":
        target = target.split("#", 1)[0]
    if link.kind == "markdown":
        target = target.split("?", 1)[0]
        reach = ENDING if target.startswith("/") else reach
        target = _from(document, target)
    elif link.kind != "code":
        target = target.split("^", 1)[0]  # a block of the note
        if target.startswith(("./", "../")):
            target = _from(document, target)
    origin = link.kind if link.kind in _REACH else "wiki"
    if link.kind not in _REACH and link.kind.upper() not in WEIGHTS:
        relation = link.kind.upper()
    return Mention(key_of(target), relation, link.target, origin, reach)


def _from(document: Named, target: str) -> str:
    """A path that starts where the document lies; / is the top of a site, or of the base."""
    if not target:
        return ""
    if target.startswith("/"):
        return _site(target)
    path = (document.path or "").replace("\\", "/")
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return _page(whole)


def _page(path: str) -> str:
    """What a page was written as: guide/setup for …/setup.html, guide for guide/index.html."""
    bare, extension = posixpath.splitext(path)
    if extension.lower() not in (".html", ".htm"):
        return path
    folder, page = posixpath.split(bare)
    return folder if page.lower() == "index" and folder else bare


def _site(target: str) -> str:
    """A path from the top, as a page is called: /docs/setup for /docs/setup/ or …/setup.html."""
    path = "/" + posixpath.normpath(target.strip("/") or ".").lstrip("/")
    bare, extension = posixpath.splitext(path)
    if extension.lower() not in _SITE_EXTENSIONS:
        return path
    folder, page = posixpath.split(bare)
    return folder if page.lower() == "index" and folder != "/" else bare
