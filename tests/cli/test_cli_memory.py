"""Remembering, and what is known of memories: briefs, feedback, relations, sessions, time."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from children import assert_in_step
from test_cli_show import completed

from conftest import Kb

NASTY = "\x1b[41m\x1b]0;owned\x07\x9b5m\x08\u202e"
NEW_COMMANDS = (
    "remember", "timeline", "context", "brief", "relate", "feedback", "supersede", "forget",
    "restore", "archive", "expire", "sessions", "session",
)  # fmt: skip


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """What two projects and everybody remember: only for tests that change nothing."""
    kb = Kb(tmp_path_factory.mktemp("web"))
    kb("init")
    kb(
        "remember", "We use React with TypeScript", "--type", "decision", "--project", "web",
        "--sector", "reflective", "--tier", "project", "--session", "s1", "--ttl", "3d",
        "--confidence", "0.9", "--salience", "0.7", "--tags", "frontend", "--roles", "dev,qa",
    )  # fmt: skip
    lesson = ("--type", "lesson", "--project", "web", "--expires", "2099-12-31")
    kb("remember", "Deploys wait for the checks", *lesson)
    kb("remember", "The office is closed on Fridays")
    kb(
        "remember",
        "The schema of the app is TypeScript",
        "--type",
        "decision",
        "--project",
        "app",
    )
    return kb


@pytest.fixture
def own_web(web: Kb, tmp_path: Path) -> Kb:
    """A copy of it, to be changed."""
    shutil.copytree(web.folder, tmp_path / "copy")
    return Kb(tmp_path / "copy")


# remember


def test_a_memory_has_all_that_was_said_of_it(web: Kb) -> None:
    """C10"""
    document = web.json("get", "KB-1")["document"]
    said = {
        "type": "decision", "project": "web", "scope": "project", "sector": "reflective",
        "tier": "project", "confidence": 0.9, "salience": 0.7, "tags": ["frontend"],
        "roles": ["dev", "qa"], "path": None, "title": "We use React with TypeScript",
    }  # fmt: skip
    assert {name: document[name] for name in said} == said
    assert document["expires_at"] > document["created_at"]
    until = web.json("get", "KB-2")["document"]["expires_at"]
    assert until.startswith("2099-12-31T00:00:00")
    plain = web.json("get", "KB-3")["document"]
    assert (plain["type"], plain["scope"], plain["project"]) == ("fact", "global", None)
    assert (plain["salience"], plain["expires_at"], plain["access_count"]) == (0.5, None, 0)


def test_a_person_reads_what_was_remembered_and_when_it_expires(own_web: Kb) -> None:
    out = own_web("remember", "Staging", "is", "down", "--ttl", "12h", "--tags", "ops").out
    lines = out.splitlines()
    assert lines[0].startswith("KB-5: Staging is down (fact)")
    assert re.fullmatch(r"  expires \d{4}-\d\d-\d\d \d\d:\d\d.*", lines[1])
    assert len(lines) == 2
    assert_in_step(own_web.base)


def test_a_memory_is_read_from_standard_input(own_web: Kb) -> None:
    text = "---\ntype: lesson\nproject: web\nsector: procedural\n---\n# Slow tests\n\nCopy bases.\n"
    remembered = own_web.json("remember", text=text)
    document = remembered["document"]
    assert remembered["created"] is True
    assert (document["type"], document["project"]) == ("lesson", "web")
    assert (document["sector"], document["title"]) == ("procedural", "Slow tests")
    again = own_web.json("remember", "-", text=text)
    assert (again["created"], again["document"]["id"]) == (False, document["id"])


@pytest.mark.parametrize("text", ["", " \n\t\n", "---\ntype: fact\n---\n"])
def test_a_memory_without_text_is_an_error(own_web: Kb, text: str) -> None:
    assert "no text" in own_web.error("remember", code=2, text=text)
    assert own_web.json("list")["total"] == 4


def test_a_text_that_is_known_is_not_written_twice(own_web: Kb) -> None:
    """Case and spaces do not make another text."""
    same = ("remember", "we use  react\nwith TYPESCRIPT", "--type", "decision")
    out = own_web(*same, "--project", "web").out
    assert out.splitlines()[0].startswith("KB-1: We use React with TypeScript (decision)")
    assert "known already" in out
    answer = own_web.json(*same, "--project", "web", "--tags", "new", "--session", "s2")
    assert (answer["created"], answer["document"]["code"]) == (False, "KB-1")
    assert answer["similar"] == []
    assert own_web.json("list")["total"] == 4
    document = own_web.json("get", "KB-1")["document"]
    assert document["tags"] == ["frontend"]
    assert document["updated_at"] == document["created_at"]
    [use] = own_web.json("session", "show", "s2")["used"]
    assert (use["usage"], use["document"]["code"]) == ("reinforced", "KB-1")


@pytest.mark.parametrize(
    "other",
    [("--type", "lesson", "--project", "web"), ("--type", "decision", "--project", "app")],
)
def test_the_same_text_of_another_project_or_type_is_written(
    own_web: Kb, other: tuple[str, ...]
) -> None:
    answer = own_web.json("remember", "We use React with TypeScript", *other)
    assert (answer["created"], answer["document"]["code"]) == (True, "KB-5")
    similar = [one["document"]["code"] for one in answer["similar"]]
    assert similar == (["KB-1"] if "web" in other else [])


def test_a_near_duplicate_is_written_and_reported_and_never_merged(own_web: Kb) -> None:
    text = ("remember", "We use React with TypeScript.", "--type", "decision", "--project", "web")
    lines = own_web(*text).out.splitlines()
    assert lines[0] == "KB-5: We use React with TypeScript. (decision)"
    assert re.fullmatch(r"  very like KB-1 \(0\.9\d\): We use React with TypeScript", lines[1])
    assert "kb supersede KB-1 KB-5" in lines[2]
    assert len(lines) == 3
    assert own_web.codes() == {"KB-1", "KB-2", "KB-3", "KB-4", "KB-5"}
    assert own_web("get", "KB-1").out == "We use React with TypeScript"


def test_a_memory_can_take_the_place_of_another(own_web: Kb) -> None:
    svelte = ("remember", "We use Svelte", "--type", "decision", "--project", "web")
    out = own_web(*svelte, "--supersede", "kb-1").out
    assert out.splitlines() == ["KB-5: We use Svelte (decision)", "  takes the place of KB-1"]
    assert own_web.codes() == {"KB-2", "KB-3", "KB-4", "KB-5"}
    old, new = (own_web.json("get", code)["document"] for code in ("KB-1", "KB-5"))
    assert old["superseded_by"] == new["id"]
    assert old["valid_until"] is not None


def test_a_known_text_that_takes_a_place_does_not_say_that_nothing_changed(own_web: Kb) -> None:
    text = ("remember", "Deploys wait for the checks", "--type", "lesson", "--project", "web")
    out = own_web(*text, "--supersede", "KB-3").out
    assert "takes the place of KB-3" in out
    assert own_web.codes() == {"KB-1", "KB-2", "KB-4"}
    assert "known already" in out
    assert "nothing was changed" not in out


def test_a_memory_is_written_anew_under_its_code(own_web: Kb) -> None:
    before = own_web.json("get", "KB-2")["document"]
    answer = own_web.json(
        "remember", "Deploys wait for nobody", "--replace", "KB-2", "--session", "s7"
    )
    after = answer["document"]
    for kept in ("id", "code", "type", "project", "created_at"):
        assert after[kept] == before[kept]
    assert own_web.json("search", "checks", "--fts-only")["returned"] == 0
    assert own_web.json("search", "nobody", "--fts-only")["returned"] == 1
    [use] = own_web.json("session", "show", "s7")["used"]
    assert use["usage"] == "updated"
    assert_in_step(own_web.base)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--sector", "x"), "one of reflective, semantic, procedural, emotional, episodic"),
        (("--tier", "x"), "tier cannot be 'x' (one of session, project, global)"),
        (("--scope", "x"), "scope cannot be 'x' (one of global, project)"),
        (("--type", "poem"), "unknown type 'poem' (one of markdown"),
        (("--confidence", "1.1"), "confidence cannot be 1.1 (from 0 to 1)"),
        (("--confidence", "nan"), "confidence cannot be 'nan' (it must be a number)"),
        (("--salience", "-0.1"), "salience cannot be -0.1 (from 0 to 1)"),
        (("--ttl", "soon"), "ttl cannot be 'soon' (such as 30min, 12h, 90d, 8w or 1y)"),
        (("--ttl", "0d"), "ttl cannot be '0d'"),
        (("--ttl", "3d ago"), "ttl cannot be '3d ago'"),
        (("--ttl", ""), "ttl cannot be ''"),
        (("--expires", ""), "expires cannot be ''"),
        (("--expires", "2020-01-01"), "expires cannot be '2020-01-01'"),
        (("--expires", "soon"), "expires cannot be 'soon'"),
        (("--ttl", "1d", "--expires", "2099-01-01"), "choose one"),
        (("--sesion", "s1"), "did you mean --session?"),
    ],
)
def test_a_bad_value_is_refused_with_what_is_allowed(
    own_web: Kb, arguments: tuple[str, ...], words: str
) -> None:
    """C9 C32"""
    assert words in own_web.error("remember", "This is not written", *arguments, code=2)


def test_a_bad_value_in_front_matter_is_refused_with_what_is_allowed(own_web: Kb) -> None:
    line = own_web.error("remember", code=2, text="---\nsector: left\n---\nThis is not written\n")
    assert "sector" in line
    assert "reflective, semantic, procedural, emotional, episodic" in line


def test_a_session_without_a_name_is_refused(web: Kb) -> None:
    line = web.error("search", "typescript", "--fts-only", "--session-filter", "", code=2)
    assert "session_filter cannot be ''" in line


@pytest.mark.parametrize("flag", ["--supersede", "--replace", "--parent"])
def test_an_unknown_document_in_a_flag_writes_nothing(own_web: Kb, flag: str) -> None:
    line = own_web.error("remember", "This is not written", flag, "KB-99", code=3)
    assert "there is no document 'KB-99'" in line
    assert own_web.json("list")["total"] == 4


def test_a_memory_lies_under_whatever_a_reference_names(own_web: Kb) -> None:
    """C26"""
    own_web("remember", "A detail of the office", "--parent", "3")
    assert own_web.json("search", "under:KB-3")["hits"][0]["code"] == "KB-5"


@pytest.mark.parametrize(
    "command",
    [
        ("session", "start"),
        ("remember", "The office is closed on Fridays", "--session"),
        ("feedback", "KB-3", "good", "--session"),
        ("search", "office", "--fts-only", "--session-record"),
    ],
)
def test_a_session_needs_a_name_of_at_most_200_characters(
    own_web: Kb, command: tuple[str, ...]
) -> None:
    for name in ("", "   ", "x" * 201):
        assert "1 to 200 characters" in own_web.error(*command, name, code=2)
    assert [one["id"] for one in own_web.json("sessions")["sessions"]] == ["s1"]


def test_spaces_and_line_ends_do_not_make_another_session(own_web: Kb) -> None:
    own_web("session", "start", "a b")
    own_web("remember", "The office is closed on Fridays", "--session", " a \n b ")
    own_web("feedback", "KB-3", "good", "--session", "a  b")
    assert {one["id"] for one in own_web.json("sessions")["sessions"]} == {"s1", "a b"}
    [hit] = own_web.json("search", "office", "--fts-only", "--session-filter", "a  b")["hits"]
    assert hit["code"] == "KB-3"
    assert own_web.json("session", "show", " a  b")["session"]["id"] == "a b"


def test_a_memory_of_another_project_does_not_move_its_session(own_web: Kb) -> None:
    text = "The schema of the app is TypeScript"
    own_web("remember", text, "--type", "decision", "--project", "app", "--session", "s1")
    assert own_web.json("session", "show", "s1")["session"]["project"] == "web"


def test_memories_are_found_like_everything_else(web: Kb) -> None:
    """S2-02 S2-17"""
    [hit] = web.json("search", "react", "--fts-only", "--project", "web")["hits"]
    assert (hit["code"], hit["match_type"]) == ("KB-1", "keyword")
    assert hit["source_session"]["id"] == "s1"
    assert (hit["is_superseded"], hit["superseded_by"], hit["related_count"]) == (False, None, 0)
    assert "from session s1" in web("search", "react", "--fts-only", "--project", "web").out


# search: sessions, salience, use


def test_a_session_filters_and_records_or_does_one_of_both(own_web: Kb) -> None:
    """C36 S2-22"""

    def recalled(session: str) -> list[str]:
        used = own_web.json("session", "show", session)["used"]
        return [one["document"]["code"] for one in used if one["usage"] == "recalled"]

    def found(*arguments: str) -> set[str]:
        hits = own_web.json("search", "typescript", "--fts-only", *arguments)["hits"]
        return {hit["code"] for hit in hits}

    assert found("--session-filter", "s1") == {"KB-1"}
    assert recalled("s1") == []
    assert found("--session-record", "s2") == {"KB-1", "KB-4"}
    assert set(recalled("s2")) == {"KB-1", "KB-4"}
    assert found("--session", "s1") == {"KB-1"}
    assert found("--session", "s1") == {"KB-1"}
    assert recalled("s1") == ["KB-1"]
    assert own_web.json("get", "KB-1")["document"]["access_count"] == 0


def test_a_session_in_the_query_is_a_filter(own_web: Kb) -> None:
    """C10"""
    own_web("feedback", "KB-2", "good", "--session", "my work")
    hits = own_web.json("search", 'session:"my work"')["hits"]
    assert [hit["code"] for hit in hits] == ["KB-2"]
    hits = own_web.json("search", "typescript -session:s1", "--fts-only")["hits"]
    assert [hit["code"] for hit in hits] == ["KB-4"]


@pytest.mark.parametrize(("flag", "name"), [("--session", "s9"), ("--session-filter", "s9")])
def test_an_unknown_session_to_filter_by_is_an_error(web: Kb, flag: str, name: str) -> None:
    line = web.error("search", "typescript", "--fts-only", flag, name, code=2)
    assert f"there is no session {name!r}" in line
    assert "kb sessions" in line


def test_an_unknown_session_in_the_query_is_said(web: Kb) -> None:
    answer = web.json("search", "typescript session:s9", "--fts-only")
    assert answer["returned"] == 2
    assert "there is no session 's9'" in answer["notices"][0]
    line = web.error("search", "typescript session:s9", "--fts-only", "--strict", code=2)
    assert line == (
        "kb: there is no session 's9' (see them with: kb sessions), at 12"
        " (without strict, it is read as words)"
    )


def test_only_what_is_salient_enough_is_found(web: Kb) -> None:
    """S2-14"""
    hits = web.json("search", "typescript", "--fts-only", "--min-salience", "0.7")["hits"]
    assert [hit["code"] for hit in hits] == ["KB-1"]
    assert web.json("search", "typescript", "--fts-only", "--min-salience", "0.71")["hits"] == []
    assert "from 0 to 1" in web.error("search", "typescript", "--min-salience", "2", code=2)


def test_the_memory_profile_records_use_and_others_do_not(own_web: Kb) -> None:
    """C11 C12 S2-21"""
    before = own_web.json("get", "KB-3")["document"]
    own_web("search", "office", "--fts-only")
    assert own_web.json("get", "KB-3")["document"] == before
    own_web("search", "office", "--fts-only", "--profile", "memory")
    after = own_web.json("get", "KB-3")["document"]
    assert after["access_count"] == 1
    assert after["salience"] == pytest.approx(0.51)
    assert after["last_accessed_at"] > before["updated_at"]
    assert after["updated_at"] == before["updated_at"]


def test_a_search_is_answered_while_somebody_else_writes(own_web: Kb) -> None:
    """C11"""
    with closing(sqlite3.connect(own_web.base, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        answer = own_web.json(
            "search", "office", "--fts-only", "--profile", "memory", "--session-record", "s8"
        )
        assert answer["returned"] == 1
        writer.execute("ROLLBACK")
    assert own_web.json("get", "KB-3")["document"]["access_count"] == 0
    own_web.error("session", "show", "s8", code=3)


def test_a_word_that_is_found_is_not_suggested_anew(own_web: Kb) -> None:
    """The memory profile looks for more forms of a word than were typed."""
    answer = own_web.json("search", "schema", "--fts-only", "--profile", "memory")
    assert answer["returned"] == 1
    assert answer["suggestions"] == []


# brief


def test_a_brief_tells_what_is_worth_knowing_each_with_its_id(own_web: Kb) -> None:
    own_web("session", "end", "s1", "--summary", "Chose React;\nthe rest can wait")
    own_web("remember", "Ask before you deploy", "--type", "lesson")
    lines = own_web("brief", "--project", "web").out.splitlines()
    assert lines[0] == "# Brief for web"
    told = [line for line in lines[1:] if line]
    day = r"\(\d{4}-\d\d-\d\d\)"
    expected = [
        r"## Decisions", rf"- \[KB-1\] {day} We use React with TypeScript",
        r"## Lessons", rf"- \[KB-5\] {day} Ask before you deploy",
        rf"- \[KB-2\] {day} Deploys wait for the checks",
        r"## Expiring soon", rf"- \[KB-1\] {day} We use React with TypeScript",
        r"## Recent sessions", rf"- \[session s1\] {day} Chose React; the rest can wait",
    ]  # fmt: skip
    assert len(told) == len(expected)
    for line, pattern in zip(told, expected, strict=True):
        assert re.fullmatch(pattern, line)
    answer = own_web.json("brief", "--project", "web")
    assert answer["project"] == "web"
    assert answer["left_out"] == 0
    assert answer["text"].splitlines() == lines
    assert [item["code"] for item in answer["parts"][1]["items"]] == ["KB-5", "KB-2"]


def test_what_is_confirmed_comes_first_in_a_brief(own_web: Kb) -> None:
    decisions = own_web.json("brief")["parts"][0]
    assert [item["code"] for item in decisions["items"]] == ["KB-4", "KB-1"]
    own_web("feedback", "KB-1", "good")
    decisions = own_web.json("brief")["parts"][0]
    assert [item["code"] for item in decisions["items"]] == ["KB-1", "KB-4"]
    assert re.search(r"\[KB-1\] \(.*confirmed 1×\)", own_web("brief").out)


def test_a_brief_keeps_within_its_tokens_and_says_what_found_no_room(web: Kb) -> None:
    answer = web.json("brief", "--project", "web", "--max-tokens", "50")
    assert answer["tokens"] <= 50
    assert answer["left_out"] > 0
    out = web("brief", "--project", "web", "--max-tokens", "50").out
    assert f"({answer['left_out']} more found no room in 50 tokens)" in out


@pytest.mark.parametrize("number", ["49", "100001", "many"])
def test_a_brief_of_an_odd_length_is_refused(web: Kb, number: str) -> None:
    assert "max_tokens cannot be" in web.error("brief", "--max-tokens", number, code=2)


def test_a_brief_of_an_empty_base_says_so(kb: Kb) -> None:
    answer = kb.json("brief")
    assert answer["text"].startswith("# Brief\n\nThere are no decisions")
    assert answer["parts"] == []


def test_a_brief_does_not_call_a_base_with_facts_empty(kb: Kb) -> None:
    kb("remember", "The office is closed on Fridays")
    assert "Nothing is known" not in kb("brief").out


# feedback


def test_feedback_counts_once_a_day_and_once_a_session(own_web: Kb) -> None:
    """C11 C12"""
    updated = own_web.json("get", "KB-3")["document"]["updated_at"]
    out = own_web("feedback", "KB-3", "good").out
    assert out.startswith("KB-3: The office is closed on Fridays (fact) · confirmed 1")
    assert "salience 0.510" in out
    assert "it counts once" in own_web("feedback", "KB-3", "good").out
    again = own_web.json("feedback", "KB-3", "good")
    assert (again["counted"], again["verdict"]) == (False, "good")
    assert again["document"]["confirmed"] == 1
    other = own_web.json("feedback", "kb-3:_preamble", "good", "--session", "s1")
    assert (other["counted"], other["document"]["confirmed"]) == (True, 2)
    assert other["document"]["updated_at"] == updated
    used = own_web.json("session", "show", "s1")["used"]
    assert ("KB-3", "reinforced") in {(one["document"]["code"], one["usage"]) for one in used}


def test_the_last_word_of_an_occasion_counts(own_web: Kb) -> None:
    own_web("feedback", "KB-3", "good")
    bad = own_web.json("feedback", "KB-3", "bad")
    assert (bad["counted"], bad["document"]["confirmed"]) == (True, -1)
    assert bad["document"]["salience"] < 0.51


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("KB-3", "meh"), 2, "verdict cannot be 'meh' (one of good, bad)"),
        (("KB-3",), 2, "VERDICT is missing"),
        (("KB-99", "good"), 3, "there is no document 'KB-99'"),
        (("KB-3:nowhere", "good"), 3, "nowhere"),
    ],
)
def test_feedback_on_nothing_is_an_error(
    own_web: Kb, arguments: tuple[str, ...], code: int, words: str
) -> None:
    assert words in own_web.error("feedback", *arguments, code=code)


# relate and context


def test_two_documents_are_related_and_no_more(own_web: Kb) -> None:
    """S2-19"""
    out = own_web("relate", "KB-1", "kb-2").out
    assert out.startswith("KB-1: We use React with TypeScript (decision)\n")
    assert "  RELATED_TO ↔ KB-2: Deploys wait for the checks (lesson)" in out.splitlines()
    twice = own_web.json("relate", "KB-1", "KB-2")["related"]
    assert [(one["relation"], one["direction"], one["document"]["code"]) for one in twice] == [
        ("RELATED_TO", "to", "KB-2")
    ]
    both = own_web.json("relate", "KB-1", "KB-2", "--relation", "REFERENCES")["related"]
    assert {one["relation"] for one in both} == {"RELATED_TO", "REFERENCES"}
    assert "  RELATED_TO ↔ KB-1: We use React" in own_web("context", "KB-2").out
    [hit] = own_web.json("search", "checks", "--fts-only")["hits"]
    assert hit["related_count"] == 2
    assert "2 related (kb context KB-2)" in own_web("search", "checks", "--fts-only").out
    left = own_web.json("relate", "KB-1", "KB-2", "--remove")["related"]
    assert [one["relation"] for one in left] == ["REFERENCES"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("KB-1", "KB-1"), 2, "a document is not related to itself"),
        (("KB-1", "KB-2", "--relation", "LIKES"), 2, "one of RELATED_TO, REFERENCES"),
        (("KB-1",), 2, "TARGET is missing"),
        (("KB-1", "KB-99"), 3, "there is no document 'KB-99'"),
        (("KB-99", "KB-1"), 3, "there is no document 'KB-99'"),
        (("KB-1:_preamble", "KB-2"), 2, "the document is KB-1"),
    ],
)
def test_a_relation_that_cannot_be_is_refused(
    own_web: Kb, arguments: tuple[str, ...], code: int, words: str
) -> None:
    assert words in own_web.error("relate", *arguments, code=code)


def test_the_context_is_where_it_was_made_and_used_last(own_web: Kb) -> None:
    """S2-25"""
    context = own_web.json("context", "KB-1")
    assert context["created_in"]["id"] == "s1"
    assert context["latest"]["usage_type"] == "created"
    own_web("search", "typescript", "--fts-only", "--session-record", "s2")
    context = own_web.json("context", "KB-1")
    assert context["created_in"]["id"] == "s1"
    latest = context["latest"]
    assert (latest["session"]["id"], latest["usage_type"]) == ("s2", "recalled")
    assert latest["memories_in_session"] == 2
    out = own_web("context", "KB-1").out
    assert "made in session s1\n" in out
    assert "recalled in session s2 (2 " in out


def test_a_document_without_a_session_has_a_context_too(web: Kb) -> None:
    """S2-25"""
    out = web("context", "KB-3").out
    assert out == "KB-3: The office is closed on Fridays (fact)\n  in no session\n"
    context = web.json("context", "KB-3")
    assert (context["created_in"], context["latest"], context["related"]) == (None, None, [])
    web.error("context", "KB-99", code=3)
    assert "missing" in web.error("context", code=2)


# timeline


def test_a_timeline_is_what_its_project_made_before_and_after(own_web: Kb) -> None:
    """S2-24"""
    last = ("remember", "One step is taken", "--type", "lesson", "--project", "web")
    own_web(*last, "--session", "s2")
    timeline = own_web.json("timeline", "KB-2")
    assert [one["code"] for one in timeline["before"]] == ["KB-1"]
    assert timeline["anchor"]["code"] == "KB-2"
    assert [one["code"] for one in timeline["after"]] == ["KB-5"]
    assert set(timeline["sessions"]) == {"s1", "s2"}
    short = own_web.json("timeline", "KB-5", "--before", "1", "--after", "0")
    assert [one["code"] for one in short["before"]] == ["KB-2"]
    lines = own_web("timeline", "KB-2").out.splitlines()
    moment = r"\d{4}-\d\d-\d\d \d\d:\d\dZ"
    assert re.match(rf"  {moment}  KB-1: We use React with TypeScript \(decision\)", lines[0])
    assert re.match(rf"→ {moment}  KB-2: Deploys wait for the checks \(lesson\)", lines[1])
    assert re.match(rf"  {moment}  KB-5: One step is taken \(lesson\)", lines[2])
    alone = own_web("timeline", "KB-2", "--before", "0", "--after", "0").out.splitlines()
    assert alone[0] == lines[1]


def test_a_timeline_shows_what_was_superseded_and_marks_it(own_web: Kb) -> None:
    """S2-24"""
    own_web("supersede", "KB-1", "KB-2")
    [line] = [one for one in own_web("timeline", "KB-2").out.splitlines() if "KB-1:" in one]
    assert "superseded" in line
    own_web("archive", "KB-1")
    assert own_web.json("timeline", "KB-2")["before"] == []
    shown = own_web.json("timeline", "KB-2", "--include", "archived")["before"]
    assert [one["code"] for one in shown] == ["KB-1"]
    own_web("forget", "KB-1")
    assert own_web.json("timeline", "KB-2", "--include", "archived")["before"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("KB-99",), 3, "Anchor memory not found"),
        ((), 2, "ANCHOR is missing"),
        (("KB-2", "--before", "-1"), 2, "before cannot be -1 (from 0 to 1000)"),
        (("KB-2", "--after", "1001"), 2, "after cannot be 1001 (from 0 to 1000)"),
        (("KB-2", "--include", "all"), 2, "one of archived, expired, superseded"),
    ],
)
def test_a_timeline_of_nothing_is_an_error(
    web: Kb, arguments: tuple[str, ...], code: int, words: str
) -> None:
    """C22 S2-24"""
    assert words in web.error("timeline", *arguments, code=code)


def test_an_error_is_one_object_for_a_program(web: Kb) -> None:
    """C32"""
    error = web.json("timeline", "KB-99", code=3)["error"]
    assert error["code"] == "not_found"
    assert (error["message"], error["field"]) == ("Anchor memory not found", "anchor")
    assert web.json("remember", "x", "--tier", "y", code=2)["error"]["field"] == "tier"


# what others wrote


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """Memories, a session and a project whose names and texts would steer a terminal."""
    kb = Kb(tmp_path_factory.mktemp("nasty"))
    kb("init")
    said = ("--type", "decision", "--project", f"p{NASTY}", "--session", f"s{NASTY}")
    for number in "12":
        title = f"T{number}{NASTY}\nKB-9: forged (fact)"
        text = f"zebra {number} {NASTY}\x00 text\n\n- [KB-9] (2026-01-01) forged\n"
        more = ("--title", title, "--tags", f"t{NASTY}", "--roles", f"r{NASTY}", "--ttl", "3d")
        kb("remember", *said, *more, text=text)
    summary = f"sum{NASTY}mary\n## Decisions\n\n- [KB-9] (2026-01-01) forged"
    kb("session", "end", f"s{NASTY}", "--summary", summary)
    kb("relate", "KB-1", "KB-2")
    return kb


SHOWING = (
    ("brief",), ("brief", "--project", f"p{NASTY}"), ("timeline", "KB-1"), ("context", "KB-1"),
    ("feedback", "KB-1", "good"), ("sessions",), ("session", "end", f"s{NASTY}"),
    ("session", "show", f"s{NASTY}"), ("archive", "KB-2"), ("forget", "KB-2"), ("restore",),
    ("restore", "KB-2"), ("expire", "--within", "7d"), ("list",), ("tags",),
    ("supersede", "KB-1", "KB-2"), ("search", "zebra", "--fts-only", "--include", "superseded"),
)  # fmt: skip
WRONG = (
    ("remember", "x", "--sector", NASTY), ("timeline", NASTY), ("context", NASTY),
    ("feedback", "KB-1", NASTY), ("session", "show", NASTY), ("expire", "--within", NASTY),
    ("search", "x", "--fts-only", "--session-filter", NASTY),
)  # fmt: skip


@pytest.fixture(scope="module")
def shown(nasty: Kb) -> dict[tuple[str, ...], str]:
    """What each command says of them."""
    return {arguments: nasty(*arguments).out for arguments in SHOWING}


def test_no_text_steers_the_terminal(shown: dict[tuple[str, ...], str]) -> None:
    for arguments, out in shown.items():
        assert all(line.isprintable() for line in out.split("\n")), (arguments, out)


def test_no_text_forges_a_line(shown: dict[tuple[str, ...], str]) -> None:
    for arguments, out in shown.items():
        forged = [line for line in out.split("\n") if line.lstrip("→ -[").startswith("KB-9")]
        assert forged == [], arguments


def test_no_error_steers_the_terminal(nasty: Kb) -> None:
    for arguments in WRONG:
        line = nasty(*arguments, code=None).err.rstrip("\n")
        assert line.startswith("kb: ")
        assert line.isprintable(), line


# help and completion


def test_the_help_of_session_names_what_it_can_do(tmp_path: Path) -> None:
    out = Kb(tmp_path)("session", "--help").out
    for name in ("start", "end", "show"):
        assert f"session {name}" in out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_the_new_commands_and_their_second_words(kb: Kb) -> None:
    assert completed(kb, "kb", "") >= set(NEW_COMMANDS)
    assert completed(kb, "kb", "session", "") >= {"start", "end", "show"}
    assert completed(kb, "kb", "session", "s") == {"start", "show"}
    assert completed(kb, "kb", "session", "end", "--su") == {"--summary"}
    assert completed(kb, "kb", "remember", "--se") == {"--sector", "--session"}
    assert completed(kb, "kb", "search", "--session-") == {"--session-filter", "--session-record"}


def test_fish_can_read_every_line_about_the_new_commands(kb: Kb) -> None:
    lines = kb("completion", "fish").out.splitlines()
    for name in NEW_COMMANDS:
        assert any(f"__fish_use_subcommand -f -a {name} " in line for line in lines)
    for word in ("start", "end", "show"):
        assert any(f"from session' -f -a {word}" in line for line in lines)
    quoted = re.compile(r"'(?:[^'\\]|\\.)*'")
    assert [line for line in lines if "'" in quoted.sub("", line)] == []
