"""The lifecycle: one rule for what is hidden, applied by every path that reads."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import knowbase
from knowbase import Base, Note, SearchRequest
from knowbase.embed.granite import Granite
from knowbase.errors import InvalidInput, KnowbaseError, NotFound
from knowbase.query.conditions import HIDDEN_STATES
from knowbase.ranking.profile import PROFILES
from knowbase.values.times import timestamp

EMBEDDER = Granite()
NOW = 1_800_000_000.0
TEXT = "The warehouse closes at six"


@pytest.fixture
def base(tmp_path: Path) -> Base:
    path = knowbase.create(str(tmp_path / "b.db")).path
    made = Base(path, embedder=EMBEDDER, clock=lambda: NOW)
    made.note(Note(TEXT, code="W-1", tags=("hours",), type="decision"))
    made.note(Note("The warehouse now closes at eight", code="W-2", type="decision"))
    made.note(Note("Where goods are kept", code="W-0"))
    made.relate("W-0", "W-1")
    return made


def paths(base: Base, include: tuple[str, ...] = ()) -> dict[str, bool]:
    """Whether each path that reads shows the document W-1."""

    def finds(mode: str, profile: str) -> bool:
        request = SearchRequest(
            "warehouse closes at six", mode=mode, profile=profile, include=include
        )
        return "W-1" in [hit.code for hit in base.search(request).hits]

    listed = [one.code for one in base.documents(include=include).documents]
    filtered = base.search(SearchRequest("", type=("decision",), include=include))
    shown = {
        f"{mode} {profile}": finds(mode, profile)
        for mode in ("keyword", "semantic", "hybrid")
        for profile in PROFILES
    }
    near = base.search(SearchRequest("related:W-0", profile="work", include=include))
    related = base.graph.related("W-0", include=include).results
    return {
        **shown,
        "graph leg": "W-1" in [hit.code for hit in near.hits],
        "related": "W-1" in [one.document.code for one in related],
        "list": "W-1" in listed,
        "filters alone": "W-1" in [hit.code for hit in filtered.hits],
    }


HIDE: dict[str, Callable[[Base], object]] = {
    "archived": lambda base: base.lifecycle.archive(["W-1"]),
    "superseded": lambda base: base.lifecycle.supersede("W-1", "W-2"),
    "expired": lambda base: base.note(
        Note(TEXT, replaces="W-1", expires_at=timestamp(NOW))  # at exactly now
    ),
}


@pytest.mark.parametrize("state", HIDDEN_STATES)
def test_a_hidden_document_is_gone_from_every_path_until_it_is_asked_for(
    base: Base, state: str
) -> None:
    """S0-07, S0-12, C14"""
    assert all(paths(base).values())
    HIDE[state](base)
    assert not any(paths(base).values())
    assert all(paths(base, include=(state,)).values())
    others = tuple(one for one in HIDDEN_STATES if one != state)
    assert not any(paths(base, include=others).values())
    assert dict(base.tags()).get("hours") is None


def test_a_forgotten_document_is_shown_by_no_path_whatever_is_asked_for(base: Base) -> None:
    """S2-14, C14"""
    base.lifecycle.forget(["W-1"])
    assert not any(paths(base, include=HIDDEN_STATES).values())
    for read in (base.get, base.whole, base.sessions.context, base.sessions.timeline):
        with pytest.raises(NotFound) as caught:
            read("W-1")
        assert "kb restore W-1" in (caught.value.hint or "")
    assert [one.code for one in base.lifecycle.forgotten().documents] == ["W-1"]
    assert (base.status().documents, base.status().forgotten) == (2, 1)


@pytest.mark.parametrize("state", ["forgotten", *HIDDEN_STATES])
def test_restoring_undoes_whatever_hides_a_document(base: Base, state: str) -> None:
    if state == "forgotten":
        base.lifecycle.forget(["W-1"])
    else:
        HIDE[state](base)
    base.lifecycle.restore(["W-1"])
    assert all(paths(base).values())
    assert base.get("W-1").text == TEXT


def test_a_chain_of_superseded_documents_leads_to_what_holds_today(base: Base) -> None:
    """S2-18"""
    base.note(Note("The warehouse never closes", code="W-3"))
    base.lifecycle.supersede("W-1", "W-2")
    assert base.lifecycle.supersede("W-2", "W-3").head.code == "W-3"
    request = SearchRequest("warehouse closes", include=("superseded",))
    by = {hit.code: hit.superseded_by for hit in base.search(request).hits}
    assert by["W-3"] is None
    assert by["W-1"] is not None
    assert by["W-2"] is not None
    assert by["W-1"].code == by["W-2"].code == "W-3"
    base.lifecycle.forget(["W-2"])  # the chain leads through it
    by = {hit.code: hit.superseded_by for hit in base.search(request).hits}
    assert by["W-1"] is not None
    assert by["W-1"].code == "W-3"
    base.lifecycle.forget(["W-3"])  # then nothing holds
    by = {hit.code: hit.superseded_by for hit in base.search(request).hits}
    assert {code: next_one for code, next_one in by.items() if code != "W-0"} == {"W-1": None}


def test_a_circle_is_refused_and_nothing_changes(base: Base) -> None:
    base.lifecycle.supersede("W-1", "W-2")
    before = base.documents(include=HIDDEN_STATES)
    for old, new in (("W-2", "W-1"), ("W-2", "W-2")):
        with pytest.raises(InvalidInput, match="circle: W-2 → "):
            base.lifecycle.supersede(old, new)
    assert base.documents(include=HIDDEN_STATES) == before


def test_a_circle_that_files_make_hides_nothing(base: Base, tmp_path: Path) -> None:
    for name, other in (("a", "B-1"), ("b", "A-1")):
        text = f"---\ncode: {name}-1\nsuperseded_by: {other}\n---\nThe lighthouse\n"
        (tmp_path / f"{name}.md").write_text(text)
    base.add([str(tmp_path / "a.md"), str(tmp_path / "b.md")])
    request = SearchRequest("lighthouse", mode="keyword", include=("superseded",))
    hits = base.search(request).hits
    assert {hit.code for hit in hits} == {"a-1", "b-1"}
    assert {(hit.is_superseded, hit.superseded_by) for hit in hits} == {(False, None)}


def test_what_stays_hidden_by_something_that_is_gone_is_said(base: Base) -> None:
    base.note(Note("The lighthouse, once more.", code="W-3"))
    base.lifecycle.supersede("W-0", "W-1")
    base.lifecycle.supersede("W-2", "W-3")
    assert "superseded" not in {one.name for one in base.doctor().findings}
    (notice,) = base.remove(["W-1"], dry_run=True).notices
    assert base.remove(["W-1"]).notices == (notice,)
    assert "W-0 stays hidden, though W-1, which took its place, is gone" in notice
    (notice,) = base.lifecycle.forget(["W-3"]).notices
    assert "kb restore W-2" in notice
    (found,) = [one for one in base.doctor().findings if one.name == "superseded"]
    assert (found.count, set(found.examples)) == (2, {"W-0", "W-2"})
    base.lifecycle.restore(list(found.examples))
    assert "superseded" not in {one.name for one in base.doctor().findings}


def test_a_time_that_is_not_over_hides_nothing(base: Base, tmp_path: Path) -> None:
    (tmp_path / "offer.md").write_text("---\nvalid_until: 2099-01-01\n---\nThe lighthouse offer\n")
    base.add([str(tmp_path / "offer.md")])
    [hit] = base.search(SearchRequest("lighthouse", mode="keyword")).hits
    assert not hit.is_superseded


def test_what_is_said_outlives_what_the_file_says(base: Base, tmp_path: Path) -> None:
    file = tmp_path / "plan.md"
    file.write_text("---\ncode: P-1\n---\nThe old plan\n")
    base.add([str(file)])
    base.lifecycle.archive(["P-1"])
    file.write_text("---\ncode: P-1\n---\nThe new plan about penguins\n")
    base.sync()
    assert base.search(SearchRequest("penguins", mode="keyword")).hits == ()
    asked = SearchRequest("penguins", mode="keyword", include=("archived",))
    assert [hit.code for hit in base.search(asked).hits] == ["P-1"]
    base.lifecycle.restore(["P-1"])
    file.write_text("---\ncode: P-1\n---\nThe newest plan about penguins\n")
    base.sync()
    assert base.search("penguins").hits[0].code == "P-1"


def test_what_is_due_is_listed_first_to_expire_first(base: Base) -> None:
    """S0-27"""
    for code, days in (("E-3", 9), ("E-1", -1), ("E-2", 3)):
        expires = timestamp(NOW + days * 86_400)
        base.note(Note(f"It ends in {days} days", code=code, expires_at=expires))

    def due(within: str | None) -> list[str]:
        return [one.code for one in base.lifecycle.due(within).documents]

    assert due(None) == ["E-1"]
    assert due("7d") == ["E-1", "E-2"]
    assert due("2w") == ["E-1", "E-2", "E-3"]
    with pytest.raises(InvalidInput, match="within cannot be 'soon'"):
        due("soon")
    with pytest.raises(KnowbaseError):
        base.expire("7d", delete=True)
    base.expire(delete=True)
    assert due("2w") == ["E-2", "E-3"]
    assert base.store.find("E-1") is None
    base.expire(delete=True)  # nothing is left to do


def test_reading_and_hiding_never_change_when_a_document_was_updated(base: Base) -> None:
    """C12"""
    before = base.whole("W-1").updated_at
    later = Base(base.path, embedder=EMBEDDER, clock=lambda: NOW + 1000)
    later.lifecycle.supersede("W-1", "W-2")
    later.lifecycle.archive(["W-1"])
    later.lifecycle.restore(["W-1"])
    later.search(SearchRequest("warehouse", profile="memory"))
    assert later.whole("W-1").updated_at == before


def test_a_word_of_a_forgotten_document_is_never_suggested(base: Base) -> None:
    base.note(Note("The rendezvousplace is secret", code="S-1"))
    assert base.search("rendezvousplce").suggestions
    base.lifecycle.forget(["S-1"])
    assert base.search("rendezvousplce").suggestions == ()


def test_restoring_leaves_a_time_that_is_to_come(base: Base, tmp_path: Path) -> None:
    (tmp_path / "offer.md").write_text("---\ncode: F-1\nvalid_until: 2099-01-01\n---\nOffer\n")
    base.add([str(tmp_path / "offer.md")])
    base.lifecycle.archive(["F-1"])
    base.lifecycle.restore(["F-1"])
    assert base.whole("F-1").valid_until == "2099-01-01T00:00:00.000000Z"


def test_two_that_supersede_each_other_at_once_make_no_circle(base: Base) -> None:
    outcomes: list[str] = []

    def supersede(old: str, new: str) -> None:
        try:
            base.lifecycle.supersede(old, new)
            outcomes.append("done")
        except InvalidInput:
            outcomes.append("refused")

    for _ in range(5):
        outcomes.clear()
        base.lifecycle.restore(["W-1", "W-2"])
        pairs = (("W-1", "W-2"), ("W-2", "W-1"))
        threads = [threading.Thread(target=supersede, args=pair) for pair in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["done", "refused"]
