"""Places in a query that are filled in when it is run: `deploy tag:{team}`.

What is filled in never becomes an operator: it stays the words, the phrase or the value that
stood there. `{{team}}` means the text `{team}`.
"""

import re
from collections.abc import Iterable, Mapping

from knowbase.errors import InvalidInput
from knowbase.query.lexer import CURLED, tokens
from knowbase.query.operators import OPERATORS

_PLACE = re.compile(r"\{\{([^\W\d]\w*)\}\}|\{([^\W\d]\w*)\}")
_PIECE = re.compile(r'[^\s()"]*"[^"]*"|[^\s()"]+|[\s()"]')
_QUOTES = re.compile(f'["{"".join(CURLED)}]')
NAMED = ("AND", "OR", "NOT")
_SIGNS = re.compile(r"^[-+#]+|[()*:]")
_PARTS = re.compile(rf"([-+]?)(?:({'|'.join(OPERATORS)}):([<>]=?|=)?|(#))?(.*)", re.S)


def placeholders(texts: Iterable[str]) -> tuple[str, ...]:
    """The names of the places in these texts, each once, in order."""
    return tuple(
        dict.fromkeys(match[2] for text in texts for match in _PLACE.finditer(text) if match[2])
    )


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text that is one value by itself: what is filled in stays as it is."""
    return _PLACE.sub(
        lambda match: "{" + match[1] + "}" if match[1] else values[match[2]].strip(), text
    )


def filled_query(query: str, values: Mapping[str, str]) -> str:
    """A query with its places filled in."""
    found = _filled(query, values)
    if _shape(found) != _shape(_filled(query, dict.fromkeys(values, "x"))):
        raise InvalidInput(
            "a value would change what the query does",
            field="set",
            hint="words alone; no signs of the query language",
        )
    return found


def has_open_quote(query: str) -> bool:
    """Whether a quote is never closed: nobody could say what a value behind it is."""
    return query.count('"') % 2 == 1


def _filled(query: str, values: Mapping[str, str]) -> str:
    if has_open_quote(query):
        last = query.rindex('"')  # it opens nothing: it ends a word, as a space does
        query = f"{query[:last]} {query[last + 1 :]}"
    pieces = _PIECE.findall(query)
    return "".join(_piece(one, values) if _PLACE.search(one) else one for one in pieces)


def _shape(query: str) -> list[tuple[str, str]]:
    """All that a query has besides words and phrases."""
    found, _ = tokens(query)
    return [
        (one.kind, one.text if one.kind == "operator" else "")
        for one in found
        if one.kind not in ("word", "phrase")
    ]


def _piece(piece: str, values: Mapping[str, str]) -> str:
    """One word, phrase or operator of the query."""
    match = _PARTS.fullmatch(piece)
    sign, operator, comparison, tag, body = match.groups() if match else ("", "", "", "", piece)
    text = filled(body.strip('"'), values)
    if operator or tag:
        if '"' in text:
            raise InvalidInput(
                f"what stands behind {operator or 'tag'}: cannot have a quote in it: {text}",
                field="set",
                hint="an option can: such as --project '{project}' when it is saved",
            )
        return f'{sign}{operator or "tag"}:{comparison or ""}"{text}"'
    words = _QUOTES.sub(" ", text).split()  # a quote is no part of any word
    if body.startswith('"') or (sign and not _is_one_word(words)):
        return f'{sign}"{" ".join(words)}"' if words else ""
    return sign + " ".join(map(_word, words))


def _is_one_word(words: list[str]) -> bool:
    """Whether a sign before it is an operator, and one for all of it."""
    return len(words) == 1 and words[0].isalnum() and words[0][0].isalpha()


def _word(word: str) -> str:
    """A word as it is; without what would make it an operator, which no index keeps anyway."""
    if _is_plain(word):
        return word
    parts = [one.lower() if one in NAMED else one for one in _SIGNS.sub(" ", word).split()]
    return " ".join(one if _is_plain(one) else f'"{one}"' for one in parts)


def _is_plain(word: str) -> bool:
    found, problems = tokens(word)
    is_word = len(found) == 1 and found[0].kind == "word" and not problems
    return is_word and not set("()*") & set(word)
