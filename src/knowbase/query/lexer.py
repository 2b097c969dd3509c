"""A query's characters as tokens. Nothing is an error here: what is no operator is a word."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from knowbase.query.meta import PREFIX
from knowbase.query.operators import OPERATORS
from knowbase.query.tree import Problem

_LONGEST = max(map(len, OPERATORS))
_VALUE = re.compile(r'(?:[<>]=?|=)?"([^"]*)"|[^\s()"]+')
_META = re.compile(rf"({re.escape(PREFIX)}[^\s:()\"]{{1,100}}):")
CURLED = {"“": "”“", "„": "“”", "”": "”", "«": "»", "»": "«"}
"""Quotation marks as phones, word processors and other languages set them, and what closes each."""
_WORDS = {"AND": "and", "OR": "or", "NOT": "not"}


class Token(NamedTuple):
    """kind: word, phrase, operator, open, close, and, or, not, minus, plus."""

    kind: str
    text: str
    at: int
    value: str = ""


def tokens(text: str) -> tuple[list[Token], list[Problem]]:
    """Every token in order, and what was wrong with the quotes and operators."""
    lexer = _Lexer(text)
    return list(lexer.run()), lexer.problems


class _Lexer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._open = 0
        self.problems: list[Problem] = []

    def run(self) -> Iterator[Token]:
        while self._skip_space():
            yield self._next()

    def _skip_space(self) -> bool:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._at < len(self._text)

    def _next(self) -> Token:
        text, at = self._text, self._at
        character = text[at]
        if character == "(":
            return self._bracket("open", 1)
        if character == ")":
            return self._bracket("close", -1)
        if character == '"' or _closing(text, at) > at:
            return self._phrase()
        if character in "-+" and _starts_word(text, at + 1, '"(#'):
            self._at += 1
            return Token("minus" if character == "-" else "plus", character, at)
        if character == "#" and _starts_word(text, at + 1, '"'):
            return self._tag()
        name = text[at : text.find(":", at, at + _LONGEST + 1)]
        if name in OPERATORS:
            return self._operator(name)
        if (match := _META.match(text, at)) is not None:
            return self._operator(match[1])
        word = self._bare()
        if word.count(")") > word.count("("):
            place = at + word.index(")")
            self.problems.append(Problem("this ) closes nothing", place, "it is left out"))
        meant = _meant(word)
        if meant is not None:
            message = f"there is no {word.partition(':')[0]}:, did you mean {meant}:?"
            self.problems.append(Problem(message, at, "it is read as words"))
        return Token(_WORDS.get(word, "word"), word, at)

    def _bracket(self, kind: str, change: int) -> Token:
        self._open = max(0, self._open + change)
        self._at += 1
        return Token(kind, self._text[self._at - 1], self._at - 1)

    def _phrase(self) -> Token:
        text, start = self._text, self._at
        end = text.find('"', start + 1) if text[start] == '"' else _closing(text, start)
        if end < 0:
            self.problems.append(
                Problem("this quote is never closed", start, "what follows is read as words")
            )
            self._at += 1
            return Token("word", "", start)
        self._at = end + 1
        return Token("phrase", text[start + 1 : end], start)

    def _tag(self) -> Token:
        """What stands behind #: a word, or the words in quotes."""
        start = self._at
        self._at += 1
        if self._text[self._at].isalpha():
            return Token("operator", "tag", start, self._bare())
        phrase = self._phrase()
        return Token("operator", "tag", start, phrase.text) if phrase.kind == "phrase" else phrase

    def _operator(self, name: str) -> Token:
        start = self._at
        behind = start + len(name) + 1
        value = _VALUE.match(self._text, behind)
        if value is None:
            self._at = behind
            message = f"{name}: needs a value behind it"
            self.problems.append(Problem(message, start, "it is read as a word"))
            return Token("word", name, start)
        self._at = value.end()
        return Token("operator", name, start, value[0].replace('"', ""))

    def _bare(self) -> str:
        """A word up to white space, a quote, or the bracket that closes the group around it."""
        start, inner = self._at, 0
        while self._at < len(self._text):
            character = self._text[self._at]
            if character.isspace() or character == '"':
                break
            if character == ")" and inner == 0 and self._open:
                break
            inner += (character == "(") - (character == ")" and inner > 0)
            self._at += 1
        return self._text[start : self._at]


def _meant(word: str) -> str | None:
    """The operator that a word before a colon is nearly spelled like."""
    name, _, value = word.partition(":")
    if not value or value.startswith((":", "/")) or not (name.isascii() and name.isalnum()):
        return None
    from difflib import get_close_matches

    lower = name.lower()
    same_letters = (one for one in OPERATORS if sorted(one) == sorted(lower))
    near = get_close_matches(lower, OPERATORS, n=1, cutoff=0.8)
    return next(iter((*same_letters, *near)), None)


def _closing(text: str, at: int) -> int:
    """Where a curled quote that opens here is closed, with words between them; else -1."""
    ends = (text.find(mark, at + 1) for mark in CURLED.get(text[at], ""))
    end = min((one for one in ends if one > 0), default=-1)
    return end if any(map(str.isalnum, text[at + 1 : end])) else -1


def _starts_word(text: str, at: int, more: str) -> bool:
    """C31: -, + and # are operators only before a letter (or a quote, group or tag)."""
    if at >= len(text):
        return False
    return text[at].isalpha() or text[at] in more or ('"' in more and _closing(text, at) > 0)
