"""What is known already that says almost the same as a new text, or says otherwise.

Nothing here understands a text. What is near in meaning is named; if one of the two negates, or
has other words in the same place ("two reviews", "one review"), it may contradict, and the words
are shown: whoever writes decides.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from knowbase.query.conditions import Compare, Condition, Not, both
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.text.analysis import tokens
from knowbase.text.stopwords import STOP_WORDS
from knowbase.values.documents import Document
from knowbase.values.notes import SimilarDocument

if TYPE_CHECKING:
    from knowbase.store.contract import Store
    from knowbase.values.changes import Draft
    from knowbase.values.vectors import Model

NEARLY_THE_SAME = 0.95  # cosine similarity from which any document is named
ALIKE = 0.85  # … and from which a memory is
ON_THE_SAME = 0.75  # … or, if half of the words are the same too, from here on
HALF = 0.5
MOST_WORDS_ALIKE = 0.6  # without vectors, so many of the words have to be the same
MOST_COMPARED = 16  # chunks of a new text that are looked for
MOST_LOOKED_AT = 20  # candidates for each
MOST_SIMILAR = 5
MOST_READ = 1000  # letters of each text that are compared word by word
MOST_EXCHANGED = 4  # words on either side: more are another text
OPENING = 200
_NEGATIONS = frozenset(
    ("not", "no", "never", "none", "nor", "without", "cannot", "neither", "nobody", "nothing",
     "stop", "avoid", "forbidden")
)  # fmt: skip
_UNTELLING = STOP_WORDS - _NEGATIONS


class Difference(NamedTuple):
    """How two texts differ by their words."""

    shared: float  # the share of the words of the shorter one that both have
    contradicts: bool
    words: str  # those of the one → those of the other


def similar_documents(
    store: "Store", draft: "Draft", neighbours: Condition, model: "Model | None", without: str = ""
) -> tuple[SimilarDocument, ...]:
    """What is told when a text is written: the nearest first, of those beside `without`."""
    others = both(neighbours, *(Not(Compare("id", "=", one)) for one in (draft.id, without) if one))
    text = draft.chunks[0].text if draft.chunks else ""
    vectors = [vector for vector in draft.vectors[:MOST_COMPARED] if vector is not None]
    near = _by_meaning(store, vectors, others, model) if vectors else by_words(store, text, others)
    openings = store.openings(near)
    found = [
        SimilarDocument(
            document,
            score,
            openings.get(document.id, "")[:OPENING],
            told.contradicts,
            told.words if told.contradicts else "",
        )
        for document, score in near.values()
        if (told := difference(openings.get(document.id, ""), text))
        and is_alike(document, score, told, bool(vectors))
    ]
    found.sort(key=lambda one: (-one.similarity, one.document.seq))
    return tuple(found[:MOST_SIMILAR])


def _by_meaning(
    store: "Store", vectors: Sequence[bytes], others: Condition, model: "Model | None"
) -> dict[str, tuple[Document, float]]:
    """Documents that have something near for each chunk, with the similarity of the least."""
    found: dict[str, list[float]] = {}
    documents: dict[str, Document] = {}
    for vector in vectors:
        near = store.semantic(vector, others, MOST_LOOKED_AT, model)
        near = [one for one in near if one.score >= ON_THE_SAME]
        passages = store.passages([one.chunk for one in near])
        best: dict[str, float] = {}
        for one in near:
            if one.chunk in passages:
                document = passages[one.chunk].document
                documents[document.id] = document
                best.setdefault(document.id, one.score)
        for name, score in best.items():
            found.setdefault(name, []).append(score)
    whole = {name: min(scores) for name, scores in found.items() if len(scores) == len(vectors)}
    return {name: (documents[name], score) for name, score in whole.items()}


def by_words(store: "Store", text: str, others: Condition) -> dict[str, tuple[Document, float]]:
    """Where there are no vectors: documents with the same words, by how many they share."""
    words = keyword_query(text[:MOST_READ])
    found = store.keyword(words, others, MOST_LOOKED_AT, FieldWeights())
    passages = store.passages([one.chunk for one in found]).values()
    return {
        one.document.id: (one.document, difference(one.chunk.text, text).shared) for one in passages
    }


def is_alike(document: Document, score: float, told: Difference, by_meaning: bool) -> bool:
    """Whether a document so near, with such words, is worth being named."""
    if not by_meaning:
        return document.path is None and told.shared >= MOST_WORDS_ALIKE
    if document.path is not None:
        return score >= NEARLY_THE_SAME
    return score >= ALIKE or told.shared >= HALF


def difference(old: str, new: str) -> Difference:
    """How a new text differs from an old one."""
    theirs, mine = _words(old[:MOST_READ]), _words(new[:MOST_READ])
    both_have = mine.keys() & theirs.keys()
    shared = len(both_have) / max(1, min(len(mine), len(theirs)))
    only_old = [word for stem, word in theirs.items() if stem not in both_have]
    only_new = [word for stem, word in mine.items() if stem not in both_have]
    exchanged = 0 < len(only_old) <= MOST_EXCHANGED and 0 < len(only_new) <= MOST_EXCHANGED
    negated = _negations(old) != _negations(new)
    contradicts = (negated or exchanged) and shared >= HALF
    before, after = (" ".join(words[:MOST_EXCHANGED]) or "…" for words in (only_old, only_new))
    return Difference(shared, contradicts, f"{before} → {after}")


@lru_cache(maxsize=2)
def _words(text: str) -> Mapping[str, str]:
    """The telling words of a text as they are written, by their stems, in their order."""
    found: dict[str, str] = {}
    for token in tokens(text):
        word = text[token.start : token.end]
        if word.lower() not in _UNTELLING:
            found.setdefault(token.stem, word)
    return found


def _negations(text: str) -> int:
    """Whether a text says that something is not so: twice no is yes."""
    words = text[:MOST_READ].lower().replace("’", "'").split()
    plain = [word.strip(".,;:!?()\"'") for word in words]
    return sum(word in _NEGATIONS or word.endswith("n't") for word in plain) % 2
