"""One ranking for people and agents: the base's profile, on every surface."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import Kb
from entries import fixtures
from knowbase import Base, KnowledgeBaseSearch, Note, SearchRequest
from knowbase.contracts.entries import kb_get_related, kb_search
from knowbase.contracts.knowledge import Options, search_knowledge
from knowbase.contracts.memory import SearchOptions, create_search_service
from knowbase.errors import Conflict, InvalidInput
from knowbase.ranking.profile import PROFILES
from knowbase.values.access import Access
from knowbase.values.vectors import Model, pack

QUESTION = "may I release on a Friday?"


@pytest.fixture(scope="module")
def base(handbook: Kb) -> Iterator[Base]:
    with knowbase.open(str(handbook.base)) as opened:
        yield opened


@pytest.mark.parametrize("query", [QUESTION, "rollback production", "who answers the phone"])
def test_agents_get_what_people_get(base: Base, query: str) -> None:
    """S4-31, C27: the same entries in the same order with the same scores."""
    people = base.search(SearchRequest(query, unit="document", syntax="plain"))
    agents = kb_search(base, query=query)
    assert people.profile == agents.metadata.profile == "best"
    assert [(hit.code, hit.score) for hit in people.hits] == [
        (entry.code, entry.score) for entry in agents.results
    ]
    typed = [one.id for one in search_knowledge(base, query)]
    assert typed == [hit.id for hit in people.hits]
    files = create_search_service(base).search_documents(query)
    assert [(one.memory.code, one.score) for one in files] == [
        (hit.code, hit.score) for hit in people.hits
    ]


def test_the_recipe_of_a_document_is_one_setting(tmp_path: Path) -> None:
    """S4-06, S4-20, C27: kb init --profile, and the environment over it."""
    kb = Kb(tmp_path)
    made = kb.json("init", "--profile", "entries")
    assert made == {"base": str(kb.base), "is_new": True, "profile": "entries", "cluster": None}
    with knowbase.open(str(kb.base)) as base:
        base.remember("Deploys wait for two reviews")
        base.remember("Lunch is at noon")
        found = kb_search(base, query="deploys")
        assert found.metadata.profile == "entries"
        assert found.results[0].score == pytest.approx(0.7 / 61 + 0.3 / 61)
        other = kb_search(base, query="deploys", profile="kb")
        assert other.results[0].score == pytest.approx(2 / 61)
    assert kb.json("search", "deploys")["hits"][0]["score"] == pytest.approx(1 / 61)
    typed = kb.json("search", "deploys", "--fts-only", env={"KB_SEARCH_PROFILE": "typed"})
    assert typed["profile"] == "typed"


def test_kb_init_keeps_the_profile_beside_what_stands_in_kb_toml(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb.write("kb.toml", "# ours\n[search]\ndefault_top = 3\n\n[profiles.house]\nrrf_k = 30\n")
    assert kb.json("init", "--profile", "house")["profile"] == "house"
    text = (tmp_path / "kb.toml").read_text()
    assert text.startswith('# ours\n[search]\nprofile = "house"\ndefault_top = 3\n')
    assert kb.json("init", "--profile", "house")["is_new"] is False
    line = kb.error("init", "--profile", "kb", code=Conflict.exit_code)
    assert "kb.toml has search.profile = 'house' (change it there)" in line


def test_a_profile_that_is_not_there_makes_no_base(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    assert "unknown profile 'poem' (one of kb, typed" in kb.error(
        "init", "--profile", "poem", code=2
    )
    assert not kb.base.exists()
    kb.write("kb.toml", "search.default_top = 3\n")
    assert "write search.profile" in kb.error("init", "--profile", "kb", code=2)


def test_typed_knowledge_and_memories_rank_by_their_recipes_when_it_is_set(tmp_path: Path) -> None:
    """S0-15, S0-17, S2-13, S2-21"""
    with knowbase.create(str(tmp_path / "t" / "b.db"), profile="typed") as typed:
        typed.remember(Note("Deploys wait for two reviews", type="decision"))
        [first] = search_knowledge(typed, "deploys", Options(limit=1))
        assert first.type_weight == 2.0
        assert first.final_score == pytest.approx(4 / 61)
    with knowbase.create(str(tmp_path / "m" / "b.db"), profile="memory") as memory:
        made = memory.remember("Deploys wait for two reviews").document
        [hit] = create_search_service(memory).search(SearchOptions("deploys"))
        assert hit.score <= 1
        memory.flush()
        assert memory.whole(made.code).salience > made.salience


@pytest.mark.parametrize("profile", PROFILES)
def test_every_recipe_serves_every_contract(
    handbook: Kb, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    """C27: KB_SEARCH_PROFILE"""
    monkeypatch.setenv("KB_SEARCH_PROFILE", profile)
    with knowbase.open(str(handbook.base)) as whole:
        base = whole.within(Access(write=False))  # nothing is reinforced
        found = kb_search(base, query="rollback", limit=3)
        assert found.metadata.profile == profile
        ids = [entry.id for entry in found.results]
        assert [one.id for one in search_knowledge(base, "rollback", Options(limit=3))] == ids
        [first, *_] = search_knowledge(base, "rollback")
        assert set(first.sources) <= {"fts", "vec"}


def test_three_candidates_a_hit_and_no_more_in_the_recipe_of_s1(base: Base) -> None:
    """S1-08: --top 5 takes 15 a leg."""
    answer = base.search(SearchRequest("the release of software", profile="kb", top=5))
    assert answer.total <= 30
    legs = base.why_not("HB-T-0021", SearchRequest(QUESTION, profile="kb", top=5)).legs
    assert [leg.depth for leg in legs] == [15, 15]


def test_copies_of_a_text_are_listed_or_hits_of_their_own(tmp_path: Path) -> None:
    """S4-21, S1-11: one hit that names the others in `best`; each a hit in a document's recipe."""
    with knowbase.create(str(tmp_path / "b.db")) as base:
        text = "The staging password rotates weekly"
        for code, project in (("A-1", "web"), ("A-2", "ops"), ("A-3", None)):
            base.remember(Note(text, code=code, project=project))
        base.remember(Note("Lunch is at noon", code="L-1"))
        [first, *_] = kb_search(base, query="staging password").results
        assert {first.code, *(one.code for one in first.copies)} == {"A-1", "A-2", "A-3"}
        assert {first.project, *(one.project for one in first.copies)} == {"web", "ops", None}
        told = {code: base.why_not(code, "staging password").reason for code in ("A-1", "A-2")}
        for code, reason in told.items():
            assert "hit number 1" in reason
            named = f"{first.code} has exactly the same text and stands for it"
            assert (named in reason) is (code != first.code)
        for profile in ("entries", "kb", "typed", "memory", "work"):
            found = kb_search(base, query="staging password", profile=profile).results
            assert [one.code for one in found][:3] == ["A-3", "A-2", "A-1"], profile
            assert not any(one.copies for one in found)
        stands = base.why_not("A-1", SearchRequest("staging password", profile="entries"))
        assert stands.reason == "it is there: hit number 3"


class Stated:
    """An embedding client by which the second entry is near and the third is far, as S4 says."""

    model = Model("stated", "1", 2)
    max_tokens = 512
    near = {"Route": 0.95, "When": 0.8, "Vercel": 0.4}  # noqa: RUF012 - never changed

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[bytes]:
        for text in texts:
            share = next((self.near[word] for word in self.near if text.startswith(word)), 0.0)
            yield pack([share, (1 - share**2) ** 0.5])

    def embed_query(self, text: str) -> bytes:
        return pack([1.0, 0.0])


def test_the_example_of_s4_has_its_order_where_the_model_says_what_it_says(tmp_path: Path) -> None:
    """S4-23, S4-25: entry-1 > entry-2 > entry-3, under `entries`."""
    path = knowbase.create(str(tmp_path / "b.db"), profile="entries").path
    search = KnowledgeBaseSearch(path, embedding_client=Stated())
    for entry in fixtures()["entries"][:3]:
        search.base.remember(Note(entry["content"], type="fact", code=entry["id"]))
    found = search.search(query="How to order routes in vercel.json").results
    assert [entry.code for entry in found] == ["FX-1", "FX-2", "FX-3"]
    search.close()


THRESHOLDS: list[tuple[dict[str, Any], str]] = [
    ({"threshold": 0.02}, "leaves hardly anything out: scores of the profile best go up to 3.5"),
    ({"threshold": 3.6}, "no score can reach the threshold 3.6"),
    ({"threshold": 2.4}, "leaves out everything: the best of"),
    ({"threshold": 0.001, "profile": "kb"}, "leaves nothing out: no score of the profile kb"),
    ({"threshold": 0.5, "profile": "typed"}, "leaves out everything: the best of"),
    ({"threshold": 1.5, "profile": "memory"}, "no score can reach the threshold 1.5"),
    ({"threshold": 0.03, "profile": "memory"}, "leaves hardly anything out"),
]


@pytest.mark.parametrize(("asked", "said"), THRESHOLDS)
def test_a_threshold_that_cannot_mean_anything_is_said(
    base: Base, asked: dict[str, Any], said: str
) -> None:
    """S1-17, C7"""
    notices = base.search(SearchRequest("rollback production", **asked)).notices
    assert said in notices[0]


def test_a_threshold_that_means_something_is_not(base: Base) -> None:
    """S1-17"""
    for asked in ({"threshold": 0.5}, {"threshold": 0.02, "profile": "kb"}, {"threshold": 0}):
        assert base.search(SearchRequest("rollback production", **asked)).notices == ()


def test_an_entry_is_whole_and_says_where_it_stands(tmp_path: Path) -> None:
    """S4-02, S4-29"""
    sections = (f"## Part {n}\n\nSentence {n} about otters and rivers.\n\n" for n in range(60))
    (tmp_path / "docs").mkdir()
    text = "# Otters\n\n" + "".join(sections)
    (tmp_path / "docs" / "otters.md").write_text(text)
    (tmp_path / "rivers.md").write_text("# Rivers\n\nSee [otters](docs/otters.md).\n")
    with knowbase.create(str(tmp_path / "b.db")) as base:
        base.add([str(tmp_path / "docs"), str(tmp_path / "rivers.md")])
        [entry] = kb_search(base, query="sentence 42", limit=1).results
        assert entry.content == base.get("docs/otters.md").text == text
        assert (entry.path, entry.heading) == ("docs/otters.md", "Part 42")
        assert text.splitlines()[entry.line - 1].startswith("Sentence 42")
        assert entry.updated_at <= entry.created_at  # the file was there before
        [river, *_] = kb_get_related(base, entry_id=entry.code).results
        assert (river.path, river.relation) == ("rivers.md", "linked")
        assert "See" in river.snippet
        assert river.content == base.get("rivers.md").text


def test_filters_of_an_agent_are_arguments(tmp_path: Path) -> None:
    """S4-01, S4-31: type, path, dates, project, profile."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "store.py").write_text("class PostgresStore:\n    otters = 1\n")
    (tmp_path / "notes.md").write_text("# Notes\n\nThe PostgresStore keeps otters.\n")
    with knowbase.create(str(tmp_path / "b.db")) as base:
        base.add([str(tmp_path / "src"), str(tmp_path / "notes.md")])
        base.remember(Note("Otters live in PostgresStore", type="decision", project="web"))

        def paths(**asked: Any) -> set[str | None]:
            return {one.path for one in kb_search(base, query="PostgresStore", **asked).results}

        assert paths() == {"src/store.py", "notes.md", None}
        assert paths(path="src/") == paths(entry_type="code") == {"src/store.py"}
        assert paths(entry_type="decision") == paths(project="web") == {None}
        assert paths(after="2999-01-01") == paths(before="2001-01-01") == set()
        assert paths(after="1d") == paths()
        with pytest.raises(InvalidInput) as caught:
            kb_search(base, query="x", entry_type="poem")
        assert caught.value.field == "entry_type"
        assert "decision, lesson" in (caught.value.hint or "")
        with pytest.raises(InvalidInput, match="unknown profile 'poem'"):
            kb_search(base, query="x", profile="poem")
        with pytest.raises(InvalidInput, match="is not a date"):
            kb_search(base, query="x", after="soon")


def test_counts_are_an_estimate_and_exact(tmp_path: Path) -> None:
    """S4-33: what the legs proposed, and how many entries have the words."""
    with knowbase.create(str(tmp_path / "b.db"), profile="kb") as base:
        for number in range(20):
            base.remember(Note(f"Fact {number} is about otters", type="fact"))
        base.remember(Note("Nothing of the sort", type="fact"))
        few = kb_search(base, query="otters", limit=2).metadata
        assert (few.matching, few.total_is_exact) == (20, False)
        assert few.total < 20
        all_ = kb_search(base, query="otters", limit=50).metadata
        assert (all_.matching, all_.total, all_.total_is_exact) == (20, 21, True)
        assert kb_search(base, query="otters", entry_type="lesson").metadata.matching == 0


def test_a_file_is_read_by_its_name_and_several_are_named(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    for path in ("docs/postgres.md", "a/same.md", "b/same.md", "postgres/other.md"):
        kb.write(path, f"# {path}\n\nText of {path}\n")
    kb("add", "docs", "a", "b", "postgres")
    with knowbase.open(str(kb.base)) as base:
        assert base.get("postgres.md").document.path == "docs/postgres.md"
        assert base.get("POSTGRES.md:_preamble").document.path == "docs/postgres.md"
    several = kb.error("get", "same.md", code=3)
    assert "is the name of several files" in several
    assert "a/same.md" in several
    assert "b/same.md" in several
    assert "(docs/postgres.md)?" in kb.error("archive", "postgres.md", code=3)  # not by a guess


def test_every_field_of_every_result_is_described() -> None:
    """S4-26: in OpenAPI."""
    from knowbase.http.openapi import document

    schemas = document()["components"]["schemas"]
    bare = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, part in schema.get("properties", {}).items()
        if name != "Error" and "description" not in part
    ]
    assert bare == []
    assert "Hit" in schemas


def test_the_packaged_model_is_why_the_example_differs(base: Base) -> None:
    """S4-23: by words alone, the second and third are not told apart; its meaning decides."""
    first, second, third = (
        next(iter(base.embedder.embed_documents([entry["content"]])))
        for entry in fixtures()["entries"][:3]
    )
    from knowbase.store.nearest import nearest

    query = base.embedder.embed_query("How to order routes in vercel.json")
    order = nearest(query, 3, lambda _: [(1, first), (2, second), (3, third)])
    assert [one.chunk for one in order] == [1, 3, 2]
