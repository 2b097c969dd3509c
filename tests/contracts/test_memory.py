"""The memory service: the document's own test specifications and acceptance criteria (S2)."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knowbase
from knowbase import Base, Note
from knowbase.contracts.memory import (
    DEFAULT_WEIGHTS,
    RankingWeights,
    SearchOptions,
    SearchService,
    compute_score,
    create_search_service,
    search_fts,
    search_vector,
)
from knowbase.embed.granite import Granite
from knowbase.errors import InvalidInput, NotFound
from knowbase.values.documents import Document

REACT = "Decided to use React with TypeScript for the frontend"
DEPLOY = "To deploy, run npm build then upload to S3"
ROUTES = "The API routes are defined in src/routes/api.ts"

EMBEDDER = Granite()


class Clock:
    """A clock that is told the time, and moves on by a second whenever it is asked."""

    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        self.seconds += 1
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def base(tmp_path: Path, clock: Clock) -> Iterator[Base]:
    """The set-up of S2's hybrid tests: a session with three memories of three sectors."""
    path = knowbase.create(str(tmp_path / "memory.db"), profile="memory").path
    with Base(path, embedder=EMBEDDER, clock=clock) as made:
        made.sessions.start("sess1", "proj1")
        for text, sector in ((REACT, "reflective"), (DEPLOY, "procedural"), (ROUTES, "semantic")):
            create(made, text, session="sess1", sector=sector)
        yield made


@pytest.fixture
def service(base: Base) -> SearchService:
    return create_search_service(base)


def create(base: Base, text: str, project: str = "proj1", **fields: str | None) -> Document:
    return base.remember(Note(text, project=project, **fields)).document


def found(service: SearchService, query: str, **options: object) -> list[str]:
    """The texts' openings, best first."""
    results = service.search(SearchOptions(query, "proj1")._replace(**options))  # type: ignore[arg-type]
    return [result.memory.title for result in results]


# keyword search


def test_memories_are_found_by_keyword_prefix_and_project_with_marks(
    base: Base, service: SearchService
) -> None:
    """S2-04, S2-05, S2-06, S2-28"""
    create(base, "The authentication module handles user login and JWT tokens", "auth")
    create(base, "Database migrations are run with the migrate command", "auth")
    create(base, "authentication in another project", "other")
    for query in ("authentication", "auth"):
        results = service.search(SearchOptions(query, "auth", mode="keyword"))
        assert [result.match_type for result in results] == ["keyword"]
        assert results[0].highlights is not None
        assert "<mark>authentication</mark>" in results[0].highlights[0]


def test_an_empty_query_is_an_empty_list(service: SearchService) -> None:
    """S2-04, S2-06, C21"""
    assert service.search(SearchOptions("", "proj1")) == []
    assert service.search(SearchOptions("  \t", "proj1")) == []


# semantic search


def test_memories_are_found_by_meaning(service: SearchService) -> None:
    """S2-07, S2-28"""
    results = service.search(
        SearchOptions("which user interface library", "proj1", mode="semantic")
    )
    assert results[0].memory.title == REACT
    assert {result.match_type for result in results} == {"semantic"}
    assert all(0 < result.score <= 1 for result in results)
    assert results[0].highlights is None  # S2-16: no word matched


# hybrid search


def test_hybrid_search_combines_both(service: SearchService) -> None:
    """S2-01, S2-02, S2-08, S2-16, S2-28"""
    results = service.search(SearchOptions("React TypeScript", "proj1"))
    assert results[0].memory.title == REACT
    assert results[0].match_type == "both"
    assert results[0].highlights == (
        "Decided to use <mark>React</mark> with <mark>TypeScript</mark> for the frontend",
    )
    assert found(service, "React TypeScript", mode="keyword") == [REACT]


def test_results_carry_the_session_that_they_were_created_in(
    base: Base, service: SearchService
) -> None:
    """S2-17, S2-28"""
    source = service.search(SearchOptions("React", "proj1"))[0].source_session
    assert source is not None
    assert (source.id, source.project) == ("sess1", "proj1")
    assert create(base, "Made nowhere", session=None)
    assert service.search(SearchOptions("nowhere", "proj1"))[0].source_session is None


def test_superseded_memories_are_left_out_unless_asked_for_and_then_marked(
    base: Base, service: SearchService
) -> None:
    """S2-13, S2-14, S2-18, S2-28, C14"""
    old = create(base, "Old API endpoint is /v1")
    new = create(base, "New API endpoint is /v2 " + "and more " * 40)
    base.lifecycle.supersede(old.id, new.id)
    assert old.title not in found(service, "API endpoint")
    results = service.search(SearchOptions("API endpoint", "proj1", include_superseded=True))
    marked = {result.memory.id: result for result in results}[old.id]
    assert marked.is_superseded
    assert marked.superseded_by is not None
    assert marked.superseded_by.id == new.id
    assert marked.superseded_by.created_at == new.created_at
    assert marked.superseded_by.superseded_at == marked.memory.valid_until
    assert marked.superseded_by.content == ("New API endpoint is /v2 " + "and more " * 40)[:200]


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("sector", "procedural", [DEPLOY]),
        ("tier", "global", []),
        ("min_salience", 0.6, []),
        ("min_salience", 0.5, [DEPLOY, REACT, ROUTES]),
    ],
)
def test_filters(service: SearchService, option: str, value: object, expected: list[str]) -> None:
    """S2-14, S2-28, C10"""
    assert sorted(found(service, "build deploy", **{option: value})) == sorted(expected)


def test_a_value_that_is_none_is_refused_with_those_that_are(service: SearchService) -> None:
    """S2-01"""
    with pytest.raises(InvalidInput, match="reflective, semantic, procedural") as caught:
        service.search(SearchOptions("x", sector="nonsense"))
    assert caught.value.field == "sector"
    with pytest.raises(InvalidInput, match="no session 'nobody'"):
        service.search(SearchOptions("x", session_filter="nobody"))


def test_a_session_filters(base: Base, service: SearchService) -> None:
    """S2-14, C36"""
    create(base, "Only in session 2", session="sess2")
    results = service.search(SearchOptions("session", "proj1", session_id="sess2"))
    assert [result.memory.title for result in results] == ["Only in session 2"]
    assert results[0].source_session is not None
    assert results[0].source_session.id == "sess2"


def test_recalled_memories_are_tracked_in_the_session(base: Base, service: SearchService) -> None:
    """S2-22, S2-23, S2-25, S2-28, C36: recording apart from filtering"""
    memory = create(base, "To be recalled", session="sess1")
    base.sessions.start("sess2", "proj1")
    for _ in range(2):  # a second time changes nothing
        service.search(SearchOptions("recalled", "proj1", session_record="sess2"))
    context = service.get_session_context(memory.id)
    assert context is not None
    assert (context.session.id, context.usage_type) == ("sess2", "recalled")
    uses = [use for use in base.store.uses_in("sess2") if use.document == memory.id]
    assert [use.usage for use in uses] == ["recalled"]
    assert service.search(SearchOptions("recalled", "proj1"))[
        0
    ].source_session == base.sessions.get("sess1")


def test_a_session_id_filters_and_records(base: Base, service: SearchService) -> None:
    """C36"""
    service.search(SearchOptions("react", "proj1", session_id="sess1"))
    used = {(use.document, use.usage) for use in base.store.uses_in("sess1")}
    assert {usage for _, usage in used} == {"created", "recalled"}


def test_session_context(base: Base, service: SearchService) -> None:
    """S2-03, S2-25, S2-28"""
    memory = create(base, "Test memory", session="sess1")
    context = service.get_session_context(memory.id)
    assert context is not None
    assert (context.session.id, context.usage_type) == ("sess1", "created")
    assert context.memories_in_session == 4
    assert service.get_session_context(create(base, "In no session").id) is None
    assert service.get_session_context("no such memory") is None


def test_related_memories_are_counted(base: Base, service: SearchService) -> None:
    """S2-19, S2-28"""
    one, other = create(base, "Memory 1"), create(base, "Memory 2")
    base.relate(one.id, other.id, "RELATED_TO")
    base.relate(one.id, other.id, "RELATED_TO")  # once is enough
    counts = {
        result.memory.id: result.related_memory_count
        for result in service.search(SearchOptions("Memory 1", "proj1"))
    }
    assert counts[one.id] == counts[other.id] == 1
    base.lifecycle.forget([other.id])
    again = service.search(SearchOptions("Memory 1", "proj1"))
    assert {r.memory.id: r.related_memory_count for r in again}[one.id] == 0


def test_what_is_returned_is_reinforced_and_nothing_else_changes(
    base: Base, service: SearchService
) -> None:
    """S2-21, S2-28, C11, C12"""
    before = {one.id: one for one in base.documents().documents}
    [hit] = service.search(SearchOptions("React", "proj1", mode="keyword"))
    after = {one.id: one for one in base.documents().documents}
    returned = after.pop(hit.memory.id)
    old = before.pop(hit.memory.id)
    assert after == before
    assert returned.salience == pytest.approx(old.salience + 0.02 * (1 - old.salience))
    assert returned.access_count == old.access_count + 1
    assert returned.last_accessed_at is not None
    assert returned.updated_at == old.updated_at


def test_files_are_searched_when_asked_for(
    base: Base, service: SearchService, tmp_path: Path
) -> None:
    """S2-26"""
    (tmp_path / "guide.md").write_text("# React guide\n\nHow we write React components.\n")
    base.add([str(tmp_path / "guide.md")])
    assert found(service, "React components", project_id=None)[0] == REACT
    with_files = found(service, "React components", project_id=None, include_documents=True)
    assert {"React guide", REACT} <= set(with_files)
    assert [r.memory.title for r in service.search_documents("React components")] == ["React guide"]


def test_searches_are_logged(service: SearchService, caplog: pytest.LogCaptureFixture) -> None:
    """S2-27, S4-18, S4-30"""
    with caplog.at_level(logging.DEBUG, "knowbase"):
        service.search(SearchOptions("React " * 20, "proj1"))
    facts = {record.event: record.facts for record in caplog.records}  # type: ignore[attr-defined]
    assert facts["Hybrid search starting"] == {
        "query": ("React " * 20)[:50], "mode": "hybrid", "project_id": "proj1",
    }  # fmt: skip
    phases = {"embedding_ms", "keyword_ms", "semantic_ms", "rrf_ms"}  # S4-18
    counts = {"query_time_ms", "result_count"}
    complete = facts["Hybrid search complete"]
    assert complete.keys() == {"total", "returned", "mode", "ms", *counts, *phases}
    assert complete["result_count"] == complete["returned"]
    assert facts["Search phases"].keys() == phases
    assert facts["RRF merging complete"].keys() == {"results", "ms"}
    assert facts["FTS search"].keys() == {"query", "project_id", "limit"}
    assert facts["FTS search complete"].keys() == {"results", "ms"}
    assert facts["Vector search starting"].keys() == {"query_length", "project_id", "limit"}
    assert facts["Query embedded"].keys() == {"model", "ms"}
    assert facts["Vector search complete"].keys() == {"results", "ms"}
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "knowbase"):
        service.search(SearchOptions("  "))
        service.timeline(service.search(SearchOptions("React"))[0].memory.id, 1, 2)
    facts = {record.event: record.facts for record in caplog.records}  # type: ignore[attr-defined]
    assert facts["Empty FTS query"] == {"original": "  "}
    assert facts["Timeline query"].keys() == {"anchor_id", "depth_before", "depth_after"}


# time


def test_a_timeline_shows_what_was_made_around_an_anchor(
    base: Base, service: SearchService
) -> None:
    """S2-24, S2-28"""
    first = create(base, "First", session="sess1")
    second = create(base, "Second", session="sess1")
    third = create(base, "Third")
    create(base, "Elsewhere", "proj2")
    base.lifecycle.supersede(first.id, second.id)  # superseded ones are shown
    gone = create(base, "Gone")
    base.lifecycle.forget([gone.id])
    fourth = create(base, "Fourth")
    timeline = service.timeline(second.id, 2, 2)
    assert timeline.anchor.id == second.id
    assert [one.title for one in timeline.before] == [ROUTES, "First"]
    assert [one.id for one in timeline.after] == [third.id, fourth.id]
    assert set(timeline.sessions) == {"sess1"}


def test_documents_of_one_moment_keep_their_order_on_a_timeline(
    base: Base, clock: Clock, service: SearchService
) -> None:
    """S2-24: what was created at the anchor's moment is not lost"""
    made = []
    for number in range(5):
        clock.seconds = 1_900_000_000.0
        made.append(create(base, f"Number {number}", "same").code)
    assert len({base.whole(code).created_at for code in made}) == 1
    timeline = service.timeline(made[2])
    assert [one.code for one in timeline.before] == made[:2]
    assert [one.code for one in timeline.after] == made[3:]


def test_an_unknown_or_forgotten_anchor_is_said(
    base: Base, service: SearchService, caplog: pytest.LogCaptureFixture
) -> None:
    """S2-24, C22"""
    forgotten = create(base, "Forgotten")
    base.lifecycle.forget([forgotten.id])
    for anchor in ("nothing", forgotten.id):
        with (
            caplog.at_level(logging.WARNING, "knowbase"),
            pytest.raises(NotFound, match=r"^Anchor memory not found$"),
        ):
            service.timeline(anchor)
    assert "Timeline anchor not found" in caplog.text


def test_a_result_carries_the_whole_text_of_its_memory(base: Base, service: SearchService) -> None:
    """S2-02 S2-29"""
    long = "# Otters\n\n" + "\n\n".join(
        f"Otters sleep at {n} o'clock, hand in hand." for n in range(99)
    )
    made = create(base, long, type="lesson")
    [first, *_] = service.search(SearchOptions("otters sleep"))
    assert first.memory.content == long
    assert (first.memory.id, first.memory.type) == (made.id, "lesson")
    assert first.memory.to_dict()["content"] == long
    [react, *_] = service.search(SearchOptions("React frontend"))
    assert react.memory.content == REACT


def test_a_wrong_kind_is_an_error_that_names_it(service: SearchService) -> None:
    assert service.search("react")[0].memory.content == REACT
    wrong: Any = 5
    for call, field in (
        (lambda: service.search(wrong), "options"),
        (lambda: service.search(SearchOptions(wrong)), "query"),
        (lambda: service.search(SearchOptions("x", sector=wrong)), "sector"),
        (lambda: service.search(SearchOptions("x", limit=wrong - 5)), "top"),
        (lambda: service.search_documents(wrong), "query"),
        (lambda: service.timeline(wrong), "anchor_id"),
        (lambda: service.get_session_context(wrong), "memory_id"),
    ):
        with pytest.raises(InvalidInput) as caught:
            call()
        assert caught.value.field == field


def test_the_keyword_leg_alone(base: Base, service: SearchService) -> None:
    """S2-05 S2-30"""
    create(base, "React in another project", project="proj2")
    [found] = search_fts(base, "react", "proj1")
    assert found.rank < 0
    assert "<mark>React</mark>" in found.snippet
    assert found.memory_id == service.search(SearchOptions("react"))[0].memory.id
    assert [one.memory_id for one in search_fts(base, "Type", "proj1")] == [found.memory_id]
    assert len(service.search_fts("react")) == 2
    assert len(search_fts(base, "react deploy routes", limit=2)) == 2
    ranks = [one.rank for one in search_fts(base, "react deploy run build")]
    assert ranks == sorted(ranks)
    assert search_fts(base, "") == search_fts(base, "x") == []
    with pytest.raises(InvalidInput) as caught:
        search_fts(base, "react", limit=0)
    assert caught.value.field == "limit"
    with pytest.raises(InvalidInput):
        search_fts(base, 5)  # type: ignore[arg-type]


def test_the_semantic_leg_alone(base: Base, service: SearchService) -> None:
    """S2-30, S2-07"""
    found = search_vector(base, "which user interface library", "proj1")
    assert len(found) == 3
    assert base.get(found[0].memory_id).text == REACT
    for one in found:
        assert one.similarity == pytest.approx(1 - one.distance)
        assert 0 < one.similarity <= 1
    assert service.search_vector("anything", "nowhere") == service.search_vector("  ") == []
    assert [one.memory_id for one in search_vector(base, "user interface", limit=1)] == [
        found[0].memory_id
    ]


def test_a_score_can_be_computed(base: Base, service: SearchService, clock: Clock) -> None:
    """S2-31, S2-09: as the document computes it, and as the service does; or by other weights."""
    assert DEFAULT_WEIGHTS[:4] == (0.4, 0.25, 0.2, 0.15)
    memory = service.search(SearchOptions("react"))[0].memory
    now = memory.created_at
    expected = (0.4 * 0.9 + 0.25 * 0.5 + 0.2 * memory.salience + 0.15) * 1.2
    assert compute_score(memory, 0.9, -5.0, now=now) == pytest.approx(min(1.0, expected))
    assert compute_score(memory, 0.5, -20, now=now) == pytest.approx(
        (0.4 * 0.5 + 0.25 + 0.2 * memory.salience + 0.15) * 1.2
    )
    gone = memory._replace(valid_until=now)
    assert compute_score(gone, 0.5, 0, now=now) == pytest.approx(
        (0.4 * 0.5 + 0.2 * memory.salience + 0.15) * 1.2 * 0.5
    )
    words = RankingWeights(semantic=0, keyword=1, salience=0, recency=0, sector_boost={})
    assert compute_score(memory, 1.0, -2.0, words) == pytest.approx(0.2)
    assert compute_score(memory, 5.0, -99.0) == 1.0
    [fts] = search_fts(base, "react")
    similarity = next(
        one.similarity for one in search_vector(base, "react") if one.memory_id == fts.memory_id
    )
    before = base.get(fts.memory_id).document
    [hit, *_] = service.search(SearchOptions("react"))
    assert compute_score(before, similarity, fts.rank, now=base.now()) == pytest.approx(
        hit.score, abs=1e-4
    )


def test_a_relation_says_who_made_it(base: Base) -> None:
    """S2-32"""
    ids = [one.id for one in base.documents().documents]
    [by_user] = base.relate(ids[0], ids[1]).related
    by_agent = base.relate(ids[0], ids[2], "REFERENCES", by="claude").related
    assert by_user.origin == "user"
    assert {one.origin for one in by_agent} == {"user", "claude"}
    for wrong in (" ", "x" * 65):
        with pytest.raises(InvalidInput) as caught:
            base.relate(ids[1], ids[2], by=wrong)
        assert caught.value.field == "by"
