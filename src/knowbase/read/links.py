"""Which references in a text point at other documents."""

import re
from urllib.parse import unquote

from knowbase.values.reading import Link

LONGEST = 500  # characters; what is longer names no file, and no index could hold it
KINDS = ("wiki", "markdown", "code")

# One letter before the colon is a Windows drive, not a scheme.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)


def document_link(href: str) -> Link | None:
    """The link for an href, percent escapes decoded; None for URLs and mere anchors."""
    href = href.strip()
    if not href or href.startswith(("#", "//")) or _SCHEME.match(href) or len(href) > LONGEST:
        return None
    return Link(unquote(href), "markdown")


def wiki_link(inside: str) -> Link | None:
    """The link for what stands between [[ and ]]; None when it names no document."""
    target = inside.split("|", 1)[0].strip()
    names = target and not target.startswith("#") and len(target) <= LONGEST
    return Link(target, "wiki") if names else None


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
