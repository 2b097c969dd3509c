"""What commands say of themselves: numbers, nested values, what had happened before."""

import re
from datetime import UTC, datetime
from pathlib import Path

from conftest import Kb


def test_one_is_not_many(kb: Kb) -> None:
    kb.write("a.md", "---\ntags: [ops]\n---\n# A\n\nalpha\n")
    assert "1 added · 1 chunk embedded, 0 reused" in kb("add", "a.md").out
    assert kb("list").out.endswith("1 of 1 document\n")
    assert kb("tags").out.endswith("1 tag\n")
    assert "1 document; files stay" in kb("rm", "a.md", "--dry-run").out
    assert "1 document, 1 file\n" in kb("check").out
    assert kb("links", "a.md").out.endswith("0 links, 0 lead nowhere\n")


def test_nested_front_matter_is_shown_as_it_is_written(kb: Kb) -> None:
    kb("note", "---\npeople:\n  - {name: Ann, lead: true}\nnest: {a: [1, 2], b: null}\n---\nA\n")
    told = kb("get", "KB-1").err.strip()
    assert told == "people: {name: Ann, lead: true} · nest: {a: [1, 2], b: null}"


def test_expired_parts_of_a_file_are_not_listed(kb: Kb) -> None:
    kb.write("refs.bib", "@book{one, title={First}}\n@book{two, title={Second}}\n")
    kb.write("old.md", "---\nexpires: 2020-01-01\n---\n# Old\n\nwords\n")
    kb("add", "refs.bib", "old.md", "--defer")
    import apsw

    with_parts = apsw.Connection(str(kb.base))
    with_parts.execute("UPDATE documents SET expires_at = '2020-01-01T00:00:00.000000Z'")
    with_parts.execute("UPDATE documents SET expires_at = NULL WHERE path = 'refs.bib'")
    with_parts.close()
    listed = kb.json("expire")
    assert [one["path"] for one in listed["documents"]] == ["old.md"]
    assert listed["total"] == 1
    kb("expire", "--delete", "--yes")
    assert kb.json("expire")["total"] == 0


def test_a_memory_that_has_a_successor_says_so_when_it_gets_another(kb: Kb) -> None:
    for code, text in (("M-1", "The port is 80"), ("M-2", "The port is 443")):
        kb("remember", text, "--code", code)
    kb("supersede", "M-1", "M-2")
    said = "M-1 was superseded by M-2 until now; M-2 stays as it is"
    first = kb.json("remember", "The port is 8443", "--supersede", "M-1", "--code", "M-3")
    assert first["notices"] == [said]
    again = kb("supersede", "M-1", "M-2").out
    assert "note: M-1 was superseded by M-3 until now" in again
    assert "until now" not in kb("supersede", "M-1", "M-2").out


def test_rank_counts_what_was_stated(kb: Kb) -> None:
    for name in ("twin-a", "twin-b"):
        kb.write(f"in/{name}.md", "# Deploys\n\nDeploys freeze on Fridays after three o'clock.\n")
    kb.write("in/hub.md", "# Hub\n\nGardening in winter.\n")
    kb.write("in/leaf.md", "# Leaf\n\nSee [[hub]] about tax forms.\n")
    kb("add", "in")
    relations = {one["relation"] for one in kb.json("links", "twin-a")["links"]}
    assert relations == {"SIMILAR_TO"}
    assert kb.json("rank")["documents"][0]["document"]["path"] == "in/hub.md"
    asked = kb.json("rank", "--relations", "SIMILAR_TO")["documents"]
    assert {one["document"]["path"] for one in asked[:2]} == {"in/twin-a.md", "in/twin-b.md"}


def test_a_picture_is_written_where_it_is_asked_for(handbook: Kb, tmp_path: Path) -> None:
    assert "output" in handbook.json("graph", "show", "HB-T-0021", code=2)["error"]["field"]
    assert not (handbook.folder / "graph.svg").exists()
    out = handbook("graph", "show", "HB-T-0021", "-o", tmp_path / "g.svg").out
    assert str(tmp_path / "g.svg") in out


def test_what_is_not_there_is_said(kb: Kb) -> None:
    assert "there is no document 'KB-1'" in kb.error("timeline", "KB-1", code=3)
    assert kb("tasks").out == "nothing is under way\n"
    line = kb.error("config", "set", "search.default_top", "many", code=2)
    assert line.startswith("kb: search.default_top cannot be 'many'")
    assert "kb config shows them all" in kb.error("config", "set", "nosuch", "1", code=2)
    assert "search.default_top" in kb.error("config", "set", "search.defaulttop", "1", code=2)


def test_what_there_is_not_is_said_with_what_is_near(kb: Kb) -> None:
    kb.write("guides/a.md", "# A\n\nalpha\n")
    kb("add", "guides", "--defer")
    kb("note", "Beta", "--project", "web")
    told = "no document has the project 'wep' (did you mean web?)"
    assert f"note: {told}" in kb("brief", "--project", "wep").out
    assert told in kb.error("inbox", "--project", "wep", code=3)
    kb("inbox", "--project", "web")
    assert [one["title"] for one in kb.json("list", "--project", "web")["documents"]] == ["Beta"]
    assert told in kb("list", "--project", "wep").out


def test_a_base_is_made_in_a_folder_that_is_named(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init", "notes")
    assert (tmp_path / "notes/.kb/base.db").is_file()
    kb("init", ".")
    assert (tmp_path / ".kb/base.db").is_file()
    assert "twice" in kb.error("init", "notes", "--base", "b.db", code=2)


def test_a_page_is_found_as_people_type_it(kb: Kb) -> None:
    page = kb("help", "query").out
    assert kb("help", "QUERY").out == page
    assert page.endswith(kb("help", "query.md").out)
    assert "9 it took too long" in kb("help").out


def test_a_tag_of_two_words_is_shown_as_a_query_takes_it(kb: Kb) -> None:
    kb("note", "the budget of spring", "--tags", "beta gamma")
    kb("note", "the budget of autumn and beta gamma")
    assert '#"beta gamma"' in kb("list").out
    assert [one["code"] for one in kb.json("search", '#"beta gamma"')["hits"]] == ["KB-1"]
    found = kb.json("search", 'budget -#"beta gamma"')
    assert [one["code"] for one in found["hits"]] == ["KB-2"]
    assert found["notices"] == []


def test_times_of_day_are_utc_and_say_so(kb: Kb) -> None:
    far, before = {"TZ": "Pacific/Kiritimati"}, datetime.now(UTC).replace(second=0, microsecond=0)
    kb.write("docs/a.md", "zebra")
    kb("add", "docs", "--defer", env=far)
    kb("session", "start", "s1", env=far)
    for command in ("log", "sessions", "status"):
        [shown] = re.findall(r"[-0-9]{10} [0-9]{2}:[0-9]{2}Z", kb(command, env=far).out)
        assert before <= datetime.fromisoformat(shown) <= datetime.now(UTC)
    for query in (f"created:>={before:%Y-%m-%d}", f"after:{before:%Y-%m-%dT%H:%M}+00:00"):
        assert kb.json("search", query, env=far)["returned"] == 1
