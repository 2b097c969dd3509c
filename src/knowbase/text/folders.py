"""Folders as the paths of documents make them."""

from collections import Counter
from collections.abc import Iterable

from knowbase.values.folders import FolderCount


def folder_name(folder: str) -> str:
    """A folder as it is asked for: with a slash behind it, none before; "" is the base's home."""
    name = folder.replace("\\", "/").strip().removeprefix("./").strip("/")
    return f"{name}/" if name not in ("", ".") else ""


def folders_in(folder: str, paths: Iterable[str | None]) -> tuple[FolderCount, ...]:
    """The folders directly in this one, the fullest first."""
    inside = (path[len(folder) :] for path in paths if path and _lies_in(folder, path))
    counts = Counter(name for name, slash, _ in (one.partition("/") for one in inside) if slash)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return tuple(FolderCount(f"{folder}{name}/", number) for name, number in ordered)


def _lies_in(folder: str, path: str) -> bool:
    return path[: len(folder)].lower() == folder.lower()
