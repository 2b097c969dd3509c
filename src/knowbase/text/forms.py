"""Forms of words beyond English: a word's beginning, looked for beside the word itself.

The tokenizer's stems are English ones. Other languages that write spaces between words bend them
mostly at their ends: the first letters, without accents, stand for all of a word's forms. Arabic
and Hebrew also put articles and prepositions before them, which are taken off first.
Vietnamese bends nothing, and tells syllables apart by the accents that the tokenizer drops: there
the word as it is written stands for itself. Both are indexed behind a private mark, so that they
never meet a plain word. A word with letters that are typed as others (ł, ø, đ, ı, ё) and without a
form is also indexed as the plain word that is typed: Łódź as lodz.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from knowbase.text.stopwords import ENGLISH_WORDS, FOREIGN_WORDS, STOP_WORDS

FORM_MARK = "\ue002"
CUT = 5  # letters
LONGEST_BENT = 7  # letters of a word that may have its ending within the first ones
LEAST_BEGUN = 3  # letters that say which word is meant
LONGEST = 64  # letters of a word that are looked at
MOST_LOOKED_AT = 600  # words by which the language of a text is told
SHORT = 10_000  # letters of a text that are looked at all at once
LEAST_SHARE = 12  # one word in so many is of those that every text of a language has
MANY = 4  # one word in so many: no English text has so many foreign names

_ASCII_WORD = re.compile(r"[a-z]++(?![0-9_+#])")  # of a text in small letters
_WITHIN = "#"  # stands for whatever a word cannot stand before
_IN_WORDS = {
    chr(code): chr(code).lower() if chr(code).isalpha() else _WITHIN if chr(code) in "_+#" else " "
    for code in range(128)
}
_WORDS_ALONE = str.maketrans(_IN_WORDS | dict.fromkeys("0123456789", _WITHIN))
_WHOLE = itemgetter(0)  # of a match
_TYPED_AS_OTHERS = "ßẞłŁøØđĐðÐıæÆœŒþÞ\u1ea4-\u1ef9ёЁάέήίόύώϊϋΐΰΆΈΉΊΌΎΏΪΫ"
"""Letters that the tokenizer leaves as they are."""
_ACCENTED = "\u00c0-\u017f"
_VIETNAMESE = "\u01a0\u01a1\u01af\u01b0\u1ea0-\u1ef9"
_APART = "\u0302\u0306\u031b\u0323"  # marks of its letters that stand by themselves
_VOWELS = "aeiouyаеиоуыэюяйьіїєαεηιουω"
_FIRST_ARABIC, _LAST_ARABIC = "\u0620", "\u064a"
_ARTICLES = ("وال", "بال", "كال", "فال", "لل", "ال")
_ARABIC_ENDINGS = ("ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي")
_FIRST_HEBREW, _LAST_HEBREW = "\u05d0", "\u05ea"
_HEBREW_BEFORE = frozenset("הובכלמש")  # the article, and, in, as, to, from, that
_HEBREW_ENDINGS = ("יהמ", "יהנ", "יימ", "ימ", "ות", "יה", "ית", "ו", "ה", "ת", "י")
_HEBREW_LEAST = 3  # letters that are left when what stands before a word is taken off
_TATWEEL, _NUKTA = "\u0640", "\u093c"
_ALIKE = str.maketrans(
    {"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
    | dict(zip("ךםןףץ", "כמנפצ", strict=True))  # letters that end a Hebrew word
    | dict(zip("کیىة", "كييه", strict=True))  # Persian and final letters
)
"""Letters that are typed as others, and that no decomposition leads to."""
_FIRST_INDIC, _LAST_INDIC = "\u0900", "\u0dff"


class Form(NamedTuple):
    """What stands for the forms of a word, and where the word is."""

    surface: str
    start: int
    end: int


def forms(text: str, *, latin: bool) -> Iterator[Form]:
    """The form of each word that has one; of Latin words only where that is asked for, or where
    the text is Vietnamese. What has none stands as it is typed without letters of its own."""
    if text.isascii():
        yield from _ascii_forms(text) if latin else ()
        return
    is_typed, is_vietnamese = is_typed_otherwise(text), _is_vietnamese(text)
    if not (latin or is_typed or is_vietnamese or _has_others(text)):
        return
    of_latin = as_written if is_vietnamese else form_of if latin else None
    for match in _word().finditer(text):
        form = of_latin if _latin_word().match(match[0]) else form_of
        found = form(match[0]) if form else None
        if found:
            yield Form(found, match.start(), match.end())
        if is_typed and (is_vietnamese or not found) and is_typed_otherwise(match[0]):
            yield Form(fold(match[0][:LONGEST]), match.start(), match.end())


def _ascii_forms(text: str) -> Iterator[Form]:
    for match in _ASCII_WORD.finditer(text.lower()):
        found = form_of(match[0])
        if found:
            yield Form(found, match.start(), match.end())


def is_typed_otherwise(text: str) -> bool:
    """Whether it has letters that are typed as others."""
    return not text.isascii() and _has(_TYPED_AS_OTHERS, text)


@cache
def _one_of(letters: str) -> re.Pattern[str]:
    """Compiled when first needed, which most searches never do."""
    return re.compile(f"[{letters}]")


def _has(letters: str, text: str) -> bool:
    return _one_of(letters).search(text) is not None


def is_spaced(text: str) -> bool:
    """Whether nothing in it may be of a script that is written without spaces, or be as wide as its
    letters are: dashes, quotation marks and the like lie between."""
    return not any(one >= "\u0e00" and not "\u2000" <= one < "\u2c00" for one in set(text))


def _has_others(text: str) -> bool:
    """Whether it has letters that are not Latin ones; looking for words of all scripts takes its
    time, and an English text needs but a dash to be more than ASCII."""
    return any(
        one > "\x7f" and one.isalnum() and not _latin_word().fullmatch(one) for one in set(text)
    )


@lru_cache(maxsize=20_000)
def as_written(word: str) -> str:
    """A word with its accents, between marks: the tokenizer would drop them, and stem it."""
    from unicodedata import normalize

    letters = normalize("NFD", word[:LONGEST].lower())
    return FORM_MARK + "".join(map(_with_accent, letters)) + FORM_MARK


def _with_accent(character: str) -> str:
    from unicodedata import combining

    return _private(character) if combining(character) else character


@lru_cache(maxsize=20_000)
def form_of(word: str) -> str | None:
    """The beginning of a word behind the mark; None when it is too short to have other forms."""
    folded = fold(word[:LONGEST])
    if _FIRST_ARABIC <= folded[:1] <= _LAST_ARABIC:
        return FORM_MARK + _light(folded)[:CUT] if len(folded) > 2 else None
    if _FIRST_HEBREW <= folded[:1] <= _LAST_HEBREW:
        return FORM_MARK + _bare(folded)[:CUT] if len(folded) > 1 else None
    least = 2 if folded and _is_indic(folded[0]) else CUT
    return FORM_MARK + folded[:CUT] if len(folded) >= least else None


def beginnings_of(word: str) -> list[str]:
    """What forms of a word begin with when nothing has its own: its first letters, with ae, oe and
    ue as a, o and u, or without the last vowels. Where a script is not Latin, words that are too
    short to have a form begin so, too."""
    form, folded = form_of(word), fold(word[:LONGEST])
    cut = form[1:] if form else folded
    bare = cut.rstrip(_VOWELS) if len(folded) <= LONGEST_BENT else cut
    others = (cut, _plain_vowels(folded)[:CUT], bare)
    found = [one for one in dict.fromkeys(others) if len(one) >= LEAST_BEGUN]
    marked = [FORM_MARK + one for one in found]
    return marked if cut.isascii() else [*marked, *found]


def _plain_vowels(word: str) -> str:
    return word.replace("ae", "a").replace("oe", "o").replace("ue", "u")


def fold(word: str) -> str:
    """In small letters, without accents, ss for ß. Vowel signs of Indic scripts, at which the
    tokenizer would break a word, become private letters."""
    word = word.lower()
    if word.isascii():
        return word
    from unicodedata import normalize

    letters = (one for one in normalize("NFKD", word) if _is_kept(one))
    return "".join(map(_as_letter, letters)).translate(_ALIKE)


def _is_kept(character: str) -> bool:
    if _is_indic(character):
        return character != _NUKTA
    return character.isalpha() and character != _TATWEEL


def _as_letter(character: str) -> str:
    return character if character.isalnum() or not _is_indic(character) else _private(character)


def _private(character: str) -> str:
    """A letter that no text has."""
    return chr(0xE000 + (ord(character) & 0xFFF))


def _is_indic(character: str) -> bool:
    return _FIRST_INDIC <= character <= _LAST_INDIC


def _light(word: str) -> str:
    """An Arabic word without its article and commonest endings (light10)."""
    article = next((one for one in _ARTICLES if word.startswith(one)), "")
    if article and len(word) - len(article) >= 2:
        word = word[len(article) :]
    elif word[0] == "و" and len(word) > 3:
        word = word[1:]
    for ending in _ARABIC_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            word = word[: -len(ending)]
    return word


def _bare(word: str) -> str:
    """A Hebrew word without its commonest ending, and without what is written before it."""
    ending = next((one for one in _HEBREW_ENDINGS if word.endswith(one)), "")
    if ending and len(word) - len(ending) >= 2:
        word = word[: -len(ending)]
    while len(word) > _HEBREW_LEAST and word[0] in _HEBREW_BEFORE:
        word = word[1:]
    return word


@cache
def _latin_word() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+(?![\w+#])")


@cache
def _word() -> re.Pattern[str]:
    """Words with the marks that belong to them; made when first needed, as it takes its time."""
    marks = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u200c\u200d"
    unspaced = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    unspaced += "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\uffff\U00020000-\U0003ffff"
    letter = rf"[^\W\d_{unspaced}]"
    return re.compile(rf"{letter}(?:{letter}|[{marks}])*(?![\w+#])")


class Tally(NamedTuple):
    """How many words of a text every English one has, every English one alone, and every one of
    other languages."""

    words: int
    english: int
    telling: int
    foreign: int


def tally(text: str) -> Tally:
    if text.isascii() and len(text) < SHORT:  # most chunks: in one go
        words = _ascii_words(text)
    else:
        words = " ".join(map(_WHOLE, _first(text))).lower().split()
    kinds = (STOP_WORDS, ENGLISH_WORDS, FOREIGN_WORDS)
    return Tally(len(words), *(_number(words, kind) for kind in kinds))


def _number(words: list[str], kind: frozenset[str]) -> int:
    return sum(map(kind.__contains__, words))


def _ascii_words(text: str) -> list[str]:
    """The first Latin words of a text that has no other letters, in small letters."""
    return _whole(_cut(text))


def _cut(text: str) -> list[str]:
    """Those that `_ASCII_WORD` finds, in a third of its time, and between them what else begins so
    and goes on in another way."""
    return text.translate(_WORDS_ALONE).replace(_WITHIN, _WITHIN + " ").split()


def _whole(cut: list[str]) -> list[str]:
    return [one for one in cut if one[-1] != _WITHIN][:MOST_LOOKED_AT]


def _first(text: str) -> Iterator[re.Match[str]]:
    return islice(_latin_word().finditer(text), MOST_LOOKED_AT)


def is_foreign(text: str) -> bool:
    """Whether Latin letters write another language than English here: no code, no lists. By its
    commonest words, or by letters that English lacks, the more of them the more words are like
    English ones; Vietnamese, whose words have no forms, has ones of its own."""
    if text.isascii() and len(text) < SHORT:  # most chunks: by its words alone
        cut = _cut(text)
        if FOREIGN_WORDS.isdisjoint(cut):
            return False
        plain = _whole(cut)
        foreign = _number(plain, FOREIGN_WORDS)
        return foreign * LEAST_SHARE >= len(plain) and foreign > _number(plain, STOP_WORDS)
    words, english, telling, foreign = tally(text)
    is_doubted = telling * LEAST_SHARE < words and not text.isascii() and not _is_vietnamese(text)
    accented = sum(_has(_ACCENTED, one[0]) for one in _first(text)) if is_doubted else 0
    if accented and (accented + foreign) * MANY >= words:
        return True
    foreign += accented if english * LEAST_SHARE < words else 0
    return foreign > english and foreign * LEAST_SHARE >= words


def _is_vietnamese(text: str) -> bool:
    if text.isascii():
        return False
    if _has(_APART, text):
        from unicodedata import normalize

        text = normalize("NFC", text)
    if not _has(_VIETNAMESE, text):
        return False
    found = [_has(_VIETNAMESE, match[0]) for match in _first(text)]
    return sum(found) * LEAST_SHARE >= max(1, len(found))


def is_english(text: str) -> bool:
    """Whether a question is evidently English: one without any telling word may be anything."""
    _, _, telling, foreign = tally(text)
    return telling > foreign
