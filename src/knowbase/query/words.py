"""Words to look for: what every string has, however odd."""

from typing import NamedTuple

from knowbase.errors import InvalidInput
from knowbase.query.conditions import EVERYTHING, Condition
from knowbase.text.analysis import Word, form_words, prefix_words, query_words, required_words
from knowbase.values.characters import clean

MAX_WORDS = 256
MAX_CHARACTERS = 20_000

_SPACES = str.maketrans(dict.fromkeys('(){}[]^"~*?:\\', " "))


class FieldWeights(NamedTuple):
    """How much a word counts in each indexed field."""

    title: float = 1.0
    heading: float = 1.0
    text: float = 1.0
    terms: float = 1.0


class Also(NamedTuple):
    """What is looked for beside a word of the query: it counts for less, or stands for forms."""

    word: Word
    of: str  # the word of the query, in small letters
    weight: float = 1.0
    why: str = "form"  # or "spelling", "synonym", "abbreviation", "begun"

    def __str__(self) -> str:
        """As an explanation has it."""
        shown = self.word.surface.lstrip("\ue002") + "…" * (self.why in ("form", "begun"))
        shown = self.of if shown.endswith("\ue002…") else shown  # a word as it is written
        return f"{shown} beside {self.of} ({self.why}, × {self.weight:g})"


class KeywordQuery(NamedTuple):
    """What the keyword leg looks for: any, or all, of these words."""

    words: tuple[Word, ...]
    match: str = "any"
    rule: str = "bm25"  # or ts_rank_cd, which PostgreSQL alone has
    text: str = ""  # for ts_rank_cd: what was asked
    among: Condition = EVERYTHING  # whose chunks tell how rare a word is
    also: tuple[Also, ...] = ()  # beside any of the words; never where all are asked for

    @property
    def weighed(self) -> tuple[tuple[Word, float], ...]:
        """Everything that is looked for, and how much it counts."""
        also = self.also if self.match == "any" else ()
        return (*((word, 1.0) for word in self.words), *((one.word, one.weight) for one in also))

    def check_rule(self) -> None:
        """Refuse a way to score words that only PostgreSQL has."""
        if self.rule != "bm25":
            raise InvalidInput(
                f"this base cannot score words by {self.rule}",
                field="keyword",
                hint="bm25, or a base in PostgreSQL",
            )


class Frequencies(NamedTuple):
    """How many chunks there are, and how many of them have each of some words."""

    chunks: int
    having: tuple[int, ...]


def keyword_query(text: str, match: str = "any") -> KeywordQuery:
    """C1: the words of a plain text under a profile's rule; never fails."""
    text = clean(text).strip()[:MAX_CHARACTERS]
    words = tuple(_words(text, match)[:MAX_WORDS])
    if match == "all":
        return KeywordQuery(words, "all")
    also = [Also(form, word) for word, form in form_words(text).items()]
    return KeywordQuery(words, "any", also=tuple(also[:MAX_WORDS]))


def _words(text: str, match: str) -> list[Word]:
    if match == "all":
        return required_words(text)
    words = query_words(text)
    if match != "any_prefix":
        return words
    return [longer for word in words for longer in _begun(word)]


def _begun(word: Word) -> list[Word]:
    """S2-04: words that begin so; one letter is a whole word."""
    return prefix_words(word.surface) if len(word.surface) > 1 else [word]


def sanitize_fts_query(query: str) -> str:
    """S0-02: the query without FTS5's special characters, spaces collapsed."""
    return " ".join(query.translate(_SPACES).split())
