"""The rules of .gitignore files: which paths they leave out."""

import re
from typing import NamedTuple

_SPECIAL = re.compile(r"[*?\[\\]")
# As in C's <ctype.h>; a class of an unknown name makes a pattern match nothing.
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9", "graph": r"\x21-\x7e", "lower": "a-z", "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e", "space": r"\s", "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}  # fmt: skip


class _Invalid(Exception):
    """The pattern is malformed and so matches nothing."""


class Pattern(NamedTuple):
    """One line of an ignore file."""

    regex: re.Pattern[str]
    by_name: bool  # looks at the last part of the path only
    folders_only: bool
    negated: bool


class Patterns(NamedTuple):
    """The lines of one ignore file, the last one first, and a quick test for any of them."""

    lines: tuple[Pattern, ...]
    any_name: re.Pattern[str] | None
    any_path: re.Pattern[str] | None


def parse_patterns(text: str) -> Patterns:
    """The patterns in the text of an ignore file."""
    lines = [_pattern(line) for line in text.removeprefix("\ufeff").split("\n")]
    patterns = tuple(reversed([line for line in lines if line]))
    return Patterns(patterns, _any(patterns, True), _any(patterns, False))


def decide(patterns: Patterns, path: str, is_folder: bool) -> bool | None:
    """True to ignore `path` (relative to the ignore file), False to keep it, None for neither."""
    name = path.rpartition("/")[2]
    if not _may_match(patterns, path, name):
        return None
    for pattern in patterns.lines:
        if pattern.folders_only and not is_folder:
            continue
        if pattern.regex.fullmatch(name if pattern.by_name else path):
            return not pattern.negated
    return None


def _may_match(patterns: Patterns, path: str, name: str) -> bool:
    by_name, by_path = patterns.any_name, patterns.any_path
    return bool((by_name and by_name.fullmatch(name)) or (by_path and by_path.fullmatch(path)))


def _any(patterns: tuple[Pattern, ...], by_name: bool) -> re.Pattern[str] | None:
    parts = [pattern.regex.pattern for pattern in patterns if pattern.by_name == by_name]
    return re.compile("|".join(parts), re.DOTALL) if parts else None


def _pattern(line: str) -> Pattern | None:
    line = _without_trailing_spaces(line.removesuffix("\r"))
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    glob = line[1:] if negated else line
    folders_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    by_name = "/" not in glob
    try:
        source = _regex(glob if by_name else glob.removeprefix("/"))
    except _Invalid:
        return None
    return Pattern(re.compile(source, re.DOTALL), by_name, folders_only, negated)


def _without_trailing_spaces(line: str) -> str:
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    # "\ " is a space that belongs to the name.
    return kept + " " if backslashes % 2 and kept != line else kept


def _regex(glob: str) -> str:
    special = _SPECIAL.search(glob)
    if special is None:
        return re.escape(glob)
    # Git compares the plain start by itself: what follows counts as a pattern's beginning.
    start = special.start()
    return re.escape(glob[:start]) + _Translation(glob[start:]).regex()


class _Translation:
    """Turns one glob into a regular expression, a piece at a time."""

    def __init__(self, glob: str) -> None:
        self._glob = glob
        self._at = 0
        self._done: list[str] = []
        self._wide = ""  # the globstar before what is done, which reaches over slashes
        self._found: list[str] = []  # what stands before that
        self._fixed: list[str] = []  # since the last star or slash
        self._star = False

    def regex(self) -> str:
        """The regular expression for the whole glob."""
        while self._at < len(self._glob):
            char = self._glob[self._at]
            if char == "*":
                self._stars()
            else:
                self._at += 1
                self._one(char)
        self._end_segment()
        return "".join((*self._found, self._wide, *self._done))

    def _one(self, char: str) -> None:
        if char == "\\":
            char = self._take()
        elif char == "?":
            self._fixed.append("[^/]")
            return
        elif char == "[":
            self._fixed.append(self._bracket())
            return
        if char == "/":
            self._end_segment()
            self._done.append("/")
        else:
            self._fixed.append(re.escape(char))

    def _take(self) -> str:
        if self._at >= len(self._glob):
            raise _Invalid
        self._at += 1
        return self._glob[self._at - 1]

    def _stars(self) -> None:
        start = self._at
        while self._glob[self._at : self._at + 1] == "*":
            self._at += 1
        rest = self._glob[self._at :]
        alone = start == 0 or self._glob[start - 1] == "/"
        if self._at - start < 2 or not alone or not (not rest or rest.startswith(("/", "\\/"))):
            self._end_star()
        elif rest.startswith("/"):
            self._begin_wide("(?:.*?/)??")
            self._at += 1
        else:
            self._begin_wide(".*?")

    def _begin_wide(self, wide: str) -> None:
        """Begin a globstar; what stood between the one before and it is found once and for all:
        it has as many slashes wherever it is found, so the first place also ends first, and this
        globstar reaches from there to every later one."""
        part = "".join((self._wide, *self._done))
        self._found.append(f"(?>{part})" if self._wide else part)
        self._wide, self._done = wide, []

    def _end_star(self) -> None:
        """Begin a star; what stood between the one before and it is found once and for all."""
        fixed = "".join(self._fixed)
        # The first place that fits is as good as any later one, so there is no going back:
        # otherwise a pattern of many stars would take for ever.
        self._done.append(f"(?>[^/]*?{fixed})" if self._star else fixed)
        self._fixed, self._star = [], True

    def _end_segment(self) -> None:
        fixed = "".join(self._fixed)
        self._done.append(f"[^/]*{fixed}" if self._star else fixed)
        self._fixed, self._star = [], False

    def _bracket(self) -> str:
        """A character class, from after its "[" to after its "]"."""
        negated = self._glob[self._at : self._at + 1] in ("!", "^")
        self._at += negated
        parts: list[str] = []
        previous = ""
        char = self._take()
        while True:
            previous = self._member(char, previous, parts)
            char = self._take()
            if char == "]":
                break
        inside = "".join(parts)
        if negated:
            return f"[^/{inside}]"
        return f"(?!/)[{inside}]" if inside else "(?!)"

    def _member(self, char: str, previous: str, parts: list[str]) -> str:
        """Add one member of a class; what it returns may begin a range."""
        if char == "\\":
            char = self._take()
        elif char == "-" and previous and self._glob[self._at : self._at + 1] not in ("", "]"):
            end = self._take()
            end = self._take() if end == "\\" else end
            if previous <= end:
                parts.append(f"{re.escape(previous)}-{re.escape(end)}")
            return ""
        elif char == "[" and self._glob.startswith(":", self._at):
            return self._named_class(parts)
        parts.append(re.escape(char))
        return char

    def _named_class(self, parts: list[str]) -> str:
        end = self._glob.find("]", self._at + 1)
        if end < 0:
            raise _Invalid
        name = self._glob[self._at + 1 : end]
        if not name.endswith(":"):
            parts.append(re.escape("["))
            return "["
        if name[:-1] not in _CLASSES:
            raise _Invalid
        parts.append(_CLASSES[name[:-1]])
        self._at = end + 1
        return ""
