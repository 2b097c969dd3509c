"""Short forms that a text defines: Horizontal Pod Autoscaler (HPA), or HPA (Horizontal …).

Where one is defined, the chunk is indexed with the short form and with the long one behind a
private mark: so both are found again, in every store, by whoever may see the chunk.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from knowbase.text.analysis import JOINT, stems
from knowbase.text.stopwords import STOP_WORDS

DEFINED_MARK = "\ue003"
SHORTEST, LONGEST = 2, 10  # letters of a short form
MOST_WORDS = 8  # of a long form
MOST = 50  # definitions of one chunk

_SHORT = r"[^\W\d_][\w&/.-]{1,11}"
_BEHIND = re.compile(rf"(?<![A-Za-z\d])\(\s*({_SHORT})\s*[);,]")  # 25(OH) is a formula
_BEFORE = re.compile(rf"(?<![\w-])({_SHORT})\s+\(\s*([^()\n]{{5,100}}?)\s*\)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_JOINED = re.compile(r"[^\W_]_+[^\W_]")
_IDENTIFIER = re.compile(r"[^\W\d_][\w.-]*[A-Z\d][\w.-]*")


class Definition(NamedTuple):
    """A short form and what it stands for, as a text has them."""

    short: str
    long: str


def definitions(text: str) -> list[Definition]:
    """What a text defines, in its order, each once."""
    if "(" not in text:
        return []
    found = dict.fromkeys(one for one in _definitions(text) if _is_telling(one))
    return list(found)[:MOST]


def _definitions(text: str) -> Iterator[Definition]:
    for match in _BEHIND.finditer(text):
        short = _singular(match[1])
        line = text[max(0, match.start() - 200) : match.start()]
        long = _long_form(short, re.split(r"[\n.;:()\[\]]", line)[-1]) if _is_short(short) else None
        if long:
            yield Definition(short, long)
    for match in _BEFORE.finditer(text):
        short, long = _singular(match[1]), match[2]
        if _is_short(short) and _long_form(short, long) == long:
            yield Definition(short, long)


def _singular(short: str) -> str:
    return short[:-1] if short.endswith("s") and short[:-1].isupper() else short


def _is_short(text: str) -> bool:
    capitals = sum(letter.isupper() for letter in text)
    return SHORTEST <= len(text) <= LONGEST and capitals >= 2 and 2 * capitals >= len(text)


def _is_telling(one: Definition) -> bool:
    """Whether the long form is words, no more than the short one has letters for (Schwartz and
    Hearst's bound), and without it: no list of names, as of a setting's values."""
    words = _WORD.findall(one.long)
    most = min(MOST_WORDS, 2 * len(one.short))
    if not 1 < len(words) <= most or words[0].lower() in STOP_WORDS or _is_list(one.long):
        return False
    return not re.search(rf"(?<!\w){re.escape(one.short)}(?!\w)", one.long, re.IGNORECASE)


def _is_list(text: str) -> bool:
    """Whether these are identifiers: one with an underscore, or several in capitals, with humps or
    digits between commas."""
    items = re.split(r"\s*[,;/|]\s*|\s+(?:and|or)\s+", text)
    return bool(_JOINED.search(text)) or (
        len(items) > 1 and all(_IDENTIFIER.fullmatch(one.strip("`'\"")) for one in items if one)
    )


def _long_form(short: str, text: str) -> str | None:
    """The end of the text that the letters of the short form lead through, from its last letter to
    its first, which begins a word (Schwartz and Hearst, 2003)."""
    at = len(text) - 1
    letters = [letter.lower() for letter in short if letter.isalnum()]
    for number, letter in enumerate(reversed(letters), start=1):
        is_first = number == len(letters)
        while at >= 0 and not (
            text[at].lower() == letter and (not is_first or at == 0 or not text[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return None
        at -= 1
    return text[at + 1 :].strip()


def key_of(words: str) -> str:
    """A short or a long form as it is indexed: one word, whatever it consists of."""
    return DEFINED_MARK + JOINT.join(stems(words))


def is_short_form(typed: str, short: str) -> bool:
    """Whether this was typed, one or several: `mapping` has the stem of MAP, and is none."""
    typed, short = typed.lower(), short.lower()
    return typed in (short, short + "s")


def definition_terms(text: str) -> list[str]:
    """What is indexed of the definitions of a text."""
    return [key_of(form) for one in definitions(text) for form in one]
