"""Which words a text has: one analysis for indexing, querying and highlighting.

SQLite's `porter unicode61` finds plain words and stems. What it misses is added by
`extras`: the whole and the parts of identifiers, and character bigrams for scripts
that are written without spaces; and by `forms`: what stands for the forms of a word in other
languages than English.
"""

import re
from collections.abc import Callable, Iterator, Set
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple, Protocol

from knowbase.text.forms import (
    FORM_MARK,
    Form,
    forms,
    is_english,
    is_foreign,
    is_spaced,
    is_typed_otherwise,
)
from knowbase.text.stopwords import STOP_WORDS
from knowbase.values.characters import clean as clean  # noqa: PLC0414 - asked for here, too

LONGEST_WORD = 40  # letters
JOINT = "\ue000"  # joins the numbers of 1.0.21, so that the whole differs from 1021
TYPE_MARK = "\ue001"  # leads a document's type, so that it never matches a plain word

_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    r"\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"  # kana, Han
    r"\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"  # Hangul, more Han
)
_WORD = r"(?P<word>{letter}+(?:[-_.'’]{letter}+)*)(?P<sign>\+\+|\#(?!\w))?"
_PLAIN = (  # words that are nothing but themselves, all at once
    r"(?:(?:[A-Z][a-z]*+|[a-z]++)(?!{letter}|[-_.'’]{letter}|\+\+|\#(?!\w))|{other}++)++|"
)
_ASCII_WORD = re.compile((_PLAIN + _WORD).format(letter="[A-Za-z0-9]", other="[^A-Za-z0-9]"))
_ENDINGS = (
    "e", "ed", "ing", "ion", "ation", "ive", "al", "ity", "y", "er", "or", "ment", "s", "te",
    "ted", "ting", "tion", "tive", "tor", "ize", "ization", "ally", "ness", "ance", "ence",
    "able", "ible", "ful", "ous",
)  # fmt: skip
_SIGNS = {"++": "plusplus", "#": "sharp"}


class Token(NamedTuple):
    """A word of a text: its stem, and where it stands."""

    stem: str
    start: int
    end: int


class Extra(NamedTuple):
    """A word that the tokenizer alone would miss."""

    surface: str
    start: int
    end: int
    whole: bool = False  # stands for all of its span, so its short parts are noise


class Word(NamedTuple):
    """A word to look for, as written; `prefix` also finds longer words."""

    surface: str
    prefix: bool = False


class Tokenizer(Protocol):
    """What cuts a text into words: FTS5's `porter unicode61`, whichever engine lends it."""

    def __call__(self, text: bytes) -> list[tuple[int, int, str]]:
        """Where each word starts and ends in the bytes, and its stem."""


def _no_tokenizer(text: bytes) -> list[tuple[int, int, str]]:  # noqa: ARG001 - the interface
    raise RuntimeError("no tokenizer yet: importing knowbase.store brings one")


def _no_stems(text: str) -> list[str]:
    return [stem for _, _, stem in _no_tokenizer(text.encode())]


_tokenize: Tokenizer = _no_tokenizer
_stem: Callable[[str], list[str]] = _no_stems


def use_tokenizer(tokenizer: Tokenizer, stems_alone: Callable[[str], list[str]]) -> None:
    """Cut texts with this one from now on; the second says no places, and so is faster."""
    global _tokenize, _stem
    _tokenize, _stem = tokenizer, stems_alone
    _stems_of_word.cache_clear()


def tokens(text: str) -> list[Token]:
    """Every word that FTS5 `porter unicode61` sees, with offsets in characters."""
    data = text.encode("utf-8", "replace")
    found = _tokenize(data)
    if len(data) == len(text):
        return [Token(stem, start, end) for start, end, stem in found]
    place = _character_offsets(text)
    return [Token(stem, place[start], place[end]) for start, end, stem in found]


def _character_offsets(text: str) -> dict[int, int]:
    """From byte offset to character offset."""
    offsets, at = {}, 0
    for index, character in enumerate(text):
        offsets[at] = index
        code = ord(character)
        at += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
    offsets[at] = len(text)
    return offsets


def stems(text: str) -> list[str]:
    """The stems of the words of a text, in order."""
    return list(_stems_of_word(text) if len(text) <= LONGEST_WORD else _stems(text))


def stem_of(word: str) -> str:
    """The stem of a single word."""
    found = stems(word)
    return found[0] if len(found) == 1 else ""


def _stems(text: str) -> tuple[str, ...]:
    return tuple(_stem(text))


_stems_of_word = lru_cache(4096)(_stems)
"""A search asks a dozen times for those of each of its words."""


@cache
def _any_word() -> re.Pattern[str]:
    """Words of every script; made when first needed, for it takes milliseconds to compile."""
    return re.compile(
        rf"(?P<unspaced>[{_UNSPACED}]+)"
        r"|(?P<wide>[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+)"
        "|" + _WORD.format(letter=rf"[^\W_{_UNSPACED}]")
    )


@cache
def _half_wide() -> re.Pattern[str]:
    return re.compile("[\uff66-\uff9f]")


@cache
def _unit() -> re.Pattern[str]:
    return re.compile("[\uff66-\uff9d][\uff9e\uff9f]?|.", re.DOTALL)


@cache
def _part() -> re.Pattern[str]:
    return re.compile(r"[^\W_]+")


@cache
def _hump() -> re.Pattern[str]:
    return re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@cache
def _unspaced() -> re.Pattern[str]:
    """Runs of scripts without spaces; those of Korean have some."""
    return re.compile(rf"([{_UNSPACED}]+(?:\s+[{_UNSPACED}]+)*)")


@cache
def _spaced_word() -> re.Pattern[str]:
    return re.compile((_PLAIN + _WORD).format(letter=r"[^\W_]", other=r"[\W_]"))


def extras(text: str) -> Iterator[Extra]:
    """Wholes and parts of identifiers, bigrams of unspaced scripts, wide letters made plain."""
    if text.isascii() or is_spaced(text):
        pattern = _ASCII_WORD if text.isascii() else _spaced_word()
        for match in pattern.finditer(text):
            if match["word"]:
                yield from _identifier(match)
        return
    for match in _any_word().finditer(text):
        if match["unspaced"]:
            yield from _bigrams(match["unspaced"], match.start())
        elif match["wide"]:
            plain = "".join(chr(ord(letter) - 0xFEE0) for letter in match["wide"])
            yield Extra(plain, match.start(), match.end(), whole=True)
        else:
            yield from _identifier(match)
            yield from _between_unspaced(match)


def _between_unspaced(match: re.Match[str]) -> Iterator[Extra]:
    """A word that stands right beside letters of an unspaced script (kubectlで): the tokenizer sees
    one word in them all."""
    text, start, end = match.string, match.start("word"), match.end("word")
    if any(map(_is_unspaced, (text[max(0, start - 1) : start], text[end : end + 1]))):
        for part in _part().finditer(text, start, end):
            yield Extra(part[0], part.start(), part.end(), whole=True)


def _bigrams(run: str, start: int) -> Iterator[Extra]:
    """Two characters at a time, and the last alone: a prefix search then finds any one."""
    if _half_wide().search(run):
        yield from _bigrams_of_units(run, start)
        return
    run = "".join(map(_as_letter, run))
    for index in range(len(run)):
        yield Extra(run[index : index + 2], start + index, start + min(index + 2, len(run)))


def _bigrams_of_units(run: str, start: int) -> Iterator[Extra]:
    """The same where some kana are of half width, whose voice marks are characters of their own."""
    from unicodedata import normalize

    units = list(_unit().finditer(run))
    letters = ["".join(map(_as_letter, normalize("NFKC", one[0]))) for one in units]
    for index, unit in enumerate(units):
        last = units[min(index + 1, len(units) - 1)]
        surface = "".join(letters[index : index + 2])
        yield Extra(surface, start + unit.start(), start + last.end())


def _as_letter(character: str) -> str:
    """A vowel sign or tone mark would break a word in two: stand a private letter for it."""
    return character if character.isalnum() else chr(0xE000 + (ord(character) & 0xFFF))


def _identifier(match: re.Match[str]) -> Iterator[Extra]:
    word, sign = match["word"], match["sign"]
    if not sign and word.isalpha() and (word.islower() or word.istitle()):
        return  # a plain word, as most are
    parts = _part().findall(word)
    if len(parts) > 1:
        yield Extra(_joined(parts), match.start(), match.end("word"), whole=True)
    if sign:
        yield Extra(_joined(parts) + _SIGNS[sign], match.start(), match.end(), whole=True)
    if word.islower() or word.isupper():
        return
    for part in _part().finditer(word):
        yield from _humps(part[0], match.start("word") + part.start())


def _joined(parts: list[str]) -> str:
    whole = parts[0]
    for part in parts[1:]:
        whole += (JOINT if whole[-1].isdigit() and part[0].isdigit() else "") + part
    return whole


def _humps(part: str, start: int) -> Iterator[Extra]:
    """getUserName: get, User, Name."""
    cuts = [0, *(match.start() for match in _hump().finditer(part)), len(part)]
    if len(cuts) > 2:
        for begin, end in pairwise(cuts):
            yield Extra(part[begin:end], start + begin, start + end)


def type_mark(document_type: str) -> str:
    """A document's type as a word of its own kind."""
    return TYPE_MARK + document_type.replace("_", "")


def query_words(text: str) -> list[Word]:
    """The words to look for, each once, whole identifiers before their parts.

    Stop words are left out unless there is nothing else.
    """
    special = list(extras(text))
    covered: set[int] = set()
    for extra in special:
        if extra.whole or _is_unspaced(text[extra.start]):
            covered.update(range(extra.start, extra.end))
    words = [_query_extra(extra, text) for extra in special]
    plain = [
        Word(text[token.start : token.end])
        for token in tokens(text)
        if not (token.start in covered and _is_noise(token, text))
    ]
    return _telling(_distinct([word for word in words if word] + plain))


def form_words(text: str) -> dict[str, Word]:
    """Words of a query, in small letters, and what stands for their forms in other languages."""
    found = forms(text, latin=not is_english(text))
    words = {
        text[one.start : one.end].lower(): Word(one.surface)
        for one in found
        if one.surface.startswith(FORM_MARK)
    }
    return {word: form for word, form in words.items() if word not in STOP_WORDS}


def required_words(text: str) -> list[Word]:
    """Words that must all be there: an identifier as the sequence of its parts, in its order."""
    words = []
    for match in _any_word().finditer(text):
        if match["unspaced"]:
            bigrams = [extra.surface for extra in _bigrams(match["unspaced"], 0)]
            words.append(Word(" ".join(bigrams[:-1]) or bigrams[0], prefix=len(bigrams) == 1))
        elif match["wide"] or match["sign"]:
            words.append(Word(next(extras(match[0])).surface))
        else:
            words.append(Word(match["word"]))
    return _telling(_distinct(words))


def phrase_words(text: str) -> list[Word]:
    """What a text has that has these words in a row. Where a script has no spaces, the tokenizer
    takes whole sentences for words: there it is their bigrams, and each word between them."""
    parts = [text] if text.isascii() or is_spaced(text) else _unspaced().split(text)
    if len(parts) == 1:
        return [Word(text)] if stems(text) else []
    words = []
    for place, part in enumerate(parts):
        if place % 2:  # split gives them in turn with what is between
            bigrams = [one.surface for run in part.split() for one in _bigrams(run, 0)]
            words.append(Word(" ".join(bigrams[:-1]) or bigrams[0], prefix=len(bigrams) == 1))
        else:
            words += required_words(part)
    return words


def prefix_words(surface: str) -> list[Word]:
    """A prefix to look for, and the words whose stems are shorter than it.

    The index has stems: `initiative` is there as `initi`, which `initia*` alone would miss.
    """
    found = {stem: Word(surface, prefix=True) for stem in stems(surface)[:1]}
    for ending in _ENDINGS if surface.isascii() else ():
        stem = stems(surface + ending)[-1:]
        if stem and not stem[0].startswith(tuple(found)):
            found[stem[0]] = Word(surface + ending)
    return list(found.values())


def _is_unspaced(character: str) -> bool:
    match = None if character.isascii() else _any_word().match(character)
    return bool(match and match["unspaced"])


def _query_extra(extra: Extra, text: str) -> Word | None:
    """The lone last character of a run serves prefix searches only."""
    if len(extra.surface) > 1 or not _is_unspaced(text[extra.start]):
        return Word(extra.surface)
    alone = extra.start == 0 or not _is_unspaced(text[extra.start - 1])
    return Word(extra.surface, prefix=True) if alone else None


def _is_noise(token: Token, text: str) -> bool:
    """A single letter of a longer identifier, or a run that its bigrams stand for."""
    return token.end - token.start == 1 or any(map(_is_unspaced, text[token.start : token.end]))


def _telling(words: list[Word]) -> list[Word]:
    """Without stop words, unless there is nothing else."""
    return [word for word in words if word.surface.lower() not in STOP_WORDS] or words


def _distinct(words: list[Word]) -> list[Word]:
    seen: dict[tuple[str, bool], Word] = {}
    for word in words:
        seen.setdefault((" ".join(stems(word.surface)), word.prefix), word)
    return list(seen.values())


def located(text: str, exact: Set[str] | None = None, leading: tuple[str, ...] = ()) -> list[Token]:
    """Where a text has some stems, or ones that begin so, or all of them; extras included, in order
    of place: what a highlight needs."""
    data = text.encode("utf-8", "replace")
    place = _place_in(data, is_ascii=len(data) == len(text))
    found = [
        Token(stem, place(start), place(end))
        for start, end, stem in _tokenize(data)
        if exact is None or stem in exact or (leading and stem.startswith(leading))
    ]
    has_forms = (
        exact is None
        or any(one[:1] == FORM_MARK for one in (*exact, *leading))
        or is_typed_otherwise(text)
    )
    for extra in _beside(text) if has_forms else extras(text):
        found += [
            Token(stem, extra.start, extra.end)
            for stem in stems(extra.surface)
            if exact is None or stem in exact or (leading and stem.startswith(leading))
        ]
    return sorted(found, key=lambda token: (token.start, token.end))


def _beside(text: str) -> Iterator["Extra | Form"]:
    """What is indexed beside the words."""
    yield from extras(text)
    yield from forms(text, latin=is_foreign(text))


def _place_in(data: bytes, *, is_ascii: bool) -> Callable[[int], int]:
    """From byte offset to character offset."""
    return int if is_ascii else lambda offset: len(data[:offset].decode())


def every_stem(text: str) -> set[str]:
    """The stems of a text, extras included."""
    found = set(_stem(text))
    for extra in _beside(text):
        found.update(stems(extra.surface))
    return found
