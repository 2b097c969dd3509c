"""Finding the files in a folder that are worth reading."""

import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from knowbase.ingest.ignore import Patterns, decide, parse_patterns
from knowbase.ingest.noise import GENERATED, PRIVATE, noise_by_name
from knowbase.ingest.places import inside
from knowbase.values.files import Look

# Their content is somebody else's, or made by a program.
_NEVER = frozenset({".git", ".kb", "node_modules", "__pycache__", ".venv", "venv"})
_IGNORE_FILES = (".gitignore", ".kbignore")  # the last one has the last word
_ATTRIBUTES = ".gitattributes"  # says what is generated
_OF_TOOLS = (_ATTRIBUTES, ".DS_Store", ".localized", ".gitkeep", ".keep", ".directory")
_MEGABYTE = 1_048_576
_LARGEST_RULES = 256 << 10  # bytes of an ignore file: each of its lines is looked at for each path
# Then a system need not find the way to the folder for each name in it.
_FROM_FOLDER = os.stat in os.supports_dir_fd
UNLISTED = "the folder cannot be listed"
_LATEST = 2**63 - 1  # nanoseconds that a database can hold: the year 2262


class WalkRules(NamedTuple):
    """What to leave out besides what the ignore files say."""

    include_hidden: bool
    max_bytes: int
    top: str | None = None  # ignore files from here down to the root count too
    own: str | None = None  # the base itself; what is named after it belongs to it
    among: frozenset[str] | None = None  # absolute paths: only these, and what lies in them


class FoundFile(NamedTuple):
    """A file to read."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int
    generated: bool = False  # a file of attributes says so
    asked: bool = False  # by its name, now or before

    @property
    def noise(self) -> str | None:
        """Why it is left out; what is asked for is not."""
        if self.asked:
            return None
        return noise_by_name(self.path) or (GENERATED if self.generated else None)


class Skipped(NamedTuple):
    """Something that cannot be read, and why."""

    path: str
    reason: str
    is_file: bool = False
    failed: bool = False  # it should have been looked into, and could not be


def has_rules(path: str) -> bool:
    """Whether the file says which others are looked at."""
    return os.path.basename(path) in (*_IGNORE_FILES, _ATTRIBUTES)


class _NoRules(Exception):
    """An ignore file that is none, or cannot be read: nothing in its folder is read, since to read
    what it may leave out would be worse."""


class _Ignores(NamedTuple):
    """An ignore file's patterns, and where the paths that they look at begin."""

    patterns: Patterns
    base: int  # length of the folder's path with the slash after it
    generated: bool = False  # what they name is not ignored, but made by a program


class _Entry(NamedTuple):
    """Something that is still to be looked at."""

    entry: "os.DirEntry[str]"
    ignores: tuple[_Ignores, ...]


class Expected(NamedTuple):
    """Files of which nothing is to be said where they are as they were."""

    folder: str  # what stands for the root in their paths
    looks: dict[str, Look]


NOTHING = Expected("", {})


def walk(
    root: str, rules: WalkRules, expected: Expected = NOTHING
) -> Iterator[FoundFile | Skipped]:
    """The files at and below `root`, sorted by path. Those that look as expected are passed over,
    and taken out of what was expected."""
    root = os.path.abspath(root)
    if not _is_utf8(root):
        yield Skipped(_printable(root), "name is not valid UTF-8")
    elif os.path.isdir(root):
        yield from _Walk(root, rules, expected).run()
    else:
        yield _named_file(root, rules)


def _named_file(path: str, rules: WalkRules) -> FoundFile | Skipped:
    try:
        found = _file(path, os.stat(path), rules)
        return found._replace(asked=True) if isinstance(found, FoundFile) else found
    except OSError as error:
        return Skipped(path, _reason(error))


def _file(path: str, status: os.stat_result, rules: WalkRules) -> FoundFile | Skipped:
    if not stat.S_ISREG(status.st_mode):
        return Skipped(path, "not a regular file", True)
    if status.st_size > rules.max_bytes:
        size = f"{round(rules.max_bytes / _MEGABYTE, 2):g} MB"
        return Skipped(path, f"larger than {size}", True)
    changed = min(status.st_mtime_ns, _LATEST), status.st_ino & _LATEST, status.st_ctime_ns
    return FoundFile(path, status.st_size, *changed)


class _Walk:
    """One walk: what is still to do, and which folders have been entered."""

    def __init__(self, root: str, rules: WalkRules, expected: Expected) -> None:
        self._root = root
        self._within = os.path.join(root, "")
        self._rules = rules
        self._expected = expected
        self._real_root = os.path.join(os.path.realpath(root), "")
        self._entered: set[tuple[int, int]] = set()
        self._todo: list[_Entry] = []
        self._folder_links: list[_Entry] = []

    def run(self) -> Iterator[FoundFile | Skipped]:
        """Walk the folders, and then the links to folders that were not reached otherwise."""
        try:
            above = _ignores_above(self._root, self._rules.top)
        except _NoRules as error:
            yield Skipped(self._root, str(error))
            return
        yield from self._enter(self._root, above)
        yield from self._drain()
        while self._folder_links:
            link = self._folder_links.pop(0)
            yield from self._enter(link.entry.path, link.ignores)
            yield from self._drain()

    def _drain(self) -> Iterator[FoundFile | Skipped]:
        while self._todo:
            item = self._todo.pop()
            try:
                yield from self._looked_at(item)
            except OSError as error:
                closed = isinstance(error, PermissionError)
                yield Skipped(_printable(item.entry.path), _reason(error), failed=closed)

    def _looked_at(self, item: _Entry) -> Iterable[FoundFile | Skipped]:
        entry = item.entry
        if not _is_utf8(entry.name):
            return (Skipped(_printable(entry.path), "name is not valid UTF-8"),)
        if entry.is_symlink():
            return self._follow(item)
        if entry.is_dir(follow_symlinks=False):
            return self._enter(entry.path, item.ignores)
        return (self._found(item, entry.stat(follow_symlinks=False)),)

    def _found(self, item: _Entry, status: os.stat_result) -> FoundFile | Skipped:
        """A file in a folder: nobody has asked for it by its name."""
        found = _file(item.entry.path, status, self._rules)
        if isinstance(found, Skipped):
            return found
        made = item.ignores and _is_ignored(found.path, False, item.ignores, generated=True)
        return found._replace(generated=True) if made else found

    def _follow(self, item: _Entry) -> Iterator[FoundFile | Skipped]:
        entry = item.entry
        status = entry.stat()
        target = os.path.realpath(entry.path)
        if not os.path.join(target, "").startswith(self._real_root):
            yield Skipped(entry.path, "link leaves the folder")
        elif not _NEVER.isdisjoint(target[len(self._real_root) :].split(os.sep)):
            return
        elif stat.S_ISDIR(status.st_mode):
            # Later: a folder is better known by its own name than by a link's.
            self._folder_links.append(item)
        else:
            yield self._found(item, status)

    def _enter(self, folder: str, ignores: tuple[_Ignores, ...]) -> Iterator[Skipped]:
        """Put what the folder holds on the list, unless that has been done."""
        try:
            status = os.stat(folder)
            identity = (status.st_dev, status.st_ino)
            if identity in self._entered:
                return
            self._entered.add(identity)
            with os.scandir(folder) as listing:
                entries = list(listing)
            ignores += _ignores_in(folder, entries)
            if self._expected.looks:
                entries = self._unexpected(os.path.join(folder, ""), entries, ignores)
        except OSError as error:
            gone = isinstance(error, FileNotFoundError)  # meanwhile
            yield Skipped(folder, f"{UNLISTED}: {_reason(error)}", failed=not gone)
            return
        except _NoRules as error:
            yield Skipped(folder, str(error))
            return
        wanted = [entry for entry in entries if self._wants(entry, ignores)]
        yield from self._hidden(entries, ignores)
        wanted.sort(key=_order, reverse=True)
        self._todo.extend(_Entry(entry, ignores) for entry in wanted)

    def _unexpected(
        self, folder: str, entries: list["os.DirEntry[str]"], ignores: tuple[_Ignores, ...]
    ) -> list["os.DirEntry[str]"]:
        """Without the files that are as they were. What is not a plain file with a plain name is
        looked at as if it were new; so is what lies beside the base."""
        own, below = self._rules.own, folder[len(self._within) :]
        is_within = folder.startswith(self._within) and f"{os.sep}." not in os.sep + below
        if not is_within or (own and own.startswith(folder)):
            return entries
        before, looks, rest = self._expected.folder + below, self._expected.looks, []
        opened = os.open(folder, os.O_RDONLY) if _FROM_FOLDER else None
        above = folder if opened is None else ""
        try:
            for entry in entries:
                name = entry.name
                path = before + name
                look = looks.pop(path, None)
                if (
                    look is not None
                    and look == _look(path, above + name, opened)
                    and name[0] != "."
                    and not (ignores and _is_ignored(entry.path, False, ignores))
                ):
                    continue
                if look is not None:
                    looks[path] = look
                rest.append(entry)
        finally:
            if opened is not None:
                os.close(opened)
        return rest

    def _hidden(
        self, entries: list["os.DirEntry[str]"], ignores: tuple[_Ignores, ...]
    ) -> Iterator[Skipped]:
        """What only its name leaves out: somebody may miss it."""
        if self._rules.include_hidden or self._rules.among is not None:
            return
        hidden = [one for one in entries if one.name.startswith(".") and not _is_for_tools(one)]
        for entry in sorted(hidden, key=lambda entry: entry.name):
            is_folder = _is_folder(entry)
            if not self._wants_hidden(entry) and not _is_ignored(entry.path, is_folder, ignores):
                what = "hidden folder" if is_folder else "hidden"
                yield Skipped(entry.path, f"{what}; index.hidden = true reads it")

    def _wants_hidden(self, entry: "os.DirEntry[str]") -> bool:
        """Secrets are come upon wherever they lie, so that it is said that they are left out."""
        is_secret = noise_by_name(entry.name) == PRIVATE and not _is_folder(entry)
        return self._rules.include_hidden or is_secret

    def _leads_there(self, path: str) -> bool:
        """Whether it is one of those looked for, lies in one, or has one in it."""
        among = self._rules.among
        return among is None or any(inside(path, one) or inside(one, path) for one in among)

    def _wants(self, entry: "os.DirEntry[str]", ignores: tuple[_Ignores, ...]) -> bool:
        name = entry.name
        if name.startswith(".") and (name in _NEVER or not self._wants_hidden(entry)):
            return False
        if self._rules.own and entry.path.startswith(self._rules.own):
            return False
        if not self._leads_there(entry.path):
            return False
        is_folder = _is_folder(entry)
        if is_folder and name in _NEVER:
            return False
        return not _is_ignored(entry.path, is_folder, ignores)


def _look(path: str, name: str, folder: int | None) -> Look | None:
    """Of a plain file, under the path that it is known by."""
    try:
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    if not stat.S_ISREG(now.st_mode):
        return None
    return path, now.st_size, now.st_mtime_ns, now.st_ino, now.st_ctime_ns


def _is_for_tools(entry: "os.DirEntry[str]") -> bool:
    """Hidden entries that nobody would read: what git, we and systems keep there."""
    name = entry.name
    known = name in _NEVER or name in _IGNORE_FILES or name in _OF_TOOLS or name.startswith("._")
    return known or not _is_utf8(name)


def _is_ignored(
    path: str, is_folder: bool, ignores: tuple[_Ignores, ...], *, generated: bool = False
) -> bool:
    """Whether the nearest ignore file that has a pattern for the path leaves it out; or the
    nearest file of attributes calls it generated."""
    for patterns, base, of_generated in reversed(ignores):
        if of_generated != generated:
            continue
        verdict = decide(patterns, path[base:].replace(os.sep, "/"), is_folder)
        if verdict is not None:
            return verdict
    return False


def _ignores_above(root: str, top: str | None) -> tuple[_Ignores, ...]:
    """The ignore files above `root`, up to `top` or the top of the enclosing git repository."""
    above: list[str] = []
    folder = root
    while folder != top and not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ()
        above.append(parent)
        folder = parent
    found = [
        _load(parent, name) for parent in reversed(above) for name in (*_IGNORE_FILES, _ATTRIBUTES)
    ]
    return tuple(ignores for ignores in found if ignores)


def _ignores_in(folder: str, entries: list["os.DirEntry[str]"]) -> tuple[_Ignores, ...]:
    names = {entry.name for entry in entries}
    found = [_load(folder, name) for name in (*_IGNORE_FILES, _ATTRIBUTES) if name in names]
    return tuple(ignores for ignores in found if ignores)


def _load(folder: str, name: str) -> _Ignores | None:
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return None
    if os.path.getsize(path) > _LARGEST_RULES:
        raise _NoRules(f"its {name} is larger than {_LARGEST_RULES >> 10} kB")
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            text = file.read()
    except FileNotFoundError:  # meanwhile
        return None
    except OSError as error:
        raise _NoRules(f"its {name} cannot be read: {_reason(error)}") from error
    base = len(os.path.join(folder, ""))
    if name == _ATTRIBUTES:
        return _Ignores(parse_patterns(_generated(text)), base, True)
    return _Ignores(parse_patterns(text), base)


def _generated(attributes: str) -> str:
    """The patterns of what is generated, as an ignore file has them."""
    lines = []
    for line in attributes.splitlines():
        pattern, *said = line.split()[:20] or [""]
        if {"linguist-generated", "linguist-generated=true"} & set(said):
            lines.append(pattern)
        elif {"-linguist-generated", "linguist-generated=false"} & set(said):
            lines.append("!" + pattern)
    return "\n".join(lines)


def _order(entry: "os.DirEntry[str]") -> str:
    # With its slash, a folder sorts as the paths of the files in it do.
    return entry.name + "/" if _is_folder(entry) else entry.name


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_utf8(name: str) -> bool:
    try:
        return name.isascii() or bool(name.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
