"""What a person does with a base of their own: mend, measure, change, look back; in a browser."""

import datetime as dt
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Visit, browser, visit
from playwright.sync_api import Browser, expect

from conftest import FIXTURES, Kb
from servers import Served, serving, wait_until

__all__ = ["browser"]  # a fixture

LINKED = "# Timetable\n\nWe sail by the tide.\n\nSee [[Moorings]] and [the plan](plans/paln.md).\n"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """A base that tests may change."""
    kb = Kb(tmp_path_factory.mktemp("own"))
    kb("init")
    kb.write("docs/timetable.md", LINKED)
    kb.write("docs/plans/plan.md", "# The plan\n\nRopes are renewed in spring, hulls in autumn.\n")
    for number in range(6):
        text = f"# Berth {number}\n\nBerth number {number} lies behind the old lighthouse.\n"
        kb.write(f"docs/berth-{number}.md", f"---\ncreated: 2025-0{number + 1}-12\n---\n\n{text}")
    kb("add", "docs", "--defer")
    shutil.copytree(FIXTURES / "models" / "states", kb.folder / "models" / "tiny")
    return kb


@pytest.fixture(scope="module")
def served(own: Kb) -> Iterator[Served]:
    env = {"KB_EMBED_BACKGROUND": "false", "KB_SERVE_CYPHER": "true", "KB_RERANK_TOP": "9"}
    with serving(own.folder, env=env) as running:
        yield running


@pytest.fixture
def mine(browser: Browser, served: Served) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    made = visit(context, served.address)
    yield made
    context.close()
    assert made.complaints == []


def test_a_dead_link_is_mended(mine: Visit, own: Kb) -> None:
    """Found by health; one by writing what it names, one where it is written."""
    page = mine.open("/health-page")
    finding = page.locator(".finding", has_text="lead nowhere")
    finding.locator("summary").click()
    finding.get_by_role("link", name=re.compile("paln")).click()
    page.locator(".hit h2 a", has_text="Timetable").click()
    nowhere = page.locator("h3:has-text('Leading nowhere') + ul")
    expect(nowhere.locator("li")).to_have_count(2)
    page.get_by_role("button", name="Write it: Moorings").click()
    page.get_by_label("What Moorings says").fill("Ask the harbour master.")
    page.get_by_role("button", name="Keep").click()
    expect(nowhere.locator("li")).to_have_count(1)
    expect(page.locator(".text a", has_text="Moorings")).to_have_count(1)
    with page.expect_request(lambda asked: asked.url.startswith("vscode:")) as asked:
        page.get_by_role("button", name="Editor, at").click()
    assert asked.value.url == f"vscode://file{own.folder}/docs/timetable.md:5"
    mine.complaints.clear()  # no editor is here, and the window waits for one
    own.write("docs/timetable.md", LINKED.replace("paln", "plan"))  # as it would
    mine = visit(page.context, mine.address)
    page = mine.open("/health-page")
    page.get_by_role("button", name="Look for changed files").click()
    expect(page.get_by_text("1 changed")).to_be_visible()
    expect(page.locator(".finding", has_text="lead nowhere")).to_have_count(0)
    mine.open("/d/docs%2Ftimetable.md")
    expect(page.locator(".rail h3", has_text="From here")).to_contain_text("2")
    expect(page.get_by_text("Leading nowhere")).to_have_count(0)


def test_the_model_is_changed_while_searching_goes_on(mine: Visit, served: Served) -> None:
    page = mine.open("/settings")
    page.get_by_role("button", name="Which are usable here").click()
    expect(page.get_by_role("region", name="Usable models")).to_contain_text("granite")
    page.get_by_label("Another model").fill("no such folder")
    page.get_by_role("button", name="Change to it").click()
    expect(page.locator(".told")).to_contain_text("made anew")
    mine.open("/health-page")
    expect(page.get_by_text("failed").first).to_be_visible()
    mine.open("/settings")
    page.get_by_label("Another model").fill("models/tiny")
    page.get_by_role("button", name="Change to it").click()
    expect(page.locator(".setting", has_text="tiny")).to_contain_text("used")
    assert served.json("search", query="lighthouse", mode="semantic")["returned"] > 0


def test_the_base_is_measured_in_the_background(mine: Visit, served: Served, own: Kb) -> None:
    page = mine.open("/health-page")
    page.get_by_role("button", name="Measure").click()
    scores = page.locator(".quality table").first.locator("tbody tr")
    expect(scores).to_have_count(3)
    expect(page.locator(".quality")).to_contain_text("words alone (BM25)")
    told = next(one for one in served.json("tasks")["tasks"] if one["task"] == "eval")
    assert told["state"] == "done"
    assert all(0 <= one["first"] <= one["third"] <= 1 for one in told["scores"])
    assert f"{round(told['scores'][0]['first'] * 100)} %" in scores.first.inner_text()
    kept = own.json("tasks")["evaluations"]  # another process has it, too
    assert [one["scores"] for one in kept] == [told["scores"]]


def test_weeks_are_counted_and_a_stretch_of_them_is_chosen(mine: Visit) -> None:
    """The range is in the address; by dragging or by its dates."""
    page = mine.open("/t")
    bars = page.locator(".weeks svg g")
    box = page.locator(".weeks svg").bounding_box()
    assert box is not None
    wide = box["width"] / bars.count()
    page.mouse.move(box["x"] + 2, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + wide * 9.5, box["y"] + 20)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"from=2025-01-06&to=2025-03-16"))
    expect(page.locator(".days a")).to_have_text(["Berth 2", "Berth 1", "Berth 0"])
    assert mine.violations() == []
    page.get_by_label("From", exact=True).fill("2025-02-01")
    expect(page.locator(".days a")).to_have_text(["Berth 2", "Berth 1"])
    page.reload()
    expect(page.locator(".days a")).to_have_text(["Berth 2", "Berth 1"])
    page.get_by_role("link", name="Search in it").click()
    expect(page.locator("#q")).to_have_value("created:>=2025-02-01 created:<=2025-03-16")
    expect(page.locator(".stack")).to_have_count(2)


def test_the_graph_is_asked_in_cypher_where_that_is_served(mine: Visit, served: Served) -> None:
    served.json("remember", text="Cast off the stern line.", code="LINE-1")
    served.json("remember", text="Before that see [[LINE-1]].", code="LINE-2")
    page = mine.open("/g")
    page.get_by_text("Advanced: ask in Cypher").click()
    asked = page.get_by_label("Query")
    asked.fill("MATCH (d:Document {code: 'LINE-2'})-[r:REFERENCES]->(o) RETURN d, r.weight")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".cypher tbody tr").first).to_contain_text("Before that")
    expect(page.locator(".cypher .node").first).to_contain_text("Before that")
    assert mine.violations() == []
    asked.fill("MATCH nonsense")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".cypher .failure")).to_contain_text("Cypher")
    mine.complaints.clear()


def test_what_the_command_or_the_environment_decides_has_no_button(
    mine: Visit, served: Served
) -> None:
    lines = {one["key"]: one for one in served.json("config")["settings"]}
    fixed = {key for key, one in lines.items() if one["by_command"]}
    assert {"rerank.url", "embed.url", "serve.host"} <= fixed
    for key in sorted(fixed):
        assert served.post("config set", key=key, value="x").status_code == 403
    page = mine.open("/settings")
    page.locator("summary", has_text="rerank").click()
    changeable = page.get_by_role("button", name="Change rerank.").all()
    told = {one.get_attribute("aria-label") for one in changeable}
    own = {key for key in lines if key.startswith("rerank.")} - {"rerank.url", "rerank.top"}
    assert told == {f"Change {key}" for key in own}


def test_a_search_counts_once_it_is_meant(mine: Visit, served: Served) -> None:
    """Not each letter of it, nor what the page asks beside it."""

    def count() -> int:
        found: int = served.json("searches")["count"]
        return found

    before = count()
    page = mine.open("/")
    page.locator("#q").press_sequentially("lighthouse", delay=30)
    mine.answered("lighthouse")
    page.wait_for_selector(".facet")
    assert count() == before
    page.keyboard.press("Enter")
    with page.expect_response(lambda told: "/api/links" in told.url):
        page.keyboard.press("Enter")
    page.wait_for_selector(".rail h2:has-text('History')")
    assert count() == before + 1
    mine.open("/?q=lighthouse")
    mine.answered("lighthouse")
    page.wait_for_timeout(1200)  # longer than a search that is looked at takes to count
    assert count() == before + 2


def test_a_verdict_is_told_in_words(mine: Visit, served: Served) -> None:
    made = served.json("remember", text="Ropes are made of hemp.", project="yard")["document"]
    for verdict in ("later", "accept"):  # the second one keeps the first, to be undone
        served.json("verdict", reference=made["code"], verdict=verdict)
    assert "\t{" in served.json("get", reference=made["code"])["document"]["judged"]
    page = mine.open(f"/d/{made['code']}")
    told = page.locator(".facts dt:has-text('Judged') + dd")
    expect(told).to_have_text(re.compile(r"^accept by \w+, just now$"))


def test_a_source_is_taken_out_once_it_is_said_what_goes(mine: Visit, own: Kb) -> None:
    own.write("spare/one.md", "# Spare\n\nA spare page.\n")
    own("add", "spare", "--defer")
    page = mine.open("/settings")
    page.get_by_role("button", name="Take out spare").click()
    expect(page.get_by_text("1 document leaves the base")).to_be_visible()
    page.get_by_role("button", name="Do it").click()
    expect(page.get_by_role("button", name="Take out spare")).to_have_count(0)
    assert (own.folder / "spare/one.md").exists()


def test_nobody_elses_change_is_written_over(mine: Visit, served: Served) -> None:
    """A note is edited where it is read; what was written meanwhile is shown first."""
    note = served.json("note", text="# Buoys\n\nRed ones to port.", code="BU-1")
    page = mine.open("/d/BU-1")
    page.get_by_role("button", name="Edit").click()
    text = page.get_by_label("The text of BU-1")
    expect(text).to_be_focused()
    expect(text).to_have_value("# Buoys\n\nRed ones to port.")
    text.fill("# Buoys\n\nGreen ones to starboard.")
    served.json("note", text="# Buoys\n\nTheirs.", replace=note["id"])
    page.keyboard.press("Control+s")
    told = page.get_by_role("alert")
    expect(told).to_contain_text("Somebody else has written it meanwhile")
    expect(told).to_contain_text("Theirs.")
    assert mine.violations() == []
    page.get_by_role("button", name="Go on with mine").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".document .text")).to_contain_text("Green ones to starboard.")
    expect(page.get_by_label("The text of BU-1")).to_have_count(0)
    assert "Green" in served.json("get", reference="BU-1")["sections"][0]["text"]
    mine.complaints[:] = [one for one in mine.complaints if "409" not in one]
    mine.open("/d/docs%2Ftimetable.md")
    expect(page.get_by_role("button", name="Forget")).to_be_visible()
    expect(page.get_by_role("button", name="Edit", exact=True)).to_have_count(0)  # a file's text


def test_the_timeline_says_who_wrote_what_and_what_took_its_place(
    mine: Visit, served: Served
) -> None:
    for number, text in enumerate(("Tea at four.", "Tea at five.", "Tea at six.")):
        more = {"supersede": f"TEA-{number - 1}"} if number else {}
        served.json("remember", text=text, code=f"TEA-{number}", session="s7", **more)
    soon = (dt.datetime.now(dt.UTC) + dt.timedelta(days=3)).date()
    served.json("remember", text="The pass ends.", code="PASS-1", expires=soon.isoformat())
    page = mine.open("/t?writer=agent")
    expect(page.locator(".days a")).to_have_text(["Tea at six."])
    line = page.locator(".chain", has_text="Tea").locator("a")
    expect(line).to_have_text(["Tea at six.", "Tea at five.", "Tea at four."])
    page.get_by_label("Written by").select_option("people")
    expect(page.locator(".days a", has_text="Tea")).to_have_count(0)
    expect(page.locator(".days a", has_text="The pass ends.")).to_have_count(1)
    page.get_by_label("Written by").select_option("anybody")
    page.get_by_label("Session all").select_option("s7")
    expect(page).to_have_url(re.compile("session=s7"))
    expect(page.locator(".days a")).to_have_text(["Tea at six."])
    assert mine.violations() == []
    page.get_by_role("button", name="30 days longer: PASS-1").click()
    later = (soon + dt.timedelta(days=30)).isoformat()
    expect(page.get_by_role("button", name=f"Undo: PASS-1 holds until {later}")).to_be_visible()

    def expires() -> str:
        told: str = served.json("get", reference="PASS-1")["document"]["expires_at"]
        return told[:10]

    assert expires() == later
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.get_by_role("button", name="Undo: PASS-1").click()
    expect(page.locator(".expiring li", has_text="The pass ends.")).to_have_count(1)
    assert expires() == soon.isoformat()


def test_what_was_said_of_a_hit_is_shown_with_its_search(mine: Visit, served: Served) -> None:
    served.json("search", query="old lighthouse")
    served.json("feedback", hit="docs/berth-1.md", verdict="bad", session="s8")
    page = mine.open("/inbox")
    said = page.locator("section", has=page.get_by_role("heading", name="What was said of hits"))
    expect(said.locator("li").first).to_contain_text("not what was needed")
    expect(said.locator("li").first).to_contain_text("session s8")
    said.get_by_role("link", name="old lighthouse").click()
    expect(page.locator("#q")).to_have_value("old lighthouse")


def test_a_pattern_shows_what_it_leaves_out_before_it_is_written(
    mine: Visit, served: Served, own: Kb
) -> None:
    page = mine.open("/health-page")
    ignored = own.folder / "docs" / ".kbignore"
    pattern = page.get_by_label("Pattern of files to leave out")
    page.get_by_label("The folder that it is written for").select_option("docs")
    pattern.fill("berth-[")
    expect(page.locator(".ignore .failure")).to_contain_text("matches nothing")
    pattern.fill("berth-[45].md")
    expect(page.locator("#ignored")).to_contain_text("takes 2 of")
    expect(page.locator("#ignored")).to_contain_text("berth-5.md")
    assert mine.violations() == []
    assert not ignored.exists()
    page.get_by_role("button", name="Write it to .kbignore").click()
    expect(page.get_by_text("2 removed")).to_be_visible()
    assert ignored.read_text() == "berth-[45].md\n"
    left = {one["path"] for one in served.json("list", limit=100)["documents"]}
    assert "docs/berth-3.md" in left
    assert "docs/berth-4.md" not in left
    mine.complaints[:] = [one for one in mine.complaints if "422" not in one]


def test_a_page_of_a_pdf_is_opened_in_the_file_itself(
    browser: Browser, kb: Kb, tmp_path: Path
) -> None:
    page_file, folder = tmp_path / "two.html", kb.folder / "papers"
    folder.mkdir()
    page_file.write_text("<p>The first page.<p style='break-before: page'>The anchor is second.")
    printing = browser.new_context().new_page()
    printing.goto(page_file.as_uri())
    printing.pdf(path=folder / "two.pdf")
    kb("add", "papers", "--defer")
    context = browser.new_context()
    with serving(kb.folder) as running:
        page = visit(context, running.address).open("/d/papers%2Ftwo.pdf?q=anchor")
        with context.expect_page() as opened:
            page.get_by_role("button", name="Open the PDF at page 2").click()
        opened.value.wait_for_url(re.compile(r"^blob:.*#page=2$"), wait_until="commit")
        expect(page.get_by_role("button", name="Open the PDF at page 1")).to_have_count(2)
        context.close()


def test_a_source_is_watched_by_a_switch(mine: Visit, served: Served, own: Kb) -> None:
    page = mine.open("/settings")
    row = page.locator(".setting", has=page.get_by_text("docs", exact=True)).first
    expect(row).to_contain_text("compared with the disk")
    switch = page.get_by_label("watch docs")
    switch.check()
    expect(page.get_by_text("docs is watched")).to_be_visible()
    expect(switch).to_be_checked()
    own.write("docs/noticed.md", "# Noticed\n\nBy itself.\n")
    wait_until(lambda: served.post("get", reference="docs/noticed.md").status_code == 200)
    page.reload()
    expect(switch).to_be_checked()
    assert mine.violations() == []
    switch.uncheck()
    expect(page.get_by_text("is not watched any more")).to_be_visible()
    expect(switch).not_to_be_checked()
    expect(switch).to_be_enabled()
    assert all(one["state"] != "running" for one in served.json("tasks")["tasks"])


def test_programs_of_agents_are_shown_with_what_they_are_told(mine: Visit) -> None:
    page = mine.open("/settings")
    section = page.locator("section", has=page.get_by_role("heading", name="Agents"))
    expect(section.locator("li")).to_contain_text(["claude-code", "cursor", "vscode", "codex"])
    section.locator("summary", has_text="cursor").click()
    expect(section.locator("pre:visible")).to_contain_text("mcpServers")
    expect(section).to_contain_text("has not asked yet")
    assert mine.violations() == []
