"""The commands of the graph, as a person and a program see them."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Kb, environment


def test_links_from_to_and_nowhere_are_shown(handbook: Kb) -> None:
    """C24"""
    result = handbook.json("links", "HB-T-0021")
    lines = {(x["relation"], x["direction"], x["document"]["code"]) for x in result["links"]}
    assert lines >= {
        ("PARENT_OF", "from", "HB-I-0018"),
        ("PARENT_OF", "to", "HB-T-0022"),
        ("REFERENCES", "to", "HB-T-0022"),
        ("REFERENCES", "to", "HB-T-0030"),
        ("REFERENCES", "from", "HB-I-0018"),
    }
    assert result["unresolved"] == [{"target": "release-calendar.md", "kind": "markdown"}]
    out = handbook("links", "HB-T-0021").out
    assert "  REFERENCES → HB-T-0030: Database migrations (markdown) · wiki" in out
    assert "leads nowhere: release-calendar.md (markdown)" in out
    assert "there is no document" in handbook.error("links", "HB-T-9999", code=3)


def test_related_work_is_shown_and_an_unknown_document_is_an_error(handbook: Kb) -> None:
    """S4-14, S4-15, S4-16"""
    result = handbook.json("related", "HB-T-0021")
    assert len(result["results"]) == 5
    assert result["results"][0]["relation"] == "parent"
    assert result["results"][0]["document"]["code"] == "HB-I-0018"
    assert {one["relation"] for one in result["results"][1:]} == {"sibling"}
    assert result["metadata"]["relationship_types"] == ["parent", "sibling"]
    assert result["metadata"]["total"] > 5
    everything = handbook.json("related", "HB-T-0021", "--limit", "20")["results"]
    ids = [one["document"]["id"] for one in everything]
    assert len(set(ids)) == len(ids)
    unknown = "00000000-0000-0000-0000-000000000000"
    assert f"there is no document '{unknown}'" in handbook.error("related", unknown, code=3)
    for limit in ("0", "21"):
        assert "from 1 to 20" in handbook.error("related", "HB-T-0021", "--limit", limit, code=2)


def test_a_path_is_shown_step_by_step(handbook: Kb) -> None:
    out = handbook("path", "HB-T-0021", "HB-D-0002").out.splitlines()
    assert out == [
        "HB-T-0021: Deploying (markdown)",
        "  REFERENCES → HB-T-0030: Database migrations (markdown)",
        "  REFERENCES ← HB-D-0002: PostgreSQL as the only database (markdown)",
    ]
    none = handbook.json("path", "HB-T-0021", "handbook/code/tides.go")
    assert (none["found"], none["steps"]) == (False, [])


def test_communities_and_rank_are_shown(handbook: Kb) -> None:
    """S3-13, S3-35"""
    result = handbook.json("communities", "--seed", "3")
    assert handbook.json("communities", "--seed", "3") == result
    [ops] = [one for one in result["communities"] if "HB-T-0022" in one["codes"]]
    assert "HB-T-0021" in ops["codes"]
    assert "#production" in ops["label"]
    assert "communities by leiden" in handbook("communities", "--algorithm", "leiden").out
    assert "louvain, leiden" in handbook.error("communities", "--algorithm", "magic", code=2)
    ranking = handbook.json("rank", "--top", "3", "--relations", "REFERENCES,PARENT_OF")
    assert ranking["documents"][0]["document"]["code"] == "HB-T-0030"
    assert len(ranking["documents"]) == 3
    assert "links to it" in handbook("rank").out


def test_the_graph_is_exported_asked_and_drawn(handbook: Kb, tmp_path: Path) -> None:
    """S3-33, S3-35"""
    exported = handbook.json("graph", "export", tmp_path / "graph.db")
    assert exported["format"] == "graphqlite"
    assert (tmp_path / "graph.db").read_bytes()[:15] == b"SQLite format 3"
    assert handbook.json("graph", "export", tmp_path / "x", "--format", "dot")["format"] == "dot"
    assert "is a knowbase base" in handbook.error("graph", "export", handbook.base, code=2)
    shape = 'MATCH (d:Document {code: "HB-T-0021"})-[*1..2]-(r) RETURN DISTINCT r.code AS code'
    rows = {row["code"] for row in handbook.json("graph", "query", shape)["rows"]}
    related = handbook.json("search", "related:HB-T-0021", "--fts-only", "--top", "50")["hits"]
    linked = {hit["code"] for hit in related}
    assert len(rows) > 1
    assert rows - {"HB-T-0021"} <= linked
    by_tags = {
        one["document"]["code"]
        for one in handbook.json("related", "HB-T-0021", "--limit", "20", "--depth", "0")["results"]
        if one["relation"] == "tag_overlap"
    }
    assert linked - rows <= by_tags
    assert "Cypher: " in handbook.error("graph", "query", "MATCH", code=2)
    handbook("graph", "show", "HB-T-0021", "-o", tmp_path / "graph.svg")
    assert ">HB-T-0022</text>" in (tmp_path / "graph.svg").read_text()
    assert ".svg" in handbook.error("graph", "show", "HB-T-0021", "-o", "x.png", code=2)


def test_rebuilding_changes_nothing_that_was_kept(own_handbook: Kb) -> None:
    """C24"""
    links = "MATCH (a)-[r]->(b) RETURN a.code, type(r), b.code"
    before = own_handbook.json("graph", "query", links)
    rebuilt = own_handbook.json("graph", "rebuild")
    assert rebuilt["links"]["SUPERSEDES"] == 1
    after = own_handbook.json("graph", "query", links)
    assert after == before
    assert len(after["rows"]) > 30
    assert "REFERENCES" in own_handbook("graph", "rebuild").out


def test_a_note_is_linked_as_soon_as_it_is_written(kb: Kb) -> None:
    kb("note", "Harbour fees rise in May, says FEES-1.", "--code", "A-1")
    kb("note", "The fees are in a table, see [[A-1]].", "--code", "FEES-1")
    lines = kb.json("links", "A-1")["links"]
    assert {(x["relation"], x["direction"]) for x in lines} >= {
        ("REFERENCES", "to"),
        ("REFERENCES", "from"),
    }
    kb("note", "Harbour fees rise in May, says FEES-2.", "--code", "B-1")
    similar = [x for x in kb.json("links", "A-1")["links"] if x["relation"] == "SIMILAR_TO"]
    assert [(x["document"]["code"], x["weight"] > 0.8) for x in similar] == [("B-1", True)]
    kb("forget", "B-1")
    assert "B-1" not in kb("links", "A-1").out


RUN = "import sys; {before}; from knowbase.cli import main; code = main(sys.argv[1:]); {after}"


def python(kb: Kb, before: str, after: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command in a Python that something was done to."""
    return subprocess.run(
        [sys.executable, "-c", RUN.format(before=before, after=after), *arguments],
        capture_output=True,
        text=True,
        cwd=kb.folder,
        env=environment(),
        check=False,
    )


def test_a_missing_package_is_told_with_how_to_get_it(handbook: Kb) -> None:
    before = "sys.modules['graphqlite'] = None"
    done = python(handbook, before, "sys.exit(code)", "graph", "query", "x")
    assert done.returncode == 8, done
    assert done.stderr == "kb: this needs the graphqlite package (pip install 'knowbase[graph]')\n"


@pytest.mark.parametrize(
    "command",
    [
        ["communities"],
        ["communities", "--algorithm", "leiden"],
        ["rank"],
        ["graph", "show", "HB-T-0021", "-o", "all.svg"],
        ["search", "communities"],
    ],
)
def test_communities_rank_and_pictures_need_no_extra(handbook: Kb, command: list[str]) -> None:
    before = "sys.modules['igraph'] = sys.modules['graphqlite'] = None"
    done = python(handbook, before, "sys.exit(code)", *command)
    assert done.returncode == 0, done


def test_a_search_by_words_loads_nothing_of_the_graph(handbook: Kb) -> None:
    after = (
        "loaded = [m for m in sys.modules if m.startswith('knowbase.graph')"
        " or m in ('numpy', 'igraph', 'graphqlite', 'knowbase.values.edges', 'knowbase.text.names',"
        " 'knowbase.ranking.proximity', 'knowbase.store.sqlite.links')]; sys.exit(str(loaded))"
    )
    done = python(handbook, "pass", after, "search", "deploy", "--fts-only")
    assert done.stderr.strip() == "[]", done
