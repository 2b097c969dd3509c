"""Hierarchies: from front matter, from a flag, and from folders."""

from conftest import Kb


def below(kb: Kb, query: str) -> set[str]:
    hits = kb.json("search", query, "--fts-only", "--unit", "document")["hits"]
    return {hit["path"] for hit in hits}


def test_folders_make_a_hierarchy_of_their_index_pages(kb: Kb) -> None:
    """S3-07, S3-08"""
    kb.write("wiki/README.md", "---\ncode: TOP\n---\n# Top\n")
    kb.write("wiki/plan.md", "# Plan\n")
    kb.write("wiki/team/index.md", "# Team\n")
    kb.write("wiki/team/ana.md", "# Ana\n")
    kb.write("wiki/team/deep/notes.md", "# Notes\n")
    kb.write("wiki/team/own.md", "---\nparent: wiki/plan.md\n---\n# Own\n")
    kb("add", "wiki", "--tree")
    assert below(kb, "children:TOP") == {"wiki/plan.md", "wiki/team/index.md"}
    team = {"wiki/team/ana.md", "wiki/team/deep/notes.md"}
    assert below(kb, "under:wiki/team/index.md") == team
    assert below(kb, "children:wiki/plan.md") == {"wiki/team/own.md"}
    everything = team | {"wiki/plan.md", "wiki/team/index.md", "wiki/team/own.md"}
    assert below(kb, "under:TOP") == everything
    kb.write("wiki/team/new.md", "# New\n")
    kb("sync")
    assert "wiki/team/new.md" in below(kb, "under:TOP")


def test_a_parent_can_be_given_when_adding(kb: Kb) -> None:
    """S3-08"""
    kb("note", "The initiative", "--code", "P-1")
    kb.write("tasks/a.md", "# A\n\nblocked\n")
    kb.write("tasks/b.md", "---\nparent: X-9\n---\n# B\n\nblocked\n")
    kb("add", "tasks", "--parent", "p-1")
    assert below(kb, "blocked under:P-1") == {"tasks/a.md"}
    assert below(kb, "blocked") == {"tasks/a.md", "tasks/b.md"}
    assert "no document" in kb.error("add", "tasks", "--parent", "Q-1", code=3)


def test_documents_that_are_each_others_parents_do_not_hang(kb: Kb) -> None:
    """S3-22"""
    kb.write("a.md", "---\ncode: A-1\nparent: B-1\n---\n# A\n")
    kb.write("b.md", "---\ncode: B-1\nparent: A-1\n---\n# B\n")
    kb("add", ".")
    assert below(kb, "under:A-1") == {"a.md", "b.md"}


def test_flags_say_the_same_as_operators(kb: Kb) -> None:
    kb.write("a.md", "---\ncode: A-1\nproject: web\ntags: [x, y]\n---\n# A\n\nzebra\n")
    kb.write("b.md", "---\nparent: A-1\nroles: [dev]\n---\n# B\n\nzebra\n")
    kb("add", ".")
    for flag, value, operator, found in (
        ("--project", "web", "project:web", {"a.md"}),
        ("--role", "dev", "role:dev", {"b.md"}),
        ("--under", "A-1", "under:A-1", {"b.md"}),
        ("--tags", "x,y", "tags:x,y", {"a.md"}),
        ("--after", "1d", "after:1d", {"a.md", "b.md"}),
        ("--before", "1d", "before:1d", set()),
    ):
        assert below(kb, f"zebra {operator}") == found
        hits = kb.json("search", "zebra", "--fts-only", flag, value)["hits"]
        assert {hit["path"] for hit in hits} == found
    plan = kb.json("search", "zebra", "--under", "A-1", "--tags", "x", "--explain-query")
    assert plan["flags"] == ["--tags: tag:x", "--under: under:A-1"]
