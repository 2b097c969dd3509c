"""The HTML reader."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.read import read
from knowbase.read.html import read_html
from knowbase.values.reading import Link, Reading

PAGE = """<!doctype html>
<html><head><title>The &amp; page</title>
<meta name="Keywords" content="red, big  blue,">
<style>p { color: red }</style><script>var a = "<h2>no</h2>";</script>
</head>
<body>
<h1>Welcome</h1>
<p>First   <b>para</b>graph<br>second line &eacute;.</p>
<noscript>no</noscript><template><p>no</p></template><svg><title>no</title><text>no</text></svg>
<div>Loose <a href="other%20page.html">link</a> <a href="https://x.org">x</a></div>
<h2>A <em>part</em></h2>
<ul><li>one</li><li><p>two</p><ul><li>deep</li></ul></li></ul>
<pre>
a  b
   c
</pre>
<h3>Small</h3>
<table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>
<h2>A part</h2>
<p>End
</body></html>
"""


def texts(reading: Reading) -> str:
    return "".join(section.header + section.text for section in reading.sections)


def test_a_page_is_split_at_its_headings() -> None:
    reading = read_html(PAGE, "file")
    assert (reading.type, reading.title, reading.tags) == (
        "html",
        "The & page",
        ("red", "big blue"),
    )
    assert reading.links == (Link("other page.html", "markdown"),)
    assert [(s.slug, s.heading, s.header, s.text, s.line) for s in reading.sections] == [
        (
            "_preamble",
            None,
            "",
            "# Welcome\n\nFirst paragraph\nsecond line é.\n\nLoose link x\n\n",
            7,
        ),
        (
            "a-part",
            "A part",
            "## A part\n\n",
            "- one\n- two\n  - deep\n\na  b\n   c\n\n### Small\n\nk | v\n1 | 2\n\n",
            11,
        ),
        ("a-part-2", "A part", "## A part\n\n", "End\n\n", 19),
    ]


def test_cells_that_hold_paragraphs_are_rows() -> None:
    """As LibreOffice and Word write every table; a page that is laid out in one is not a row."""
    page = """<table><tr><th><p><b>Berth</b></p></th><th><div><p>Boat</p></div></th></tr>
    <tr><td><p>1</p></td><td><p>Anna</p></td></tr><tr><td></td><td><p></p></td></tr></table>
    <table><tr><td><p>Opening hours</p><p>From nine.</p></td></tr></table>"""
    assert texts(read_html(page, "file")) == (
        "Berth | Boat\n1 | Anna\nOpening hours\n\nFrom nine.\n\n"
    )


def test_a_formula_is_there_once() -> None:
    """Programs put its source beside it."""
    page = """<p>As <math><semantics><mi>E</mi><mo>=</mo><mi>m</mi>
    <annotation encoding="application/x-tex">E = zebra</annotation></semantics></math>.</p>"""
    assert texts(read_html(page, "file")) == "As E=m .\n\n"


def test_the_title_comes_from_the_first_heading_or_the_file() -> None:
    assert read_html("<h2>x</h2><h1>Head</h1>", "file").title == "Head"
    assert read_html("<p>x</p>", "file").title == "file"


@pytest.mark.parametrize(
    "text",
    [
        "<head><p>seen</p>",
        "<![foo[bar]]><p>seen",
        "<!foo><p>seen",
        "<?php x ?><p>seen",
        "<h2>Head<p>seen",
        "</div></p>seen<",
        "<ul><li>seen",
        "<p a='x\"<b>seen",
        "<pre>seen",
        "<title>seen",
    ],
)
def test_bad_html_is_read_as_well_as_it_goes(text: str) -> None:
    reading = read_html(text, "file")
    assert isinstance(reading, Reading)
    if "'" not in text:
        assert "seen" in texts(reading) + reading.title


@pytest.mark.parametrize("piece", ["<a ", "<svg ", "<!--", "<![x", "<div>", "</a ", "<a b='"])
def test_hostile_html_is_read_in_reasonable_time(piece: str) -> None:
    assert isinstance(read_html(piece * 20000, "file"), Reading)


PIECES = st.sampled_from(
    ["<p>", "</p>", "<h1>", "</h1>", "<h2>", "</h2>", "<![", "<!", "<!--", "-->", "<script>",
     "</script>", "<li>", "<ul>", "</ul>", "<pre>", "</pre>", "<td>", "&", "&#x110000;", "&#xd800;",
     "<", ">", "]]>", "<svg>", "</svg>", "<a href='", "'", "<!DOCTYPE [", "<?", "\n", "x",
     "<title>"]
)  # fmt: skip


@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=25).map("".join))
def test_any_text_can_be_read(text: str) -> None:
    reading = read_html(text, "file")
    assert len({section.slug for section in reading.sections}) == len(reading.sections)
    assert all(1 <= section.line <= text.count("\n") + 1 for section in reading.sections)


def test_keywords_for_search_engines_are_no_tags() -> None:
    page = "<meta name=keywords content='{}'><p>text"
    few, many = "fish, sea", ", ".join(f"cheap fish {number}" for number in range(40))
    assert read_html(page.format(few), "a").tags == ("fish", "sea")
    assert read_html(page.format(many), "a").tags == ()


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("{% block title %}{% endblock %} - Flaskr", "Flaskr"),
        ("Home | {{ site.title }}", "Home"),
        ("C - the language", "C - the language"),
    ],
)
def test_a_title_that_a_template_fills_in_has_no_hanging_dash(title: str, wanted: str) -> None:
    assert read("a.html", f"<title>{title}</title><p>hi".encode()).title == wanted
