"""Memories that wait for a verdict, what each is like, and what a verdict changes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note
from knowbase.errors import Conflict, InvalidInput, NotAllowed, NotFound
from knowbase.memory.inbox import Inbox, Wanted
from knowbase.memory.judging import judgement_of
from knowbase.text.differences import word_diff
from knowbase.values.access import Access
from knowbase.values.changes import Changes, Edit
from knowbase.values.documents import Page
from postgres import new_base
from servers import serving

ONE = "We deploy on Fridays after two reviews by the platform team."
OTHER = "We deploy on Fridays after one review by the platform team."


@pytest.fixture(params=["sqlite", "postgres"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Base]:
    place = str(tmp_path / "base.db") if request.param == "sqlite" else new_base()
    with knowbase.create(place) as made:
        for code, text in (("D-1", ONE), ("D-2", OTHER)):
            made.remember(Note(text, code=code, type="decision", session="s1", project="web"))
        made.remember(Note("The cache is cold at night.", code="F-1", confidence=0.2))
        yield made


def codes(found: Inbox) -> list[str]:
    return [one.document.code for one in found.items]


def decisions(base: Base) -> list[str]:
    parts = base.brief("web").parts
    return [item.code for part in parts if part.heading == "Decisions" for item in part.items]


def test_what_waits_is_shown_with_what_it_is_like(base: Base) -> None:
    found = base.inbox()
    assert codes(found) == ["F-1", "D-2", "D-1"]
    assert found.groups["near_duplicate"] == 2
    assert found.groups["contradiction"] == 2
    assert found.groups["low_confidence"] == 1
    second = found.items[1]
    assert (second.session, second.document.project) == ("s1", "web")
    assert second.like is not None
    assert (second.like.code, second.like.similarity > 0.8) == ("D-1", True)
    assert ("-", "two") in second.like.diff
    assert ("+", "one") in second.like.diff
    assert "".join(text for sign, text in second.like.diff if sign != "-") == OTHER
    assert codes(base.inbox(Wanted(group="low_confidence"))) == ["F-1"]
    assert codes(base.inbox(Wanted(project="web", page=Page(1, 1)))) == ["D-1"]
    assert base.inbox(Wanted(since="2100")).total == 0


def test_what_was_taken_from_elsewhere_is_no_memory(base: Base) -> None:
    for kind in ("bookmark", "commit", "conversation", "web"):
        base.note(Note(f"A {kind}.", type=kind))
    base.note(Note("A note.", code="N-1"))
    assert codes(base.inbox()) == ["N-1", "F-1", "D-2", "D-1"]


def test_each_verdict_is_written_shows_in_the_brief_and_can_be_undone(base: Base) -> None:
    assert decisions(base) == ["D-2", "D-1"]
    accepted = base.verdict("D-1", "accept", by="ada")
    assert judgement_of(accepted.document) == ("accept", "ada", accepted.at)
    assert decisions(base) == ["D-1", "D-2"]  # what was accepted counts as confirmed
    assert codes(base.inbox()) == ["F-1", "D-2"]
    undone = base.verdict("D-1", "undo")
    assert (undone.undone, undone.document.judged) == ("accept", None)
    assert decisions(base) == ["D-2", "D-1"]

    base.verdict("D-1", "forget")
    assert decisions(base) == ["D-2"]
    assert base.verdict("D-1", "undo").undone == "forget"
    assert decisions(base) == ["D-2", "D-1"]

    base.verdict("D-2", "supersede", "D-1")
    assert decisions(base) == ["D-2"]
    assert base.get("D-1").current == "D-2"
    base.verdict("D-2", "undo")
    assert decisions(base) == ["D-2", "D-1"]
    assert base.get("D-1").current is None

    merged = base.verdict("D-2", "merge", "D-1", "We deploy after reviews.").merged
    assert merged is not None
    assert decisions(base) == [merged.code]
    assert base.get(merged.code).text.strip() == "We deploy after reviews."
    assert merged.title == "We deploy after reviews."
    base.verdict("D-2", "undo")
    assert decisions(base) == ["D-2", "D-1"]
    with pytest.raises(NotFound):
        base.get(merged.code)

    base.verdict("F-1", "later")
    assert codes(base.inbox()) == ["D-2", "D-1", "F-1"]  # put off: it comes last


def life(base: Base, code: str) -> tuple[str | None, ...]:
    document = base.get(code).document
    return document.superseded_by, document.valid_until, document.judged


def test_undo_gives_back_what_the_verdict_changed(base: Base) -> None:
    until = "2099-01-01T00:00:00.000000Z"
    successor = base.get("F-1").document.id
    for code in ("D-1", "D-2"):
        document = base.get(code).document
        base.store.apply(Changes(edits=(Edit(document.id, {"valid_until": until}),)), base.now())
    for verdict in ("supersede", "merge"):
        base.verdict("D-2", verdict, "D-1")
        base.verdict("D-2", "undo")
        assert life(base, "D-1") == life(base, "D-2") == (None, until, None)

    base.lifecycle.supersede("D-1", "F-1")
    before = life(base, "D-1")
    assert before[0] == successor
    base.verdict("D-2", "supersede", "D-1", by="ada")
    assert (judgement_of(base.get("D-2").document) or ())[:2] == ("supersede", "ada")
    base.verdict("D-2", "undo")
    assert life(base, "D-1") == before

    accepted = base.verdict("D-2", "accept", by="ada").document.judged
    for verdict in ("later", "forget"):
        base.verdict("D-2", verdict)
        assert base.verdict("D-2", "undo").document.judged == accepted


def test_a_verdict_that_changed_others_is_undone_before_another_one(base: Base) -> None:
    for verdict in ("supersede", "merge"):
        base.verdict("D-2", verdict, "D-1")
        for another in ("accept", "later", "forget"):
            with pytest.raises(Conflict) as refused:
                base.verdict("D-2", another)
            assert "kb verdict D-2 undo" in str(refused.value.hint)
        base.verdict("D-2", "undo")
        assert life(base, "D-1")[0] is None
        assert decisions(base) == ["D-2", "D-1"]


def test_what_cannot_be_decided_is_refused(base: Base) -> None:
    for verdict, other, error in (
        ("perhaps", None, InvalidInput),
        ("supersede", None, InvalidInput),
        ("merge", "D-1", Conflict),
        ("undo", None, Conflict),
        ("merge", "Z-9", NotFound),
    ):
        with pytest.raises(error):
            base.verdict("D-1", verdict, other)
    assert base.inbox().total == 3


def test_a_verdict_stays_when_the_text_changes(base: Base) -> None:
    base.verdict("F-1", "accept")
    base.note(Note("The cache is warm at night.", replaces="F-1"))
    assert base.get("F-1").document.judged is not None


def test_without_vectors_words_say_what_is_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")
    with knowbase.create(str(tmp_path / "base.db")) as base:
        for text in (ONE, OTHER, "Something else entirely."):
            base.remember(text)
        assert base.inbox().groups["near_duplicate"] == 2


def test_without_vectors_only_what_is_shown_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")
    with knowbase.create(str(tmp_path / "base.db")) as base:
        base.notes([Note(f"{ONE} Number {n}.", code=f"D-{n}") for n in range(30)])
        searched = []
        keyword = base.store.keyword

        def counted(*given: Any) -> Any:
            searched.append(given)
            return keyword(*given)

        monkeypatch.setattr(base.store, "keyword", counted)
        found = base.inbox(Wanted(page=Page(2, 1)))
        assert len(searched) == found.compared == 2
        assert all(one.like is not None for one in found.items)
        assert (found.total, found.groups["near_duplicate"]) == (30, 2)
        found = base.inbox(Wanted(group="near_duplicate", page=Page(5)))
        assert (len(found.items), found.total, found.compared) == (5, 30, 30)


def test_all_that_waits_is_counted_and_can_be_reached(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowbase.memory.inbox.MOST_COUNTED", 2)
    base.verdict("D-1", "later")
    assert base.inbox().total == 3
    assert codes(base.inbox()) == ["F-1", "D-2", "D-1"]
    for offset, code in enumerate(("F-1", "D-2", "D-1")):
        assert codes(base.inbox(Wanted(page=Page(1, offset)))) == [code]
    assert codes(base.inbox(Wanted(page=Page(2, 3)))) == []


def test_one_project_judges_nothing_of_another(base: Base) -> None:
    base.remember(Note(ONE + " Really.", code="X-1", project="secret"))
    held = base.within(Access(project="web"))
    assert codes(held.inbox()) == ["D-2", "D-1"]
    assert "X-1" not in repr(held.inbox())
    for other in ("X-1", "F-1"):
        with pytest.raises(NotFound):
            held.verdict(other, "accept")
        with pytest.raises(NotFound):
            held.verdict("D-1", "supersede", other)
    with pytest.raises(NotAllowed):
        base.within(Access(write=False)).verdict("D-1", "accept")
    assert held.verdict("D-1", "merge", "D-2").merged is not None


def test_by_command_and_over_http_with_the_name_of_the_token(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    kb("remember", ONE, "--code", "D-1")
    kb("remember", OTHER, "--code", "D-2")
    told = kb("inbox").out
    assert "like D-1" in told
    assert "[-two reviews-]{+one review+}" in told.replace("] {", "]{") or "[-two-]" in told
    assert kb("verdict", "D-2", "supersede", "D-1").out == "D-2: supersede D-1, by user\n"
    kb("verdict", "D-2", "undo")
    token = kb("token", "new", "ada").out.strip()
    reader = kb("token", "new", "bob", "--scope", "read").out.strip()
    with serving(tmp_path, token=token) as server:
        assert server.json("inbox")["total"] == 2
        assert server.json("verdict", reference="D-1", verdict="accept")["by"] == "ada"
        assert server.json("inbox", since="7d")["total"] == 1
        assert server.post("inbox", since="never").status_code == 422
        server.client.headers["Authorization"] = f"Bearer {reader}"
        assert server.json("inbox")["total"] == 1
        assert server.post("verdict", reference="D-2", verdict="accept").status_code == 403


def test_a_diff_puts_both_texts_together_again() -> None:
    for old, new in (("", ""), ("a", ""), ("a b", "a c b"), ("x y z", "z y x"), ("a,b", "a. b")):
        parts = word_diff(old, new)
        assert "".join(text for sign, text in parts if sign != "+") == old
        assert "".join(text for sign, text in parts if sign != "-") == new
