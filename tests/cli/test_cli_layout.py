"""Snippets as a person at a terminal sees them, and the short help."""

import pytest
from children import in_terminal, without_styles

from conftest import Kb
from knowbase.cli.render.layout import code_lines, width_of, wrapped
from knowbase.cli.terminal import has_taskbar


def lines_of(kb: Kb, *arguments: str, columns: int) -> list[str]:
    shown = in_terminal(kb, "search", *arguments, "--fts-only", columns=columns).out
    return without_styles(shown).splitlines()


def test_snippets_wrap_at_words_and_keep_their_indent(handbook: Kb) -> None:
    lines = lines_of(handbook, "install git", "--top", "1", columns=50)
    first = next(n for n, line in enumerate(lines) if line.startswith("  Match")) + 1
    last = next(n for n, line in enumerate(lines) if line.startswith("  Score"))
    snippet = lines[first:last]
    assert len(snippet) > 2
    assert all(line.startswith("  ") and len(line) <= 50 for line in snippet)
    piped = handbook("search", "install git", "--fts-only", "--top", "1").out.splitlines()[2]
    assert " ".join(line.strip() for line in snippet) == piped.strip()


def test_the_width_that_the_environment_names_is_kept_to(handbook: Kb) -> None:
    searched = ("search", "install git", "--fts-only", "--top", "1")
    for said, width in (("40", 40), ("0", 50), ("wide", 50)):
        shown = in_terminal(handbook, *searched, columns=50, env={"COLUMNS": said}).out
        lines = without_styles(shown).splitlines()
        at = next(n for n, line in enumerate(lines) if line.startswith("  Match"))
        assert width - 15 < len(lines[at + 1]) <= width


def test_code_keeps_its_line_breaks(handbook: Kb) -> None:
    lines = lines_of(handbook, "getUserName", "--type", "code", "--top", "1", columns=100)
    at = next(n for n, line in enumerate(lines) if "def getUserName" in line)
    assert lines[at].startswith("  def getUserName(")
    assert lines[at + 1].startswith('      """The display name')


def test_hits_are_numbered_for_a_person(handbook: Kb) -> None:
    lines = lines_of(handbook, "deploy", "--top", "2", columns=80)
    assert lines[0].startswith("1. ")
    assert any(line.startswith("2. ") for line in lines)


def test_a_word_that_is_longer_than_a_line_is_broken_and_wide_letters_count_twice() -> None:
    assert wrapped("a" * 50, 20) == ["a" * 20, "a" * 20, "a" * 10]
    assert [width_of(line) for line in wrapped("漢" * 25, 20)] == [20, 20, 10]
    assert wrapped("x <mark>" + "long words " * 3 + "</mark> y", 20) == [
        "x <mark>long words long</mark>",
        "<mark>words long words </mark> y",
    ]


def test_lines_of_code_lose_the_indent_that_all_have_and_are_cut() -> None:
    text = "    if <mark>x</mark>:\n\treturn 1\n\n    " + "y" * 40
    assert code_lines(text, 20) == ["if <mark>x</mark>:", "return 1", "", "y" * 19 + "…"]


def test_a_mark_that_is_cut_off_ends_there() -> None:
    """It ran on through all the lines below."""
    text = "x = 1  # no <mark>" + "pool" * 4 + "</mark> y\n    # 5 s elsewhere\n<mark>a\nb</mark>"
    assert code_lines(text, 20) == [
        "x = 1  # no <mark>poolpoo</mark>…", "    # 5 s elsewhere", "<mark>a</mark>",
        "<mark>b</mark>",
    ]  # fmt: skip


def test_the_short_help_fits_a_terminal_and_names_every_command(handbook: Kb) -> None:
    from knowbase.cli.commands import NAMES

    out = handbook().out
    assert len(out.splitlines()) <= 24
    assert all(len(line) <= 80 for line in out.splitlines())
    assert {name.partition(" ")[0] for name in NAMES} <= set(out.split())


def test_help_prints_pages(handbook: Kb) -> None:
    assert "# The query language" in handbook("help", "query").out
    assert handbook("help", "query").out.startswith("usage: kb query")
    assert handbook("help", "files").out.startswith("# ")
    assert "files, graph" in handbook("help").out
    assert "there is no command 'fils'" in handbook.error("help", "fils", code=2)


def test_the_version_has_a_short_flag(handbook: Kb) -> None:
    assert handbook("-V").out == handbook("--version").out


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"WT_SESSION": "x"}, True),
        ({"ConEmuPID": "1"}, True),
        ({"TERM_PROGRAM": "ghostty", "TERM_PROGRAM_VERSION": "1.2.0"}, True),
        ({"TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.5.1"}, False),
        ({"TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.6.10"}, True),
        ({"TERM_PROGRAM": "WezTerm", "TERM_PROGRAM_VERSION": "20240203-110809-5046fc22"}, False),
        ({"VTE_VERSION": "7600"}, False),
        ({"WT_SESSION": "x", "TMUX": "/tmp/t"}, False),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
    ],
)
def test_the_taskbar_is_told_only_where_it_is_known(
    environment: dict[str, str], expected: bool
) -> None:
    assert has_taskbar(environment) is expected


def test_a_terminal_with_a_taskbar_is_told_and_told_that_it_is_over(kb: Kb) -> None:
    for number in range(6):
        kb.write(f"docs/{number}.md", f"# Page {number}\n\nWords of page {number}.\n")
    out = in_terminal(kb, "add", "docs", env={"WT_SESSION": "x"}).out
    assert "\x1b]9;4;1;" in out
    assert out.rpartition("\x1b]9;4;")[2].startswith("0\x1b\\")
