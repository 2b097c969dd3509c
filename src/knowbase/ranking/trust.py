"""How far a leg can be trusted with a query: what the profile `best` weighs them by."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from knowbase.text.analysis import Word, every_stem, stems
from knowbase.values.documents import Passage, names_of

MANY_WORDS = 4  # who has this many of the words is about what was asked, however many there are
LEAST_FLUENCY = 0.05


def coverage(
    words: Sequence[Word], passage: Passage, beside: Iterable[tuple[str, Word]] = ()
) -> float:
    """The share of the words that a chunk has, squared: one word of four is mostly chance. What
    is looked for beside a word is as good as the word."""
    if not words:
        return 1.0
    there = stems_of(passage)
    instead: dict[str, list[Word]] = {}
    for name, other in beside:
        for part in name.split():
            instead.setdefault(part, []).append(other)
    had = sum(
        any(has_stems(there, one) for one in (word, *instead.get(word.surface.lower(), ())))
        for word in words
    )
    return min(1.0, had / min(len(words), MANY_WORDS)) ** 2


def has_words(passage: Passage, word: Word) -> bool:
    """Whether a chunk has all that a word consists of."""
    return has_stems(stems_of(passage), word)


def stems_of(passage: Passage) -> AbstractSet[str]:
    """Every stem of a chunk and of what its document is called."""
    document, chunk = passage.document, passage.chunk
    fields = (*names_of(document.code, document.path), document.title, chunk.heading, chunk.text)
    return _every_stem("\n".join(field for field in fields if field))


@lru_cache(8)
def _every_stem(text: str) -> AbstractSet[str]:
    """The same ones are asked for by the signals of a search and by its verdict."""
    return every_stem(text)


def has_stems(there: AbstractSet[str], word: Word) -> bool:
    """Whether all that a word consists of is there."""
    if word.prefix:
        return any(stem.startswith(tuple(stems(word.surface))) for stem in there)
    return there >= set(stems(word.surface))


def fluency(tokens: int, letters: int, fluent_at: float, foreign_at: float) -> float:
    """How well a model knows the language of a text, by how small it has to cut it.

    A model's own languages take about 0.2 tokens a letter, unknown ones 1 and more. Never quite
    nothing: what only the meaning finds keeps its order.
    """
    if not letters or foreign_at <= fluent_at:
        return 1.0
    share = (foreign_at - tokens / letters) / (foreign_at - fluent_at)
    return min(1.0, max(LEAST_FLUENCY, share))
