"""How two texts differ, word by word."""

import re
from difflib import SequenceMatcher

LONGEST = 4_000  # letters of each that are compared; the rest is left out
_WORD = re.compile(r"\s+|\w+|[^\w\s]+")


def word_diff(old: str, new: str) -> tuple[tuple[str, str], ...]:
    """Stretches that both have (=), that the old one alone has (-), that the new one has (+)."""
    before, after = _WORD.findall(old[:LONGEST]), _WORD.findall(new[:LONGEST])
    found: list[tuple[str, str]] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, end, begin, stop in matcher.get_opcodes():
        if kind == "equal":
            found.append(("=", "".join(before[start:end])))
            continue
        if end > start:
            found.append(("-", "".join(before[start:end])))
        if stop > begin:
            found.append(("+", "".join(after[begin:stop])))
    return tuple(found)


def text_diff(old: str, new: str) -> tuple[tuple[str, str], ...]:
    """The same of texts of any length: by lines first, then by words where lines differ."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    found: list[tuple[str, str]] = []
    for kind, start, end, begin, stop in SequenceMatcher(None, before, after).get_opcodes():
        gone, come = "".join(before[start:end]), "".join(after[begin:stop])
        if kind == "equal":
            found.append(("=", gone))
        elif kind == "replace" and max(len(gone), len(come)) <= LONGEST:
            found += word_diff(gone, come)
        else:
            found += [(sign, text) for sign, text in (("-", gone), ("+", come)) if text]
    return tuple(found)
