"""kb saved add, list, run, rm."""

from conftest import Kb


def test_a_search_is_saved_with_its_flags_and_run_with_values(own_handbook: Kb) -> None:
    """C18"""
    kb = own_handbook
    made = kb.json("saved", "add", "of-tag", "deploy", "tag:{tag}", "--top", "3", "--fts-only")
    assert (made["query"], made["parameters"]) == ("deploy tag:{tag}", ["tag"])
    assert made["options"] == {"top": 3, "mode": "keyword"}
    direct = kb.json("search", "deploy tag:ops", "--top", "3", "--fts-only")
    assert kb.json("saved", "run", "of-tag", "--set", "tag=ops")["hits"] == direct["hits"] != []
    one = kb.json("saved", "run", "of-tag", "--set", "tag=ops", "--top", "1", "--explain")
    assert one["returned"] == 1
    assert one["hits"][0]["explanation"] is not None


def test_values_may_hold_commas_spaces_and_equals_signs(kb: Kb) -> None:
    kb("remember", "Of the shop", "--project", "a, b=c")
    kb("saved", "add", "shop", "--project", "{project}")
    answer = kb.json("saved", "run", "shop", "--set", "project=a, b=c")
    assert [hit["title"] for hit in answer["hits"]] == ["Of the shop"]


def test_saved_searches_are_listed_for_a_person(kb: Kb) -> None:
    assert "0 saved searches" in kb("saved", "list").out
    out = kb("saved", "add", "b", "deploy {what}", "--tags", "x,y", "--project", "web").out
    assert out == ("b: deploy {what}  tags=x,y project=web\nrun it: kb saved run b --set what=…\n")
    kb("saved", "add", "a", "x")
    assert kb("saved", "list").out.splitlines()[0] == "a: x"
    assert kb("saved", "rm", "a").out == "deleted a: x\n"
    assert [one["name"] for one in kb.json("saved", "list")["saved"]] == ["b"]


def test_mistakes_are_said_with_what_to_do(kb: Kb) -> None:
    kb("saved", "add", "one", "tag:{team}")
    assert "replace" in kb.error("saved", "add", "one", "x", code=2)
    assert "set team=…" in kb.error("saved", "run", "one", code=2)
    assert "NAME=VALUE" in kb.error("saved", "run", "one", "--set", "team", code=2)
    assert "there is one" in kb.error("saved", "run", "on", code=3)
    assert "one of add, list, run, rm" in kb.error("saved", code=2)
    kb("saved", "add", "one", "x", "--replace")
