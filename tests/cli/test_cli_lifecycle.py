"""What becomes of documents: superseded, forgotten, archived, expired, restored; sessions."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from children import assert_in_step, in_terminal

from conftest import Kb

STATES = ("superseded", "archived", "expired", "forgotten")
HIDDEN = "archived,expired,superseded"  # all that can be asked for


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """Five pages, the last one expired: only for tests that change nothing."""
    kb = Kb(tmp_path_factory.mktemp("pages"))
    for name in "abcd":
        head = f"code: P-{name}\ntags: [tag-{name}]\ntype: decision"
        kb.write(f"docs/{name}.md", f"---\n{head}\n---\n# Page {name}\n\nzebra {name} first\n")
    long = "lion " * 100
    kb.write("docs/c.md", f"---\ncode: P-c\ntags: [tag-c]\n---\n# Page c\n\nzebra c {long}\n")
    head = "code: P-e\ntags: [tag-e]\ntype: decision\nexpires: 2020-01-01"
    kb.write("docs/e.md", f"---\n{head}\n---\n# Page e\n\nzebra e first\n")
    kb("init")
    kb("add", "docs")
    return kb


@pytest.fixture
def own(pages: Kb, tmp_path: Path) -> Kb:
    """A copy of them, to be changed."""
    shutil.copytree(pages.folder, tmp_path / "copy")
    return Kb(tmp_path / "copy")


def bring_into(kb: Kb, state: str) -> str:
    """The code of a page that is in this state now."""
    if state == "expired":
        return "P-e"
    commands = {"superseded": ("supersede", "P-a", "P-b"), "archived": ("archive", "P-a")}
    kb(*commands.get(state, ("forget", "P-a")))
    return "P-a"


def found(kb: Kb, words: str, *more: str) -> set[str]:
    """The codes of the documents that a keyword search returns."""
    return {hit["code"] for hit in kb.json("search", words, "--fts-only", *more)["hits"]}


def change_files(kb: Kb, word: str) -> Any:
    """Another word in every page, and the base brought in step."""
    for path in (kb.folder / "docs").iterdir():
        text = re.sub(r"zebra (\w)", rf"zebra \1 {word}", path.read_text())
        path.write_text(text)
    return kb.json("sync")


# hidden alike


@pytest.mark.parametrize("state", STATES)
def test_what_is_hidden_is_hidden_everywhere_alike(own: Kb, state: str) -> None:
    """C14 S0-07"""
    code = bring_into(own, state)
    assert code not in own.codes()
    assert code not in found(own, "zebra")
    assert code not in {hit["code"] for hit in own.json("search", "zebra")["hits"]}
    assert code not in found(own, "type:decision")
    assert f"tag-{code[-1]}" not in {line["tag"] for line in own.json("tags")["tags"]}
    assert f"[{code}]" not in own("brief").out
    listed = {one["code"] for one in own.json("list", "--include", HIDDEN)["documents"]}
    asked = found(own, "zebra", "--include", HIDDEN)
    assert (code in listed, code in asked) == (state != "forgotten",) * 2
    assert_in_step(own.base)


@pytest.mark.parametrize("state", ["superseded", "archived", "expired"])
def test_each_state_is_asked_for_by_its_name(own: Kb, state: str) -> None:
    """C14"""
    code = bring_into(own, state)
    assert code in found(own, "zebra", "--include", state)
    others = ",".join(one for one in HIDDEN.split(",") if one != state)
    assert code not in found(own, "zebra", "--include", others)
    assert f"zebra {code[-1]}" in own("get", code).out


@pytest.mark.parametrize("state", ["superseded", "archived", "expired"])
def test_a_listing_marks_what_it_shows_only_on_request(own: Kb, state: str) -> None:
    """C14"""
    code = bring_into(own, state)
    lines = own("list", "--include", HIDDEN).out.splitlines()
    [line] = [line for line in lines if line.startswith(code)]
    assert state.rstrip("d") in line


def test_what_is_forgotten_goes_by_no_name_and_says_how_to_get_it_back(own: Kb) -> None:
    own("forget", "P-a")
    for arguments in (
        ("get", "P-a"), ("context", "P-a"), ("timeline", "P-a"), ("archive", "P-a"),
        ("supersede", "P-a", "P-b"), ("relate", "P-b", "P-a"), ("feedback", "P-a", "good"),
    ):  # fmt: skip
        assert "kb restore P-a brings it back" in own.error(*arguments, code=3)
    assert "kb restore docs/a.md" in own.error("get", "docs/a.md", code=3)
    assert own.json("status")["forgotten"] == 1
    assert "forgotten  1" in own("status").out


def test_an_unknown_state_is_refused_with_the_known_ones(pages: Kb) -> None:
    for command in (("search", "zebra"), ("list",)):
        line = pages.error(*command, "--include", "forgotten", code=2)
        assert "one of archived, expired, superseded" in line


# supersede


def test_one_document_takes_the_place_of_another(own: Kb) -> None:
    out = own("supersede", "P-a", "docs/b.md").out
    assert "P-a: Page a (decision)" in out
    assert "superseded by" in out
    assert "P-b: Page b (decision)" in out
    result = own.json("supersede", "P-b", "P-c")
    assert [result[name]["code"] for name in ("old", "new", "head")] == ["P-b", "P-c", "P-c"]
    assert result["old"]["superseded_by"] == result["new"]["id"]
    assert own.codes() == {"P-c", "P-d"}


def test_a_chain_leads_to_what_holds_today(own: Kb) -> None:
    own("supersede", "P-b", "P-d")
    out = own("supersede", "P-a", "P-b").out
    assert "P-d" in out
    assert own.json("supersede", "P-a", "P-b")["head"]["code"] == "P-d"
    hits = own.json("search", "zebra", "--fts-only", "--include", "superseded")["hits"]
    heads = {hit["code"]: hit["superseded_by"]["code"] for hit in hits if hit["superseded_by"]}
    assert heads == {"P-a": "P-d", "P-b": "P-d"}


def test_a_superseded_hit_says_by_what_and_when(own: Kb) -> None:
    """S2-18 C14"""
    own("supersede", "P-a", "P-c")
    asked = ("search", "zebra", "--fts-only", "--include", "superseded")
    hits = {hit["code"]: hit for hit in own.json(*asked)["hits"]}
    successor = hits["P-a"]["superseded_by"]
    assert hits["P-a"]["is_superseded"] is True
    assert (successor["code"], len(successor["content"])) == ("P-c", 200)
    assert successor["superseded_at"] == own.json("get", "P-a")["document"]["valid_until"]
    assert hits["P-c"]["is_superseded"] is False
    [line] = [line for line in own(*asked).out.splitlines() if "superseded by" in line]
    assert re.match(r"  superseded by P-c on \d{4}-\d\d-\d\d: .*zebra c lion", line)


@pytest.mark.parametrize(
    ("before", "last", "circle"),
    [
        ((), ("P-a", "P-a"), "P-a → P-a"),
        ((("P-a", "P-b"),), ("P-b", "P-a"), "P-b → P-a → P-b"),
        ((("P-a", "P-b"), ("P-b", "P-c")), ("P-c", "P-a"), "P-c → P-a → P-b → P-c"),
    ],
)
def test_a_circle_is_refused_and_shown(
    own: Kb, before: tuple[tuple[str, str], ...], last: tuple[str, str], circle: str
) -> None:
    for pair in before:
        own("supersede", *pair)
    codes = own.codes()
    assert f"circle: {circle}" in own.error("supersede", *last, code=2)
    assert own.codes() == codes
    assert own.json("supersede", *last, code=2)["error"]["code"] == "conflict"


def test_a_forgotten_successor_is_not_quoted(own: Kb) -> None:
    own("supersede", "P-a", "P-c")
    own("forget", "P-c")
    asked = ("search", "zebra", "--fts-only", "--include", HIDDEN)
    [hit] = [hit for hit in own.json(*asked)["hits"] if hit["code"] == "P-a"]
    assert (hit["is_superseded"], hit["superseded_by"]) == (True, None)
    assert "lion" not in own(*asked).out
    own("rm", "P-c", "--yes")
    assert "P-a" in found(own, "zebra", "--include", "superseded")
    own("restore", "P-a")
    assert "P-a" in own.codes()


# extend, archive, forget, restore


def test_what_expired_holds_again_until_a_later_day(own: Kb) -> None:
    assert "P-e" not in own.codes()
    own("extend", "P-e", "--until", "2199-01-31")
    assert "P-e" in own.codes()
    told = own.json("extend", "P-e", "docs/a.md", "--until", "never")["documents"]
    assert [one["expires_at"] for one in told] == [None, None]
    assert "until cannot be 'soon'" in own.error("extend", "P-a", "--until", "soon", code=2)
    assert "has passed" in own.error("extend", "P-a", "--until", "2020-01-01", code=2)


def test_documents_are_archived_forgotten_and_restored_together(own: Kb) -> None:
    out = own("archive", "P-a", "docs/b.md").out
    assert out == (
        "P-a: Page a (decision) #tag-a · archived\nP-b: Page b (decision) #tag-b · archived\n"
    )
    out = own("forget", "P-a", "P-d").out
    assert "P-a: Page a (decision) #tag-a · forgotten" in out
    assert "P-d: Page d (decision) #tag-d · forgotten" in out
    listed = own.json("restore")
    assert {one["code"] for one in listed["documents"]} == {"P-a", "P-d"}
    assert listed["total"] == 2
    lines = own("restore", "--limit", "1").out.splitlines()
    assert lines[-1] == "1 of 2 documents"
    out = own("restore", "P-a", "P-b", "docs/d.md").out
    assert out.count("shown in answers") == 3
    assert "again" not in own("extend", "P-a", "--until", "never").out  # it was never hidden
    assert own.codes() == {"P-a", "P-b", "P-c", "P-d"}
    assert own.json("restore") == {
        "documents": [], "total": 0, "notices": [], "hidden": {},
    }  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_whatever_hides_a_document_is_undone_by_restore(own: Kb, state: str) -> None:
    """C14"""
    before = own.json("list")["documents"]
    code = bring_into(own, state)
    [document] = own.json("restore", code)["documents"]
    assert document["code"] == code
    assert code in found(own, "zebra")
    for field in ("superseded_by", "valid_until", "expires_at", "deleted_at"):
        assert document[field] is None
    assert document["archived"] is False
    if state != "expired":
        assert own.json("list")["documents"] == before


def test_a_state_does_not_change_when_a_document_was_updated(own: Kb) -> None:
    """C12"""
    before = own.json("get", "P-a")["document"]["updated_at"]
    for arguments in (("archive", "P-a"), ("restore", "P-a"), ("supersede", "P-a", "P-b")):
        own(*arguments)
        assert own.json("get", "P-a")["document"]["updated_at"] == before


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("supersede", "P-a", "P-z"), 3, "there is no document 'P-z'"),
        (("supersede", "P-z", "P-a"), 3, "there is no document 'P-z'"),
        (("supersede", "P-a"), 2, "missing"),
        (("supersede", "P-a:_preamble", "P-b"), 2, "the document is P-a"),
        (("archive",), 2, "missing"),
        (("forget",), 2, "missing"),
        (("forget", "P-a:_preamble"), 2, "the document is P-a"),
        (("expire", "--within", "soon"), 2, "within cannot be 'soon' (such as 7d, 12h"),
        (("expire", "--within", "7d ago"), 2, "within cannot be '7d ago'"),
        (("expire", "--within", ""), 2, "within cannot be ''"),
        (("expire", "--limit", "0"), 2, "from 1 to 10000"),
        (("expire", "P-e"), 2, "takes no 'P-e'"),
    ],
)
def test_a_mistake_is_explained(
    pages: Kb, arguments: tuple[str, ...], code: int, words: str
) -> None:
    """C32"""
    assert words in pages.error(*arguments, code=code)


@pytest.mark.parametrize("command", ["archive", "forget", "restore"])
def test_one_unknown_document_changes_none(own: Kb, command: str) -> None:
    own("archive", "P-b")
    line = own.error(command, "P-a", "P-b", "P-z", code=3)
    assert "there is no document 'P-z'" in line
    assert own.codes() == {"P-a", "P-c", "P-d"}


# files that change


def test_a_state_outlives_the_changes_of_its_file(own: Kb) -> None:
    """C14"""
    own("archive", "docs/a.md")
    own("supersede", "docs/b.md", "docs/c.md")
    own("forget", "docs/d.md")
    own("restore", "docs/e.md")
    assert len(change_files(own, "changed")["changed"]) == 5
    assert own.codes() == {"P-c", "P-e"}
    assert found(own, "changed") == {"P-c", "P-e"}
    assert found(own, "changed", "--include", "archived") == {"P-a", "P-c", "P-e"}
    assert found(own, "changed", "--include", "superseded") == {"P-b", "P-c", "P-e"}
    own.error("get", "docs/d.md", code=3)
    own("restore", "P-a", "P-b", "P-d")
    assert found(own, "changed") == {"P-a", "P-b", "P-c", "P-d", "P-e"}
    assert "zebra d changed" in own("get", "P-d").out
    change_files(own, "again")
    assert found(own, "again") == {"P-a", "P-b", "P-c", "P-d", "P-e"}
    assert_in_step(own.base)


def test_a_state_moves_with_its_file(own: Kb) -> None:
    own("forget", "P-a")
    own("archive", "P-b")
    for name in "ab":
        (own.folder / f"docs/{name}.md").rename(own.folder / f"docs/new-{name}.md")
    assert set(own.json("sync")["moved"]) == {"docs/new-a.md", "docs/new-b.md"}
    assert own.codes() == {"P-c", "P-d"}
    own("restore", "docs/new-a.md")
    assert own.codes() == {"P-a", "P-c", "P-d"}


def test_a_file_that_says_archived_can_be_restored_for_good(own: Kb) -> None:
    path = own.folder / "docs/a.md"
    path.write_text(path.read_text().replace("type:", "archived: true\ntype:"))
    own("sync")
    assert "P-a" not in own.codes()
    own("restore", "P-a")
    change_files(own, "changed")
    assert "P-a" in found(own, "changed")


def test_a_forgotten_document_is_removed_for_good_by_rm(own: Kb) -> None:
    own("forget", "P-a", "P-b")
    assert "--yes" in own.error("rm", "P-a", code=2)
    assert "removed P-a: Page a" in own("rm", "P-a", "--yes").out
    assert own.json("rm", "docs/b.md", "--yes")["documents"][0]["code"] == "P-b"
    for code in ("P-a", "P-b"):
        own.error("restore", code, code=3)
    assert own.json("status")["forgotten"] == 0
    assert own.json("sync")["added"] == []
    own("add", "docs/a.md")
    assert own.codes() == {"P-a", "P-c", "P-d"}
    assert_in_step(own.base)


def test_a_forgotten_document_leaves_its_sessions_and_relations(own: Kb) -> None:
    own("relate", "P-a", "P-b")
    for code in ("P-a", "P-b"):
        own("feedback", code, "good", "--session", "s1")
    own("forget", "P-a")
    used = own.json("session", "show", "s1")["used"]
    assert [one["document"]["code"] for one in used] == ["P-b"]
    assert own.json("context", "P-b")["related"] == []
    [hit] = own.json("search", "zebra", "--session-filter", "s1", "--fts-only")["hits"]
    assert (hit["code"], hit["related_count"]) == ("P-b", 0)
    own("restore", "P-a")
    assert len(own.json("session", "show", "s1")["used"]) == 2
    assert len(own.json("context", "P-b")["related"]) == 1


def test_a_forgotten_text_can_be_remembered_anew_and_keeps_its_code(own: Kb) -> None:
    first = own.json("remember", "The zebra is striped")["document"]["code"]
    own("forget", first)
    again = own.json("remember", "The zebra is striped")
    assert again["created"] is True
    assert again["document"]["code"] != first
    assert f"the code {first} belongs to" in own.error("remember", "Other", "--code", first, code=2)


def test_a_restored_memory_can_be_given_a_new_term(own: Kb) -> None:
    own("note", text="---\ncode: OLD-1\nexpires: 2020-01-01\n---\nStaging is down\n")
    own("restore", "OLD-1")
    own("remember", "Staging is down again", "--replace", "OLD-1", "--ttl", "3d")
    due = own.json("expire", "--within", "7d")["documents"]
    assert [one["code"] for one in due] == ["P-e", "OLD-1"]


# expire


def test_what_has_expired_or_will_is_listed(own: Kb) -> None:
    """S0-27"""
    own("remember", "Staging is down", "--ttl", "3d", "--code", "SOON-1")
    assert [one["code"] for one in own.json("expire")["documents"]] == ["P-e"]
    week = own.json("expire", "--within", "7d")
    assert [one["code"] for one in week["documents"]] == ["P-e", "SOON-1"]
    assert week["total"] == 2
    assert own.json("expire", "--within", "1 day")["total"] == 1
    assert own.json("expire", "--within", "2099-01-01")["total"] == 2
    lines = own("expire", "--within", "7d").out.splitlines()
    assert lines[0].startswith("P-e ")
    assert "2020-01-01" in lines[0]
    assert lines[1].startswith("SOON-1  Staging is down (fact)")
    assert lines[-1] == "2 of 2 documents"


def test_what_has_expired_is_deleted_only_after_a_yes(own: Kb) -> None:
    assert "--yes" in own.error("expire", "--delete", code=2)
    assert own.json("expire")["total"] == 1
    removal = own.json("expire", "--delete", "--yes")
    assert [one["code"] for one in removal["documents"]] == ["P-e"]
    assert (removal["dry_run"], removal["sources"]) == (False, [])
    own.error("get", "P-e", code=3)
    assert (own.folder / "docs/e.md").exists()
    assert own.json("sync")["added"] == []
    assert own.codes() == {"P-a", "P-b", "P-c", "P-d"}
    out = own("expire", "--delete").out
    assert "removed 0 documents" in out
    assert_in_step(own.base)


@pytest.mark.parametrize(("answer", "left"), [("y", 0), ("n", 1), ("", 1)])
def test_deleting_what_has_expired_asks_a_person(own: Kb, answer: str, left: int) -> None:
    shown = in_terminal(own, "expire", "--delete", typed=answer.encode() + b"\n")
    assert "would remove P-e: Page e" in shown.out
    assert "remove? [y/N]" in shown.out
    assert shown.code == (2 if left else 0)
    assert own.json("expire")["total"] == left


@pytest.mark.parametrize("more", [(), ("--yes",)])
def test_what_has_not_expired_is_never_deleted(own: Kb, more: tuple[str, ...]) -> None:
    line = own.error("expire", "--delete", "--within", "7d", *more, code=2)
    assert "what has not expired is not deleted" in line
    assert own.json("expire")["total"] == 1


def test_what_is_forgotten_is_not_deleted_because_it_expired(own: Kb) -> None:
    own("forget", "P-e")
    assert own.json("expire", "--delete", "--yes")["documents"] == []
    assert own.json("restore")["total"] == 1


# sessions


def test_a_session_is_started_ended_and_shown(own: Kb) -> None:
    moment = r"\d{4}-\d\d-\d\d \d\d:\d\dZ"
    out = own("session", "start", "s1", "--project", "web").out
    assert re.match(rf"session s1 · {moment}, open · web · 0 uses\n", out)
    own("feedback", "P-a", "good", "--session", "s1")
    own("search", "zebra", "--fts-only", "--session-record", "s1", "--type", "decision")
    session = own.json("session", "end", "s1", "--summary", "Chose\nzebras")
    assert (session["id"], session["project"]) == ("s1", "web")
    assert session["ended_at"] >= session["started_at"]
    assert session["summary"] == "Chose\nzebras"
    view = own.json("session", "show", "s1")
    uses = {(one["usage"], one["document"]["code"]) for one in view["used"]}
    assert uses == {("reinforced", "P-a"), *(("recalled", f"P-{name}") for name in "abd")}
    assert view["session"] == {**session, "uses": 4}
    lines = own("session", "show", "s1").out.splitlines()
    assert re.match(rf"session s1 · {moment} to {moment} · web · 4 uses", lines[0])
    assert lines[1].strip() == "Chose zebras"
    assert re.match(rf"  {moment}  reinforced +P-a: Page a \(decision\)", lines[2])
    own("session", "end", "s1")
    assert own.json("session", "show", "s1")["session"]["summary"] == "Chose\nzebras"


def test_a_session_without_a_name_gets_one(own: Kb) -> None:
    first, second = (own.json("session", "start")["id"] for _ in range(2))
    assert first != second
    assert own.json("session", "show", first)["used"] == []


def test_sessions_are_listed_the_last_started_first(own: Kb) -> None:
    own("session", "start", "one", "--project", "web")
    own("session", "start", "two", "--project", "app")
    own("session", "start", "three", "--project", "web")
    names = [one["id"] for one in own.json("sessions")["sessions"]]
    assert names == ["three", "two", "one"]
    names = [one["id"] for one in own.json("sessions", "--project", "web")["sessions"]]
    assert names == ["three", "one"]
    assert len(own.json("sessions", "-n", "1")["sessions"]) == 1
    lines = own("sessions").out.splitlines()
    assert lines[0].startswith("session three · ")
    assert lines[-1] == "3 sessions"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("session",), 2, "one of start, end, show"),
        (("session", "strat"), 2, "one of start, end, show"),
        (("session", "--json", "show"), 2, "one of start, end, show"),
        (("session", "show"), 2, "session is missing"),
        (("session", "show", "s9"), 3, "there is no session 's9'"),
        (("session", "end"), 2, "session is missing"),
        (("session", "end", "s9", "--summary", "x"), 3, "there is no session 's9'"),
        (("sessions", "all"), 2, "takes no 'all'"),
        (("sessions", "--limit", "0"), 2, "from 1 to 10000"),
        (("sesion", "start"), 2, "did you mean: kb session"),
    ],
)
def test_a_mistake_about_sessions_is_explained(
    pages: Kb, arguments: tuple[str, ...], code: int, words: str
) -> None:
    assert words in pages.error(*arguments, code=code)


def test_a_session_is_started_once(own: Kb) -> None:
    own("session", "start", "s1")
    assert "there is a session 's1' already" in own.error("session", "start", "s1", code=2)
    error = own.json("session", "start", "s1", code=2)["error"]
    assert (error["code"], error["field"]) == ("conflict", "session")


def test_tagging_says_which_tags_there_are_now(kb: Kb) -> None:
    kb("init")
    kb("note", "A thought", "--tags", "q")
    assert kb("tag", "KB-1", "--add", "ops,web").out == "KB-1: A thought (note) #ops #q #web\n"
    kb("archive", "KB-1")
    taken = kb("tag", "KB-1", "--remove", "ops,q,web,other").out
    assert taken == "KB-1: A thought (note) · no tags · archived\nnote: KB-1 has no tag 'other'\n"


def test_what_is_hidden_is_counted_beside_what_is_shown(kb: Kb) -> None:
    kb.write("kb.toml", "[embed]\nvectors = false\n")
    kb("init")
    for code in ("N-1", "N-2", "N-3", "N-4"):
        kb("note", f"The text of {code}.", "--code", code)
    assert kb("list").out.endswith("4 of 4 documents\n")
    assert "\nhidden" not in kb("status").out
    kb("supersede", "N-1", "N-2")
    kb("archive", "N-3")
    kb("forget", "N-4")
    assert kb("list").out.endswith(
        "1 of 1 document; 1 archived, 1 superseded: --include archived,superseded\n"
    )
    assert (
        "documents  3 (3 note)\nhidden     1 archived, 1 superseded: --include" in kb("status").out
    )
    listing = kb.json("list", "--include", "archived")
    assert (listing["total"], listing["hidden"]) == (2, {"superseded": 1})
    assert kb.json("list", "--include", "archived,superseded")["hidden"] == {}
    assert kb.json("status")["hidden"] == {"archived": 1, "superseded": 1}


def test_what_is_named_twice_is_changed_and_counted_once(kb: Kb) -> None:
    kb("note", "tide tables", "--code", "N-1")
    for command in (("archive",), ("forget", "--yes"), ("restore",), ("tag", "--add", "x")):
        found = kb.json(command[0], "N-1", "n-1", *command[1:])["documents"]
        assert [one["code"] for one in found] == ["N-1"]


def test_a_state_that_is_asked_for_is_found_whatever_else_hides_it(kb: Kb) -> None:
    for number in (1, 2, 3):
        kb("note", f"zebra {number}", "--code", f"N-{number}")
    kb("archive", "N-1", "N-2")
    kb("supersede", "N-1", "N-3")

    def found(query: str) -> set[str]:
        return {hit["code"] for hit in kb.json("search", query, "--fts-only")["hits"]}

    assert found("is:archived") == found("zebra is:archived") == {"N-1", "N-2"}
    assert found("+is:archived zebra") == {"N-1", "N-2"}
    assert found("is:superseded") == found("is:archived is:superseded") == {"N-1"}
    assert found("-is:archived") == found("zebra") == {"N-3"}
    assert found("is:archived OR zebra") == {"N-2", "N-3"}
