"""Readers that other packages bring: entry points of the group "knowbase.readers"."""

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from knowbase.errors import ReadError
from knowbase.read.file import File
from knowbase.values.reading import Reading

GROUP = "knowbase.readers"


@cache
def _installed() -> dict[str, EntryPoint]:
    """By the extension that each is named after."""
    return {one.name.lower().lstrip("."): one for one in entry_points(group=GROUP)}


def outside_reader(extension: str) -> Callable[[File], Reading] | None:
    """What a package has brought for files of this extension; it goes before our own."""
    found = _installed().get(extension)
    if found is None:
        return None

    def read(file: File) -> Reading:
        reading = found.load()(file)
        if not isinstance(reading, Reading):
            raise ReadError(f"the reader {found.value} gave no Reading")
        return reading

    return read
