"""What is looked for beside the words of a query: the word that was meant where one is mistyped,
synonyms of the base, short forms and what its texts say they stand for.

It is never silent, counts for less than what was typed, and is left alone in what is quoted,
required, an identifier, or asked strictly.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.query.conditions import Contains, Visible, both
from knowbase.query.query import Query
from knowbase.query.words import Also, KeywordQuery
from knowbase.search.answer import Suggestion, Widening
from knowbase.search.understand import Inquiry
from knowbase.text.analysis import Token, Word, prefix_words, stem_of, stems, tokens
from knowbase.text.forms import FORM_MARK
from knowbase.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from knowbase.store.contract import Store

SHORTEST_BEGUN = 4  # letters of a last word that is looked for by its beginning
MOST_CHECKED = 16  # words that are looked up in the vocabulary
MOST_COUNTED = 8  # words that a mistyped one may stand for, whose documents are counted
MOST_READ = 5  # documents that are read for how a word is written
MOST_TOKENS = 32  # of a query, in which names of several words are looked for
LONGEST_NAME = 6  # words
MOST_MEANINGS = 2  # of a short form that are looked for
MEANT, SYNONYM, DEFINED = 0.8, 0.8, 0.3
"""How much a word counts that was meant instead of a mistyped one, a synonym, and what a text says
that a form stands for; both of these at most, by how many have it alone. By bench/constants.py."""


class _Found(NamedTuple):
    also: Also
    notice: str


class _Edit(NamedTuple):
    """A word that one mistake leads to, how a text has it, and how many documents do."""

    word: str
    form: str
    documents: int


def widened(inquiry: Inquiry, store: "Store") -> Inquiry:
    """The inquiry with what is to be looked for beside its words; once is enough."""
    query = inquiry.query
    if inquiry.widening is not None or "keyword" not in inquiry.legs or query.is_empty:
        return inquiry
    free = free_text(query)
    meant, suggestions = _spelled(inquiry, free, store)
    takes_others = query.keyword.match == "any" and not inquiry.request.strict
    others = list(_other_names(inquiry, free, store)) if takes_others else []
    begun = _begun(Word(_unfinished(inquiry)), free, store) if takes_others else []
    found = [*meant, *others]
    keyword = _with(query.keyword, [one.also for one in (*found, *begun)])
    widening = Widening(tuple(one.notice for one in found if one.notice), suggestions)
    return inquiry._replace(query=query._replace(keyword=keyword), widening=widening)


def free_text(query: Query) -> str:
    """The words of a query that stand alone: neither quoted, required nor joined by AND."""
    if query.tree is None:
        return query.text
    from knowbase.query.tree import Text, Together

    parts = query.tree.parts if isinstance(query.tree, Together) else (query.tree,)
    return " ".join(part.text for part in parts if isinstance(part, Text) and not part.prefix)


def _with(keyword: KeywordQuery, also: Sequence[Also]) -> KeywordQuery:
    """Where every word must be there, what was meant takes the place of what nothing has."""
    if keyword.match == "any":
        return keyword._replace(also=(*keyword.also, *also))
    meant = {one.of: one.word for one in also if one.why == "spelling"}
    words = tuple(meant.get(word.surface.lower(), word) for word in keyword.words)
    return keyword._replace(words=words)


# words that nothing has


def _spelled(
    inquiry: Inquiry, free: str, store: "Store"
) -> tuple[list[_Found], tuple[Suggestion, ...]]:
    """What was meant by words that nothing has, where that is clear; else what is spelled alike."""
    text = inquiry.query.text.lower()  # what a profile adds to the words was not typed
    words = inquiry.query.keyword.words
    typed = [word for word in words if word.surface.isalpha() and word.surface.lower() in text]
    unfinished = _unfinished(inquiry).lower()  # no slip yet; to mend it costs more than to search
    typed = [word for word in typed if word.surface.lower() != unfinished]
    unknown = _without_forms(store.unknown_words(typed[:MOST_CHECKED]), inquiry, store)
    if not unknown:
        return [], ()
    from knowbase.text.spelling import clear, is_mistypable, likely

    may_mend = set() if inquiry.request.strict else set(_words_of(free))
    visible = Visible(inquiry.now)
    joined = [] if inquiry.request.strict else _joined(free, unknown, store, visible)
    meant, suggestions = joined, []
    for word in _not_in(joined, unknown):
        slip = word.surface.lower() if free.isupper() else word.surface
        edits = _known_edits(slip.lower(), store, visible) if is_mistypable(slip) else []
        known, form = {one.word: one.documents for one in edits}, {e.word: e.form for e in edits}
        surely = clear(slip.lower(), known) if known else None
        best = form[surely] if surely else None
        if best in STOP_WORDS:
            continue
        instead = Word(best) if best else _in_two(slip.lower(), store, visible)
        instead = instead or _other_form(word, free, store)
        if word.surface in may_mend:
            begun = _begun(word, free, store) if instead is None or instead.prefix else []
            meant += [_instead_of(word, instead)] if instead else []
            meant += [one._replace(notice="") for one in begun] if instead else begun
            if begun:
                continue
        near = [form[one] for one in likely(slip.lower(), known)]
        near = [one for one in near if one not in STOP_WORDS]
        near = near[:3] or _nearest(word, store, visible)
        suggestions += [Suggestion(word.surface, tuple(near))] if near else []
    return meant, tuple(suggestions)


def _unfinished(inquiry: Inquiry) -> str:
    """The last word of a search that is being typed, which may go on."""
    if not inquiry.request.draft:
        return ""
    match = re.search(r"\w+$", inquiry.request.query)  # a blank behind a word ends it
    return match[0] if match else ""


def _begun(word: Word, free: str, store: "Store") -> list[_Found]:
    """What the last word may become, where nothing has it as it is."""
    is_last = [*_words_of(free)][-1:] == [word.surface]
    if not is_last or len(word.surface) < SHORTEST_BEGUN or not store.unknown_words([word]):
        return []
    longer = prefix_words(word.surface)
    missing = set(store.unknown_words(longer))
    of = word.surface.lower()
    told = f"nothing has {word.surface!r}: '{of}…' is searched too"
    others = [Also(one, of, MEANT, "begun") for one in longer if one not in missing]
    return [_Found(also, "" if at else told) for at, also in enumerate(others)]


def _without_forms(unknown: list[Word], inquiry: Inquiry, store: "Store") -> list[Word]:
    """Those of the words of which the base has no other form either."""
    forms = [one for one in inquiry.query.keyword.also if one.why == "form"]
    if not unknown or not forms:
        return unknown
    missing = set(store.unknown_words([one.word for one in forms]))
    known = {one.of for one in forms if one.word not in missing}
    return [word for word in unknown if word.surface.lower() not in known]


def _other_form(word: Word, free: str, store: "Store") -> Word | None:
    """What a word is looked for as, of which nothing has the form: without letters of its language,
    or, in another language than English, by less of its beginning."""
    from knowbase.text.forms import (
        LEAST_BEGUN,
        beginnings_of,
        fold,
        is_english,
        is_typed_otherwise,
    )

    plain = [Word(fold(word.surface))] if is_typed_otherwise(word.surface) else []
    begun = [] if is_english(free) else beginnings_of(word.surface)
    long = [one for one in begun if len(stem_of(one).lstrip(FORM_MARK)) >= LEAST_BEGUN]
    others = [*plain, *(Word(one, prefix=True) for one in long)]
    missing = set(store.unknown_words(others))
    return next((one for one in others if one not in missing), None)


def _joined(free: str, unknown: Sequence[Word], store: "Store", visible: Visible) -> list[_Found]:
    """A word that was typed as two, as a text has it."""
    from knowbase.search.spacing import together

    found = together(list(_words_of(free)), unknown, store)
    return [
        _instead_of(Word(name), one)
        for name, one in found
        if _written(one.surface, store, visible) == one.surface
    ]


def _in_two(word: str, store: "Store", visible: Visible) -> Word | None:
    """Two words that were typed as one, as texts have them."""
    from knowbase.search.spacing import apart

    found = apart(word, store, visible)
    parts = found.surface.split() if found else ()
    return found if all(_written(one, store, visible) == one for one in parts) else None


def _not_in(joined: Sequence[_Found], unknown: Sequence[Word]) -> list[Word]:
    had = {part for one in joined for part in one.also.of.split()}
    return [word for word in unknown if word.surface.lower() not in had]


def _instead_of(word: Word, other: Word) -> _Found:
    shown = other.surface.lstrip(FORM_MARK) + "…" * other.prefix
    also = Also(other, word.surface.lower(), MEANT, "spelling")
    return _Found(also, f"nothing has {word.surface!r}: {shown!r} is searched too")


def _words_of(text: str) -> Iterator[str]:
    """The words that were typed as such: no part of an identifier, a path or a number."""
    for typed in text.split():
        word = typed.strip(".,;:!?()[]{}«»„“”\"'…¿¡")
        if word.isalpha():
            yield word


def _known_edits(word: str, store: "Store", visible: Visible) -> list[_Edit]:
    """The words that one mistake leads to and that the base has, with how many documents that are
    shown have them: a number of look-ups that the size of the base does not change."""
    from knowbase.text.spelling import SHORTEST, edits

    costs = edits(word) if len(word) >= SHORTEST else {}
    asked = [Word(one) for one in costs]
    unknown = set(store.unknown_words(asked))
    there = sorted((one.surface for one in asked if one not in unknown), key=lambda one: costs[one])
    found = ((one, _written(one, store, visible)) for one in there[:MOST_COUNTED])
    return [
        _Edit(one, form, store.matching(KeywordQuery((Word(one),)), visible))
        for one, form in found
        if form
    ]


def _written(word: str, store: "Store", visible: Visible) -> str | None:
    """How a document has it that may be shown: no other one's is told."""
    from knowbase.text.spelling import written

    passages = store.newest(both(visible, Contains(Word(word))), MOST_READ)
    return written(
        word, (f"{one.document.title} {one.chunk.heading} {one.chunk.text}" for one in passages)
    )


def _nearest(word: Word, store: "Store", visible: Visible) -> list[str]:
    """Words spelled alike that a document has which may be shown: no other one's is told."""
    near = store.nearest_words(word, 3)
    return [one for one in near if store.newest(both(visible, Contains(Word(one))), 1)]


# other names


class _Name(NamedTuple):
    """Words of the query that stand together, as they were typed, and their stems."""

    text: str
    stems: tuple[str, ...]
    is_joined: bool  # by a hyphen to what stands beside it


def _names(text: str) -> list[_Name]:
    found = tokens(text)[:MOST_TOKENS]
    spans = (
        (start, end)
        for start in range(len(found))
        for end in range(start + 1, min(start + LONGEST_NAME, len(found)) + 1)
    )
    names = (_named(text, found[start:end]) for start, end in spans)
    return [one for one in names if one.text.isupper() or one.text.lower() not in STOP_WORDS]


def _named(text: str, some: Sequence[Token]) -> _Name:
    start, end = some[0].start, some[-1].end
    is_joined = "-" in (text[max(0, start - 1) : start], text[end : end + 1])
    return _Name(text[start:end], tuple(one.stem for one in some), is_joined)


def _other_names(inquiry: Inquiry, free: str, store: "Store") -> Iterator[_Found]:
    """Synonyms that were given, and short forms that a text defines; what the query has is not
    looked for twice."""
    groups = store.synonyms()
    has_definitions = not store.unknown_words([Word("\ue003", prefix=True)])
    if not (free and (groups or has_definitions)):
        return
    names = _names(free)
    had = {one.stems for one in _names(inquiry.query.text)}
    for found in (*_given(names, groups), *_defined(names, inquiry, store, has_definitions)):
        other = tuple(stems(found.also.word.surface))
        if other and other not in had:
            had.add(other)
            yield found._replace(also=_as_missed(found.also, store))


def _as_missed(also: Also, store: "Store") -> Also:
    """It counts by how much would be missed without it: where nearly all that say it have what was
    typed, the few that have BC beside breast cancer would only come first."""
    _, (typed, other) = store.frequencies([Word(also.of), also.word])
    share = other / (typed + other) if other else 1.0
    return also._replace(weight=round(also.weight * share, 2))


def _given(names: Sequence[_Name], groups: Sequence[str]) -> Iterator[_Found]:
    from knowbase.values.synonyms import members

    typed = {one.stems: one.text for one in names}
    for group in groups:
        words = members(group)
        for name in words:
            text = typed.get(tuple(stems(name)))
            if text is None:
                continue
            for other in words:
                if other != name:
                    also = Also(Word(other), text.lower(), SYNONYM, "synonym")
                    notice = f"{text!r} is also searched as {other!r} (kb synonyms)"
                    yield _Found(also, notice)


def _defined(
    names: Sequence[_Name], inquiry: Inquiry, store: "Store", has_definitions: bool
) -> Iterator[_Found]:
    if not has_definitions:
        return
    from knowbase.text.definitions import key_of

    keys = {key_of(one.text): one.text for one in names if not one.is_joined}
    unknown = {one.surface for one in store.unknown_words([Word(key) for key in keys])}
    for key, text in keys.items():
        if key in unknown:
            continue
        for other, code in _meanings(text, inquiry, store).items():
            also = Also(Word(other), text.lower(), DEFINED, "abbreviation")
            yield _Found(also, f"{text!r} is also searched as {other!r} ({code} defines it)")


def _meanings(text: str, inquiry: Inquiry, store: "Store") -> Mapping[str, str]:
    """What a short or long form stands for, and the code of the document that says so."""
    from knowbase.text.definitions import definitions, is_short_form, key_of

    found: dict[str, tuple[str, str]] = {}
    key = key_of(text)
    condition = both(inquiry.visible, Contains(Word(key)))
    for passage in store.newest(condition, MOST_MEANINGS * 2):
        document, chunk = passage.document, passage.chunk
        fields = (document.title, chunk.heading, chunk.text)
        for one in definitions("\n".join(field for field in fields if field)):
            if is_short_form(text, one.short):
                found.setdefault(key_of(one.long), (one.long, document.code))
            elif key == key_of(one.long):
                found.setdefault(key_of(one.short), (one.short, document.code))
    if found and _is_plain(text, inquiry) and _is_word(text, inquiry, store):
        return {}
    return dict(list(found.values())[:MOST_MEANINGS])


def _is_plain(text: str, inquiry: Inquiry) -> bool:
    """Whether it is typed as any word is: who means LIFE, the study, mostly says so."""
    whole = inquiry.query.text
    in_capitals = whole.isupper() and len(whole.split()) > 2  # then so is every word
    return text.isalpha() and (text[1:].islower() or in_capitals)


def _is_word(text: str, inquiry: Inquiry, store: "Store") -> bool:
    """Whether texts mostly have it in small letters: then it is a word, whatever else it is."""
    from knowbase.text.spelling import spellings

    passages = store.newest(both(inquiry.visible, Contains(Word(text))), MOST_READ)
    found = spellings(text, (one.chunk.text for one in passages))
    return 2 * sum(one.islower() for one in found) > len(found)
