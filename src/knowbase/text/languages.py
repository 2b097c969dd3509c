"""In which language a text is, as far as letters and common words say it: no further."""

import re
from collections import Counter

from knowbase.text.forms import is_foreign

LATIN, ENGLISH, NONE = "other languages in Latin letters", "English", "no words"
LOOKED_AT = 4_000  # characters
_SCRIPTS = (
    ("Latin", r"A-Za-z\u00c0-\u024f\u1e00-\u1eff"),
    ("Cyrillic letters", r"\u0400-\u052f"),
    ("Greek", r"\u0370-\u03ff\u1f00-\u1fff"),
    ("Hebrew", r"\u0590-\u05ff"),
    ("Arabic letters", r"\u0600-\u06ff\u0750-\u077f"),
    ("Indian scripts", r"\u0900-\u0dff"),
    ("Thai", r"\u0e00-\u0e7f"),
    ("Georgian", r"\u10a0-\u10ff"),
    ("Armenian", r"\u0530-\u058f"),
    ("Korean", r"\uac00-\ud7af\u1100-\u11ff"),
    ("Japanese", r"\u3040-\u30ff"),
    ("Chinese", r"\u3400-\u4dbf\u4e00-\u9fff"),
)
_LETTERS = re.compile("|".join(f"([{letters}])" for _, letters in _SCRIPTS))
_KANA_SHARE = 10  # one kana in so many letters: what else is written with Chinese ones is Japanese


def language_of(text: str) -> str:
    """English, another language by its letters, or one that Latin letters write."""
    text = text[:LOOKED_AT]
    found = Counter(match.lastindex for match in _LETTERS.finditer(text))
    if not found:
        return NONE
    counts = {_SCRIPTS[place - 1][0]: number for place, number in found.items() if place}
    if counts.get("Japanese", 0) * _KANA_SHARE >= sum(counts.values()):
        return "Japanese"
    script = max(counts, key=counts.__getitem__)
    if script != "Latin":
        return script
    return LATIN if is_foreign(text) else ENGLISH
