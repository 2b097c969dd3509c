"""Searching from the command line."""

import re
import subprocess
import sys
from typing import Any

import pytest

from conftest import Kb, environment, one_json

ANSWER = {
    "query", "hits", "returned", "total", "search_modes_used", "fallback_mode",
    "semantic_coverage", "query_time_ms", "filters", "notices", "profile", "problems",
    "suggestions", "communities", "timings", "offset", "next_cursor", "facets",
    "verdict", "partial",
}  # fmt: skip
HIT = {
    "id", "code", "title", "type", "tags", "path", "section", "heading", "line", "page",
    "snippet", "score", "sources",
}  # fmt: skip
MOST_MODULES = 111  # of ours, for a search by words
VALID_TYPES = ("markdown", "pdf", "code", "html", "text", "note", "decision", "lesson")


def paths(answer: Any) -> list[str]:
    return [hit["path"].removeprefix("handbook/") for hit in answer["hits"]]


def test_a_search_is_hybrid_unless_told_otherwise(handbook: Kb) -> None:
    """S1-12 C19"""
    answer = handbook.json("search", "deploy freeze friday")
    assert answer["search_modes_used"] == ["keyword", "semantic"]
    assert answer["fallback_mode"] is False
    assert answer["filters"]["mode"] == "hybrid"
    assert paths(answer)[0] == "operations/deploying.md"
    assert answer["hits"][0]["sources"] == ["fts", "vec"]


def test_the_answer_has_the_documented_shape(handbook: Kb) -> None:
    """S0-18"""
    answer = handbook.json("search", "install git", "--top", "3", "--tags", "#Onboarding")
    assert set(answer) == ANSWER
    assert answer["query"] == "install git"
    assert answer["returned"] == len(answer["hits"]) == 3
    assert answer["total"] >= 3
    assert answer["query_time_ms"] > 0
    assert answer["notices"] == []
    assert answer["filters"] == {
        "tags": ["onboarding"], "tags_match": "all", "types": [], "include": [],
        "threshold": None, "top": 3, "mode": "hybrid", "unit": "chunk",
    }  # fmt: skip
    for hit in answer["hits"]:
        assert set(hit) >= HIT
    best = answer["hits"][0]
    assert best["code"] == "HB-T-0002"
    assert best["title"] == "Git on a new laptop"
    assert best["type"] == "markdown"
    assert best["tags"] == ["backend", "onboarding"]
    assert best["path"] == "handbook/engineering/git-setup.md"
    assert best["section"] == "HB-T-0002:install-git"
    assert best["heading"] == "Install git"
    assert best["line"] == 16
    assert best["page"] is None
    assert "<mark>install</mark> <mark>git</mark>" in best["snippet"]


def test_scores_are_reciprocal_rank_fusion_and_fall(handbook: Kb) -> None:
    """S1-11 S1-13"""
    query = ("search", "rollback production", "--profile", "kb")
    hits = handbook.json(*query)["hits"]
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(2 / 61, rel=0.05)
    alone = handbook.json(*query, "--fts-only")["hits"]
    assert [hit["score"] for hit in alone[:2]] == pytest.approx([1 / 61, 1 / 62])


def test_the_k_of_the_fusion_is_set_in_a_file(kb: Kb) -> None:
    """S1-11"""
    kb.write("kb.toml", "[profiles.kb]\nrrf_k = 9\n")
    kb("note", "Roll back production")
    [hit] = kb.json("search", "rollback production", "--profile", "kb", "--fts-only")["hits"]
    assert hit["score"] == pytest.approx(1 / 10)


def test_fts_only_runs_no_semantic_search(handbook: Kb) -> None:
    """S1-05 C20"""
    answer = handbook.json("search", "install git", "--fts-only")
    assert answer["search_modes_used"] == ["keyword"]
    assert answer["fallback_mode"] is False
    assert {source for hit in answer["hits"] for source in hit["sources"]} == {"fts"}


def modules_of(handbook: Kb, *arguments: str) -> list[str]:
    """The modules that a command imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "knowbase.cli", *arguments],
        capture_output=True, text=True, cwd=handbook.folder, env=environment(), check=True,
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return [line.rpartition("|")[2].strip() for line in lines]


def imported_by(handbook: Kb, *arguments: str) -> set[str]:
    """The top-level packages that a command imports."""
    return {name.partition(".")[0] for name in modules_of(handbook, *arguments)}


def test_fts_only_loads_little(handbook: Kb) -> None:
    """Most of such a search is loading modules: whoever adds one raises the number knowingly."""
    loaded = modules_of(handbook, "search", "install git", "--fts-only")
    own = [name for name in loaded if name.startswith("knowbase.")]
    assert len(own) <= MOST_MODULES, own
    slow = {"argparse", "asyncio", "dataclasses", "datetime", "hashlib", "inspect", "json"}
    slow |= {"logging", "pathlib", "random", "shutil", "socket", "sqlite3", "subprocess", "uuid"}
    assert not slow & set(loaded)


def test_fts_only_loads_no_model(handbook: Kb) -> None:
    """S1-05"""
    model = {"onnxruntime", "numpy", "knowbase_granite"}
    assert not model & imported_by(handbook, "search", "install git", "--fts-only")
    loaded = imported_by(handbook, "search", "install git", "--vec-only")
    assert model <= loaded
    assert "tokenizers" not in loaded, "a short query is cut up without it"
    again = imported_by(handbook, "search", "install git", "--vec-only")
    assert not {"onnxruntime", "numpy", "tokenizers"} & again, "its vector is known"


def test_vec_only_runs_no_keyword_search(handbook: Kb) -> None:
    """S1-10"""
    answer = handbook.json("search", "install git", "--vec-only")
    assert answer["search_modes_used"] == ["semantic"]
    assert {source for hit in answer["hits"] for source in hit["sources"]} == {"vec"}


def test_keyword_search_finds_stems_and_any_of_the_words(handbook: Kb) -> None:
    """S1-04 S1-02 C1"""
    answer = handbook.json("search", "install git", "--fts-only")
    assert answer["hits"][0]["section"] == "HB-T-0002:install-git"
    assert "welcome.md" in paths(answer), "git alone is enough"
    assert paths(handbook.json("search", "installation", "--fts-only"))[0] == (
        "engineering/git-setup.md"
    )


def test_words_need_no_quotes(handbook: Kb) -> None:
    joined = handbook.json("search", "install git", "--fts-only")
    loose = handbook.json("search", "install", "git", "--fts-only")
    assert loose["query"] == "install git"
    assert loose["hits"] == joined["hits"]


@pytest.mark.parametrize("mode", [("--vec-only",), ()])
def test_meaning_is_found_without_shared_words(handbook: Kb, mode: tuple[str, ...]) -> None:
    """S1-09"""
    answer = handbook.json("search", "how to set up version control", "--top", "5", *mode)
    assert "engineering/git-setup.md" in paths(answer)


def test_one_tag_narrows_the_search_to_its_documents(handbook: Kb) -> None:
    """S1-14"""
    hits = handbook.json("search", "production", "--tags", "ops", "--top", "50")["hits"]
    assert len(hits) > 10
    assert all("ops" in hit["tags"] for hit in hits)


def test_of_several_tags_a_document_needs_all(handbook: Kb) -> None:
    """S1-15"""
    both = handbook.json("search", "production", "--tags", "ops,production", "--top", "50")
    assert both["hits"]
    assert all({"ops", "production"} <= set(hit["tags"]) for hit in both["hits"])
    repeated = handbook.json("search", "production", "--tags=ops", "--tags=production", "-n", "50")
    assert repeated["hits"] == both["hits"]


def test_of_several_tags_any_is_enough_when_asked(handbook: Kb) -> None:
    """C8"""
    arguments = ("--tags", "people,onboarding", "--tags-match", "any", "--fts-only")
    answer = handbook.json("search", "git laptop", *arguments)
    assert answer["filters"]["tags_match"] == "any"
    assert "engineering/git-setup.md" in paths(answer)


def test_a_tag_that_nobody_has_finds_nothing(handbook: Kb) -> None:
    assert handbook.json("search", "production", "--tags", "ops,nobody")["hits"] == []


def test_a_type_narrows_the_search(handbook: Kb) -> None:
    """S1-16"""
    code = handbook.json("search", "retry after", "--type", "code")
    assert {hit["type"] for hit in code["hits"]} == {"code"}
    several = handbook.json("search", "berth", "--type", "code,html", "--top", "50")
    assert {hit["type"] for hit in several["hits"]} == {"code", "html"}


def test_an_unknown_type_is_an_error_that_names_the_valid_ones(handbook: Kb) -> None:
    """S1-16 C9"""
    line = handbook.error("search", "berth", "--type", "spreadsheet", code=2)
    assert "'spreadsheet'" in line
    assert all(name in line for name in VALID_TYPES)


def test_a_threshold_keeps_only_what_scores_as_much(handbook: Kb) -> None:
    """S1-17"""
    query = ("search", "rollback production", "--top", "50", "--profile", "kb")
    whole = handbook.json(*query)
    kept = handbook.json(*query, "--threshold", "0.02")
    assert kept["hits"] == [hit for hit in whole["hits"] if hit["score"] >= 0.02]
    assert 0 < kept["returned"] < whole["returned"]
    assert kept["notices"] == []


def test_a_threshold_that_no_score_can_reach_is_said(handbook: Kb) -> None:
    """S1-17 C7"""
    by_places = ("search", "rollback", "--fts-only", "--profile", "kb", "--threshold", "0.02")
    answer = handbook.json(*by_places)
    assert answer["hits"] == []
    assert answer["total"] == 0
    assert "can reach the threshold 0.02" in answer["notices"][0]
    assert "note: no score can reach" in handbook(*by_places).out
    by_lift = handbook.json("search", "rollback", "--fts-only", "--threshold", "1.41")
    assert "can reach the threshold 1.41" in by_lift["notices"][0]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_threshold_that_is_no_number_still_gives_json(handbook: Kb, value: str) -> None:
    result = handbook("search", "x", "--fts-only", f"--threshold={value}", "--json", code=2)
    assert "threshold" in result.err


def test_ten_hits_by_default(handbook: Kb) -> None:
    """S1-18"""
    answer = handbook.json("search", "berth harbour booking deploy", "--fts-only")
    assert answer["returned"] == answer["filters"]["top"] == 10
    assert answer["total"] > 10


def test_the_number_of_hits_is_set_in_a_file_a_variable_or_a_flag(own_handbook: Kb) -> None:
    """S1-18"""
    query = ("search", "berth harbour booking deploy", "--fts-only")
    own_handbook.write("kb.toml", "[search]\ndefault_top = 4\n")
    assert own_handbook.json(*query)["returned"] == 4
    variable = {"KB_SEARCH_DEFAULT_TOP": "3"}
    assert own_handbook.json(*query, env=variable)["returned"] == 3
    assert own_handbook.json(*query, "--top", "2", env=variable)["returned"] == 2
    assert own_handbook.json(*query, "-n", "6", env=variable)["returned"] == 6


def test_fewer_matches_than_asked_is_no_error(handbook: Kb) -> None:
    """S1-19"""
    answer = handbook.json("search", "zurich", "--fts-only", "--top", "50")
    assert answer["returned"] == len(answer["hits"]) == 1
    out = handbook("search", "zurich", "--fts-only", "--top", "50").out
    assert "returned: 1 of 1" in out


def test_no_match_at_all_is_no_error(handbook: Kb) -> None:
    """S1-19"""
    answer = handbook.json("search", "xylophone", "--fts-only")
    assert (answer["hits"], answer["returned"], answer["total"]) == ([], 0, 0)
    assert "returned: 0 of 0" in handbook("search", "xylophone", "--fts-only").out


@pytest.mark.parametrize("query", ["", "   ", "\t\n"])
def test_an_empty_query_finds_nothing(handbook: Kb, query: str) -> None:
    """S0-04 C21"""
    answer = handbook.json("search", query)
    assert (answer["hits"], answer["returned"]) == ([], 0)
    assert answer["notices"] == ["the query has no words"]


@pytest.mark.parametrize("query", ["()", '"*"', "…"])
def test_a_query_without_words_finds_nothing_by_words(handbook: Kb, query: str) -> None:
    """S0-04 S0-03"""
    assert handbook.json("search", query, "--fts-only")["hits"] == []


def test_an_empty_query_with_filters_lists_the_newest(handbook: Kb) -> None:
    """C21 C29"""
    answer = handbook.json("search", "", "--type", "markdown", "--top", "4")
    listed = handbook.json("list", "--type", "markdown", "--limit", "4")["documents"]
    assert [hit["code"] for hit in answer["hits"]] == [document["code"] for document in listed]
    assert answer["returned"] == 4
    assert answer["search_modes_used"] == []


def test_a_person_reads_code_title_place_snippet_and_score(handbook: Kb) -> None:
    """S3-31 S3-06"""
    lines = handbook("search", "install git", "--top", "1").out.splitlines()
    assert lines[0] == "HB-T-0002: Git on a new laptop (markdown)"
    assert lines[1] == '  Match in "Install git": handbook/engineering/git-setup.md:16'
    assert "sudo apt install git" in lines[2]
    assert "<mark>" not in lines[2]
    assert re.match(r"  Score: \d\.\d+ ", lines[3])
    assert lines[3].endswith(" · fts + vec · HB-T-0002:install-git")
    assert lines[5].startswith("returned: 1 of ")
    assert "keyword + semantic" in lines[5]


def test_places_are_shown_from_where_the_person_stands(handbook: Kb) -> None:
    inside = handbook.folder / "handbook" / "operations"
    out = handbook("search", "install git", "--top", "1", "--fts-only", cwd=inside).out
    assert ": ../engineering/git-setup.md:16" in out


def test_there_are_no_escapes_when_nobody_watches(handbook: Kb) -> None:
    for command in (("search", "install git"), ("list",), ("tags",), ("status",), ("config",)):
        assert "\x1b" not in handbook(*command).out


HIDDEN = [
    ("archived", "bucket air conditioner", "operations/machine-room.md"),
    ("expired", "crates ropeworks", "people/office-move-2019.md"),
    ("superseded", "session cookie logged in", "decisions/0001-session-cookies.md"),
]


@pytest.mark.parametrize(("state", "query", "path"), HIDDEN)
@pytest.mark.parametrize("mode", ["keyword", "semantic"])
def test_what_is_put_away_is_hidden_until_asked_for(
    handbook: Kb, state: str, query: str, path: str, mode: str
) -> None:
    """C14 S0-07 S0-12"""
    hidden = handbook.json("search", query, "--mode", mode, "--top", "100")
    assert path not in paths(hidden)
    shown = handbook.json("search", query, "--mode", mode, "--include", state)
    assert path in paths(shown)
    assert shown["filters"]["include"] == [state]


def test_everything_put_away_can_be_included_at_once(handbook: Kb) -> None:
    """C14"""
    every = "archived,expired,superseded"
    assert handbook.json("list")["total"] == 37
    assert handbook.json("list", "--include", every)["total"] == 40
    assert "'old'" in handbook.error("search", "x", "--include", "old", code=2)


def test_a_hit_can_be_a_whole_document(handbook: Kb) -> None:
    """C15"""
    answer = handbook.json("search", "install git", "--unit", "document", "--fts-only")
    codes = [hit["code"] for hit in answer["hits"]]
    assert len(codes) == len(set(codes))
    assert answer["hits"][0]["more"] == 3
    human = handbook("search", "install git", "--unit", "document", "--fts-only").out
    assert "more like it" in human


def test_hits_of_one_search_always_come_in_the_same_order(handbook: Kb) -> None:
    """C29"""
    first, second = (handbook.json("search", "berth booking")["hits"] for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "query",
    [
        "x" * 10_000,
        "word " * 2_000,
        "🎉🚢",
        '"unbalanced AND (OR NOT NEAR/3 *:^ -',
        "title:git OR text:git",
        "'; DROP TABLE documents; --",
        "%s %d {0} \\",
    ],
    ids=["long word", "many words", "emoji", "fts syntax", "columns", "sql", "formats"],
)
def test_any_text_is_a_query(handbook: Kb, query: str) -> None:
    """S0-03 S1-03 C2"""
    answer = one_json(handbook("search", "--json", "--", query).out)
    assert answer["query"] == query
    assert answer["search_modes_used"] == ["keyword", "semantic"]


def test_a_very_long_query_says_what_was_left_out(handbook: Kb) -> None:
    words = " ".join(f"w{number}" for number in range(1500))
    assert "512 are read" in handbook.json("search", words)["notices"][0]


def test_words_behind_two_dashes_are_never_options(handbook: Kb) -> None:
    answer = one_json(handbook("search", "--fts-only", "--json", "--", "--global").out)
    assert answer["query"] == "--global"
    assert paths(answer)[0] == "engineering/git-setup.md"
