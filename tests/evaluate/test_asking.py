"""Asking judged questions: each system is charged alike."""

from collections.abc import Iterator

import pytest

from knowbase import Base, Note, create
from knowbase.evaluate.asking import FLOORS, System, _embedding, ask
from knowbase.evaluate.judged import Question
from linked import FarApart


class Listening(FarApart):
    """An embedder that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_query(self, text: str) -> bytes:
        self.asked.append(text)
        return super().embed_query(text)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Base, Listening]]:
    embedder = Listening()
    folder = tmp_path_factory.mktemp("asking")
    with Base(create(str(folder / "b.db")).path, embedder=embedder) as made:
        made.note(Note("refresh tokens are valid for thirty days", code="A-1"))
        yield made, embedder


@pytest.mark.parametrize(
    "text",
    ['how long are "refresh tokens" valid?', "HOW LONG ARE TOKENS VALID?", "refresh +tokens"],
)
def test_a_search_embeds_nothing_that_no_system_was_charged_for(
    base: tuple[Base, Listening], text: str
) -> None:
    """Else the first one alone pays for a question in quotes or in capitals."""
    made, embedder = base
    systems = (System("best", "", "best"), *FLOORS)
    question = Question("1", text, {made.whole("A-1").id: 1.0})
    charged = texts_charged(made, embedder, question, systems)
    ask(made, [question], systems)
    assert set(embedder.asked) == charged


def texts_charged(
    made: Base, embedder: Listening, question: Question, systems: tuple[System, ...]
) -> set[str]:
    embedder.asked.clear()
    _embedding(made, question, systems)
    return set(embedder.asked)
