"""Which references in a text point at other documents."""

import re
from urllib.parse import unquote

from knowbase.changes import Link

# One letter before the colon is a Windows drive, not a scheme.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)


def document_link(href: str) -> Link | None:
    """The link for an href, percent escapes decoded; None for URLs and mere anchors."""
    href = href.strip()
    if not href or href.startswith(("#", "//")) or _SCHEME.match(href):
        return None
    return Link(unquote(href), "markdown")


def wiki_link(inside: str) -> Link | None:
    """The link for what stands between [[ and ]]; None when it names no document."""
    target = inside.split("|", 1)[0].strip()
    return Link(target, "wiki") if target and not target.startswith("#") else None
