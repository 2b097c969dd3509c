"""Hits of a base that a server serves: their text is asked for when somebody wants it."""

from collections.abc import Callable
from functools import cached_property
from typing import Self

from knowbase.search.answer import Answer, Hit

TextOf = Callable[[str], str]  # of a section


class ServedHit(Hit):
    """A hit whose `text` is that of its section, fetched at first use."""

    _text_of: TextOf

    @classmethod
    def of(cls, hit: Hit, text_of: TextOf) -> Self:
        made = cls(*hit)
        made._text_of = text_of
        return made

    @cached_property
    def text(self) -> str:
        return self._text_of(self.section)


def with_texts(answer: Answer, text_of: TextOf) -> Answer:
    """The answer, whose hits know whom to ask for their text."""
    return answer._replace(hits=tuple(ServedHit.of(hit, text_of) for hit in answer.hits))
