"""SQLite and PostgreSQL give the same answers: the same hits, in the same order, with the same
scores."""

import json
import shutil
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import knowbase
from knowbase import Base, Note, SearchRequest
from knowbase.embed.granite import Granite
from knowbase.ranking.profile import PROFILES
from knowbase.values.vectors import Model, Vector
from postgres import new_base
from sameness import assert_same
from stores import vector

FIXTURES = Path(__file__).parents[1] / "fixtures"
NOW = 1_800_000_000.0
MODES = ("hybrid", "keyword", "semantic")
QUERIES = tuple(
    line["query"] for line in json.loads((FIXTURES / "judgments.json").read_text("utf-8"))
)
FILTERS: tuple[dict[str, object], ...] = (
    {},
    {"tags": ("ops",)},
    {"tags": ("ops", "policy"), "tags_match": "any"},
    {"type": ("markdown",), "include": ("superseded", "archived", "expired")},
    {"filters": {"under": "HB-I-0018"}},
    {"filters": {"role": "qa"}},
    {"filters": {"confidence": ">=0.5"}},
    {"filters": {"project": "web"}, "unit": "document"},
)


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Base, Base]]:
    """The handbook and some memories, in a SQLite file and in PostgreSQL."""
    folder = tmp_path_factory.mktemp("same") / "handbook"
    shutil.copytree(FIXTURES / "handbook", folder)
    made = []
    for place in (str(folder), new_base()):
        path = knowbase.create(place).path
        base = Base(path, embedder=Granite(), clock=lambda: NOW)
        base.home = str(folder)
        base.add([str(folder)])
        for number, sector in enumerate(("reflective", "episodic", "procedural")):
            text = f"Deploys of the web shop need review number {number}"
            base.remember(
                Note(text, project="web", sector=sector, session="s1", code=f"M-{number}")
            )
        base.lifecycle.supersede("M-0", "M-1")
        base.feedback("M-2", "good")
        made.append(base)
    yield made[0], made[1]
    for base in made:
        base.close()


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_mode_and_filter_gives_the_same_answer(
    bases: tuple[Base, Base], profile: str
) -> None:
    """S4-12, C32, C33: a third of the filters with each query and mode, in turn."""
    compared = 0
    for number, (query, mode) in enumerate(product(QUERIES[::3], MODES)):
        for more in FILTERS[(number + number // 3) % 3 :: 3]:
            request = SearchRequest(query, mode=mode, profile=profile, explain=True)
            request = request._replace(**more)  # type: ignore[arg-type]
            answers = [base.search(request) for base in bases]
            assert_same(*answers)
            compared += answers[0].returned
    assert compared > 100


LANGUAGE = (
    "deploy -rollback", '"numbered SQL script"', "migrat*", "backup AND restore", "jwt OR oauth",
    "(backup OR certificate) AND renew", "like:HB-T-0021", 'similar:"money back"', "METIS-I-0018",
    "session:s1", "children:HB-I-0018", "is:superseded", "tag:ops NOT tag:production",
    "getUserName", "C++", "1.0.21", "東京", "regattta", "", "under:nobody",
    "created:>2020 type:code",
)  # fmt: skip


@pytest.mark.parametrize("query", LANGUAGE)
def test_the_query_language_means_the_same(bases: tuple[Base, Base], query: str) -> None:
    """C33"""
    for mode in ("keyword", "hybrid"):
        assert_same(*(base.search(SearchRequest(query, mode=mode)) for base in bases))


def test_lists_tags_timelines_and_briefs_are_the_same(bases: tuple[Base, Base]) -> None:
    one, other = bases
    assert one.tags() == other.tags()
    listed = [[d.code for d in base.documents().documents] for base in bases]
    assert listed[0] == listed[1]
    times = [base.sessions.timeline("M-1") for base in bases]
    assert [d.code for d in times[0].before] == [d.code for d in times[1].before]
    assert one.brief("web").text == other.brief("web").text
    why = [base.why_not("HB-P-0040", "backup restore") for base in bases]
    assert why[0].stage == why[1].stage


WORDS = ("alpha", "beta", "gammas", "gamma", "delta", "alpha-beta", "getAlpha", "東京", "x")


class Hashed:
    """An embedder for tests: a text's words decide its vector."""

    model = Model("hashed", "1", 4)
    max_tokens = 512

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        return iter([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        numbers = [1.0, 0.0, 0.0, 0.0]
        for word in text.split():
            numbers[len(word) % 4] += 1 + len(word) / 7
        return vector(*numbers)


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
notes = st.builds(
    lambda text, kind, tags, project, salience: Note(
        text, type=kind, tags=tuple(tags), project=project, salience=salience
    ),
    texts,
    st.sampled_from(("note", "decision", "temp_note")),
    st.lists(st.sampled_from(("a", "b")), unique=True),
    st.sampled_from((None, "web")),
    st.sampled_from((None, 0.1, 0.9)),
)
queries = st.lists(
    st.sampled_from((*WORDS, "-beta", "OR", '"alpha beta"', "alph*", "tag:a", "type:note", "+x")),
    min_size=1,
    max_size=5,
).map(" ".join)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(notes, min_size=1, max_size=8),
    st.lists(queries, min_size=1, max_size=4),
    st.sampled_from(tuple(PROFILES)),
    st.sampled_from(MODES),
)
def test_random_documents_queries_and_filters_give_the_same_answers(
    tmp_path_factory: pytest.TempPathFactory,
    written: list[Note],
    asked: list[str],
    profile: str,
    mode: str,
) -> None:
    """C33"""
    folder = tmp_path_factory.mktemp("random")
    places = (str(folder / "b.db"), new_base())
    made = [Base(knowbase.create(p).path, embedder=Hashed(), clock=lambda: NOW) for p in places]
    try:
        for base in made:
            for note in written:
                base.note(note)
        for query in asked:
            request = SearchRequest(query, profile=profile, mode=mode)
            assert_same(*(base.search(request) for base in made))
    finally:
        for base in made:
            base.close()
