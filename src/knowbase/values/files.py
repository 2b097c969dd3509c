"""Files on disk, and the sources that they come from."""

from typing import NamedTuple, TypeAlias

Look: TypeAlias = tuple[str, int, int, int, int]
"""A file as the disk has it: its path, size, mtime, inode and ctime."""

PUT_BACK, NOT_AS_READ = -1, "put back"
"""Of a file whose document was put back as it was: its size, when nothing has looked at it since,
and its hash, which no content has."""


class Source(NamedTuple):
    """A file or folder that was added and is kept in step."""

    path: str
    tags: tuple[str, ...] = ()
    parent: str | None = None  # the parent of its documents that name none themselves
    tree: bool = False  # … or, folder by folder, the index page


class FileRecord(NamedTuple):
    """What is known of a file on disk, so that an unchanged one costs a stat."""

    path: str
    source: str
    size: int
    mtime_ns: int
    sha256: str
    document: str | None = None  # the id of the document made from it
    problem: str | None = None  # why it could not be read
    excluded: bool = False  # removed by hand: stays out until added again
    inode: int | None = None  # none in records that are older than this
    ctime_ns: int | None = None  # when its content or its place was last changed
    skipped: str | None = None  # why it is left out, though nothing is wrong with it
    readers: str | None = None  # which generation of readers made no document of it

    @property
    def is_put_back(self) -> bool:
        """Whether its document was put back, and nothing has looked at the file since."""
        return self.size == PUT_BACK


class Settled(NamedTuple):
    """Which files there is nothing to do for as long as the disk shows them as it did: those that
    are documents, none of which is among these, and that are not larger than this."""

    largest: int
    besides: tuple[str, ...] = ()  # ids of documents
