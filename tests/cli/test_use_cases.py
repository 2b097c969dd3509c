"""The use cases of the query language's document, asked as it writes them."""

from collections.abc import Iterator
from functools import reduce
from operator import mul

import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note, SearchRequest

INITIATIVE = "METIS-I-0018"
TASKS = {
    "METIS-T-0001": ("blocked", "The index is blocked by the parser.", ()),
    "METIS-T-0002": (
        "walk",
        "Rivers, meadows and a bridge of stone; the path along the mill is blocked since spring.",
        (),
    ),
    "METIS-T-0003": ("stuck", "An impediment: this task cannot go on, it is stuck.", ()),
    "METIS-T-0004": ("auth", "Authentication by signed tokens.", ("completed",)),
    "METIS-T-0005": ("harbour", "The gate at the harbour asks for authentication.", ()),
    "METIS-T-0006": ("login", "Sign in with user name and password, then log out.", ()),
    "METIS-T-0007": ("deep", "The deploy below the tasks is blocked.", ()),
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """An initiative, its tasks, and a task outside of it: only for tests that change nothing."""
    kb = Kb(tmp_path_factory.mktemp("work"))
    kb("init")
    kb.write("docs/i.md", f"---\nshort_code: {INITIATIVE}\n---\n# Search\n\nSee METIS-T-0001.\n")
    for code, (title, text, tags) in TASKS.items():
        parent = "METIS-T-0001" if code == "METIS-T-0007" else INITIATIVE
        front = f"short_code: {code}\nparent: {parent}\ntags: {[f'#{tag}' for tag in tags]}"
        kb.write(f"docs/{code}.md", f"---\n{front}\n---\n# The {title}\n\n{text}\n")
    kb.write("docs/other.md", "---\nshort_code: METIS-T-0099\n---\n# Else\n\nAll is blocked.\n")
    kb("add", "docs")
    return kb


@pytest.fixture(scope="module")
def base(work: Kb) -> Iterator[Base]:
    """The same, from Python."""
    with knowbase.open(str(work.base)) as base:
        yield base


BLOCKED = {"METIS-T-0001", "METIS-T-0002", "METIS-T-0007"}
MENTIONING = {"METIS-T-0005"}


@pytest.mark.parametrize(
    ("query", "filters", "having"),
    [
        (f"blocked under:{INITIATIVE}", {}, BLOCKED),
        ("blocked", {"under": INITIATIVE}, BLOCKED),
        ("authentication NOT tag:completed", {}, MENTIONING),
        (f"(index AND blocked) under:{INITIATIVE}", {}, {"METIS-T-0001"}),
    ],
)
def test_what_has_the_word_stands_before_what_has_not(
    base: Base, query: str, filters: dict[str, str], having: set[str]
) -> None:
    """S3-07, S3-18: UC-2 and UC-3, whichever profile; the profile of the document has nothing
    else."""
    request = SearchRequest(query, filters=filters, unit="document", explain=True)
    hits = base.search(request).hits
    assert {hit.code for hit in hits[: len(having)]} == having
    assert len(hits) > len(having)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert hit.explanation is not None
        factors = [factor.value for factor in hit.explanation.factors]
        assert reduce(mul, factors, hit.explanation.sum) == hit.score
    literal = base.search(request._replace(profile="work")).hits
    assert {hit.code for hit in literal} == having


@pytest.mark.parametrize("query", ["who is stuck (an impediment)", "stuck impediment", "a (b) c"])
def test_several_words_are_weighed_as_ever(base: Base, query: str) -> None:
    """Parentheses, as people write them in a question, require nothing and move nothing."""
    answer = base.search(SearchRequest(query, explain=True))
    explained = [hit.explanation for hit in answer.hits if hit.explanation is not None]
    assert explained
    assert not any(part.leg == "word" for one in explained for part in one.contributions)


def test_the_use_cases_are_asked_by_the_command(work: Kb) -> None:
    """S3-07, S3-18"""
    for query, having in (
        (f"blocked under:{INITIATIVE}", BLOCKED),
        ("authentication NOT tag:completed", MENTIONING),
    ):
        hits = work.json("search", query)["hits"]
        assert {hit["code"] for hit in hits[: len(having)]} == having


def test_the_query_communities_is_answered_with_the_communities(work: Kb, base: Base) -> None:
    """S3-13: UC-8; filters choose among what, and a quoted word is a word."""
    answer = work.json("search", "communities", "--fts-only")["communities"]
    assert answer == work.json("communities")
    codes = {code for group in answer["communities"] for code in group["codes"]}
    assert codes == {INITIATIVE, *TASKS}
    assert "communities by louvain" in work("search", "Communities", "--fts-only").out
    few = base.search("communities under:METIS-I-0018 NOT tag:completed").communities
    assert few is not None
    assert few.unlinked + sum(one.size for one in few.communities) == len(TASKS) - 1
    for query in ('"communities"', "communities auth", "like:METIS-T-0001"):
        assert base.search(query).communities is None
    assert base.search(SearchRequest("communities", syntax="plain")).communities is None
    assert "communities" in base.plan("communities").legs


def test_the_documents_calls_run_as_they_are_written(work: Kb, base: Base) -> None:
    """S3-35, S3-43: both procedures, with the names of its outputs, comments included; a node's
    number is its document's."""
    numbers = {one.seq for one in base.documents().documents}
    calls = {
        "-- Community detection\nCALL louvain() YIELD nodeId, communityId\n"
        "RETURN nodeId, communityId": {"nodeId", "communityId"},
        "-- PageRank (separate command, expensive)\nCALL pagerank() YIELD nodeId, score\n"
        "RETURN nodeId, score ORDER BY score DESC": {"nodeId", "score"},
        "call louvain() yield communityId as c, nodeId with c, nodeId return c, nodeId": {
            *("c", "nodeId")
        },
        "CALL louvain() YIELD node_id, community RETURN node_id AS nodeId": {"nodeId"},
    }
    for query, names in calls.items():
        rows = base.graph.query(query).rows
        assert {frozenset(row) for row in rows} == {frozenset(names)}
        assert {row["nodeId"] for row in rows} == numbers
    ranked = work.json("graph", "query", [*calls][1])["rows"]
    scores = [row["score"] for row in ranked]
    assert scores == sorted(scores, reverse=True)
    assert base.get(str(ranked[0]["nodeId"])).document == base.graph.rank(1).documents[0].document


@pytest.fixture(scope="module")
def themes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    """Documents of the other use cases, some of them tagged and linked."""
    folder = tmp_path_factory.mktemp("themes")
    texts = {
        "METIS-T-0012": ("#backend #perf", "Caching", "Cache rendered pages to make them faster."),
        "METIS-T-0013": ("#backend #refactor", "Split", "Split the monolith, see METIS-T-0012."),
        "METIS-T-0014": ("#backend #refactor", "Tidy", "Rename the modules of the server."),
        "METIS-T-0015": ("#ops", "Plan", "The database migration of last spring went well."),
        "METIS-T-0016": ("#ops", "Birds", "The migration of birds over the lake in autumn."),
        "METIS-T-0017": ("#ops", "Disk", "The database server needs a larger disk."),
        "METIS-T-0018": ("#food", "Lunch", "Soup on Mondays, fish on Fridays."),
    }
    with knowbase.create(str(folder / "base.db")) as base:
        for code, (tags, title, text) in texts.items():
            base.note(Note(text, code=code, title=title, tags=tuple(tags.split())))
        yield base


@pytest.mark.parametrize("profile", ["best", "work"])
def test_the_other_use_cases_find_what_the_document_says(themes: Base, profile: str) -> None:
    """S3-02, S3-05, S3-10, S3-11, S3-12: UC-1, UC-4, UC-5, UC-6 and UC-7 as they are written."""

    def codes(query: str) -> list[str]:
        request = SearchRequest(query, profile=profile, unit="document")
        return [hit.code for hit in themes.search(request).hits]

    assert set(codes("tag:backend AND tag:refactor")) == {"METIS-T-0013", "METIS-T-0014"}
    assert codes("database migration")[0] == "METIS-T-0015"
    assert {"METIS-T-0016", "METIS-T-0017"} <= set(codes("database migration"))
    similar = codes('similar:"improve API response times"')
    assert similar[0] == "METIS-T-0012"
    assert "METIS-T-0012" not in codes("like:METIS-T-0012")
    # By a reference, then by two tags in common with what is referred to.
    near = codes("related:METIS-T-0013 depth:2")
    assert near[0] == "METIS-T-0012"
    assert "METIS-T-0014" in near
    assert "METIS-T-0018" not in near
