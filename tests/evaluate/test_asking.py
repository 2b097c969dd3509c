"""Asking judged questions: each system is charged alike."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase import Base, Note, create
from knowbase.embed.cache import Cache, Cached
from knowbase.evaluate.asking import FLOORS, System, _embedding, ask
from knowbase.evaluate.hard import hardest
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


def test_a_question_that_was_asked_before_costs_as_much_as_a_new_one(tmp_path: Path) -> None:
    """Else the second run of an evaluation would look faster than any user's search."""
    embedder = Listening()
    cached = Cached(embedder, Cache(str(tmp_path / "vectors.db"), 1 << 20))
    question = Question("1", "how long are tokens valid?", {"A-1": 1.0})
    with Base(create(str(tmp_path / "b.db")).path, embedder=cached) as made:
        made.note(Note("refresh tokens are valid for thirty days", code="A-1"))
        for _ in range(2):
            embedder.asked.clear()
            _embedding(made, question, FLOORS)
            assert embedder.asked == [question.text]
            made.search(question.text)
            assert embedder.asked == [question.text]


def test_a_loss_is_explained_by_the_document_that_the_better_leg_has(tmp_path: Path) -> None:
    """Not by one of several that no leg would find."""
    words = System("words", "", "best", "semantic")  # which here knows nothing of texts
    with Base(create(str(tmp_path / "b.db")).path, embedder=FarApart()) as made:
        for number in range(30):
            made.note(Note(f"{number} tells of nothing", code=f"N-{number}"))
        made.note(Note("an unrelated page", code="A-1"))
        made.note(Note("it has tokens", title="a page", code="A-2"))
        relevant = {made.whole(code).id: 1.0 for code in ("A-1", "A-2")}
        asked = ask(made, [Question("1", "tokens", relevant)], (words, *FLOORS))
        (found,) = hardest(made, asked, words, 3)
    assert (found.better, found.why and found.why.code) == ("bm25", "A-2")


def texts_charged(
    made: Base, embedder: Listening, question: Question, systems: tuple[System, ...]
) -> set[str]:
    embedder.asked.clear()
    _embedding(made, question, systems)
    return set(embedder.asked)
