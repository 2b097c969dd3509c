"""A brief: the newest and most confirmed, within its tokens, each with where to read on."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import knowbase
from knowbase import Base, Note
from knowbase.embed.granite import Granite
from knowbase.memory.brief import with_quotes
from knowbase.values.times import timestamp

EMBEDDER = Granite()
NOW = 1_800_000_000.0
DAY = 86_400.0


class Clock:
    seconds = NOW

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    clock = Clock()
    path = knowbase.create(str(tmp_path_factory.mktemp("brief") / "b.db")).path
    with Base(path, embedder=EMBEDDER, clock=clock) as made:

        def put(days_ago: float, text: str, **fields: str | None) -> str:
            clock.seconds = NOW - days_ago * DAY
            note = Note(text, project="web")._replace(**fields)
            return made.remember(note).document.code

        put(40, "We used Angular", type="decision", code="OLD")
        put(2, "We use React", type="decision", code="NEW")
        put(10, "We deploy from main", type="decision", code="CONFIRMED")
        put(1, "Somebody else's decision", type="decision", project="other", code="OTHER")
        put(1, "Everybody writes tests", type="decision", project=None, code="GLOBAL")
        put(3, "We will use Ember", type="decision", code="GONE")
        put(5, "Never deploy on Fridays. " * 100, type="lesson", code="LONG")
        put(1, "A mere fact", code="FACT")
        put(1, "Staging is down", code="ENDS", expires_at=timestamp(NOW + 2 * DAY))
        clock.seconds = NOW - 3 * DAY
        made.sessions.start("s1", "web")
        made.sessions.end("s1", "Moved the build to Vite")
        made.sessions.start("s2", "web")  # has no summary
        clock.seconds = NOW
        made.lifecycle.supersede("GONE", "NEW")
        for session in ("a", "b", "c"):
            made.feedback("CONFIRMED", "good", session)
        yield made


def test_a_brief_has_what_holds_newest_and_most_confirmed_first(base: Base) -> None:
    """S0-27"""
    brief = base.brief("web")
    codes = {part.heading: [item.code for item in part.items] for part in brief.parts}
    assert codes == {
        "Decisions": ["CONFIRMED", "GLOBAL", "NEW", "OLD"],
        "Lessons": ["LONG"],
        "Expiring soon": ["ENDS"],
        "Recent sessions": ["session s1"],
    }
    assert "[NEW]" in brief.text
    assert "Moved the build to Vite" in brief.text
    assert brief.left_out == 0
    assert "…" in brief.text  # the long one is cut
    assert brief.text.count("Never deploy on Fridays") < 30


def test_without_a_project_a_brief_is_about_everything(base: Base) -> None:
    assert "[OTHER]" in base.brief().text


def test_a_brief_of_nothing_says_so(tmp_path: Path) -> None:
    with Base(knowbase.create(str(tmp_path / "e.db")).path, embedder=EMBEDDER) as empty:
        assert "There are no decisions" in empty.brief("web").text


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(50, 400))
def test_a_brief_keeps_to_its_tokens_and_leaves_out_what_finds_no_room(
    base: Base, max_tokens: int
) -> None:
    brief = base.brief("web", max_tokens)
    assert brief.tokens == len(EMBEDDER.token_spans(brief.text)) <= max_tokens
    assert len(EMBEDDER.token_spans(with_quotes(brief.text))) <= max_tokens  # as agents have it
    assert sum(len(part.items) for part in brief.parts) + brief.left_out == 7
    assert brief.parts  # even a small one says something


def test_every_line_of_a_brief_for_agents_quotes_what_it_tells(base: Base) -> None:
    lines = with_quotes(base.brief("web").text).splitlines()
    told = [line for line in lines if line.startswith("- ")]
    assert len(told) == 7
    assert all(re.match(r"- \[[^]]+\] \([^)]+\) > \S", line) for line in told)
    assert [line for line in told if "confirmed 3×) > We deploy from main" in line]
