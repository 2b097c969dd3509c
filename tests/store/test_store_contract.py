"""What every store promises. Each test runs against each backend."""

import math

import pytest

from knowbase.errors import Conflict, ModelMismatch
from knowbase.query.conditions import (
    EVERYTHING,
    AllOf,
    AnyOf,
    Compare,
    Contains,
    InSession,
    Not,
    OneOf,
    Tagged,
    Visible,
    both,
)
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.contract import Store
from knowbase.store.facets import Ages
from knowbase.store.rules import MARK
from knowbase.text.analysis import Word, query_words
from knowbase.values.changes import Changes, Edit, Reinforcement
from knowbase.values.documents import Counts, Page
from knowbase.values.files import FileRecord, Settled, Source
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model
from stores import MODEL, NOW, draft, section, similarity, vector

PLAIN = FieldWeights()


def put(store: Store, *drafts: object) -> None:
    store.apply(Changes(drafts=tuple(drafts)), NOW)  # type: ignore[arg-type]


def found(store: Store, query: str, condition: object = EVERYTHING, limit: int = 10) -> list[str]:
    """The ids of the documents that the keyword leg proposes, best first."""
    candidates = store.keyword(KeywordQuery(tuple(query_words(query))), condition, limit, PLAIN)  # type: ignore[arg-type]
    passages = store.passages([candidate.chunk for candidate in candidates])
    return [passages[candidate.chunk].document.id for candidate in candidates]


def near(
    store: Store, *numbers: float, condition: object = EVERYTHING, limit: int = 10
) -> list[str]:
    candidates = store.semantic(vector(*numbers), condition, limit)  # type: ignore[arg-type]
    passages = store.passages([candidate.chunk for candidate in candidates])
    return [passages[candidate.chunk].document.id for candidate in candidates]


def test_a_document_comes_back_as_it_was_written(store: Store) -> None:
    given = draft(
        "one",
        section("Alpha beta."),
        path="a/one.md",
        tags=("ops", "production"),
        code="X-1",
        parent="X-0",
        project="web",
        roles=("dev", "qa"),
        confidence=0.5,
        archived=True,
        expires_at="2027-01-01T00:00:00.000000Z",
        superseded_by="X-2",
        metadata={"owner": "Zoë", "n": 3, "deep": {"a": [1, None]}},
    )
    [written] = store.apply(Changes(drafts=(given,)), NOW)
    assert written == store.find("one") == store.find("x-1") == store.find("a/one.md")
    assert written == store.find(str(written.seq))
    assert written.tags == ("ops", "production")
    assert written.roles == ("dev", "qa")
    assert written.metadata == {"owner": "Zoë", "n": 3, "deep": {"a": [1, None]}}
    assert (written.created_at, written.updated_at) == (NOW, NOW)
    assert store.find("nothing") is None
    [passage] = store.chunks("one")
    assert passage.chunk == given.chunks[0]
    assert passage.document == written


def test_a_code_is_assigned_when_none_is_given_and_a_taken_one_is_left_to_its_owner(
    store: Store,
) -> None:
    """C26"""
    put(store, draft("one", section("a"), code="X-1"), draft("two", section("b"), code="x-1"))
    put(store, draft("three", section("c")))
    assert store.codes() == ["X-1", "KB-2", "KB-3"]


def test_numbers_are_never_used_again(store: Store) -> None:
    """S0-22, C26"""
    put(store, draft("one", section("a")), draft("two", section("b")))
    store.apply(Changes(removed=("two",)), NOW)
    put(store, draft("three", section("c")))
    three = store.find("three")
    assert three is not None
    assert three.seq == 3
    assert store.chunks("three")[0].chunk_id == 3


def test_a_change_replaces_title_tags_and_chunks_and_keeps_number_and_creation(
    store: Store,
) -> None:
    put(store, draft("one", section("old words"), section("stays", "s", "S"), tags=("a",)))
    before = {p.chunk.slug: p.chunk_id for p in store.chunks("one")}
    later = "2026-02-02T00:00:00.000000Z"
    changed = draft("one", section("new words"), section("stays", "s", "S"), updated_at=later)
    [document] = store.apply(Changes(drafts=(changed,)), later)
    assert (document.seq, document.created_at, document.updated_at) == (1, NOW, later)
    assert document.tags == ()
    assert {p.chunk.slug: p.chunk_id for p in store.chunks("one")} == before
    assert found(store, "old") == []
    assert found(store, "new") == ["one"]


def test_orphaned_sections_leave_every_index(store: Store) -> None:
    """S3-30"""
    put(
        store,
        draft(
            "one",
            section("first"),
            section("second", "b", "B"),
            vectors=(vector(1, 0, 0, 0), vector(0, 1, 0, 0)),
        ),
    )
    put(store, draft("one", section("first"), vectors=(vector(1, 0, 0, 0),)))
    assert found(store, "second") == []
    assert len(store.semantic(vector(0, 1, 0, 0), EVERYTHING, 10)) == 1
    assert store.counts().chunks == store.counts().embedded == 1


def test_removing_a_document_removes_all_of_it(store: Store) -> None:
    """S3-30"""
    put(store, draft("one", section("alpha"), tags=("t",)), draft("two", section("alpha")))
    store.apply(Changes(removed=("one",)), NOW)
    assert store.find("one") is None
    assert found(store, "alpha") == near(store, 1, 0, 0, 0) == ["two"]
    assert store.tags(EVERYTHING) == []
    assert store.counts() == Counts(1, 1, 1, 0, {"markdown": 1})


def test_words_match_any_of_and_more_matches_rank_higher(store: Store) -> None:
    """S1-04, C1"""
    put(
        store,
        draft("both", section("the installation of git on a laptop")),
        draft("one", section("an installation of the coffee machine here")),
        draft("none", section("holidays and expenses for everyone in June")),
        draft("other", section("nothing of interest in this document at all")),
        draft("more", section("even less to be seen in this one, sorry")),
    )
    assert found(store, "install git") == ["both", "one"]


def test_titles_and_headings_count_as_well_as_the_text(store: Store) -> None:
    put(
        store,
        draft("plain", section("nothing")),
        draft("zebra", section("nothing here")),
        draft("headed", section("nothing there", "quagga", "Quagga")),
    )
    assert found(store, "zebras") == ["zebra"]
    assert found(store, "quagga") == ["headed"]


def test_a_document_is_found_by_its_code_and_its_files_name(store: Store) -> None:
    """C26"""
    put(store, draft("a", section("one"), code="INC-7", path="notes/postmortem-2024.md"))
    put(store, draft("b", section("two")))
    assert found(store, "inc-7")[0] == found(store, "postmortem")[0] == "a"
    put(store, draft("a", section("one"), path="notes/review.md"))
    assert found(store, "postmortem") == []
    assert found(store, "review") == ["a"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("call getUserName() first", "getUserName"),
        ("call getUserName() first", "user name"),
        ("call getUserName() first", "get_user_name"),
        ("a snake_case name", "snakeCase"),
        ("a snake_case name", "case"),
        ("see METIS-I-0018 for more", "metis-i-0018"),
        ("see METIS-I-0018 for more", "METIS"),
        ("written in C++ mostly", "c++"),
        ("written in C# mostly", "csharp"),
        ("since version 1.0.21 only", "1.0.21"),
        ("you don't know", "don't"),
        ("you don’t know", "dont"),
        ("un café naïve", "cafe"),
        ("un cafe naive", "Café"),
        ("新幹線の予約は総務部へ", "新幹線"),
        ("新幹線の予約は総務部へ", "予約"),
        ("総務部の山", "山"),
        ("山の総務部", "山"),
        ("忘记密码怎么办", "密码"),
        ("회의실 예약 방법", "예약"),
        ("ที่จอดรถของบริษัท", "จอดรถ"),
        ("ＩＣカードを使う", "ICカード"),
    ],
)
def test_identifiers_accents_and_unspaced_scripts_are_found(
    store: Store, text: str, query: str
) -> None:
    """C31, C34"""
    put(store, draft("it", section(text)), draft("not", section("something else entirely")))
    assert found(store, query)[:1] == ["it"]


def test_a_whole_identifier_ranks_before_one_that_shares_a_part(store: Store) -> None:
    """C31"""
    put(
        store,
        draft("part", section("METIS-I-0019 and METIS-T-0001 and metis")),
        draft("whole", section("METIS-I-0018 is this one here")),
        *(draft(f"filler{i}", section(f"filler number {i}")) for i in range(5)),
    )
    assert found(store, "METIS-I-0018")[0] == "whole"
    assert found(store, "1.0.21") == []


def test_bm25_is_the_same_number_everywhere(store: Store) -> None:
    """S0-01, S1-02"""
    put(
        store,
        draft("a", section("quick brown fox")),
        draft("b", section("lazy dogs sleep")),
        draft("c", section("brown bears eat honey")),
    )
    [first, second] = store.keyword(
        KeywordQuery((Word("brown"), Word("fox"))), EVERYTHING, 5, PLAIN
    )
    # Each chunk: title 1 word, text 3 or 4, the type, and the code as KB-1, KB1: 8, 8, 9 tokens.
    average = 25 / 3
    idf_fox = math.log((3 - 1 + 0.5) / 1.5)
    idf_brown = 1e-6  # in two of three rows: Robertson's weight would be negative

    def part(idf: float, length: int) -> float:
        return idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * length / average))

    assert first.score == pytest.approx(part(idf_fox, 8) + part(idf_brown, 8), rel=1e-9)
    assert second.score == pytest.approx(part(idf_brown, 9), rel=1e-9)


def test_cosine_similarity_is_exact_and_ordered(store: Store) -> None:
    """S0-08, S1-07"""
    put(
        store,
        draft("same", section("a"), vectors=(vector(1, 0, 0, 0),)),
        draft("close", section("b"), vectors=(vector(1, 1, 0, 0),)),
        draft("across", section("c"), vectors=(vector(0, 0, 1, 0),)),
        draft("against", section("d"), vectors=(vector(-1, 0, 0, 0),)),
    )
    scores = [c.score for c in store.semantic(vector(2, 0, 0, 0), EVERYTHING, 10)]
    close = similarity(vector(1, 0, 0, 0), vector(1, 1, 0, 0))
    assert scores == pytest.approx([1.0, close, 0.0, -1.0], abs=1e-6)
    assert near(store, 1, 0, 0, 0) == ["same", "close", "across", "against"]


def test_what_is_written_within_one_state_is_read_there(store: Store) -> None:
    put(store, draft("one", section("a word")))
    with store.one_state():
        assert found(store, "word") == ["one"]
        with store.one_state():
            put(store, draft("two", section("a word too")))
        assert sorted(found(store, "word")) == ["one", "two"]
    assert sorted(found(store, "word")) == ["one", "two"]


def test_an_empty_vector_no_words_or_no_limit_find_nothing(store: Store) -> None:
    """S0-04, S0-10"""
    put(store, draft("one", section("alpha")))
    assert store.semantic(b"", EVERYTHING, 10) == []
    assert store.keyword(KeywordQuery(()), EVERYTHING, 10, PLAIN) == []
    assert store.keyword(KeywordQuery((Word("alpha"),)), EVERYTHING, 0, PLAIN) == []


def test_documents_with_the_words_are_counted_whatever_a_leg_proposes(store: Store) -> None:
    """S4-33"""
    put(
        store,
        draft("a", section("alpha beta"), section("alpha", "s2", "More")),
        draft("b", section("alpha"), tags=("x",)),
        draft("c", section("gamma")),
    )
    words = KeywordQuery((Word("alpha"), Word("beta")))
    assert store.matching(words, EVERYTHING) == 2
    assert store.matching(words._replace(match="all"), EVERYTHING) == 1
    assert store.matching(words, Tagged(("x",))) == 1
    assert store.matching(KeywordQuery(()), EVERYTHING) == 0


def test_chunks_without_a_vector_are_found_by_words_only(store: Store) -> None:
    put(store, draft("one", section("alpha"), vectors=(None,)))
    assert found(store, "alpha") == ["one"]
    assert near(store, 1, 0, 0, 0) == []
    assert store.counts().embedded == 0
    put(store, draft("one", section("alpha"), vectors=(vector(1, 0, 0, 0),)))
    assert near(store, 1, 0, 0, 0) == ["one"]


LATER = "2026-06-01T00:00:00.000000Z"
CONDITIONS = [
    (EVERYTHING, {"a", "b", "c", "d"}),
    (Tagged(("ops",)), {"a", "b"}),
    (Tagged(("ops", "production")), {"b"}),
    (Tagged(("ops", "production"), "any"), {"a", "b", "c"}),
    (OneOf("type", ("code", "note")), {"c", "d"}),
    (Not(Tagged(("ops",))), {"c", "d"}),
    (AnyOf((OneOf("type", ("note",)), Tagged(("production",)))), {"b", "c", "d"}),
    (AllOf((Tagged(("ops",)), Not(Tagged(("production",))))), {"a"}),
    (AnyOf(), set()),
    (Compare("confidence", ">=", 0.5), {"a"}),
    (Not(Compare("confidence", ">=", 0.5)), {"b", "c", "d"}),
    (Compare("project", "=", "web"), {"b"}),
    (Compare("project", "present"), {"b"}),
    (Visible(LATER), {"a"}),
    (Visible(LATER, frozenset({"archived"})), {"a", "b"}),
    (Visible(LATER, frozenset({"archived", "expired", "superseded"})), {"a", "b", "c", "d"}),
]


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS)
def test_a_condition_is_applied_alike_in_lists_and_in_both_legs(
    store: Store, condition: object, expected: set[str]
) -> None:
    """S1-14, S1-15, S1-16, S0-07, C8, C14, C33"""
    put(
        store,
        draft("a", section("alpha"), tags=("ops",), confidence=0.5),
        draft("b", section("alpha"), tags=("ops", "production"), project="web", archived=True),
        draft("c", section("alpha"), tags=("production",), type="code", expires_at=LATER),
        draft("d", section("alpha"), type="note", superseded_by="a"),
    )
    assert {d.id for d in store.documents(condition, Page())} == expected  # type: ignore[arg-type]
    assert store.count(condition) == len(expected)  # type: ignore[arg-type]
    assert set(found(store, "alpha", condition)) == expected
    assert set(near(store, 1, 0, 0, 0, condition=condition)) == expected
    assert {p.document.id for p in store.newest(condition, 10)} == expected  # type: ignore[arg-type]


def test_a_filter_never_leaves_fewer_hits_than_there_are(store: Store) -> None:
    """C33: the one tagged document is the worst match of a hundred, and is found."""
    others = [draft(f"o{i}", section("alpha " * 5)) for i in range(99)]
    rare = draft(
        "rare", section("alpha and much that is not"), vectors=(vector(-1, 0, 0, 0),), tags=("t",)
    )
    put(store, *others, rare)
    assert found(store, "alpha", Tagged(("t",)), limit=3) == ["rare"]
    assert near(store, 1, 0, 0, 0, condition=Tagged(("t",)), limit=3) == ["rare"]


def test_lists_are_newest_first_then_by_number_and_paged(store: Store) -> None:
    """C29"""
    put(
        store,
        draft("old", section("a"), updated_at="2025-01-01T00:00:00.000000Z"),
        draft("x", section("a")),
        draft("y", section("a")),
    )
    assert [d.id for d in store.documents(EVERYTHING, Page(2))] == ["x", "y"]
    assert [d.id for d in store.documents(EVERYTHING, Page(2, 2))] == ["old"]
    assert [p.document.id for p in store.newest(EVERYTHING, 3)] == ["x", "y", "old"]


def test_facets_count_documents_with_a_chunk_that_passes(store: Store) -> None:
    """One with two such chunks counts once; a root has a name of its own."""
    put(
        store,
        draft("a", section("an engine"), section("an engine too", "two", "Two"), tags=("x", "y")),
        draft("b", section("an engine"), path="docs/deep/b.md", project="web", tags=("x",)),
        draft(
            "c",
            section("an engine"),
            path="c.md",
            updated_at="2025-12-31T00:00:00.000000Z",
            created_at="2025-12-28T23:59:59.000000Z",
        ),
        draft("d", section("a kettle"), path="docs/deep/d.md", project="web", tags=("y",)),
    )
    every = ("type", "tag", "project", "folder", "ending", "age", "week")
    ages = Ages((("day", NOW),))
    assert store.facets(Contains(Word("engine")), every, ages) == {
        "type": [("markdown", 3)],
        "tag": [("x", 2), ("y", 1)],
        "project": [("web", 1)],
        "folder": [(".", 1), ("docs/deep", 1)],
        "ending": [("md", 2)],
        "age": [("day", 2), ("older", 1)],
        "week": [("2025-12-29", 2), ("2025-12-22", 1)],  # by their Mondays
    }
    only = both(Contains(Word("engine")), Compare("project", "=", "web"))
    assert store.facets(only, ("folder",), ages) == {"folder": [("docs/deep", 1)]}
    assert store.facets(EVERYTHING, (), ages) == {}
    assert store.facets(Compare("project", "=", "none"), every, ages) == {}


def test_the_ending_of_a_file_is_what_follows_its_last_dot(store: Store) -> None:
    """Not that of a folder; large letters are small ones."""
    paths = ("a.tar.GZ", "v1.2/Makefile", "b.gz", "none", "c.py", "end.")
    put(store, *(draft(f"d{at}", section("x"), path=path) for at, path in enumerate(paths)))
    found = store.facets(EVERYTHING, ("ending",), Ages(()))
    assert found == {"ending": [("gz", 2), ("py", 1)]}


def test_a_draft_for_what_was_changed_meanwhile_is_refused(store: Store) -> None:
    put(store, draft("a", section("one")))
    put(store, draft("a", section("two"), updated_at=LATER)._replace(since=NOW))
    with pytest.raises(Conflict, match="by somebody else"):
        put(store, draft("a", section("three"))._replace(since=NOW))
    assert [one.chunk.text for one in store.chunks("a")] == ["two"]


def test_what_was_made_in_a_session_is_told_from_what_was_used_there(store: Store) -> None:
    put(store, draft("a", section("one")), draft("b", section("two")), draft("c", section("x")))
    uses = (Use("s", "a", "created", NOW), Use("s", "b", "recalled", NOW))
    store.apply(Changes(sessions=(Session("s", None, NOW),), uses=uses), NOW)
    made = InSession("", made=True)
    assert {one.id for one in store.documents(made, Page())} == {"a"}
    assert {one.id for one in store.documents(Not(made), Page())} == {"b", "c"}


def test_a_draft_with_a_mark_is_written_once(store: Store) -> None:
    """Whatever became of it since; with another mark, nothing is written."""
    first = draft("a", section("one"), metadata={MARK: "m"})._replace(once=True, mark="m")
    put(store, first)
    put(store, draft("a", section("changed since"), metadata={MARK: "m"}))
    again, new = store.apply(Changes(drafts=(first, draft("b", section("two")))), NOW)
    assert (again.id, new.id) == ("a", "b")
    assert store.chunks("a")[0].chunk.text == "changed since"
    other = draft("a", section("three"), metadata={MARK: "n"})._replace(once=True, mark="n")
    with pytest.raises(Conflict, match="used for other notes"):
        store.apply(Changes(drafts=(draft("c", section("four")), other)), NOW)
    assert store.find("c") is None


def test_tags_are_counted_most_used_first(store: Store) -> None:
    put(
        store,
        draft("a", section("a"), tags=("z", "m")),
        draft("b", section("b"), tags=("z",), archived=True),
        draft("c", section("c"), tags=("b",)),
    )
    assert store.tags(EVERYTHING) == [("z", 2), ("b", 1), ("m", 1)]
    assert store.tags(Visible(NOW)) == [("b", 1), ("m", 1), ("z", 1)]


def test_projects_are_counted_the_largest_first(store: Store) -> None:
    put(
        store,
        draft("a", section("a"), project="z"),
        draft("b", section("b"), project="z", archived=True),
        draft("c", section("c"), project="b"),
        draft("d", section("d"), project="m"),
        draft("e", section("e")),
    )
    assert store.projects(EVERYTHING) == [("z", 2), ("b", 1), ("m", 1)]
    assert store.projects(Visible(NOW)) == [("b", 1), ("m", 1), ("z", 1)]


def test_vectors_are_found_again_by_the_hash_of_their_text(store: Store) -> None:
    """S3-29, C16"""
    given = draft("one", section("alpha"), vectors=(vector(0, 1, 0, 0),))
    put(store, given)
    digest = given.chunks[0].hash
    assert dict(store.vectors([digest, "unknown"])) == {digest: vector(0, 1, 0, 0)}


def test_an_unchanged_chunk_keeps_its_vector_when_none_is_given(store: Store) -> None:
    """S3-30, C16"""
    put(store, draft("one", section("alpha"), vectors=(vector(0, 1, 0, 0),)))
    put(store, draft("one", section("alpha"), vectors=(None,)))
    assert near(store, 0, 1, 0, 0) == ["one"]


def test_another_model_is_refused(store: Store) -> None:
    """S1-06, C23"""
    store.use_model(MODEL)
    with pytest.raises(ModelMismatch) as refusal:
        store.use_model(Model("other", "1", 4))
    assert refusal.value.field == "embed.model"
    assert store.model() == MODEL


def test_files_and_sources_are_remembered(store: Store) -> None:
    good = FileRecord("docs/a.md", "docs", 10, 20, "abc", "one", inode=2**63 - 1, ctime_ns=22)
    bad = FileRecord("docs/b.pdf", "docs", 11, 21, "def", problem="broken")
    source = Source("docs", ("ops",))
    store.apply(Changes(files=(good, bad), sources=(source,)), NOW)
    assert store.files() == {"docs/a.md": good, "docs/b.pdf": bad}
    assert store.problems() == [bad]
    assert store.sources() == [source]
    store.apply(Changes(forgotten=("docs/b.pdf",), dropped_sources=("docs",)), NOW)
    assert store.problems() == []
    assert store.sources() == []


def test_files_within_are_those_at_a_path_and_below_it(store: Store) -> None:
    paths = (
        "docs",
        "docs/a.md",
        "docs-old/b.md",
        "docs.md",
        "win\\c.md",
        "window/d.md",
        "a_b/e.md",
    )
    store.apply(Changes(files=tuple(FileRecord(p, "s", 1, 1, "abc") for p in paths)), NOW)
    assert set(store.files(["docs"])) == {"docs", "docs/a.md"}
    assert set(store.files(["win", "docs.md"])) == {"win\\c.md", "docs.md"}
    assert set(store.files(["a_b"])) == {"a_b/e.md"}
    assert store.files(["doc", "axb", "docs/a"]) == store.files([]) == {}


def test_settled_files_are_told_from_those_that_must_be_looked_at(store: Store) -> None:
    good = FileRecord("docs/a.md", "docs", 10, 20, "abc", "one", inode=2**63 - 1, ctime_ns=22)
    odd = {
        "docs/large.md": good._replace(size=101),
        "docs/failed.md": good._replace(problem="broken"),
        "docs/left out.md": good._replace(skipped="no text in it"),
        "docs/removed.md": good._replace(excluded=True),
        "docs/no document.md": good._replace(document=None),
        "docs/not read.md": good._replace(sha256=""),
        "docs/old.md": good._replace(inode=None),
        "docs/no time.md": good._replace(ctime_ns=0),
        "docs/split otherwise.md": good._replace(document="two"),
        "other/b.md": good._replace(source="other"),
    }
    odd = {path: record._replace(path=path) for path, record in odd.items()}
    store.apply(Changes(files=(good, *odd.values())), NOW)
    settled = Settled(100, ("two", "three"))
    assert store.looks("docs", settled) == {"docs/a.md": ("docs/a.md", 10, 20, 2**63 - 1, 22)}
    assert store.unsettled(["docs"], settled) == odd
    assert store.unsettled([], settled) == store.files()
    assert set(store.looks("docs", Settled(101))) == {
        "docs/a.md", "docs/large.md", "docs/split otherwise.md",
    }  # fmt: skip
    assert store.looks("doc", Settled(101)) == {}


def test_nothing_of_a_failing_change_is_kept(store: Store) -> None:
    """S0-22: document, chunks, index rows and vectors change together or not at all."""
    put(store, draft("one", section("alpha")))
    broken = draft("three", section("gamma"))._replace(vectors=())
    with pytest.raises((ValueError, IndexError)):
        put(store, draft("two", section("beta")), draft("one", section("changed")), broken)
    assert store.find("two") is None
    assert found(store, "changed") == found(store, "beta") == []
    assert found(store, "alpha") == ["one"]
    assert store.counts().chunks == store.counts().embedded == 1


def test_whoever_writes_is_noticed_and_what_a_document_says_apart_from_its_use(
    store: Store,
) -> None:
    put(store, draft("one", section("A.")), draft("two", section("B."), project="ours"))
    ours = Compare("project", "=", "ours")

    def marks() -> tuple[object, str, str]:
        return store.generation(), store.digest(), store.digest(ours)

    first = marks()
    assert marks() == first
    store.apply(Changes(edits=(Edit("one", {"judged": "accept 2026 ada"}),)), NOW)
    second = marks()
    assert [a == b for a, b in zip(first, second, strict=True)] == [False, False, True]
    store.apply(Changes(reinforced=(Reinforcement("two", 0.5),)), NOW)
    assert marks()[1:] == second[1:]
    store.apply(Changes(edits=(Edit("two", {"archived": True}),)), NOW)
    assert marks()[2] != second[2]
    before = marks()
    store.apply(Changes(removed=("two",)), NOW)
    assert all(a != b for a, b in zip(before, marks(), strict=True))
