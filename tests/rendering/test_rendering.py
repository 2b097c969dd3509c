"""Documents as they are read: the tree, its HTML, what hostile texts become, passages, links."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import FIXTURES, Kb
from knowbase import Base, Note
from knowbase.rendering.confined import Source, Tree, made, tree_of
from knowbase.rendering.markdown import Piece
from knowbase.rendering.tree import ATTRIBUTES, ELEMENTS, is_href, texts_in, tree_html
from knowbase.values.access import Access

PAGE = """---
title: Valves
status: draft
description: how valves are kept warm
---
# Valves

See [[Pumps]], [the second part](pumps.md#second-part), [nothing](gone.md) and
[the web](https://example.org/a).

## Care

| part | often |
|------|------:|
| seal | 2     |

- oil them
- warm them before the countdown

```python
def warm(valve):  # slowly
    return "warm" + valve
```

### Deeper

#### Care
"""
HOSTILE = """# <img src=x onerror=alert(1)>

<script>alert(1)</script>

<b onclick="alert(1)">bold</b> [a](javascript:alert(1)) [b](JaVaScRiPt&#58;alert(1))
[c](data:text/html,<script>alert(1)</script>) [d](vbscript:x) [e](//evil.example/x)
[f](file:///etc/passwd) <javascript:alert(1)> ![g](https://evil.example/pixel.png)
![h](data:image/svg+xml;base64,PHN2Zz4=) [i](https://good.example@evil.example/ "x\\" onload=\\"y")
[[x" onmouseover="alert(1)]] ![[embedded]] [j](https://evil.example/"onx=") [k](\\\\evil\\x)
\u202eevil\u202c zero\u200bwidth &lt;i&gt;

```"><script>alert(1)</script>
</code></pre><script>alert(1)</script>
```

## p1

## L3
"""


def all_elements(nodes: Any) -> Iterator[dict[str, Any]]:
    for node in nodes:
        if isinstance(node, dict):
            yield node
            yield from all_elements(node["c"])


def with_class(nodes: Any, name: str) -> list[dict[str, Any]]:
    return [one for one in all_elements(nodes) if name in one["a"].get("class", "").split()]


def text_of(node: dict[str, Any]) -> str:
    return "".join(texts_in([node]))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    folder = tmp_path_factory.mktemp("rendering")
    (folder / "valves.md").write_text(PAGE)
    (folder / "pumps.md").write_text("# Pumps\n\n## Second part\n\nThey pump.\n")
    (folder / "hostile.md").write_text(HOSTILE)
    (folder / "warm.py").write_text('"""Warm\nthem."""\n\n\nclass Valve:\n    size = 3\n')
    (folder / "plain.txt").write_text("A *plain* text\nof <b>two</b> lines.\n\nAnd more.\n")
    with knowbase.create(str(folder / "base.db")) as made:
        made.add([str(folder)], defer=True)
        yield made


def test_markdown_becomes_a_tree_with_anchors_and_lines(base: Base) -> None:
    shown = base.render("valves.md")
    assert (shown.kind, shown.title, shown.truncated) == ("markdown", "Valves", False)
    assert dict(shown.front_matter) == {
        "status": "draft",
        "description": "how valves are kept warm",
    }
    lines = PAGE.split("\n")
    assert [one.anchor for one in shown.outline] == ["valves", "care", "deeper", "care-2"]
    for heading in shown.outline:
        assert lines[heading.line - 1].lstrip("# ") == heading.title
        assert [one for one in all_elements(shown.tree) if one["a"].get("id") == heading.anchor]
    for one in with_class(shown.tree, "line"):
        assert text_of(one).rstrip("\n") == lines[int(one["a"]["data-line"]) - 1]
    assert [text_of(one) for one in with_class(shown.tree, "tok-keyword")] == ["def", "return"]
    assert [one["a"]["align"] for one in all_elements(shown.tree) if "align" in one["a"]] == [
        "right",
        "right",
    ]


def test_a_callout_has_its_title_above_it(tmp_path: Path) -> None:
    """As Obsidian and GitHub write it, and as people do who have none; a quotation stays one."""
    text = "# C\n\n> [!warning]- Hot *now*\n> text\n\n> [!tip]\n>\n> - one\n\n"
    text += "> **Note**\n> more\n\n"
    with knowbase.create(str(tmp_path / "base.db")) as made:
        made.note(Note(text + "> **Bold** words\n\n> quoted\n", code="C-1"))
        shown = made.render("C-1")
    quotes = [one for one in all_elements(shown.tree) if one["e"] == "blockquote"]
    assert [one["a"].get("class") for one in quotes] == [None, "callout", "callout", None, None]
    titles = [text_of(one["c"][0]) for one in quotes[1:3]]
    assert titles == ["Tip", "Note"]
    assert text_of(quotes[2]["c"][1]) == "more"
    assert quotes[2]["c"][1]["a"]["data-line"] == "11"


def test_links_lead_to_documents_by_every_name_that_the_graph_knows(base: Base) -> None:
    shown = base.render("valves.md")
    pumps = base.get("pumps.md").document.code
    links = [one["a"]["href"] for one in all_elements(shown.tree) if one["e"] == "a"]
    assert links == [f"/d/{pumps}", f"/d/{pumps}#second-part", "https://example.org/a"]
    assert [text_of(one) for one in with_class(shown.tree, "dead")] == ["nothing"]
    second = base.render(f"{pumps}:second-part")
    assert [one.anchor for one in second.outline] == ["pumps", "second-part"]


@pytest.mark.parametrize("query", ["countdown", "countdwon", "countd"])
def test_a_query_marks_its_passages(base: Base, query: str) -> None:
    """Also what was meant by a slip, and what the last word may become."""
    shown = base.render("valves.md", query)
    passage = next(one for one in all_elements(shown.tree) if one["a"].get("id") == "p1")
    assert text_of(passage) == "warm them before the countdown"
    marked = [one for one in all_elements([passage]) if one["e"] == "mark"]
    assert [text_of(one) for one in marked] == ["countdown"]
    assert shown.marks == 1
    assert base.render("valves.md").marks == 0
    code = base.render("warm.py", "size")
    assert text_of(with_class(code.tree, "passage")[0]) == "    size = 3\n"


def test_code_has_its_lines_and_its_words_over_several_of_them(base: Base) -> None:
    shown = base.render("warm.py")
    assert (shown.kind, shown.language, shown.total_lines) == ("code", "python", 6)
    assert [text_of(one) for one in with_class(shown.tree, "tok-string")] == ['"""Warm', 'them."""']
    assert [(one.title, one.line) for one in shown.outline] == [("Valve", 5)]


def test_other_texts_are_shown_as_they_are(base: Base) -> None:
    shown = base.render("plain.txt")
    assert shown.kind == "text"
    assert [text_of(one) for one in with_class(shown.tree, "plain")] == [
        "A *plain* text\nof <b>two</b> lines.",
        "And more.",
    ]


def test_hostile_text_is_inert(base: Base) -> None:
    shown = base.render("hostile.md", "evil bold")
    for one in all_elements(shown.tree):
        assert set(one) == {"e", "a", "c"}
        assert one["e"] in ELEMENTS
        assert set(one["a"]) <= set(ATTRIBUTES)
        assert "href" not in one["a"] or is_href(one["a"]["href"]), one
        assert re.fullmatch(r"[\w -]*", one["a"].get("class", "")), one
    everything = "".join(texts_in(shown.tree))
    assert not re.search("[\u200b\u202a-\u202e]", everything)
    assert "<script>alert(1)</script>" in everything  # as text
    html = tree_html(shown.tree)
    tags = re.findall(r"<(/?)([a-z0-9]+)([^<>]*)>", html)
    assert {name for _, name, _ in tags} <= ELEMENTS
    assert "img" not in {name for _, name, _ in tags}
    for _, _, attributes in tags:
        assert not re.search(
            r"""(?:^|\s)(?:on\w+|src|style)\s*=""", re.sub('"[^"]*"', "", attributes)
        )
    hrefs = re.findall(r'href="([^"]*)"', html)
    assert not [one for one in hrefs if not one.startswith(("https://", "#", "/d/"))]
    userinfo = next(one for one in all_elements(shown.tree) if "good.example@" in str(one["a"]))
    assert userinfo["a"]["title"] == "evil.example"
    ids = [one["a"]["id"] for one in all_elements(shown.tree) if "id" in one["a"]]
    assert len(ids) == len(set(ids))
    assert {"section-p1"} <= set(ids)


def test_whatever_is_made_into_html_only_has_what_may_be_shown() -> None:
    bad = {"e": "script", "a": {}, "c": ["alert(1)"]}
    link = {"e": "a", "a": {"href": "javascript:x", "onclick": "y", "id": '"><b>'}, "c": ["<&>"]}
    assert tree_html([bad, link]) == '<a id="&quot;&gt;&lt;b&gt;">&lt;&amp;&gt;</a>'


def test_what_is_long_is_shown_in_parts(tmp_path: Path) -> None:
    fill = "word and word " * 70
    many = "\n".join(f"## Part {n}\n\nNumber{n} {fill}\n" for n in range(300))
    (tmp_path / "many.md").write_text(many)
    (tmp_path / "rows.txt").write_text("\n".join(f"row {n} of the list" for n in range(15_000)))
    (tmp_path / "one.txt").write_text("word " * 50_000)
    (tmp_path / "deep.md").write_text(">" * 3000 + " x\n\n" + "[" * 5000 + "\n\n" + "*a " * 5000)
    with knowbase.create(str(tmp_path / "base.db")) as base:
        base.add([str(tmp_path)], defer=True)
        for name in ("many.md", "rows.txt"):
            first = base.render(name)
            assert first.truncated
            assert first.next_line is not None
            second = base.render(name, line=first.next_line)
            assert (second.first_line, second.next_line) == (first.next_line, None)
            found = " ".join((*texts_in(first.tree), *texts_in(second.tree)))
            whole = (tmp_path / name).read_text()
            assert found.split() == whole.replace("#", "").split()
        assert base.render("many.md", "number290").marks >= 1  # the part with the passage is shown
        assert base.render("rows.txt", '"row 14990"').marks >= 1
        one = base.render("one.txt")
        assert (one.truncated, one.next_line) == (True, None)
        assert sum(map(len, texts_in(one.tree))) <= 200_000
        assert "".join(texts_in(base.render("deep.md").tree)).count("[") == 5000


def test_what_lies_very_deep_stays(tmp_path: Path) -> None:
    quotes = "\n".join(">" * depth + f" quote{depth}" for depth in range(1, 301))
    items = "\n".join("  " * depth + f"- item{depth}" for depth in range(300))
    fence = "> " * 100 + "```\n" + "> " * 100 + "fenced\n"
    (tmp_path / "deep.md").write_text(f"{quotes}\n\n# Between\n\n{items}\n\n{fence}\n\nafter\n")
    with knowbase.create(str(tmp_path / "base.db")) as base:
        base.add([str(tmp_path)], defer=True)
        shown = base.render("deep.md")
        words = re.findall(r"\w+", " ".join(texts_in(shown.tree)))
        assert [w for w in words if w.startswith("quote")] == [f"quote{n}" for n in range(1, 301)]
        assert [w for w in words if w.startswith("item")] == [f"item{n}" for n in range(300)]
        assert {"fenced", "after"} <= set(words)
        assert [one.title for one in shown.outline] == ["Between"]


@pytest.mark.parametrize("kind", ["text", "markdown"])
def test_many_headings_of_one_title_are_counted_on(kind: str) -> None:
    """With the search for a free number from the start, this takes minutes."""
    number = 20_000
    found = made(Source(kind, None, (Piece("# a\n" * number, ((0, 1, ""),)),)))
    anchors = [one.anchor for one in found.outline]
    assert anchors == ["a", *(f"a-{n}" for n in range(2, number + 1))]


def test_long_texts_of_every_kind_are_made_in_a_process_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(source: Source) -> Tree:
        raise AssertionError(source.kind)

    monkeypatch.setattr("knowbase.rendering.confined.made", refused)
    for kind in ("text", "markdown", "code", "pages"):
        tree = tree_of(Source(kind, None, (Piece("some words\n" * 1_000, ((0, 1, ""),)),)))
        assert "".join(texts_in(tree.nodes)).split() == ["some", "words"] * 1_000


@pytest.mark.soak
def test_five_megabytes_are_shown_in_part(tmp_path: Path) -> None:
    (tmp_path / "many.md").write_text("## P\n\nSome [l](x.md) *words*.\n\n" * 160_000)
    with knowbase.create(str(tmp_path / "base.db")) as base:
        base.add([str(tmp_path)], defer=True)
        assert base.render("many.md").truncated


def test_the_command_prints_html(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    kb("note", HOSTILE, "--code", "H-1")
    assert "<script" not in kb("render", "H-1").out
    assert kb.json("render", "H-1", "--query", "bold")["marks"] == 1
    assert "no document" in kb.error("render", "H-2", code=3)


def test_a_project_sees_no_link_into_another(tmp_path: Path) -> None:
    with knowbase.create(str(tmp_path / "base.db")) as base:
        base.note(Note("See [[B-1]] and [[A-2]] and [[Z-9]].", code="A-1", project="a"))
        base.note(Note("# Ours", code="A-2", project="a"))
        base.note(Note("# Secret", code="B-1", project="b"))
        assert len(with_class(base.render("A-1").tree, "dead")) == 1
        held = base.within(Access(project="a"))
        shown = held.render("A-1")
        assert [text_of(one) for one in with_class(shown.tree, "dead")] == ["B-1", "Z-9"]
        assert "Secret" not in repr(shown)
        with pytest.raises(knowbase.KnowbaseError):
            held.render("B-1")


def test_a_document_is_rendered_as_it_was(kb: Kb) -> None:
    """A section of it, too, with what a query finds in it; a moment that never was is refused."""
    kb("note", "# Plan\n\nMonday.\n\n## Who\n\nAda.", "--code", "P-1")
    kb("note", "# Plan\n\nTuesday.", "--replace", "P-1")
    shown = kb.json("render", "P-1@#1", "--query", "Monday")
    assert shown["when"] == "#1"
    assert kb.json("render", "P-1", "--as-of", "#1", "--query", "Monday") == shown
    assert "Monday." in "".join(texts_in(shown["tree"]))
    assert shown["marks"] == 1
    assert [one["anchor"] for one in shown["outline"]] == ["plan", "who"]
    assert kb.json("render", "P-1:who@#1")["first_line"] == 1
    assert kb.json("render", "P-1")["when"] is None
    assert "Tuesday" in kb("render", "P-1").out
    assert "there is no change #9 yet" in kb("render", "P-1@#9", code=2).err


def test_the_pdf_that_was_read_is_given_and_no_other_file(kb: Kb) -> None:
    data = (FIXTURES / "formats" / "chromium.pdf").read_bytes()
    file = kb.folder / "docs" / "notice.pdf"
    file.parent.mkdir()
    file.write_bytes(data)
    kb.write("docs/page.md", "# Page\n\nOf Markdown.\n")
    kb("add", "docs", "--defer")
    told = kb.json("original", "docs/notice.pdf")
    assert base64.b64decode(told["content"]) == data
    assert (told["media_type"], told["size_bytes"]) == ("application/pdf", len(data))
    assert "docs/notice.pdf" in kb("original", "docs/notice.pdf").out
    assert "not read from a PDF" in kb("original", "docs/page.md", code=2).err
    file.write_bytes(data + b"\n")
    assert "another file" in kb("original", "docs/notice.pdf", code=2).err
    file.unlink()
    assert "is not there" in kb("original", "docs/notice.pdf", code=3).err
