"""A folder of basic-memory: Markdown notes with front matter, observations and relations."""

import os
from collections.abc import Callable, Iterator

from knowbase.errors import NotFound, ReadError
from knowbase.ingest.foreign import Foreign, Left
from knowbase.ingest.walk import FoundFile, WalkRules, walk
from knowbase.values.reading import Reading
from knowbase.values.times import timestamp

ReadFile = Callable[[str, bytes], Reading]
_EXTENSIONS = (".md", ".markdown")


def items(path: str, read: ReadFile, most_bytes: int) -> Iterator[Foreign | Left]:
    if not os.path.isdir(path):
        raise NotFound(f"there is no folder {path!r}", hint="the folder of basic-memory's project")
    root = os.path.abspath(path)
    for found in walk(root, WalkRules(include_hidden=False, max_bytes=most_bytes)):
        name = os.path.relpath(found.path, root).replace(os.sep, "/")
        if not isinstance(found, FoundFile):
            yield Left(name, found.reason, wrong=False)
        elif name.lower().endswith(_EXTENSIONS):
            yield _note(name, found, read)


def _note(name: str, found: FoundFile, read: ReadFile) -> Foreign | Left:
    try:
        with open(found.path, "rb") as file:
            reading = read(found.path, file.read())
    except OSError as error:
        return Left(name, error.strerror or str(error))
    except ReadError as error:
        return Left(name, error.message)
    bare = os.path.splitext(name)[0]
    metadata = {**reading.value("metadata")}
    permalink = metadata.get("permalink")
    if not isinstance(permalink, str) or not permalink.strip():
        permalink = metadata["permalink"] = bare
    aliases = metadata.get("aliases")
    metadata["aliases"] = [*(aliases if isinstance(aliases, list) else ()), bare]
    written = timestamp(found.mtime_ns / 1e9)
    created = reading.stated.get("created_at") or written
    stated = {
        **reading.stated,
        "created_at": created,
        "updated_at": reading.stated.get("updated_at") or written,
        "metadata": metadata,
    }
    kind = "note" if reading.type == "markdown" else reading.type
    return Foreign(f"basic-memory:{permalink}", kind, reading.title, "", stated, reading)
