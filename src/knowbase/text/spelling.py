"""Words that are spelled alike: what somebody may have meant to type."""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from knowbase.text.analysis import stem_of, tokens
from knowbase.text.forms import fold

ALIKE, MOST_ALIKE = 3, 3000
"""The letters that the first words to be compared share, and how many words those may be."""

SHORTEST = 4  # letters of a word that may be mistyped; of so few, only two may have changed places
LONGEST = 32  # longer ones are no words
LIKELY = 0.5  # what the likeliest mistakes cost: two letters changed places, one doubled or not
CLEARLY = math.log(3)  # how much likelier than the next one a word must be
UNLIKELY = 1.0  # what a mistake costs that is too much in a word of fewer than LONG letters
LONG = 7
A_MISTAKE = 4.0  # a mistake that costs 1 is as unlikely as a word e⁴ times rarer

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_PLAIN_ENDINGS = ("s", "es", "d", "ed", "ing")
_VOWELS = frozenset("aeiouy")
_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ",
    "αβγδεζηθικλμνξοπρσςτυφχψω",
    "ءابتثجحخدذرزسشصضطظعغفقكلمنهويةىپچژگکی",
    "אבגדהוזחטיכךלמםנןסעפףצץקרשת",
    "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ",
    "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆև",
)


class Edit(NamedTuple):
    """A word that is one mistake away from the typed one, and how unlikely that mistake is."""

    word: str
    cost: float


@cache
def _neighbours() -> dict[str, frozenset[str]]:
    """The keys around each key of a keyboard."""
    places = {key: (row, at) for row, keys in enumerate(_ROWS) for at, key in enumerate(keys)}
    return {
        key: frozenset(
            other
            for other, (line, place) in places.items()
            if other != key and abs(line - row) <= 1 and abs(place - at) <= 1
        )
        for key, (row, at) in places.items()
    }


def edits(word: str) -> dict[str, float]:
    """Every word that one mistake would have made this of, with its cost: a letter too many or
    too few, another letter, two that changed places. Made, never looked for: the number of words
    that a base has does not matter."""
    found: dict[str, float] = {}
    for one in _edits(word) if len(word) > 1 else ():
        if one.word != word and one.cost < found.get(one.word, math.inf):
            found[one.word] = one.cost
    return found


def _edits(word: str) -> Iterator[Edit]:
    letters = {word[1], *fold(word)}  # ü is not among those of any, u is
    alphabet = next((one for one in _ALPHABETS if not letters.isdisjoint(one)), "")
    for at, letter in enumerate(word):
        first = 0.7 * (at == 0)  # hardly anybody mistypes the first letter
        before, rest = word[:at], word[at + 1 :]
        yield Edit(before + rest, first + (LIKELY if rest[:1] == letter else 0.8))
        if rest:
            yield Edit(before + rest[0] + letter + rest[1:], first + LIKELY)
        for other in alphabet:
            yield Edit(before + other + rest, first + _swap(letter, other))
            doubles = other in (letter, before[-1:])
            yield Edit(before + other + letter + rest, first + (LIKELY if doubles else 0.7))
    for other in alphabet:
        yield Edit(word + other, LIKELY if other == word[-1] else 0.7)


def _swap(letter: str, other: str) -> float:
    alike = other in _neighbours().get(letter, ()) or (letter in _VOWELS and other in _VOWELS)
    return 0.7 if alike else 1.0


def is_mistypable(word: str) -> bool:
    """Whether a word could be a slip: no code, no identifier, no abbreviation."""
    is_word = word == word.lower() or word.istitle()
    return SHORTEST <= len(word) <= LONGEST and word.isalpha() and is_word


def likely(word: str, known: Mapping[str, int]) -> list[str]:
    """The known words that one mistake leads to, the likeliest first; words of one stem are one.
    Known: which of the edits there are, and in how many documents."""
    return [one for one, _ in _weighed(word, known)]


def clear(word: str, known: Mapping[str, int]) -> str | None:
    """The one known word that was surely meant; None when there are several, or none."""
    found = _weighed(word, known)
    if not found or (len(found) > 1 and found[0][1] - found[1][1] < CLEARLY):
        return None
    best = found[0][0]
    return None if _is_doubtful(len(word), edits(word)[best]) else best


def _is_doubtful(letters: int, cost: float) -> bool:
    """The shorter the words, the more of them differ in one letter: yeast was not meant to be
    least, nor trian to be trial."""
    return letters < LONG and (cost > LIKELY if letters <= SHORTEST else cost >= UNLIKELY)


def _weighed(word: str, known: Mapping[str, int]) -> list[tuple[str, float]]:
    """Without those that no document has any more: it may go after it was seen."""
    there = {one: number for one, number in known.items() if number > 0}
    costs = edits(word) if there else {}
    score = {one: math.log(number) - A_MISTAKE * costs[one] for one, number in there.items()}
    ordered = sorted(there, key=lambda one: (-score[one], costs[one], one))
    by_stem: dict[str, str] = {}
    for one in ordered:
        by_stem.setdefault(stem_of(one), one)
    return [(one, score[one]) for one in by_stem.values()]


def nearest(word: str, vocabulary: Iterable[str], limit: int) -> list[str]:
    """Those of the vocabulary most like the word, closest first."""
    from difflib import get_close_matches

    near = [known for known in vocabulary if abs(len(known) - len(word)) <= 2]
    return get_close_matches(word, near, n=limit, cutoff=0.75)


def written(word: str, texts: Iterable[str]) -> str | None:
    """The word as a text has it: itself, or a form that only plain endings tell from it. Words
    with the same stem are not enough: `quarterely` has the stem of `quarter`, and nobody writes
    it."""
    stem, form = stem_of(word), None
    for text in texts:
        for token in tokens(text):
            there = text[token.start : token.end].lower() if token.stem == stem else ""
            if fold(there) == fold(word):
                return there
            if there and form is None and _is_form(fold(there), fold(word)):
                form = there
    return form


def _is_form(one: str, other: str) -> bool:
    """Of two words with one stem."""
    return not _cores(one).isdisjoint(_cores(other))


def _cores(word: str) -> set[str]:
    """A word, and what is left of it without a plain ending."""
    return {word, *(word.removesuffix(one) for one in _PLAIN_ENDINGS)}


def spellings(word: str, texts: Iterable[str]) -> list[str]:
    """The word and its forms as texts have them, capitals and all, each time."""
    stem = stem_of(word)
    return [text[one.start : one.end] for text in texts for one in tokens(text) if one.stem == stem]


def as_written(stem: str, text: str) -> str:
    """How the word with this stem is spelled in a text."""
    for token in tokens(text):
        if token.stem == stem:
            return text[token.start : token.end].lower()
    return stem
