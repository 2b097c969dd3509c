"""A query's tree as what a search does: words to score, conditions for each leg, directives."""

from collections.abc import Iterator
from typing import NamedTuple, TypeGuard

from knowbase.query.bounds import MAX_OF_ONE, bounded
from knowbase.query.conditions import (
    EVERYTHING,
    HIDDEN_STATES,
    AnyOf,
    Compare,
    Condition,
    Contains,
    Not,
    both,
    is_everything,
)
from knowbase.query.operators import (
    AsOf,
    Context,
    Depth,
    Include,
    Like,
    Meaning,
    Mistake,
    Related,
    Similar,
    Weights,
    meaning_of,
)
from knowbase.query.parser import parse
from knowbase.query.query import HOPS, Query
from knowbase.query.softening import soften
from knowbase.query.tree import (
    And,
    Must,
    Node,
    Operator,
    Or,
    Phrase,
    Problem,
    Text,
    Together,
    Without,
)
from knowbase.query.words import MAX_CHARACTERS, MAX_WORDS, KeywordQuery, keyword_query
from knowbase.text.analysis import Word, phrase_words, prefix_words, required_words, type_mark
from knowbase.values.characters import clean

ALL_STATES = frozenset(HIDDEN_STATES)


class Summary(NamedTuple):
    """S3-20: what a query names, in its order."""

    terms: tuple[str, ...]
    tags: tuple[tuple[str, str], ...]  # ("include" or "exclude", name)
    negations: tuple[str, ...]
    scope: tuple[str, str] | None  # ("under" or "children", code)
    operators: tuple[str, ...]  # what joins the parts: "And", "Or"


def understand(
    text: str, match: str, context: Context, *, literal: bool = False, soft: bool = False
) -> Query:
    """The meaning of any text under a profile's rule for words; a literal one has no operators,
    a soft one requires nothing by quotes and pluses."""
    text = clean(text).strip()
    problems: list[Problem] = []
    if len(text) > MAX_CHARACTERS:
        message = f"the query is longer than {MAX_CHARACTERS:,} characters"
        problems.append(Problem(message, MAX_CHARACTERS, "the rest is left out"))
        text = text[:MAX_CHARACTERS]
    tree, found = (_words_alone(text), []) if literal else parse(text)
    problems += found
    if tree is not None and not _is_plain(tree):
        tree, left_out = bounded(tree)
        problems += left_out
        softer = soften(tree) if soft and tree is not None else None
        tree = softer.tree if softer else tree
    reader = _Reader(match, context)
    tree = reader.read(tree) if tree is not None else None
    return reader.query(text, tree, (*problems, *reader.problems))


def _words_alone(text: str) -> Node | None:
    """A text whose every word is a word."""
    return Together(tuple(Text(word, 0) for word in text.split())) if text else None


class _Reader:
    """Reads a tree once: operators become meanings, mistakes become words."""

    def __init__(self, match: str, context: Context) -> None:
        self._match = match
        self._context = context
        self._conditions: dict[int, Condition] = {}  # by the operator's place
        self.problems: list[Problem] = []
        self._similar: list[str] = []
        self._like: list[Like] = []
        self._include: frozenset[str] = frozenset()
        self._weights: Weights | None = None
        self._as_of: str | None = None
        self._related: list[Related] = []
        self._depth: tuple[int, int] | None = None  # hops, and where it is said

    # operators

    def read(self, node: Node) -> Node:
        """The tree with every operator that means nothing read as words."""
        if isinstance(node, Operator):
            return self._operator(node)
        if isinstance(node, Without) and _is_related(node.part):
            message = "related: looks for documents, it cannot leave them out"
            return node._replace(part=self._as_words(node.part, message))
        if isinstance(node, Without) and _is_moment(node.part):
            return self._operator(node.part._replace(value=f"-{node.part.value}"))  # never was
        if isinstance(node, Without | Must):
            return node._replace(part=self.read(node.part))
        if isinstance(node, And | Or | Together):
            return node._replace(parts=tuple(self.read(part) for part in node.parts))
        return node

    def _operator(self, node: Operator) -> Node:
        meaning = meaning_of(node.name, node.value, self._context)
        if isinstance(meaning, Mistake):
            return self._as_words(node, meaning.message)
        self._conditions[node.at] = self._noted(meaning, node.at)
        return node

    def _as_words(self, node: Operator, message: str) -> Text:
        self.problems.append(Problem(message, node.at, "it is read as words"))
        return Text(f"{node.name} {node.value}", node.at)

    def _noted(self, meaning: Meaning, at: int) -> Condition:
        """The condition of an operator; what is none is kept for the query."""
        if isinstance(meaning, Similar):
            self._similar.append(meaning.text)
        elif isinstance(meaning, Like):
            self._like.append(meaning)
        elif isinstance(meaning, Related):
            self._related.append(meaning)
        elif isinstance(meaning, Depth):
            self._depth = (meaning.hops, at)
        elif isinstance(meaning, Weights):
            self._weights = meaning
        elif isinstance(meaning, AsOf):
            others = [self._as_of] if self._as_of not in (None, meaning.when) else []
            self._as_of = " and ".join([*others, meaning.when])  # two are no moment
        elif isinstance(meaning, Include):
            self._include |= meaning.states
            return meaning.condition or EVERYTHING
        elif not isinstance(meaning, Mistake):
            return meaning
        return EVERYTHING

    # conditions

    def _strict(self, node: Node) -> Condition:
        """The condition that the text says, words included."""
        if isinstance(node, Text | Phrase):
            return contains(node)
        if isinstance(node, Operator):
            return self._conditions[node.at]
        if isinstance(node, Without):
            return self._excluded(node)
        if isinstance(node, Must):
            return self._strict(node.part)
        if isinstance(node, Or):
            return _any(self._strict(part) for part in node.parts)
        if isinstance(node, And) or self._match == "all":
            return both(*(self._strict(part) for part in node.parts))
        return self._side_by_side(node)

    def _top(self, tree: Node) -> Condition:
        """The strict condition, without what finding the words says already."""
        parts = tree.parts if isinstance(tree, Together) else (tree,)
        if all(isinstance(part, Text) and not part.prefix for part in parts if _is_optional(part)):
            return both(*(self._strict(part) for part in parts if not _is_optional(part)))
        return self._strict(tree)

    def _side_by_side(self, node: Together) -> Condition:
        """Any of the words, and all of what is not a mere word."""
        needed = [part for part in node.parts if not _is_optional(part)]
        optional = [part for part in node.parts if _is_optional(part)]
        wanted = [_any(self._strict(part) for part in optional)] if optional else []
        return both(*(self._strict(part) for part in needed), *wanted)

    def _relaxed(self, node: Node) -> Condition:
        """What also binds the semantic leg: filters, required and excluded words."""
        if isinstance(node, Text):
            return EVERYTHING
        if isinstance(node, Or):
            return _any(self._relaxed(part) for part in node.parts)
        if isinstance(node, And | Together):
            return both(*(self._relaxed(part) for part in node.parts))
        return self._strict(node)

    def _excluded(self, node: Without) -> Condition:
        condition = self._strict(node.part)
        return EVERYTHING if is_everything(condition) else Not(condition)

    # the whole

    def query(self, text: str, tree: Node | None, problems: tuple[Problem, ...]) -> Query:
        positive = list(_positive(tree)) if tree is not None else []
        named = [one.document for one in self._like] + [one.document for one in self._related]
        others = both(*(Not(Compare("id", "=", document.id)) for document in named))
        if self._depth is not None and not self._related:
            message = "depth: says how far related: goes, and there is none"
            problems += (Problem(message, self._depth[1], "it is left out"),)
        plain = tree is not None and _is_plain(tree)
        words = text if plain else " ".join(leaf.text for leaf in positive)
        return Query(
            text=words,
            keyword=self._keyword(words, positive, tree),
            filter=both(others, self._relaxed(tree)) if tree is not None else EVERYTHING,
            keyword_filter=both(others, self._top(tree)) if tree is not None else EVERYTHING,
            similar=tuple(self._similar),
            like=tuple(self._like),
            include=ALL_STATES if self._asks_for_a_state(tree) else self._include,
            weights=self._weights,
            as_of=self._as_of,
            tree=tree,
            problems=problems + tuple(_too_many(words) if plain else ()),
            open_ended=bool(positive) and tree is not None and not _needs_text(tree),
            related=tuple(self._related),
            hops=self._depth[0] if self._depth is not None else HOPS,
        )

    def _asks_for_a_state(self, tree: Node | None) -> bool:
        """Whether all that is found has a state that hides it: then no other one does."""
        parts = tree.parts if isinstance(tree, And | Together) else (tree,)
        bare = (part.part if isinstance(part, Must) else part for part in parts)
        return any(
            isinstance(one, Operator) and one.name == "is" and one.at in self._conditions
            for one in bare
        )

    def _keyword(
        self, words: str, positive: list[Text | Phrase], tree: Node | None
    ) -> KeywordQuery:
        """The words that are scored."""
        if self._match == "all" and tree is not None and not _has_alternatives(tree):
            return KeywordQuery(tuple(required_words(words))[:MAX_WORDS], "all")
        plain = keyword_query(words, self._match)
        found = list(plain.words)
        if self._match == "boolean":  # S3-19: a document's type is a word of it
            named = [word for word in found if word.surface.lower() in self._context.types]
            found += [Word(type_mark(word.surface.lower())) for word in named]
        for leaf in positive:
            more = []
            if isinstance(leaf, Phrase):
                more = [Word(leaf.text)]
            elif leaf.prefix:
                more = prefix_words(leaf.text)
            found += [word for word in more if word not in found]
        return KeywordQuery(tuple(found[:MAX_WORDS]), also=plain.also)


def summary(tree: Node | None) -> Summary:
    """S3-20: terms, tags, negations, scope and what joins them."""
    if tree is None:
        return Summary((), (), (), None, ())
    said = list(leaves(tree))
    texts = [(leaf.text, out) for leaf, out in said if isinstance(leaf, Text | Phrase)]
    operators = [(leaf, out) for leaf, out in said if isinstance(leaf, Operator)]
    scopes = [(o.name, o.value) for o, _ in operators if o.name in ("under", "children")]
    return Summary(
        terms=tuple(text for text, out in texts if not out),
        tags=tuple(
            ("exclude" if out else "include", o.value)
            for o, out in operators
            if o.name in ("tag", "tags")
        ),
        negations=tuple(text for text, out in texts if out),
        scope=scopes[0] if scopes else None,
        operators=tuple(_joints(tree)),
    )


def _joints(node: Node) -> Iterator[str]:
    if isinstance(node, Without | Must):
        yield from _joints(node.part)
    elif isinstance(node, And | Or | Together):
        for number, part in enumerate(node.parts):
            if number:
                yield "Or" if isinstance(node, Or) else "And"
            yield from _joints(part)


def leaves(node: Node, excluded: bool = False) -> Iterator[tuple[Text | Phrase | Operator, bool]]:
    """The parts of a tree that have none themselves, and whether each is excluded."""
    if isinstance(node, Without):
        yield from leaves(node.part, not excluded)
    elif isinstance(node, Must):
        yield from leaves(node.part, excluded)
    elif isinstance(node, And | Or | Together):
        for part in node.parts:
            yield from leaves(part, excluded)
    else:
        yield node, excluded


def _positive(tree: Node) -> Iterator[Text | Phrase]:
    """Words that are looked for, not those that are excluded."""
    for leaf, excluded in leaves(tree):
        if not excluded and isinstance(leaf, Text | Phrase):
            yield leaf


def _is_related(node: Node) -> TypeGuard[Operator]:
    return isinstance(node, Operator) and node.name == "related"


def _is_moment(node: Node) -> TypeGuard[Operator]:
    return isinstance(node, Operator) and node.name == "as_of"


def contains(leaf: Text | Phrase) -> Condition:
    """That a chunk has what the leaf says."""
    if isinstance(leaf, Phrase):
        return both(*(Contains(word) for word in phrase_words(leaf.text)[:MAX_OF_ONE]))
    if leaf.prefix:
        return _any(Contains(word) for word in prefix_words(leaf.text))
    return both(*(Contains(word) for word in required_words(leaf.text)[:MAX_OF_ONE]))


def _is_optional(node: Node) -> bool:
    """Whether a part that stands beside others only adds to the score."""
    if isinstance(node, Text):
        return True
    return isinstance(node, And | Or | Together) and bool(list(_positive(node)))


def says_which_words(tree: Node) -> bool:
    """Whether its words are joined by AND or OR, or are one beginning: parentheses alone, as
    people write them in a question, say nothing."""
    parts = tree.parts if isinstance(tree, Together) else (tree,)
    optional = [part for part in parts if _is_optional(part)]
    return len(optional) == 1 and (
        isinstance(optional[0], And | Or) or getattr(optional[0], "prefix", False)
    )


def _is_plain(node: Node) -> bool:
    """Words and nothing else: what they mean is what they meant before there were operators."""
    if isinstance(node, Together):
        return all(_is_plain(part) for part in node.parts)
    return isinstance(node, Text) and not node.prefix


def _has_alternatives(node: Node) -> bool:
    if isinstance(node, Without | Must):
        return _has_alternatives(node.part)
    if isinstance(node, Together):
        return any(_has_alternatives(part) for part in node.parts)
    return isinstance(node, And | Or) or (isinstance(node, Text) and node.prefix)


def _needs_text(node: Node) -> bool:
    """Whether only chunks with one of the words can fulfil it."""
    if isinstance(node, Text | Phrase):
        return True
    if isinstance(node, Must):
        return _needs_text(node.part)
    if isinstance(node, Or):
        return all(_needs_text(part) for part in node.parts)
    if isinstance(node, And | Together):
        return any(_needs_text(part) for part in node.parts)
    return False


def _any(conditions: Iterator[Condition]) -> Condition:
    parts = tuple(conditions)
    if any(is_everything(part) for part in parts):
        return EVERYTHING
    return parts[0] if len(parts) == 1 else AnyOf(parts)


def _too_many(words: str) -> list[Problem]:
    number = len(words.split())
    if number <= MAX_WORDS:
        return []
    message = f"the query has {number:,} words, {MAX_WORDS} are looked for"
    return [Problem(message, 0, "the rest is left out")]
