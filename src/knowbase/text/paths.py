"""Patterns of paths: which files `path:docs/` means.

A pattern is names of folders and files in a row, anywhere in a path: `docs` is a file or a folder
of that name with all that is in it, `docs/` such a folder alone, `/docs` one at the start. `*` and
`?` stand for letters of a name, `**` for any folders. The case of ASCII letters does not matter,
nor whether an accent is a character of its own.

What engines compare is the same text for all (`subject`): a path with a slash before and behind.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from knowbase.values.characters import spellings

LONGEST = 1000  # characters of a pattern
MOST_WILDCARDS = 32
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ\\", "abcdefghijklmnopqrstuvwxyz/")


class PathPattern(NamedTuple):
    """A pattern, taken apart."""

    names: tuple[str, ...]  # in lower case; "**" stands for any folders
    anchored: bool = False  # they stand at the start of a path
    folder: bool = False  # something must lie in the last of them

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to be filled in."""
        return not any("*" in name or "?" in name for name in self.names)

    @property
    def needle(self) -> str:
        """What the subject of a path has in it, or starts with, if there is nothing to fill in."""
        return "/" + "".join(f"{name}/" for name in self.names)

    def __str__(self) -> str:
        return "/" * self.anchored + "/".join(self.names) + "/" * self.folder


def path_pattern(text: str) -> PathPattern | None:
    """The pattern that a text means; None for one that is too long or has too many wildcards."""
    text = folded(text)
    names = [name for name in text.split("/") if name not in ("", ".")]
    names = [name for n, name in enumerate(names) if name != "**" or names[n - 1 : n] != ["**"]]
    wildcards = sum(name.count("*") + name.count("?") for name in names)
    if len(text) > LONGEST or wildcards > MOST_WILDCARDS:
        return None
    folder = text.endswith("/") or names[-1:] == ["**"]
    names = names[:-1] if names[-1:] == ["**"] else names
    return PathPattern(tuple(names), text.startswith(("/", "./")), folder and bool(names))


def folded(path: str) -> str:
    """The path as it is compared: ASCII letters in lower case, slashes between names."""
    if path.isascii() and "\\" not in path:
        return path.lower()  # the same, in a fraction of the time
    return path.translate(_LOWER)


def spelled(pattern: PathPattern) -> tuple[PathPattern, ...]:
    """The pattern for each way in which the letters of its names can be written."""
    if all(map(str.isascii, pattern.names)):
        return (pattern,)
    written = spellings("/".join(pattern.names))
    return tuple(pattern._replace(names=tuple(one.split("/"))) for one in written)


def matches(pattern: PathPattern, path: str) -> bool:
    """Whether a path is meant by the pattern."""
    return any(matcher(str(one))(path) for one in spelled(pattern))


@lru_cache(maxsize=64)
def matcher(text: str) -> Callable[[str], bool]:
    """What says of each path whether the pattern of this text means it."""
    pattern = path_pattern(text)
    if pattern is None:
        return lambda _: False
    end = "" if pattern.folder else "/"
    found = re.compile(expression(pattern), re.DOTALL).match
    return lambda path: found(f"/{folded(path).lstrip('/')}{end}") is not None


def expression(pattern: PathPattern, *, atomic: bool = True) -> str:
    """The pattern as a regular expression over a subject.

    Where a star or `**` first finds what follows it, it never has to find it later: without going
    back, no pattern takes long. An engine that does not go back at all needs no atomic groups.
    """
    group = "(?>" if atomic else "(?:"
    found = "^/"
    row: list[str] = []
    any_folders = not pattern.anchored
    for name in (*pattern.names, "**"):
        if name != "**":
            row.append(_name(name, group) + "/")
            continue
        folders = f"{group}(?:[^/]*/)*?" if any_folders else "(?:"
        found += f"{folders}{''.join(row)})" if row else ""
        row, any_folders = [], True
    return found


def _name(name: str, group: str) -> str:
    first, *others = (_letters(piece) for piece in re.split(r"\*+", name))
    if not others:
        return first
    inner = "".join(f"{group}[^/]*?{piece})" for piece in others[:-1])
    return f"{first}{inner}[^/]*{others[-1]}"


def _letters(piece: str) -> str:
    return "".join("[^/]" if letter == "?" else _escaped(letter) for letter in piece)


def _escaped(letter: str) -> str:
    return f"\\{letter}" if letter.isascii() and not letter.isalnum() and letter != "_" else letter
