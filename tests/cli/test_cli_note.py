"""Writing notes."""

import json
import subprocess

import pytest
from children import assert_in_step

from conftest import COMMAND, Kb, environment


def test_a_note_is_written_shown_and_found(kb: Kb) -> None:
    out = kb("note", "Deploys freeze on Fridays", "--tags", "ops,policy").out
    assert out == "KB-1: Deploys freeze on Fridays (note) #ops #policy\n"
    assert kb("get", "KB-1").out == "Deploys freeze on Fridays"
    answer = kb.json("search", "deploy on friday", "--type", "note", "--tags", "ops")
    assert answer["hits"][0]["code"] == "KB-1"
    assert answer["hits"][0]["path"] is None
    assert answer["hits"][0]["sources"] == ["fts", "vec"]
    assert_in_step(kb.base)


def test_words_of_a_note_need_no_quotes(kb: Kb) -> None:
    kb("note", "Deploys", "freeze", "on", "Fridays")
    assert kb.json("get", "KB-1")["text"] == "Deploys freeze on Fridays"


def test_a_note_is_read_from_standard_input(kb: Kb) -> None:
    text = "# Why we chose it\n\nBecause of the zebra.\n\n## Consequences\n\nNone yet.\n"
    document = kb.json("note", "--type", "decision", text=text)
    assert document["type"] == "decision"
    assert document["title"] == "Why we chose it"
    content = kb.json("get", document["code"])
    assert content["text"] == text
    assert [section["heading"] for section in content["sections"]] == [None, "Consequences"]
    assert kb.json("list", "--type", "decision")["total"] == 1


def test_title_and_code_can_be_given(kb: Kb) -> None:
    """C26"""
    document = kb.json("note", "Some text", "--title", "A title", "--code", "OPS-7")
    assert (document["title"], document["code"]) == ("A title", "OPS-7")
    assert kb.json("get", "ops-7")["document"]["id"] == document["id"]


def test_a_code_is_short_and_can_be_seen(kb: Kb) -> None:
    """C26: what a file calls its code is cleaned, or another one is given; a note is refused."""
    kb.write("a.md", '---\ncode: "OPS\\e[31m-\\u200b8"\n---\n# A\n\nalpha\n')
    kb.write("b.md", f"---\ncode: {'x' * 5000}\n---\n# B\n\nbeta\n")
    kb("add", ".", "--defer")
    assert kb.codes() == {"OPS[31m-8", "KB-2"}
    for code in ("x" * 121, "OPS\x1b-9"):
        assert "(up to 120 characters" in kb.error("note", "text", "--code", code, code=2)


def test_hash_tags_in_the_text_are_tags(kb: Kb) -> None:
    """S3-01"""
    document = kb.json("note", "Descale the machine #office #phase/active", "--tags", "#Coffee")
    assert set(document["tags"]) == {"coffee", "office", "phase/active"}


def test_a_note_takes_the_place_of_another(kb: Kb) -> None:
    first = kb.json("note", "The zebra is striped", "--code", "Z-1")
    second = kb.json("note", "The lion is not", "--replace", "z-1")
    assert second["id"] == first["id"]
    assert second["code"] == "Z-1"
    assert second["created_at"] == first["created_at"]
    assert kb.json("list")["total"] == 1
    assert kb.json("search", "zebra", "--fts-only")["returned"] == 0
    assert kb.json("search", "lion", "--fts-only")["returned"] == 1
    assert_in_step(kb.base)


def test_replacing_what_is_not_there_is_an_error(kb: Kb) -> None:
    kb.error("note", "Text", "--replace", "KB-9", code=3)
    assert kb.json("list")["total"] == 0


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_a_note_without_text_is_an_error(kb: Kb, text: str) -> None:
    assert "there is no text" in kb.error("note", code=2, text=text)
    assert "there is no text" in kb.error("note", "", code=2, text=text)
    assert kb.json("list")["total"] == 0


def test_an_unknown_type_of_note_names_the_valid_ones(kb: Kb) -> None:
    """C9"""
    line = kb.error("note", "Text", "--type", "poem", code=2)
    assert "'poem'" in line
    assert "decision, lesson" in line


def test_a_long_first_line_is_cut_for_the_title(kb: Kb) -> None:
    document = kb.json("note", "word " * 100)
    assert len(document["title"]) <= 80
    assert document["title"].endswith("…")


def test_a_note_in_any_script_is_kept(kb: Kb) -> None:
    text = "Ünïcödé 東京 🎉\u200d and a tab\there"
    assert kb.json("note", text)["title"]
    assert kb.json("get", "KB-1")["text"] == text


def test_a_code_that_is_taken_is_an_error(kb: Kb) -> None:
    kb("note", "First", "--code", "X-1")
    assert "X-1" in kb.error("note", "Second", "--code", "x-1", code=2)


def test_of_notes_that_are_written_at_once_one_gets_the_code(kb: Kb) -> None:
    """The others are refused as they would be later."""
    kb("note", "a first one, so that the model is chosen")
    writing = [
        subprocess.Popen(
            [*COMMAND, "note", f"number {number}", "--code", "SAME-1", "--json"],
            stdout=subprocess.PIPE, cwd=kb.folder, env=environment(),
        )
        for number in range(5)
    ]  # fmt: skip
    said = [json.loads(process.communicate(timeout=60)[0]) for process in writing]
    refused = [one["error"]["code"] for one in said if "error" in one]
    assert refused == ["conflict"] * 4
    assert [one["code"] for one in said if "code" in one] == ["SAME-1"]
    assert len(kb.json("list")["documents"]) == 2


def test_a_document_made_from_a_file_is_not_replaced_by_a_note(own_handbook: Kb) -> None:
    own_handbook("note", "Gone", "--replace", "HB-T-0002", code=2)
    assert own_handbook.json("get", "HB-T-0002")["document"]["path"]


def test_front_matter_alone_is_no_text(kb: Kb) -> None:
    kb.error("note", code=2, text="---\ntitle: Only a title\n---\n")


def test_a_note_with_front_matter_can_be_an_argument(kb: Kb) -> None:
    kb("note", "---\ncode: FM-1\n---\nSome text\n")
    assert kb.codes() == {"FM-1"}


def test_a_note_with_broken_bytes_is_kept_or_refused_clearly(kb: Kb) -> None:
    kb("note", b"caf\xff")
    kb("note", text=b"caf\xff from a pipe")
    assert kb.json("list")["total"] == 2


def test_a_note_that_would_take_for_ever_is_written_or_refused(kb: Kb) -> None:
    kb("note", text="---\nx: 1" + ":1" * 100_000 + "\n---\nSome text\n")
    slow = {"KB_READ_TIMEOUT": "1"}
    told = kb.error("note", text="[" * 500_000, code=2, env=slow)
    assert "reading it took more than 2 s" in told
    assert kb.json("list")["total"] == 1


def test_a_note_is_stored_whole_or_not_at_all(kb: Kb) -> None:
    parts = "".join(f"## Part {number}\n\ntext\n\n" for number in range(9))
    assert "too long" in kb.error("note", parts, code=2, env={"KB_READ_MAX_CHUNKS": "4"})
    assert "too long" in kb.error("note", parts * 20, code=2, env={"KB_READ_MAX_CHUNKS": "4"})
    kb("note", parts)
