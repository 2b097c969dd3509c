"""Slugs: the short names by which a document's sections are addressed."""

import unicodedata
from collections.abc import Iterable

_FALLBACK = "section"
_LONGEST = 500  # characters: every chunk carries its slug
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)


def slugify(heading: str) -> str:
    """The heading in lower case with every run of other than letters and digits as one '-'."""
    kept: list[str] = []
    for char in unicodedata.normalize("NFC", heading[:_LONGEST].lower()):
        if char.isalnum() or (kept and kept[-1] != "-" and _is_vowel_sign(char)):
            kept.append(char)
        elif kept and kept[-1] != "-":
            kept.append("-")
    return "".join(kept).strip("-") or _FALLBACK


def _is_vowel_sign(char: str) -> bool:
    # In many scripts (Devanagari, Thai, Arabic …) a mark is as much of the word as a letter.
    return unicodedata.category(char) in ("Mn", "Mc") and ord(char) not in _VARIATION_SELECTORS


def unique_slugs(headings: Iterable[str]) -> list[str]:
    """One slug a heading, in order; repeated ones get -2, -3 … and no two are the same."""
    bases = [slugify(heading) for heading in headings]
    # A heading that is really called "Setup 2" keeps its slug, wherever it stands.
    taken = set(bases)
    last: dict[str, int] = {}
    return [_next_slug(base, taken, last) for base in bases]


def _next_slug(base: str, taken: set[str], last: dict[str, int]) -> str:
    if base not in last:
        last[base] = 1
        return base
    number = last[base] + 1
    while f"{base}-{number}" in taken:
        number += 1
    last[base] = number
    slug = f"{base}-{number}"
    taken.add(slug)
    return slug
