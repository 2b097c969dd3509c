"""C17: one pure function makes the snippets of every store."""

import re

from hypothesis import given
from hypothesis import strategies as st

from knowbase.text import snippets
from knowbase.text.analysis import Word, clean, query_words

MARKS = re.compile("</?mark>")


def snippet(text: str, words: list[Word]) -> str:
    return snippets.snippet(text, words).text


def test_matched_words_are_marked_with_their_stems() -> None:
    """C17, S2-05"""
    text = "The installation of Git takes a minute."
    assert snippet(text, query_words("install git")) == (
        "The <mark>installation</mark> of <mark>Git</mark> takes a minute."
    )


def test_parts_and_bigrams_are_marked_in_place() -> None:
    assert (
        snippet("call getUserName now", query_words("user")) == "call get<mark>User</mark>Name now"
    )
    assert snippet("新幹線の予約は", query_words("予約")) == "新幹線の<mark>予約</mark>は"


def test_the_stretch_with_most_different_words_is_shown() -> None:
    text = "alpha " * 100 + "here alpha meets beta at last " + "gamma " * 100
    shown = snippet(text, query_words("alpha beta"))
    assert "<mark>beta</mark>" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_without_a_match_the_start_is_shown() -> None:
    assert snippet("\n\n  First things first.", query_words("zebra")) == "First things first."


@given(st.text("ab C+'漢字. \n", max_size=400), st.text("ab C+'漢字. ", max_size=30))
def test_a_snippet_is_part_of_the_text_with_balanced_marks(text: str, query: str) -> None:
    text = clean(text)
    shown = snippet(text, query_words(query))
    plain = MARKS.sub("", shown).strip("…")
    assert plain in " ".join(text.split())
    assert re.sub("[^<>/mark]", "", "".join(MARKS.findall(shown))) == "<mark></mark>" * (
        shown.count("<mark>")
    )


@given(st.lists(st.sampled_from(("<mark>", "</mark>", "<", "mark", ">", "/", "ab", " ", "\n"))))
def test_marks_that_a_text_has_are_never_taken_for_matches(parts: list[str]) -> None:
    text = "".join(parts)
    shown = snippet(text, query_words("ab mark"))
    plain = MARKS.sub("", shown).strip("…")
    assert plain.lower() in " ".join(text.split()).lower()
    assert MARKS.findall(shown) == ["<mark>", "</mark>"] * shown.count("<mark>")
    assert set(re.findall("<mark>(.*?)</mark>", shown)) <= {"ab", "mark"}


def test_marks_that_appear_when_others_are_left_out_are_no_matches() -> None:
    shown = snippets.snippet("<**mark**>ed zebra</**mark**>", query_words("zebra"), is_page=True)
    assert shown.text == "<MARK>ed <mark>zebra</mark></MARK>"


def test_a_text_keeps_its_own_marks_in_capitals() -> None:
    assert snippet("a List<mark> of <mark>zebras</mark>", query_words("zebra")) == (
        "a List<MARK> of <MARK><mark>zebras</mark></MARK>"
    )


def test_a_page_is_shown_without_the_marks_of_headings_and_quotations() -> None:
    text = "## Integer overflow\n\n> > A number that is\n> too large.\n\n### Why?\n\nC#\n\n# Last"
    words = query_words("overflow")
    shown = snippets.snippet(text, words, is_page=True)
    told = "Integer <mark>overflow</mark>: A number that is too large. Why? C# Last"
    assert (shown.text, shown.line) == (told, 0)
    assert snippet("# a: 1\n> b", query_words("zebra")) == "# a: 1 > b"


def test_a_page_is_shown_without_the_targets_of_links() -> None:
    links = " ".join(f"[part {n}](https://example.org/a/long/way/to/{n})" for n in range(40))
    text = f"See **all of it** in [[notes/setup|the setup]], ![a plan](p.png) and {links}"
    shown = snippets.snippet(text, query_words("plan"), is_page=True).text
    assert shown.startswith("See all of it in the setup, a <mark>plan</mark> and part 0 part 1 ")
    assert "part 4" in shown
    assert shown.endswith("…")
    marked = snippets.snippet("[x](setup.md) 2 ** 3 ** 4", query_words("setup"), is_page=True)
    assert marked.text == "[x](<mark>setup</mark>.md) 2 ** 3 ** 4"
    both = snippets.snippet("[our setup](setup.md)", query_words("setup"), is_page=True)
    assert both.text == "our <mark>setup</mark>"


def test_the_line_of_the_match_is_known() -> None:
    text = "one\n\ntwo\nthree zebra\nfour"
    assert snippets.snippet(text, query_words("zebra")).line == 3
    assert snippets.snippet("\n\nfirst", query_words("zebra")).line == 2


PAGE = """Undo it so:

```sh
kb undo --list   # what could be undone
  kb undo 31
```

Undoing is a change, too.
"""


def test_a_block_of_code_within_a_page_keeps_its_line_breaks_and_indent() -> None:
    shown = snippets.snippet(PAGE, query_words("list"))
    assert shown.code == "kb undo --<mark>list</mark>   # what could be undone\n  kb undo 31\n"
    assert shown.line == 3


def test_prose_beside_a_block_of_code_has_no_lines_of_its_own() -> None:
    assert snippets.snippet(PAGE, query_words("change")).code == ""
    assert snippets.snippet("the end of a block\n```\nprose zebra", query_words("zebra")).code == ""


def test_without_a_match_a_block_that_comes_first_is_shown_from_its_first_line() -> None:
    shown = snippets.snippet("```sh\nkb undo\n  kb log\n```\n", query_words("zebra"))
    assert (shown.text, shown.line) == ("…kb undo kb log ```", 1)
    assert shown.code == "kb undo\n  kb log\n"


def test_a_block_of_code_ends_where_its_own_fence_does() -> None:
    text = "~~~~\nzebra\n```\n~~~\nstill\n~~~~\nprose gnu"
    assert snippets.snippet(text, query_words("still")).code.endswith("<mark>still</mark>\n")
    assert snippets.snippet(text, query_words("gnu")).code == ""


@given(st.text("ab`~\n ", max_size=200))
def test_code_within_a_page_is_part_of_it(text: str) -> None:
    shown = snippets.snippet(text, query_words("ab"))
    assert MARKS.sub("", shown.code) in text
