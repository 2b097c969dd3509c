"""A plain query: any string becomes words to look for; more matching words rank higher."""

import re
from typing import NamedTuple

from knowbase.text.analysis import Word, clean, query_words

MAX_WORDS = 256
MAX_CHARACTERS = 20_000

_FTS_SPECIAL = re.compile(r'[(){}\[\]^"~*?:\\]')


class PlainQuery(NamedTuple):
    """What is looked for, and what was done to the text to get there."""

    text: str
    words: tuple[Word, ...]
    notices: tuple[str, ...] = ()


def parse(text: str) -> PlainQuery:
    """Never fails: whatever holds no word finds nothing, and what is too long is cut and said."""
    notices = []
    text = clean(text).strip()
    if len(text) > MAX_CHARACTERS:
        notices.append(f"query cut to its first {MAX_CHARACTERS:,} characters")
        text = text[:MAX_CHARACTERS]
    words = query_words(text)
    if len(words) > MAX_WORDS:
        notices.append(f"query has {len(words):,} words; the first {MAX_WORDS} are looked for")
    return PlainQuery(text, tuple(words[:MAX_WORDS]), tuple(notices))


def sanitize_fts_query(query: str) -> str:
    """S0-02: the query without FTS5's special characters, spaces collapsed."""
    return " ".join(_FTS_SPECIAL.sub(" ", query).split())
