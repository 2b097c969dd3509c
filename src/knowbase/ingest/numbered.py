"""Files that ask for a code of the kind that the base gives out by number."""

import os
import re
import stat

from knowbase.ingest.ahead import without_waiting
from knowbase.read.formats import MARKDOWN, format_of

_HEAD = 4096  # bytes: front matter stands first
_ASKS = re.compile(rb"^[\s\"']*(?:short_)?code[\"']?\s*(?:::|[:=])\s*[\"']?KB-\d", re.I | re.M)


def asks_for_number(path: str) -> bool:
    """Whether it seems to; nothing but the order in which files come in depends on it."""
    if format_of(path) is not MARKDOWN:
        return False
    try:
        with open(path, "rb", opener=without_waiting) as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            head = file.read(_HEAD) if is_file else b""
            return b"KB-" in head.upper() and _ASKS.search(head) is not None
    except OSError:  # whoever reads it says so
        return False
