"""What a folder holds."""

from typing import NamedTuple

from knowbase.values.documents import Document


class FolderCount(NamedTuple):
    """A folder, and how many documents lie in it, at any depth."""

    folder: str
    documents: int


class Folder(NamedTuple):
    """A folder of documents: the folders in it, and the documents below it, newest first."""

    folder: str
    folders: tuple[FolderCount, ...]
    documents: tuple[Document, ...]
    total: int
    notices: tuple[str, ...] = ()  # what should be known of it: a tag that no document has
