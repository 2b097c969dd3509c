"""The Markdown reader (S3-27, S3-28)."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.read.markdown import new_parser, parser, read_markdown
from knowbase.values.reading import Link, Reading


def read(text: str) -> Reading:
    return read_markdown(text, "file name")


def joined(reading: Reading) -> str:
    return "".join(section.header + section.text for section in reading.sections)


def slugs(text: str) -> list[str]:
    return [section.slug for section in read(text).sections]


def test_second_level_headings_start_sections_and_the_title_is_in_the_preamble() -> None:
    """S3-27."""
    reading = read("# Title\n\nIntro.\n\n## First part\nOne.\n### Detail\nTwo.\n## Second\n")
    assert reading.title == "Title"
    assert [(s.slug, s.heading, s.header, s.text, s.line) for s in reading.sections] == [
        ("_preamble", None, "", "# Title\n\nIntro.\n\n", 1),
        ("first-part", "First part", "## First part\n", "One.\n### Detail\nTwo.\n", 5),
        ("second", "Second", "## Second\n", "", 9),
    ]


def test_repeated_headings_have_different_slugs() -> None:
    """S3-28."""
    assert slugs("## Notes\n## Notes\n## Notes 2\n") == ["notes", "notes-3", "notes-2"]


def test_a_later_level_one_heading_starts_a_section() -> None:
    assert slugs("# A\n# B\n") == ["_preamble", "b"]
    assert slugs("## A\n# B\n") == ["a", "b"]


def test_underlined_headings_count_and_keep_their_source() -> None:
    reading = read("intro\n\nPart\none\n---\ntext\n")
    assert [(s.heading, s.header) for s in reading.sections] == [
        (None, ""),
        ("Part one", "Part\none\n---\n"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```\n## no\n```\n",
        "    ## no\n",
        "<div>\n## no\n</div>\n",
        "<!--\n## no\n-->\nText\n",
        "> ## no\n",
        "- ## no\n",
        "##no\n",
        "\\## no\n",
        "### no\n",
    ],
)
def test_what_only_looks_like_a_heading_starts_no_section(text: str) -> None:
    assert slugs(text) == ["_preamble"]


def test_white_space_before_the_first_heading_is_no_section() -> None:
    assert slugs("\n\n## A\n") == ["a"]
    assert slugs(" \n\n") == []
    assert slugs("") == []


def test_a_heading_is_shown_without_markup() -> None:
    text = "## **Bold** `code` [link](x.md) [[T|shown]] ![alt](i.png) ~~x~~ \\* &amp; <b>h</b> ##\n"
    assert read(text).sections[0].heading == "Bold code link shown alt x * & h"


def test_the_title_comes_from_front_matter_then_heading_then_file() -> None:
    assert read("---\ntitle: Yes\n---\n# Heading\n").title == "Yes"
    assert read("text\n\n# Heading `x`\n").title == "Heading x"
    assert read("text\n").title == "file name"


def test_front_matter_fields_are_understood() -> None:
    reading = read(
        "---\n"
        "title: T\ntags: [a, '#phase/active', 2024, a]\ntype: decision\nshort_code: 007\n"
        "parent: P-1\nproject: kb\nroles: dev, ops team\nconfidence: 0.5\narchived: true\n"
        "expires: 2030-01-02T03:04:05+02:00\nsuperseded_by: D-2\n"
        "author: Ann\nwhen: 2024-05-06\nnested: {a: [1, null]}\nempty:\nparent_of: ~\n"
        "---\nbody #inline\n"
    )
    assert reading == Reading(
        type="decision",
        title="T",
        sections=reading.sections,
        stated={
            "tags": ("a", "phase/active", "2024", "inline"),
            "code": "007",
            "parent": "P-1",
            "project": "kb",
            "roles": ("dev", "ops team"),
            "confidence": 0.5,
            "archived": True,
            "expires_at": "2030-01-02T01:04:05.000000Z",
            "superseded_by": "D-2",
            "metadata": {"author": "Ann", "when": "2024-05-06", "nested": {"a": [1, None]}},
        },
    )
    assert reading.sections[0].text == "body #inline\n"
    assert reading.sections[0].line == 19


def test_tags_may_be_one_string() -> None:
    assert read("---\ntags: a, b c\n---\n").tags == ("a", "b", "c")


def test_a_day_expires_at_its_start_in_utc() -> None:
    assert (
        read("---\nexpires_at: 2030-01-02\n---\n").value("expires_at")
        == "2030-01-02T00:00:00.000000Z"
    )


def test_a_type_that_is_none_of_ours_is_a_type_of_its_own() -> None:
    """S3-41."""
    assert read("---\ntype: Blog Post\n---\n").type == "blog post"
    assert read("---\nlevel: task\n---\n").type == "task"
    both = read("---\nlevel: task\ntype: story\n---\n")
    assert (both.type, both.value("metadata")) == ("story", {"level": "task"})
    number = read("---\nlevel: 3\ntype: [a, b]\n---\n")
    assert (number.type, number.value("metadata")) == ("markdown", {"level": 3, "type": ["a", "b"]})


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("confidence: 1.5", "confidence"),
        ("confidence: high", "confidence"),
        ("confidence: true", "confidence"),
        ("confidence: .nan", "confidence"),
        ("confidence: [1]", "confidence"),
        ("archived: perhaps", "archived"),
        ("expires: soon", "expires"),
        ("expires: 9999-12-31T23:59:59-05:00", "expires"),
    ],
)
def test_a_field_with_an_impossible_value_is_named_and_costs_nothing_else(
    line: str, field: str
) -> None:
    reading = read(f"---\n{line}\ntags: [a]\n---\nwords\n")
    [warning] = reading.warnings
    assert warning.startswith(f"The front matter's {field} must be ")
    assert field in reading.value("metadata")
    assert (reading.tags, reading.sections[0].text.strip()) == (("a",), "words")


@pytest.mark.parametrize(
    "block",
    [
        "a: [",
        "- a\n- b",
        "just text",
        "[" * 5000,
        "- " * 5000,
        "a: !!python/object:os.system {}",
        "a: !!bool x",
        "a: !!timestamp x",
        "? [a]\n: b",
    ],
)
def test_broken_front_matter_is_text(block: str) -> None:
    text = f"---\n{block}\n---\n\nbody\n"
    reading = read(text)
    assert joined(reading) == text
    assert reading.value("metadata") == {}


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    assert joined(read("---\ntext\n")) == "---\ntext\n"


def test_metadata_can_always_be_written_as_json() -> None:
    block = 'a: "\\0"\nb: !!binary aGk=\nc: !!set {x, y}\nd: .inf\ne: 0x' + "f" * 5000
    metadata = read(f"---\n{block}\n1: 2\n---\n").value("metadata")
    assert set(metadata) == {"a", "b", "c", "d", "e", "1"}
    json.dumps(metadata, allow_nan=False).encode("utf-8")


def test_tags_stand_in_running_text_only() -> None:
    text = (
        "# Heading #intitle\n\n#start, (#paren) **#bold** #phase/active #été #हिन्दी #a_b-c.\n"
        "no#tag #1st `#code` \\#escaped https://x.org/#url [x](#anchor) &#35;entity C# ##two\n\n"
        "```\n#fenced\n```\n\n- #item\n\n| #cell |\n|---|\n\n<p>\n#html\n</p>\n"
    )
    assert read(text).tags == (
        "intitle", "start", "paren", "bold", "phase/active", "été", "हिन्दी", "a_b-c",
        "item", "cell",
    )  # fmt: skip


def test_links_to_documents_are_found_and_others_left_out() -> None:
    text = (
        "[[Target]] [[Other|shown]] [[Third#part]] `[[code]]` [[#here]] [[]] \\[[escaped]]\n"
        "[a](b.md) [a](../c%20d.md#x 'title') [a][ref] [h](https://x.org) [m](mailto:a@b.c)\n"
        "[anchor](#x) <https://y.org> [[Target]] [e](<ü.md>)\n\n[ref]: e.md\n\n"
        "- [[in list]]\n"
    )
    assert read(text).links == (
        Link("Target", "wiki"),
        Link("Other", "wiki"),
        Link("Third#part", "wiki"),
        Link("b.md", "markdown"),
        Link("../c d.md#x", "markdown"),
        Link("e.md", "markdown"),
        Link("ü.md", "markdown"),
        Link("in list", "wiki"),
    )


PIECES = st.sampled_from(
    ["# A\n", "## B\n", "text\n", "\n", "---\n", "===\n", "```\n", "> q\n", "- i\n", "<div>\n",
     "    code\n", "\t", " ", "## \n", "\r\n", "\r", "\x0b", "\u2028", "## x ##", "title: x\n",
     "\x0c"]
)  # fmt: skip


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=25).map("".join))
def test_the_sections_together_are_exactly_the_body(text: str) -> None:
    """S3-27."""
    reading = read(text)
    body = joined(reading)
    assert text.endswith(body)
    missing = text[: len(text) - len(body)]
    assert not missing.strip() or missing.startswith("---")
    assert len({section.slug for section in reading.sections}) == len(reading.sections)


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=25).map("".join))
def test_every_section_says_on_which_line_it_starts(text: str) -> None:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    for section in read(text).sections:
        source = "\n".join(lines[section.line - 1 :])
        assert source.startswith(section.header + section.text)


@pytest.mark.parametrize("text", ["[" * 20000, ">" * 5000, "[[" * 20000, "*a_" * 5000, "#" * 20000])
def test_hostile_text_is_read_in_reasonable_time(text: str) -> None:
    assert joined(read(text)) == text


def test_what_lies_deep_in_lists_is_read() -> None:
    deep = "".join("  " * level + f"- level{level} [[page-{level}]]\n" for level in range(30))
    found = read_markdown(f"# Deep\n\n{deep}\nAfter it #tagged\n", "deep")
    assert {link.target for link in found.links} == {f"page-{level}" for level in range(30)}
    assert "tagged" in found.tags


def test_plain_text_is_parsed_as_by_all_rules_of_the_parser() -> None:
    """What is not given to the parser's rules is what they would have made nothing of."""
    chance = random.Random(20)
    parts = [
        "word", "Two words ", "a  ", " ", "  ", "\n", "\n", "\n\n", "# ", "- ", "1. ", "#tag", "\t",
        "x:: y", "$", "> ", "| a | b |\n|---|---|\n", "]", ":", "é", "text\n===\n", "---", "    ",
        "\\", "*", "_", "~~", "`", "[a](b)", "[[Note]]", "![[x]]", "<p>", "&amp;", "$$\n", "!",
        "\n---", "\n> ===\n", "\n  - |", "\na|b\n-|-\n", "\n- a\n- b\n", "\r\n", "\0",
    ]  # fmt: skip
    quick, whole = parser(), new_parser()
    for _ in range(3000):
        text = "".join(chance.choices(parts, k=chance.randrange(1, 14)))
        assert quick.parse(text) == whole.parse(text), text
