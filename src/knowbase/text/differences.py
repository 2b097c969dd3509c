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
