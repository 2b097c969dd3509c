"""Hits of a base that a server serves: their text is asked for when somebody wants it."""

from functools import cached_property
from typing import TYPE_CHECKING, Self

from knowbase.search.answer import Answer, Hit

if TYPE_CHECKING:
    from knowbase.client.client import Client


class ServedHit(Hit):
    """A hit whose `text` is that of its section, fetched at first use."""

    _client: "Client"

    @classmethod
    def of(cls, hit: Hit, client: "Client") -> Self:
        made = cls(*hit)
        made._client = client
        return made

    @cached_property
    def text(self) -> str:
        return self._client.get(self.section).text


def with_texts(answer: Answer, client: "Client") -> Answer:
    """The answer, whose hits know whom to ask for their text."""
    return answer._replace(hits=tuple(ServedHit.of(hit, client) for hit in answer.hits))
