"""What a person at a terminal sees, and what can never reach the terminal."""

import sys

import pytest
from children import in_terminal, without_styles

from conftest import Kb

NASTY = "\x1b[41m\x1b]0;owned\x07\x9b5m\x08\x00"


def test_matched_words_are_marked_in_colour(handbook: Kb) -> None:
    """C17"""
    out = in_terminal(handbook, "search", "install git", "--fts-only", "--top", "1").out
    assert "\x1b[36mHB-T-0002\x1b[0m" in out
    assert "\x1b[1;33minstall\x1b[0m \x1b[1;33mgit\x1b[0m" in out
    assert "<mark>" not in out


def test_marks_that_a_document_has_are_text_and_no_match(kb: Kb) -> None:
    kb("note", "A List<mark> of <mark>striped</mark> zebras and gnus")
    out = in_terminal(kb, "search", "zebra", "--fts-only").out
    assert "A List<MARK> of <MARK>striped</MARK> \x1b[1;33mzebras\x1b[0m and gnus\n" in out
    [hit] = kb.json("search", "zebra", "--fts-only")["hits"]
    assert hit["snippet"].count("<mark>") == hit["snippet"].count("</mark>") == 1


def test_a_place_is_a_link_to_the_file(handbook: Kb) -> None:
    out = in_terminal(handbook, "search", "install git", "--fts-only", "--top", "1").out
    target = handbook.folder / "handbook/engineering/git-setup.md"
    assert f"\x1b]8;;file://{target}\x1b\\handbook/engineering/git-setup.md:16\x1b]8;;\x1b\\" in out


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_switched_off(handbook: Kb, env: dict[str, str]) -> None:
    out = in_terminal(handbook, "search", "install git", "--fts-only", env=env).out
    assert "\x1b" not in out
    assert "HB-T-0002: Git on a new laptop (markdown)" in out


def test_the_same_text_is_shown_with_and_without_colours(handbook: Kb) -> None:
    coloured = without_styles(in_terminal(handbook, "tags").out)
    assert coloured == handbook("tags").out


def assert_tame(out: str) -> None:
    """Nothing but our own styles and links."""
    rest = without_styles(out)
    assert not any(ord(character) < 32 and character not in "\n\t" for character in rest), rest
    assert not any(0x7F <= ord(character) < 0xA0 for character in rest), rest
    assert "\x1b[41m" not in out


def test_control_characters_of_a_document_never_reach_the_terminal(kb: Kb) -> None:
    title = NASTY.replace("\x1b", "\\e").replace("\x07", "\\a").replace("\x9b", "\\x9b")
    title = title.replace("\x08", "\\b").replace("\x00", "\\0")
    kb.write("page.md", f'---\ntitle: "T{title}"\ntags: ["t{title}"]\n---\n# Head\n\nzebra text\n')
    kb.write("other.md", f"# H{NASTY[:-1]}ead\n\nzebra {NASTY[:-1]} " + "text " * 40)
    kb("add", "page.md", "other.md")
    for command in (
        ("search", "zebra", "--fts-only"),
        ("list",),
        ("tags",),
        ("get", "other.md"),
        ("rm", "page.md", "other.md", "--dry-run"),
    ):
        shown = in_terminal(kb, *command)
        assert shown.code == 0
        assert_tame(shown.out)


@pytest.mark.parametrize("command", [("search", "zebra", "--fts-only"), ("list",)])
def test_control_characters_of_a_code_never_reach_the_terminal(
    kb: Kb, command: tuple[str, ...]
) -> None:
    kb.write("page.md", '---\ncode: "C\\e[41m\\aX"\n---\n# Head\n\nzebra text\n')
    kb("add", "page.md")
    assert_tame(in_terminal(kb, *command).out)


def test_control_characters_of_file_names_never_reach_the_terminal(kb: Kb) -> None:
    kb.write("docs/na\x1b[41mme.md", "# Name\n\nzebra\n")
    kb.write("docs/bro\x1b[41m\x07ken.pdf", b"%PDF-1.7 broken")
    added = in_terminal(kb, "add", "docs")
    assert added.code == 6
    assert_tame(added.out.replace("\r\x1b[2K", ""))
    assert_tame(in_terminal(kb, "search", "zebra", "--fts-only").out)
    assert_tame(in_terminal(kb, "status").out)


def test_what_cannot_be_seen_never_reaches_the_terminal_and_stays_in_the_data(kb: Kb) -> None:
    unseen = "\u200b\u2060\ufeff\u202e\u2066\u200f\U000e0041\U000e0042"
    kb.write(
        "docs/p\u202e.md",
        f"# Ze{unseen}bra\n\nzebra {unseen} می‌خواهم 👩‍💻\u2028KB-9: forged (note)\n",
    )
    kb.write(
        "docs/q.md", '---\ntitle: "Two\\nKB-8: forged"\ntags: ["a\\nKB-7: forged"]\n---\nzebra\n'
    )
    kb("add", "docs", "--defer")
    for command in (("search", "zebra", "--fts-only"), ("list",), ("tags",), ("status",)):
        out = in_terminal(kb, *command).out
        assert not set(unseen) & set(out)
        assert not [line for line in out.splitlines() if without_styles(line).startswith("KB-9")]
        assert "\nKB-8" not in out
        assert "\nKB-7" not in out
    out = in_terminal(kb, "get", "docs/p\u202e.md").out
    assert not set(unseen) & set(out)
    assert "می‌خواهم 👩‍💻" in out
    shown = in_terminal(kb, "get", "docs/p\u202e.md", "--json").out
    assert not set(unseen) & set(shown)
    assert unseen in kb.json("get", "docs/p\u202e.md")["text"]  # exact data, written out


def test_a_progress_bar_is_drawn_and_wiped(kb: Kb) -> None:
    for number in range(12):
        kb.write(f"docs/{number}.md", f"# Page {number}\n\nWords of page {number}.\n")
    out = in_terminal(kb, "add", "docs").out
    assert "/12 files" in out
    assert "chunks embedded · " in out
    assert out.endswith("\r\x1b[2K12 added · 12 chunks embedded, 0 reused\n")


def test_quiet_is_quiet(kb: Kb) -> None:
    kb.write("docs/a.md", "# Page\n\nWords.\n")
    assert in_terminal(kb, "add", "docs", "--quiet").out == ""


@pytest.mark.parametrize(("answer", "left"), [("y", 0), ("yes", 0), ("n", 1), ("", 1)])
def test_rm_asks_a_person_before_it_removes(kb: Kb, answer: str, left: int) -> None:
    kb("note", "A note to be removed")
    shown = in_terminal(kb, "rm", "KB-1", typed=answer.encode() + b"\n")
    assert "would remove KB-1: A note to be removed" in shown.out
    assert "remove? [y/N]" in shown.out
    assert kb.json("list")["total"] == left


def test_rm_does_not_ask_when_told_yes(kb: Kb) -> None:
    kb("note", "A note to be removed")
    shown = in_terminal(kb, "rm", "KB-1", "--yes")
    assert "[y/N]" not in shown.out
    assert kb.json("list")["total"] == 0


def test_the_end_of_input_is_a_no(kb: Kb) -> None:
    kb("note", "A note to be removed")
    shown = in_terminal(kb, "rm", "KB-1", typed=b"\x04")
    assert "something went wrong" not in shown.out
    assert kb.json("list")["total"] == 1


def editor(kb: Kb, body: str) -> str:
    """A program that writes into the file it is given."""
    script = kb.write("editor.py", f"import sys\nfile = open(sys.argv[-1], 'w')\n{body}\n")
    return f"{sys.executable} {script}"


@pytest.mark.parametrize("variable", ["EDITOR", "VISUAL"])
def test_a_note_is_written_in_the_editor(kb: Kb, variable: str) -> None:
    program = editor(kb, "file.write('Written by hand\\n\\nWith a **zebra**.\\n')")
    shown = in_terminal(kb, "note", "--tags", "hand", env={variable: program})
    assert shown.code == 0, shown
    assert without_styles(shown.out) == "KB-1: Written by hand (note) #hand\n"
    assert kb.json("get", "KB-1")["text"] == "Written by hand\n\nWith a **zebra**.\n"


def test_an_editor_that_writes_nothing_makes_no_note(kb: Kb) -> None:
    shown = in_terminal(kb, "note", env={"EDITOR": editor(kb, "")})
    assert shown.code == 2
    assert "kb: there is no text" in shown.out
    assert kb.json("list")["total"] == 0


def test_without_an_editor_a_note_without_text_says_what_to_do(kb: Kb) -> None:
    shown = in_terminal(kb, "note")
    assert shown.code == 2
    assert "set EDITOR" in shown.out


@pytest.mark.parametrize("program", ["false", "/no/such/editor"])
def test_an_editor_that_fails_is_named(kb: Kb, program: str) -> None:
    shown = in_terminal(kb, "note", env={"EDITOR": program})
    assert "something went wrong" not in shown.out
    assert program in shown.out
