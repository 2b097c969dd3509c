"""Words that are spelled alike."""

from collections.abc import Iterable

from knowbase.text.analysis import stems, tokens


def nearest(word: str, vocabulary: Iterable[str], limit: int) -> list[str]:
    """Those of the vocabulary most like the word, closest first."""
    from difflib import get_close_matches

    near = [known for known in vocabulary if abs(len(known) - len(word)) <= 2]
    return get_close_matches(word, near, n=limit, cutoff=0.7)


def as_written(stem: str, text: str) -> str:
    """How the word with this stem is spelled in a text."""
    for token in tokens(text):
        if token.stem == stem:
            return text[token.start : token.end].lower()
    return stem


def stem_of(word: str) -> str:
    """The stem of a single word."""
    found = stems(word)
    return found[0] if len(found) == 1 else ""
