"""A plain query: any string becomes words to look for; more matching words rank higher."""

import re
from typing import NamedTuple

from knowbase.text.analysis import Word, clean, query_words, required_words

MAX_WORDS = 256
MAX_CHARACTERS = 20_000

_FTS_SPECIAL = re.compile(r'[(){}\[\]^"~*?:\\]')


class KeywordQuery(NamedTuple):
    """What the keyword leg looks for: any, or all, of these words."""

    words: tuple[Word, ...]
    match: str = "any"


class PlainQuery(NamedTuple):
    """What is looked for, and what was done to the text to get there."""

    text: str
    keyword: KeywordQuery
    notices: tuple[str, ...] = ()


def parse(text: str, match: str = "any") -> PlainQuery:
    """Never fails: whatever holds no word finds nothing, and what is too long is cut and said."""
    notices = []
    text = clean(text).strip()
    if len(text) > MAX_CHARACTERS:
        notices.append(f"query cut to its first {MAX_CHARACTERS:,} characters")
        text = text[:MAX_CHARACTERS]
    words = _words(text, match)
    if len(words) > MAX_WORDS:
        notices.append(f"query has {len(words):,} words; the first {MAX_WORDS} are looked for")
    rule = "all" if match == "all" else "any"
    return PlainQuery(text, KeywordQuery(tuple(words[:MAX_WORDS]), rule), tuple(notices))


def _words(text: str, match: str) -> list[Word]:
    """C1: the words to look for under a profile's rule."""
    if match == "all":
        return required_words(text)
    words = query_words(text)
    return [word._replace(prefix=True) for word in words] if match == "any_prefix" else words


def sanitize_fts_query(query: str) -> str:
    """S0-02: the query without FTS5's special characters, spaces collapsed."""
    return " ".join(_FTS_SPECIAL.sub(" ", query).split())
