"""What a first use of the command has shown to be missing."""

from pathlib import Path

from conftest import Kb, one_json


def test_the_files_of_a_base_are_not_put_into_it(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init", "--base", "notes.db")
    kb("token", "new", "ci", "--base", "notes.db")
    kb.write("a.md", "# A\n\nalpha\n")
    report = kb.json("add", ".", "--base", "notes.db")
    assert report["added"] == ["a.md"]
    assert report["skipped"] == []


def test_what_took_the_place_of_a_document_is_said_when_it_is_read(kb: Kb) -> None:
    """S2-18"""
    kb("remember", "We use Vue", "--code", "OLD-1")
    kb("remember", "We use Svelte", "--code", "NEW-1", "--supersede", "OLD-1")
    said = kb("get", "OLD-1")
    assert (said.out, said.err) == ("We use Vue", "OLD-1 is superseded by NEW-1\n")
    assert kb.json("get", "OLD-1")["current"] == "NEW-1"
    assert kb.json("get", "NEW-1")["current"] is None


def test_a_token_alone_goes_into_a_pipe(kb: Kb) -> None:
    token = kb("token", "new", "ci").out
    assert token.startswith("kb_")
    assert token.count("\n") == 1


def test_an_unknown_command_has_no_help(kb: Kb) -> None:
    assert "there is no command 'nope'" in kb.error("help", "nope", code=2)
    assert "there is no command 'session strt'" in kb.error("help", "session", "strt", code=2)
    assert kb("help", "session").out.startswith("usage: kb session COMMAND")


def test_what_is_not_there_is_said_before_anybody_is_asked(kb: Kb) -> None:
    assert "there is no document 'NOPE'" in kb.error("rm", "NOPE", code=3)


def test_a_strict_mistake_is_one_line(kb: Kb) -> None:
    result = kb("search", "deploy under:OPS-99", "--strict", "--json", code=2)
    error = one_json(result.out)["error"]
    assert "\n" not in error["message"]
    assert "8" in error["message"]
