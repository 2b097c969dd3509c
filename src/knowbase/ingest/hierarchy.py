"""Who is whose parent, when a document does not say it itself."""

import os

from knowbase.ingest.places import Home, inside
from knowbase.values.files import Source

INDEX_PAGES = ("readme.md", "index.md", "_index.md")


def parent_of(path: str, source: Source, home: Home) -> str | None:
    """The parent that the source gives to its file: a named one, or the closest index page."""
    if not source.tree:
        return source.parent
    folder = os.path.dirname(path)
    while inside(folder or ".", source.path) or folder == source.path:
        page = _index_page(folder, home)
        if page is not None and page != path:
            return page
        if folder in ("", source.path):
            break
        folder = os.path.dirname(folder)
    return source.parent


def _index_page(folder: str, home: Home) -> str | None:
    """The stored path of the folder's index page."""
    try:
        names = sorted(os.listdir(home.absolute(folder or ".")))
    except OSError:
        return None
    for wanted in INDEX_PAGES:
        for name in names:
            if name.lower() == wanted:
                return os.path.join(folder, name) if folder else name
    return None
