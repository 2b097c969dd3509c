"""Words that lost or gained a space when they were typed: what they are apart, or together."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from knowbase.query.conditions import Visible
from knowbase.query.words import KeywordQuery
from knowbase.text.analysis import Word
from knowbase.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from knowbase.store.contract import Store

SHORTEST, LONGEST = 3, 32  # letters of a part, and of what may be two words
CLEARLY = 3  # how often as many documents must have the likeliest parts as the next ones


def apart(word: str, store: "Store", visible: Visible) -> Word | None:
    """The two words, one behind the other in a text, that a word is made of which nothing has."""
    if not word.isalpha() or not 2 * SHORTEST <= len(word) <= LONGEST:
        return None
    places = range(SHORTEST, len(word) - SHORTEST + 1)
    parts = [(word[:at], word[at:]) for at in places]
    some = [(one, other) for one, other in parts if not {one, other} & STOP_WORDS]
    missing = set(store.unknown_words([Word(one) for pair in some for one in pair]))
    both = [Word(f"{one} {other}") for one, other in some if not {Word(one), Word(other)} & missing]
    counted = ((store.matching(KeywordQuery((one,)), visible), one) for one in both)
    found = sorted((pair for pair in counted if pair[0]), reverse=True)
    if not found or (len(found) > 1 and found[0][0] < CLEARLY * found[1][0]):
        return None
    return found[0][1]


def together(
    typed: Sequence[str], unknown: Sequence[Word], store: "Store"
) -> Iterator[tuple[str, Word]]:
    """What stands beside each other, one of it in no text, and the word that it makes."""
    nowhere = {one.surface.lower() for one in unknown}
    pairs = [pair for pair in pairwise(one.lower() for one in typed) if nowhere & set(pair)]
    joined = {Word("".join(pair)): " ".join(pair) for pair in pairs}
    missing = set(store.unknown_words(list(joined)))
    yield from ((name, one) for one, name in joined.items() if one not in missing)
