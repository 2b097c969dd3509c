"""Which references in a text point at other documents."""

import re
from urllib.parse import unquote

from knowbase.values.reading import Link

LONGEST = 500  # characters; what is longer names no file, and no index could hold it
KINDS = ("wiki", "markdown", "code")

# One letter before the colon is a Windows drive, not a scheme.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
# A note as Dendron names it: its vault, the folders above it between dots, a part of it.
_VAULT = re.compile(r"dendron://[^/\s]+/")
_DOTTED = re.compile(
    r"dendron://\S+|[a-z][a-z-]+(?:(?:\.[\w-]+){2,}|\.[a-z-]{3,}|(?=\w*#))(?:[#^].*)?"
)


def document_link(href: str) -> Link | None:
    """The link for an href, percent escapes decoded; None for URLs and mere anchors."""
    href = href.strip()
    if not href or href.startswith(("#", "//")) or _SCHEME.match(href) or len(href) > LONGEST:
        return None
    return Link(unquote(href), "markdown")


def wiki_link(inside: str) -> Link | None:
    """The link for what stands between [[ and ]]; None when it names no document."""
    target = wiki_parts(inside)[0]
    names = target and not target.startswith("#") and len(target) <= LONGEST
    return Link(target, "wiki") if names else None


def wiki_parts(inside: str) -> tuple[str, str]:
    """What stands between [[ and ]] leads to, and what it shows: [[note|shown]] or, as Dendron
    writes it, [[shown|folder.of.the.note]]."""
    first, last = inside.split("|", 1)[0].strip(), inside.rsplit("|", 1)[-1].strip()
    if first != last and _DOTTED.fullmatch(last) and not _DOTTED.fullmatch(first):
        first, last = last, first
    return _VAULT.sub("", first), _VAULT.sub("", last)


def typed_link(link: Link, relation: str) -> Link:
    """The same link as one of a kind of its own: `depends on` is depends_on."""
    kind = re.sub(r"\W+", "_", relation.strip().lower()).strip("_")
    return Link(link.target, kind) if kind and kind not in KINDS else link


def named_link(text: str, relation: str) -> Link | None:
    """What a property names as another document: a code, a title, a path, or [[any of them]]."""
    inside = re.fullmatch(r"\[\[(.+)\]\]", text.strip())
    link = wiki_link(inside[1] if inside else text)
    return typed_link(link, relation) if link and "\n" not in link.target else None


def code_links(text: str, pattern: re.Pattern[str]) -> list[Link]:
    """The codes that a text names, each once."""
    found = dict.fromkeys(match[0] for match in pattern.finditer(text))
    return [Link(code, "code") for code in found if 0 < len(code) <= LONGEST]
