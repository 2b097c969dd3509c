"""Synonyms of a base: words and names that stand for each other, given by whoever knows."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import Conflict, InvalidInput, NotFound
from knowbase.query.conditions import Contains, Visible, both
from knowbase.text.analysis import Word, stems
from knowbase.values.arguments import checks_arguments
from knowbase.values.characters import clean
from knowbase.values.synonyms import JOINT, SYNONYMS, members

if TYPE_CHECKING:
    from knowbase.store.contract import Store

MOST_GROUPS = 2000  # each search looks through them
MOST_WORDS = 20  # of one group
LONGEST = 100  # characters
MOST_FOUND = 200  # documents whose definitions are listed
_COMMENT = re.compile(r"(?:^|\s)#.*")  # not the end of a word: C# is one


class Synonyms(NamedTuple):
    """Words that stand for each other."""

    words: tuple[str, ...]
    defined_in: str | None = None  # the code of the document whose text says so; None: given


class SynonymList(NamedTuple):
    """What was given, by its first word, and what documents define."""

    synonyms: tuple[Synonyms, ...]


class RemovedSynonyms(NamedTuple):
    """Words that stand for each other no longer."""

    words: tuple[str, ...]


class ImportedSynonyms(NamedTuple):
    """How many groups a file had, and what was wrong with the others."""

    groups: int
    problems: tuple[str, ...] = ()


@checks_arguments
class SynonymService:
    """The synonyms of one base."""

    def __init__(self, store: "Store", now: Callable[[], str]) -> None:
        self._store = store
        self._now = now

    def add(self, words: Sequence[str]) -> Synonyms:
        """Let these stand for each other; a group that has one of them grows."""
        from knowbase.values.changes import SavedSearch

        given = _checked(words)
        while True:  # until nobody else has changed a group meanwhile
            groups = self._store.synonyms()
            merged, dropped = _joined(given, groups)
            now = self._now()
            group = SavedSearch(_name(merged), JOINT.join(merged), {}, now, now)
            if self._store.replace_synonyms(groups, dropped, group):
                return Synonyms(tuple(merged))

    def all(self) -> SynonymList:
        """What was given, then what documents define."""
        given = [Synonyms(tuple(members(one))) for one in self._store.synonyms()]
        return SynonymList((*given, *self._defined()))

    def remove(self, word: str) -> RemovedSynonyms:
        """Forget the group that this word is in."""
        wanted = _key(word)
        while True:
            groups = self._store.synonyms()
            found = (one for one in map(members, groups) if wanted in map(_key, one))
            words = next(found, None)
            if words is None:
                raise NotFound(
                    f"nothing was said to stand for {word[:40]!r}",
                    field="word",
                    hint="kb synonyms list shows them; what a document defines goes with its text",
                )
            if self._store.replace_synonyms(groups, [_name(words)]):
                return RemovedSynonyms(tuple(words))

    def load(self, text: str) -> ImportedSynonyms:
        """A group a line, its words between commas, = or =>; # begins a comment, at the start of
        a line or after a space."""
        if not text.strip():
            raise InvalidInput("there is no text", field="text", hint="a group of words a line")
        number, problems = 0, []
        for at, words in _lines(text):
            try:
                self.add(words)
                number += 1
            except (InvalidInput, Conflict) as error:
                problems.append(f"line {at}: {error.message}")
        return ImportedSynonyms(number, tuple(problems))

    def _defined(self) -> Iterator[Synonyms]:
        from knowbase.text.definitions import DEFINED_MARK, definitions

        condition = both(Visible(self._now()), Contains(Word(DEFINED_MARK, prefix=True)))
        for passage in self._store.newest(condition, MOST_FOUND):
            chunk = passage.chunk
            fields = (passage.document.title, chunk.heading, chunk.text)
            for one in definitions("\n".join(field for field in fields if field)):
                yield Synonyms(tuple(one), passage.document.code)


def _joined(given: Sequence[str], groups: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words with those of the groups that have one of them, and the names of these."""
    keys = {_key(one) for one in given}
    old = [one for one in map(members, groups) if keys & set(map(_key, one))]
    words = {_key(one): one for group in old for one in group}
    words.update({_key(one): one for one in given if _key(one) not in words})
    if len(words) > MOST_WORDS:
        raise Conflict(
            f"{len(words)} words would stand for each other, at most {MOST_WORDS} can",
            field="words",
            hint="kb synonyms list shows what stands for what",
        )
    if not old and len(groups) >= MOST_GROUPS:
        hint = "kb synonyms remove"
        raise Conflict(f"there are {MOST_GROUPS} groups already", field="words", hint=hint)
    return list(words.values()), [_name(one) for one in old]


def _checked(words: Sequence[str]) -> list[str]:
    found = {_key(one): " ".join(clean(one).split()) for one in words if one.strip()}
    for word in found.values():
        if len(word) > LONGEST or JOINT in word or not stems(word):
            raise InvalidInput(
                f"{word[:40]!r} cannot stand for another word",
                field="words",
                hint=f"words of letters or digits, at most {LONGEST} characters",
            )
    if len(found) < 2:
        hint = 'kb synonyms add HPA "Horizontal Pod Autoscaler"'
        if len([one for one in words if one.strip()]) > 1:
            told = "these are one word to a search already"
            raise Conflict(told, field="words", hint=hint)
        raise InvalidInput("two different words are needed", field="words", hint=hint)
    return list(found.values())


def _key(word: str) -> str:
    return " ".join(stems(word))


def _name(words: Sequence[str]) -> str:
    return SYNONYMS + _key(words[0])


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        plain = _COMMENT.sub("", line).replace("=>", ",").replace("=", ",").replace("\t", ",")
        if plain.strip():
            yield number, plain.split(",")
