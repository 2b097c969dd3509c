"""What sites and note programs write into Markdown."""

from datetime import UTC, datetime, timedelta

import pytest

from knowbase.read import read
from knowbase.read.markdown import read_markdown
from knowbase.values.reading import Link, Reading


def shown(text: str, *, mdx: bool = False) -> str:
    return "".join(s.header + s.text for s in read_markdown(text, "file", mdx=mdx).sections)


def of(text: str) -> Reading:
    return read_markdown(text, "file")


@pytest.mark.parametrize(
    ("heading", "slug"),
    [
        ("## Pod lifetime {#lifetime}", "lifetime"),
        ("## Pod lifetime {#life.time .wide data-x=1}", "life-time"),
        ("## Pod lifetime { #lifetime }", "lifetime"),
        ("## Pod lifetime {: #lifetime .no_toc}", "lifetime"),
        ("## Pod lifetime {/* #lifetime */}", "lifetime"),
        ("## Pod lifetime {#lifetime} ##", "lifetime"),
        ("## Pod lifetime {##lifetime}", "lifetime"),
        ("## Pod lifetime {#lifetime-(of-a-pod)}", "lifetime-of-a-pod"),
        ("## Pod lifetime {.unnumbered}", "pod-lifetime"),
        ("## Pod lifetime {-}", "pod-lifetime"),
        ("Pod lifetime {#lifetime}\n---", "lifetime"),
    ],
)
def test_an_anchor_is_a_slug_and_never_a_tag(heading: str, slug: str) -> None:
    reading = of(f"{heading}\n\ntext {{#other}}\n\n### deeper {{#third}}\n")
    section = reading.sections[0]
    assert (section.slug, section.heading, reading.tags) == (slug, "Pod lifetime", ())
    assert "{" not in section.header + section.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('A {{< glossary_tooltip text="Pods" term_id="pod" >}} runs', "A Pods runs"),
        ('A {{< glossary_tooltip term_id="kube-proxy" >}} runs', "A kube proxy runs"),
        ("{{< note >}}\nCare.\n{{< /note >}}\n", "\nCare.\n\n"),
        ('{{% tab name="Java" %}}x{{% /tab %}}', "Javax"),
        ('{{< figure src="/a.png" caption="How it works" >}}', "How it works"),
        ('[x]({{< ref "setup.md" >}})', "[x](setup.md)"),
        ("[x]({% link _posts/a.md %})", "[x](/_posts/a.md)"),
        ("[x]({{ site.baseurl }}/docs/a)", "[x](/docs/a)"),
        ("[x]({{ '/docs/a/' | relative_url }})", "[x](/docs/a/)"),
        ("{% include note.html content='Care' %}", "Care"),
        ("a{% comment %}gone{% endcomment %}b", "ab"),
        ("{% raw %}x{% endraw %}", "x"),
        ("{{< comment >}}\ngone\n{{< /comment >}}b", "\n\nb"),
        ("`{{ kept }}` and $\\frac{{a}}{{b}}$", "`{{ kept }}` and $\\frac{{a}}{{b}}$"),
        ("```\n{% kept %}\n```\n", "```\n{% kept %}\n```\n"),
        ("> [!warning]- Hot surface\n> text", "> **Hot surface**\n> text"),
        ("> [!NOTE]\n> text", "> **Note**\n> text"),
        ("> [!tip] A *new* way", "> A *new* way"),
        ('!!! warning "Hot surface"\n    text', "Hot surface\n    text"),
        ("!!! note inline end\n    text", "Note\n    text"),
        ('???+ tip ""\n    text', "Tip\n    text"),
        ('=== "Linux"\n\n    text', "Linux\n\n    text"),
        ("/// warning | Hot surface\ntext\n///", "Hot surface\ntext\n"),
        ("//// tab | Linux\n/// note\ntext\n///\n////", "Linux\nNote\ntext\n\n"),
        ("{* docs_src/a/b_c.py hl[1,3] *}", "[b_c.py](</docs_src/a/b_c.py>)"),
        ("{!docs/a.md!}", "[a.md](</docs/a.md>)"),
        ('--8<-- "docs/a.md:2:4"', "[a.md](</docs/a.md>)"),
        ("see // this\n\n--- \n\n== b ==\n!!so", "see // this\n\n--- \n\n== b ==\n!!so"),
        ("```\n/// kept\n```\n", "```\n/// kept\n```\n"),
        ("- a\n  id:: 12\n  collapsed:: true\n- b", "- a\n\n\n- b"),
        ("see ((64b1f3a2-1111-2222-3333-444455556666)) end", "see  end"),
        ("![[photo.png|300]] text", " text"),
        ("text\n{: .class}\nmore", "text\n\nmore"),
    ],
)
def test_markup_of_a_site_is_not_text(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert of(text).sections[0].line == 1


def test_headings_and_titles_have_no_shortcodes() -> None:
    text = (
        '---\ntitle: "About {{ site.title }} {{< param v >}}"\n---\n## {{% heading "next" %}}\nx\n'
    )
    reading = of(text)
    assert (reading.title, reading.sections[0].heading) == ("About", "next")
    assert of('## {{< icon "x" >}}\ntext\n').sections[0].heading is None


def test_components_of_mdx_are_not_text() -> None:
    text = (
        "import Tabs from '@theme/Tabs';\nexport const x = {\n  a: 1,\n};\n\n# Title\n\n"
        '<Tabs items={["a", "b"]}>\n<Tab title="Linux">Use apt.</Tab>\n</Tabs>\n{/* gone */}\n'
        "List<String> in `<Code>`\n"
    )
    told = shown(text, mdx=True)
    assert told.split() == ["#", "Title", "Linux", "Use", "apt.", "List", "in", "`<Code>`"]
    assert told.count("\n") == text.count("\n")
    assert "List<String>" in shown("List<String>\n")
    assert read("a.mdx", text.encode()).title == "Title"


def test_components_of_mdx_that_lead_elsewhere_are_links() -> None:
    text = (
        "import X from 'x';\n\n"
        'See <Link className="a" to="/docs/a">the A page</Link>.\n\n'
        '<Card title="Install" href="/docs/b" icon={<Icon/>}>How to do it</Card>\n'
        '<Card title="Two" link="c.md" />\n`<Link to="/no">x</Link>`\n'
    )
    reading = read("a.mdx", text.encode())
    assert [link.target for link in reading.links] == ["/docs/a", "/docs/b", "c.md"]
    assert "See [the A page](/docs/a)." in reading.sections[0].text
    assert "[Install](/docs/b) How to do it" in reading.sections[0].text


def test_links_that_a_text_writes_as_html_are_links() -> None:
    text = (
        '# X\n\nSee <a href="docs/x.md">x</a> and <a class="b" href=\'y.md?a&amp;b\'>y</a>.\n\n'
        '<p align="center">\n<a href="guide.md"><img src="x.png"></a>\n'
        '<a href="https://example.org">out</a></p>\n\n`<a href="no.md">`\n'
    )
    assert {link.target for link in of(text).links} == {"docs/x.md", "y.md?a&b", "guide.md"}


def test_files_that_mkdocs_puts_in_are_links() -> None:
    reading = of('# Page\n\n{* docs_src/a/b_c.py hl[3] *}\n\n--8<-- "includes/abbr.md"\n')
    assert {link.target for link in reading.links} == {"/docs_src/a/b_c.py", "/includes/abbr.md"}


def test_titles_of_front_matter_have_no_marks() -> None:
    assert of("---\ntitle: The `use` of **strict** `x`\n---\nx").title == "The use of strict x"
    assert of("---\ntitle: 2 ** 3 ** 4 and `one\n---\nx").title == "2 ** 3 ** 4 and `one"


def test_what_took_the_place_of_what_is_a_link() -> None:
    assert Link("ADR-3", "supersedes") in of("---\nsupersedes: ADR-3\n---\nx").links


def test_front_matter_may_be_toml() -> None:
    reading = of('+++\ntitle = "T"\ndate = 2024-05-06\ntags = ["a", "b"]\nweight = 3\n+++\nx\n')
    assert (reading.title, reading.tags, reading.value("metadata")) == (
        "T",
        ("a", "b"),
        {"weight": 3},
    )
    assert reading.stated["created_at"] == "2024-05-06T00:00:00.000000Z"
    assert reading.sections[0].line == 7
    broken = of('+++\ntitle = "T"\nbad = nonsense here\n+++\nx\n')
    assert (broken.title, broken.warnings) == (
        "T", ("its front matter's bad is not valid TOML; left out",)
    )  # fmt: skip


def test_keys_that_stand_twice_are_said() -> None:
    text = "---\ntitle: A\ntags: [title, b, {tags: x}]\nn: 1\ntitle: B\nn: 2\n---\nx\n"
    said = "its front matter has {} more than once; the last one counts"
    assert of(text).title == "B"
    assert of(text).warnings == (said.format("title"), said.format("n"))
    assert of(text.replace("n: 2", "n: [")).warnings[-1] == said.format("title")
    assert of('+++\nn = 1\ntitle = "A"\nn = 2\n+++\nx\n').warnings == (said.format("n"),)


def test_front_matter_that_is_not_closed_is_said() -> None:
    for fence, key in (("---", "title: A"), ("+++", 'title = "A"'), (";;;", '"title": "A"')):
        reading = of(f"{fence}\n{key}\n\nzebra\n")
        assert reading.warnings == (f"its front matter is not closed by {fence}; read as text",)
        assert key in "".join(section.header + section.text for section in reading.sections)
    assert of("---\n\nNote: a rule\n").warnings == ()
    assert of("---\nNote: a rule\n").warnings == ()


JSON = """"title": "T",
  "date": "2024-05-06",
  "tags": ["a", "b"],
  "weight": 3, "draft": true
"""


@pytest.mark.parametrize("block", ["{\n  " + JSON + "}\n", ";;;\n" + JSON + ";;;\n"])
def test_front_matter_may_be_json(block: str) -> None:
    reading = of(f"{block}\nzebra\n")
    assert (reading.title, reading.tags) == ("T", ("a", "b"))
    assert reading.value("metadata") == {"weight": 3, "draft": True}
    assert reading.stated["created_at"] == "2024-05-06T00:00:00.000000Z"
    assert (reading.sections[0].text, reading.sections[0].line) == ("\nzebra\n", 7)
    broken = of(block.replace(",", "") + "\nzebra\n")
    assert broken.warnings == ("its front matter is not valid JSON; read as text",)
    assert broken.sections[0].text.startswith(block[:3])


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "title": "alone"\n}\n', '{"title": "T"}\n\nx\n', '{\n  "colour": "red"\n}\n\nx\n',
        "{\ntitle\n}\n\nx\n", "{\n" + '"title": ' + "[" * 5000 + "\n",
    ],
)  # fmt: skip
def test_json_that_is_the_text_stays_text(text: str) -> None:
    reading = of(text)
    assert "".join(section.header + section.text for section in reading.sections) == text
    assert reading.warnings == ()


def test_json_that_is_too_deep_is_text() -> None:
    deep = '{\n"title": ' + "[" * 5000 + "]" * 5000 + "\n}\n\nx\n"
    assert of(deep).warnings == ("its front matter is not valid JSON; read as text",)


def test_pages_may_begin_with_properties() -> None:
    text = "alias:: [[One]], two\ntags:: #a, [[b c]]\ntype:: [[Feature]]\nrank:: 5\n\n- text\n"
    reading = of(text)
    assert (reading.type, reading.tags) == ("feature", ("a", "b c"))
    assert reading.value("metadata") == {"alias": ["One", "two"], "rank": 5}
    assert (reading.sections[0].text, reading.sections[0].line) == ("- text\n", 6)


@pytest.mark.parametrize(
    ("block", "metadata", "lost"),
    [
        (
            "status: active\ntopic: Kafka: a guide",
            {"status": "active", "topic": "Kafka: a guide"},
            (),
        ),
        ("status: active\nbad: [1, 2\nrank: 3", {"status": "active", "rank": 3}, ("bad",)),
        ("bad: *star*\nrank: 3", {"bad": "*star*", "rank": 3}, ()),
        ("handle: @ann\nrank: 3", {"handle": "@ann", "rank": 3}, ()),
        ("list:\n- a\n-b: {\nrank: 3", {"rank": 3}, ("list",)),
    ],
)
def test_a_mistake_costs_one_key(block: str, metadata: dict[str, object], lost: tuple[str]) -> None:
    reading = of(f"---\ntags: [x]\n{block}\n---\ntext\n")
    assert (reading.tags, reading.value("metadata")) == (("x",), metadata)
    assert reading.warnings == tuple(
        f"its front matter's {key} is not valid YAML; left out" for key in lost
    )


def test_what_a_template_is_to_fill_in_says_nothing() -> None:
    filled = "created: {{date}}\ndue: '{{date:YYYY-MM-DD}}'\nupdated: <% tp.date.now() %>\n"
    reading = of(f"---\n{filled}title: '{{{{title}}}}'\nrank: 3\n---\ntext\n")
    assert (reading.value("metadata"), reading.warnings) == ({"rank": 3}, ())
    assert not reading.value("created_at")
    alone = of(f"---\n{filled}---\ntext\n")
    assert (alone.sections[0].text, alone.warnings) == ("text\n", ())


def test_prose_between_two_rules_is_text() -> None:
    text = "---\nHello there\n\nNote: this is prose: really\n---\n\nmore\n"
    assert shown(text) == text


@pytest.mark.parametrize(
    ("line", "field", "moment"),
    [
        ("date: 2024-05-06", "created_at", "2024-05-06T00"),
        ("created: '2024-05-06 10:30'", "created_at", "2024-05-06T10:30"),
        ("created_at: May 6, 2024", "created_at", "2024-05-06T00"),
        ("created: '[[2024-05-06]]'", "created_at", "2024-05-06T00"),
        ("updated: 2024-05-06T10:00:00+02:00", "updated_at", "2024-05-06T08:00"),
        ("updated_at: 2024/05/06", "updated_at", "2024-05-06T00"),
        ("last_modified: 06.05.2024", "updated_at", "2024-05-06T00"),
        ("lastmod: 2024-05-06", "updated_at", "2024-05-06T00"),
    ],
)
def test_dates_are_the_documents_own(line: str, field: str, moment: str) -> None:
    """S3-41."""
    assert of(f"---\n{line}\n---\nx\n").stated[field].startswith(moment)


@pytest.mark.parametrize("key", ["created", "updated"])
def test_a_day_that_is_to_come_is_not_when_a_page_was_written(key: str) -> None:
    field = f"{key}_at"
    for day in ("9999-12-31", str((datetime.now(UTC) + timedelta(days=3)).date())):
        reading = of(f"---\n{key}: {day}\n---\nx\n")
        assert field not in reading.stated
        assert reading.value("metadata") == {key: day}
        told = f"its front matter's {key} lies in the future; it is kept as meta.{key} alone"
        assert reading.warnings == (told,)
    tomorrow = (datetime.now(UTC) + timedelta(hours=23)).isoformat()
    assert field in of(f"---\n{key}: {tomorrow}\n---\nx\n").stated


def test_a_date_that_nobody_understands_is_kept_as_it_is() -> None:
    reading = of("---\ndate: TBD\nupdated: 12\n---\nx\n")
    assert reading.value("metadata") == {"date": "TBD", "updated": 12}


def test_a_description_is_part_of_the_text_once() -> None:
    reading = of("---\ndescription: What pods are\n  for.\n---\n## A\nx\n")
    assert [(s.heading, s.text, s.line) for s in reading.sections] == [
        (None, "What pods are for.\n\n", 3),
        ("A", "x\n", 5),
    ]
    assert shown("---\nsummary: The same.\n---\nThe  same. And more.\n") == "The  same. And more.\n"
    assert of("---\nsummary: Alone\n---\n").sections[0].text == "Alone\n\n"


def test_relations_are_links_of_their_kind() -> None:
    text = (
        "---\nblocked_by: [T-2, '[[Other task]]']\nup: '[[Home]]'\nauthor: Ann\n---\n"
        "- pairs_with [[Chocolate]] (at breakfast)\n- see [[Plain]]\nsource:: [[Book]]\n\n"
        "## Relations\n- relates to [[Tea]]\n- implements [[Spec^part]]\n\nsome_word [[Running]]\n"
    )
    assert of(text).links == (
        Link("T-2", "blocked_by"),
        Link("Other task", "blocked_by"),
        Link("Home", "up"),
        Link("Chocolate", "pairs_with"),
        Link("Plain", "wiki"),
        Link("Book", "source"),
        Link("Tea", "relates_to"),
        Link("Spec^part", "implements"),
        Link("Running", "wiki"),
    )


def test_observations_say_of_what_kinds_they_are() -> None:
    text = "- [decision] We take X #db\n- [tech note] y\n- [ ] todo\n- [x] done\n- [a](b.md) c\n"
    reading = of(text)
    assert reading.value("metadata") == {"observations": ["decision", "tech note"]}
    assert reading.tags == ("db",)


def test_embeds_and_tags_of_several_words() -> None:
    reading = of("## See ![[Note|shown]]\n#[[two words]] ![[Other#^block]]\n")
    assert reading.sections[0].heading == "See shown"
    assert reading.tags == ("two words",)
    assert reading.links == (
        Link("Note", "wiki"),
        Link("two words", "wiki"),
        Link("Other#^block", "wiki"),
    )


def test_a_canvas_is_the_text_of_its_cards() -> None:
    data = (
        b'{"nodes": [{"id": "b", "type": "text", "text": "Second card", "x": 0, "y": 90},'
        b'{"id": "a", "type": "text", "text": "# First\\ncard", "x": 0, "y": 0},'
        b'{"id": "f", "type": "file", "file": "notes/Plan.md", "x": 0, "y": 50},'
        b'{"id": "g", "type": "group", "label": "Ideas", "x": -9, "y": -9}],'
        b'"edges": [{"id": "e", "fromNode": "a", "toNode": "b", "label": "leads to"}]}'
    )
    reading = read("board.canvas", data)
    text = "".join(s.header + s.text for s in reading.sections)
    assert (reading.title, reading.type) == ("board", "markdown")
    assert text.index("First") < text.index("Plan") < text.index("Second card")
    assert "Ideas" in text
    assert "leads to" in text
    assert Link("notes/Plan.md", "wiki") in reading.links
    assert read("odd.canvas", b'{"nodes": 3}').sections == ()


def test_formulas_make_no_headings() -> None:
    text = (
        "# Beta\n\nPer n,\n$$\n\\mathbb{E}[X^n]\n=\n\\frac{a}{b}\n$$\nfine #stat\n\n"
        "$$ \\mu_j(t)\n-\n\\sum_i $$\n\nvale:$$\nx\n=\ny$$\n\nPrezzo: $$\n\nAltro\n-----\n\nb\n"
    )
    reading = read("beta.md", text.encode())
    assert [section.heading for section in reading.sections] == [None, "Altro"]
    assert "\n=\n" in reading.sections[0].text
    assert reading.tags == ("stat",)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("Ask in #ask-people-team on Slack.", ()),
        ("See the #help channel, or (#dev-chat) in Discord.", ()),
        ("Post to [#general](https://chat.example/C1).", ()),
        ("Told Ana on Slack #todo #work/urgent", ("todo", "work/urgent")),
        ("Filed in #ideas, with [a link](b.md) #reading", ("ideas", "reading")),
        ("#slack notes of the week", ("slack",)),
        ("Reach out to #ask-people-team.\n\nWe talk on Slack.", ()),
        ("[Praise](#thanks and praise) #more", ("more",)),
        ("We talk on Slack.\n\n- #chat-dev\n- #alerts: what broke\n\n#team-x is for us.", ()),
        ("| Team | Slack |\n|---|---|\n| Web | #discuss-web |\n\nDone #todo #web", ("todo", "web")),
        ("Please let us know in #ask-cloud.\n\nOwned by #discuss-web, then.", ()),
        ("Ask #ask-finance if unsure.\n\n#budget #travel", ("budget", "travel")),
        ("Post the photos #holiday", ("holiday",)),
        ("Please send a note to #pricing and wait.\n\nSay hi in #web!", ()),
        ("Owned by #team-web and #team-api. Alerts: #dogfood\n\nThe team (#ask-ops) does.", ()),
        ("Run by #team-web.\n\nSee [[Home]]", ("team-web",)),
        ("Working on #side-project today, with #b2b", ("side-project", "b2b")),
        ("Call Bob #team-web", ("team-web",)),
        ("Of [modules][#module], #efefef, #ffeedd, #f00 and [#A] tasks", ()),
        ("[Pods](a.md#what-is-a-pod): add **#what-is-a-pod** to link there. #todo", ("todo",)),
    ],
)
def test_where_people_talk_is_no_tag(text: str, tags: tuple[str, ...]) -> None:
    assert read("a.md", text.encode()).tags == tags


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.md", "### **Outside** work\n\nText\n\n#### Rules\n\nb\n", "Outside work"),
        ("setup.md", "## First\n\na\n\n## Second\n\nb\n", "setup"),
        ("setup.md", "Before\n\n## Only\n\na\n", "setup"),
        ("setup.md", "## Before\n\n# Title\n", "Title"),
        ("titles-for-QA.md", "text\n", "Titles for QA"),
        ("Miller-Rabin.md", "text\n", "Miller-Rabin"),
        ("UTF-8.md", "text\n", "UTF-8"),
        ("A_Neural_Algorithm.md", "text\n", "A Neural Algorithm"),
        ("Fast_R-CNN.md", "text\n", "Fast R-CNN"),
        ("IMG_1234.md", "text\n", "IMG_1234"),
    ],
)
def test_a_page_is_called_by_what_stands_above_it_or_by_its_name(
    name: str, text: str, title: str
) -> None:
    assert read(name, text.encode()).title == title


@pytest.mark.parametrize(
    ("name", "first", "title"),
    [
        ("A_Neural_Algorithm.md", "Paper", "A Neural Algorithm"),
        ("authentik.md", "Installation", "authentik"),
        ("2021_01_29.md", "Coding", "2021-01-29"),
        ("book-setup.md", "The Book of Setups", "The Book of Setups"),
        ("officehandbook.md", "Office rules", "Office rules"),
        ("README.md", "Knowledge", "Knowledge"),
        ("lecture3.md", "Regression", "Regression"),
        ("03.md", "Regression", "Regression"),
    ],
)
def test_a_first_heading_of_several_is_the_title_where_the_file_is_called_so(
    name: str, first: str, title: str
) -> None:
    reading = read(name, f"# {first}\n\na\n\n# Summary\n\nb\n".encode())
    assert reading.title == title
    headings = [section.heading for section in reading.sections]
    assert headings == ([None, "Summary"] if title == first else [first, "Summary"])


def test_titles_and_templates_have_no_markup_of_pages() -> None:
    assert of("---\ntitle: Keys &amp; <em>locks</em>\n---\ntext\n").title == "Keys & locks"
    assert of("---\ntitle: List<String> &c.\n---\ntext\n").title == "List<String> &c."
    page = b"<title>{{title}}</title><p>Hello {{user.name|safe}} there</p>"
    reading = read("meta.html", page)
    assert (reading.title, reading.sections[0].text) == ("meta", "Hello there\n\n")


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("date: 20221222", "2022-12-22T00:00:00.000000Z"),
        ("date: 1638900089", "2021-12-07T18:01:29.000000Z"),
        ("created: 1638900089932", "2021-12-07T18:01:29.932000Z"),
        ("pubDate: 'Jul 08 2022'", "2022-07-08T00:00:00.000000Z"),
        ("date: May 3rd, 2021", "2021-05-03T00:00:00.000000Z"),
        ("date: Sun, 03 Jan 2021 10:00:00 +0100", "2021-01-03T09:00:00.000000Z"),
        ("date: 2021-01-03 10:00 +0100", "2021-01-03T09:00:00.000000Z"),
    ],
)
def test_a_day_is_understood_as_people_and_programs_write_it(line: str, moment: str) -> None:
    reading = of(f"---\n{line}\n---\ntext\n")
    assert (reading.value("created_at"), reading.warnings) == (moment, ())


@pytest.mark.parametrize("line", ["date: 2021", "date: 99999999", "date: soon"])
def test_what_is_no_day_is_said(line: str) -> None:
    reading = of(f"---\n{line}\n---\ntext\n")
    assert reading.value("created_at") is None
    assert reading.warnings == (
        "its front matter's date is not a date; it is kept as meta.date alone",
    )


def test_published_may_be_a_yes_or_no() -> None:
    reading = of("---\npublished: false\n---\ntext\n")
    assert (reading.value("metadata"), reading.warnings) == ({"published": False}, ())


@pytest.mark.parametrize(
    ("inside", "target"),
    [
        ("note|shown", "note"),
        ("Lookup|dendron://a.vault/topic.lookup#keys,1:#*", "topic.lookup#keys,1:#*"),
        ("here|recipes.chinese.wontons", "recipes.chinese.wontons"),
        ("Getting started|tutorial.start", "tutorial.start"),
        ("all of them|changelog#all", "changelog#all"),
        ("Release notes|v1.2.3", "Release notes"),
        ("JavaScript|node.js", "JavaScript"),
        ("big.picture.png|300", "big.picture.png"),
    ],
)
def test_a_wiki_link_leads_to_the_note_on_whichever_side_it_stands(
    inside: str, target: str
) -> None:
    assert of(f"x [[{inside}]]\n").links == (Link(target, "wiki"),)


def test_headings_show_what_links_of_dendron_show() -> None:
    assert of("## See [[the talk|talks.2022.may]]\nx\n").sections[0].heading == "See the talk"


def test_org_links_by_id_and_pictures_are_no_files() -> None:
    text = (
        ':PROPERTIES:\n:ID: 800f-66\n:ROAM_ALIASES: "Slip box" Zettel\n:END:\n'
        "#+title: Notes\n\n[[id:8aaa-c1][why]] [[roam:Slip box]] [[file:a.png]]"
        " [[file:b.png][a scan]] [[file:c.org]]\n\n* Part\n:PROPERTIES:\n:ID: 900a\n:END:\nx\n"
    )
    reading = read("a.org", text.encode())
    assert reading.value("metadata") == {
        "id": ["800f-66", "900a"],
        "aliases": ["Slip box", "Zettel"],
    }
    assert reading.links == (
        Link("8aaa-c1", "wiki"),
        Link("Slip box", "wiki"),
        Link("b.png", "markdown"),
        Link("c.org", "markdown"),
    )
    assert reading.sections[0].text.startswith("why Slip box a.png a scan c.org")


def test_comments_and_bare_anchors_are_no_text() -> None:
    text = (
        '<!-- Old headings. -->\n\n<a id="x"></a>\n\n## The `match`\n\nSee <!-- here --> this'
        ' `<!-- kept -->`.\n\n<!--\nmany\n# not one\n-->\nend `<a id="k"></a>`\n'
        '\n```html\n<!-- code -->\n<a name="c"></a>\n```\n'
    )
    (section,) = of(text).sections
    assert (section.heading, section.line) == ("The match", 5)
    code = '`<a id="k"></a>`\n\n```html\n<!-- code -->\n<a name="c"></a>\n```\n'
    assert section.text == f"\nSee  this `<!-- kept -->`.\n\n\n\n\n\nend {code}"


def test_words_that_look_like_colours_are_some_in_a_page_of_colours() -> None:
    assert of("Sky (#00ced1), corn '#ffdead', (#rgb) and #garden\n").tags == ("garden",)
    assert of("The house has a new #facade\n").tags == ("facade",)
    assert of("turquoise (<code>#afeeee</code>) is #nice\n").tags == ("nice",)
