"""How far a document is about what was asked, by what it is called."""

from functools import lru_cache

from knowbase.text.analysis import query_words, stems
from knowbase.values.documents import Document

_COMMON_NAMES = ("readme", "index", "_index", "__init__", "main")
_BETWEEN_WORDS = str.maketrans("-_./", "    ")
_LONGEST = 500  # letters; no title says what a longer query asks
_LETTERS = 2  # of a stem that its word has too: `try` is stemmed as `tri`


class Titles:
    """The titles of candidates beside the words of one query."""

    def __init__(self, text: str) -> None:
        self._words = _words_of(text[:_LONGEST])
        self._beginnings = {word[:_LETTERS] for word in self._words}

    def match(self, document: Document) -> float:
        """The share of the query's words that the title has, times the share of the title's words
        that the query has, squared: 1 for a title that says what was asked and no more, and
        nearly nothing for one that shares a word of many."""
        called, plain = _called(document.title, document.path)
        if plain is not None and not self._may_share(plain):
            return 0.0  # as most
        title = _words_of(called)
        shared = len(title & self._words)
        return (shared / len(title) * shared / len(self._words)) ** 2 if shared else 0.0

    def _may_share(self, plain: str) -> bool:
        for one in self._beginnings:  # noqa: SIM110 - asked of every candidate
            if one in plain:
                return True
        return False


@lru_cache(4096)
def _called(title: str, path: str | None) -> tuple[str, str | None]:
    """What a document is called, and the same in small letters unless it has accents, which are for
    the tokenizer."""
    called = f"{title[:_LONGEST]}\n{_name_of(path)}"
    return called, called.lower() if called.isascii() else None


def _name_of(path: str | None) -> str:
    """The file's name without its ending; of a README the folder's."""
    if not path:
        return ""
    *folders, name = path.split("/")
    name = name.rpartition(".")[0] or name
    return (folders[-1] if folders else "") if name.lower() in _COMMON_NAMES else name


@lru_cache(4096)
def _words_of(text: str) -> frozenset[str]:
    """The stems of the telling words of a text; event-hooks are two words here."""
    words = query_words(text.translate(_BETWEEN_WORDS))
    return frozenset(" ".join(stems(word.surface)) for word in words)
