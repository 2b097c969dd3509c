"""What a required or an excluded word kept away: said when it would have been the first hit.

`JVM -Xmx4g heap` looks for two words without a third; whoever meant all three learns it here.
"""

from collections.abc import Iterator

from knowbase.query.conditions import EVERYTHING, AllOf, AnyOf, Condition, Contains, both, has_text
from knowbase.query.meaning import leaves
from knowbase.query.tree import And, Must, Node, Phrase, Text, Together, Without
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.search.understand import Inquiry
from knowbase.store.contract import RetrievalStore

MOST_COUNTED = 100
MOST_WORDS = 16


def left_out(inquiry: Inquiry, store: RetrievalStore) -> tuple[str, ...]:
    """Which words kept away what all words together would have found first."""
    tree = inquiry.query.tree
    deciding = list(_deciding(tree, inquiry.request.query)) if tree is not None else []
    if tree is None or not deciding:
        return ()
    texts = [leaf.text for leaf, _ in leaves(tree) if isinstance(leaf, Text | Phrase)]
    away = _kept_away(inquiry, " ".join(texts), store)
    first = [one.document.code for one in store.passages(away[:1]).values()]
    if not first:
        return ()
    those = f"{len(away)} hits, {first[0]} first among them" if len(away) > 1 else first[0]
    remedy = "" if all(one.startswith("+") for one in deciding) else "; quote it to search for it"
    return (f"{', '.join(deciding)} left out {those}{remedy}",)


def _kept_away(inquiry: Inquiry, text: str, store: RetrievalStore) -> list[int]:
    """The chunks with a word that is looked for which pass but for the others, if the best one
    is among them."""
    words, condition = keyword_query(text), inquiry.query.filter
    wanted = AnyOf(tuple(Contains(word) for word in inquiry.query.keyword.words[:MOST_WORDS]))
    weights = FieldWeights(**inquiry.profile.field_weights)
    shown = both(inquiry.visible, inquiry.filter, wanted)
    found, passing = (
        [one.chunk for one in store.keyword(words, both(shown, part), MOST_COUNTED, weights)]
        for part in (_without_words(condition), condition)
    )
    kept = set(passing)
    return [one for one in found if one not in kept] if found[:1] != passing[:1] else []


def _deciding(tree: Node, text: str) -> Iterator[str]:
    """The words that a chunk must or must not have, as they were typed."""
    for part in tree.parts if isinstance(tree, And | Together) else (tree,):
        inner = part.part if isinstance(part, Without | Must) else None
        if isinstance(inner, Text | Phrase):
            typed = f'"{inner.text}"' if isinstance(inner, Phrase) else inner.text
            before = text[max(inner.at - 1, 0) : inner.at]
            sign = "+" if isinstance(part, Must) else "-" if before == "-" else "NOT "
            yield sign + typed


def _without_words(condition: Condition) -> Condition:
    """What a condition asks of documents alone."""
    if isinstance(condition, AllOf):
        return both(*(_without_words(part) for part in condition.parts))
    return EVERYTHING if has_text(condition) else condition
