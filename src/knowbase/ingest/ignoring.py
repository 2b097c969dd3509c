"""A line of a .kbignore: what it would leave out, before it is written and after."""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.ingest.ignore import Patterns, decide, parse_patterns
from knowbase.process import filing
from knowbase.store.location import FOLDER

if TYPE_CHECKING:
    from knowbase.store.contract import Store

FILE_NAME = ".kbignore"
MOST_EXAMPLES = 10
LONGEST = 1_000  # letters of a pattern


class Ignored(NamedTuple):
    """Which documents a pattern leaves out of the base, from the next sync on."""

    pattern: str
    file: str  # that has the line
    documents: int
    of: int  # documents of files below its folder
    examples: tuple[str, ...]  # paths
    dry_run: bool


def ignore(
    store: "Store", home: str, pattern: str, folder: str | None = None, *, dry_run: bool = False
) -> Ignored:
    """Write a pattern into the .kbignore of a folder: of the base's home, unless it is named."""
    pattern = _checked(pattern)
    place = _folder(store, home, folder)
    path = os.path.join(place, FILE_NAME)
    files = sorted(_files(store, home, place))
    with nullcontext() if dry_run else _alone_in(home):
        before = _read(path)
        after = f"{before}{'' if not before or before.endswith(chr(10)) else chr(10)}{pattern}\n"
        if not dry_run:
            _write(path, after)
    found = [*_left_out(files, parse_patterns(before), parse_patterns(after))]
    examples = tuple(found[:MOST_EXAMPLES])
    return Ignored(pattern, path, len(found), len(files), examples, dry_run)


def _alone_in(home: str) -> AbstractContextManager[None]:
    """Nobody else writes a line meanwhile, where the base has a folder for its locks."""
    inside = os.path.join(home, FOLDER)
    return (
        filing.locked(os.path.join(inside, "kbignore")) if os.path.isdir(inside) else nullcontext()
    )


def _write(path: str, text: str) -> None:
    try:
        filing.replace(path, text, private=False)
    except (OSError, UnicodeError) as error:
        raise InvalidInput(f"{path} cannot be written: {error}", field="folder") from error


def _checked(pattern: str) -> str:
    pattern = pattern.strip()
    if not pattern or "\n" in pattern or "\r" in pattern or len(pattern) > LONGEST:
        hint = "one line, as in a .gitignore: build/, *.min.js"
        raise InvalidInput("this is not a pattern", field="pattern", hint=hint)
    if not parse_patterns(pattern).lines:
        hint = "a # begins a comment; brackets must be closed"
        raise InvalidInput(f"{pattern!r} matches nothing", field="pattern", hint=hint)
    return pattern


def _folder(store: "Store", home: str, folder: str | None) -> str:
    """Where the line is written: the base's home, or a folder that is a source or lies in one."""
    if folder is None:
        return home
    place = os.path.normpath(os.path.join(home, folder))
    sources = [os.path.normpath(os.path.join(home, one.path)) for one in store.sources()]
    real, roots = os.path.realpath(place), [*map(os.path.realpath, sources)]
    is_ours = any(_is_below(place, one) for one in sources)
    if not is_ours or not os.path.isdir(place) or not any(_is_below(real, one) for one in roots):
        hint = "a folder that was added, or one in it; see kb status"
        raise InvalidInput(f"{folder} is not a folder of this base", field="folder", hint=hint)
    return place


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _files(store: "Store", home: str, folder: str) -> Iterator[str]:
    """Paths of documents, seen from the folder; what was added by its own name is not ignored."""
    named = {one.path for one in store.sources()}
    for path, record in store.files().items():
        whole = os.path.normpath(os.path.join(home, path))
        if record.document is not None and path not in named and _is_below(whole, folder):
            yield os.path.relpath(whole, folder).replace(os.sep, "/")


def _left_out(files: Iterable[str], before: Patterns, after: Patterns) -> Iterator[str]:
    return (one for one in files if _is_out(one, after) and not _is_out(one, before))


def _is_out(path: str, patterns: Patterns) -> bool:
    """Whether the file, or a folder that it lies in, is left out."""
    parts = path.split("/")
    folders = ("/".join(parts[:end]) for end in range(1, len(parts)))
    return any(decide(patterns, one, True) for one in folders) or bool(
        decide(patterns, path, False)
    )


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
