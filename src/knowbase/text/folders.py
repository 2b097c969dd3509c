"""Folders as the paths of documents make them."""

from collections import Counter
from collections.abc import Iterable

from knowbase.values.folders import FolderCount


def folder_name(folder: str) -> str:
    """A folder as it is asked for: with a slash behind it, and one before if it was told with one,
    as folders outside the base's home are; "" is the home."""
    told = folder.replace("\\", "/").strip().removeprefix("./")
    name = told.strip("/")
    return "/" * told.startswith("/") + f"{name}/" if name not in ("", ".") else ""


def folders_in(folder: str, filled: Iterable[tuple[str, int]]) -> tuple[FolderCount, ...]:
    """The folders directly in this one, the fullest first, from all that have documents and how
    many. As in a pattern of paths, a slash before the folder says no more than that it is at the
    start; before one that is told, that it lies outside the base's home."""
    folder = folder.lstrip("/")
    counts: Counter[tuple[str, str]] = Counter()
    for path, number in filled:
        if path != "." and (name := _next(folder, f"{path}/")):
            counts[name] += number
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return tuple(FolderCount(f"{root}{folder}{name}/", number) for (root, name), number in ordered)


def _next(folder: str, path: str) -> tuple[str, str] | None:
    """What the path starts with, a slash or nothing, and the folder in this one that it goes
    through."""
    inner = path.lstrip("/")
    name, slash, _ = inner[len(folder) :].partition("/")
    if not slash or inner[: len(folder)].lower() != folder.lower():
        return None
    return "/" * path.startswith("/"), name
