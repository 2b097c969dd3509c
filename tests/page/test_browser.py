"""The page in a real browser: search, read, follow."""

import math
import re
from pathlib import Path

import pytest
from browsing import Visit, browser, library, site, visit, window
from playwright.sync_api import Browser, Route, expect

from conftest import Kb
from servers import Served, serving, two_projects

__all__ = ["browser", "library", "site", "window"]  # fixtures

SCREENS = {
    "start": "/",
    "search": "/?q=deploy",
    "nothing": "/?q=tag%3Axyzzy",
    "document": "/d/HB-T-0021?q=rollback",
    "code": "/d/handbook%2Fcode%2FberthPicker.ts",
    "unknown": "/d/NOT-THERE",
    "graph": "/g/HB-I-0018",
    "graphs": "/g",
    "timeline": "/t",
    "centred": "/t?doc=HB-T-0021",
    "inbox": "/inbox",
    "health": "/health-page",
    "settings": "/settings",
}


def settled(window: Visit, name: str) -> None:
    """Wait until a screen shows what it is for."""
    shown = {
        "graph": ".picture circle", "search": ".facet", "document": ".rail h3", "start": ".newest",
        "timeline": ".days li", "centred": ".around li", "inbox": ".card", "health": ".versions dt",
        "settings": "#editor",
    }  # fmt: skip
    if name in shown:
        window.page.wait_for_selector(shown[name])
    expect(window.page.locator("[aria-busy=true]")).to_have_count(0)


@pytest.mark.parametrize("name", SCREENS)
def test_every_screen_is_fit_for_everybody(window: Visit, name: str) -> None:
    """Light, dark, at 320 px: no violation, nothing in the console, no scrolling sideways."""
    if name == "unknown":
        window.complaints.clear()
    window.open(SCREENS[name])
    settled(window, name)
    assert window.violations() == []
    window.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert window.violations("color-contrast", "link-in-text-block") == []
    window.page.set_viewport_size({"width": 320, "height": 700})
    assert not window.scrolls_sideways
    assert window.violations("target-size", "scrollable-region-focusable", "list") == []
    if name == "unknown":
        window.complaints[:] = [one for one in window.complaints if "404" not in one]


def test_it_answers_as_one_types_and_the_address_follows(window: Visit) -> None:
    page = window.open("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("rollback", delay=15)
    window.answered("rollback")
    expect(page).to_have_url(re.compile(r"\?q=rollback$"))
    expect(page.locator(".meaning")).to_contain_text("word rollback")
    before = page.locator(".hit h2").all_inner_texts()
    page.reload()
    page.wait_for_selector("#app[data-ready]")
    assert page.locator(".hit h2").all_inner_texts() == before
    page.locator(".hit h2 a").first.click()
    expect(page.locator(".document h1").first).to_be_visible()
    page.go_back()
    window.answered("rollback")
    expect(page.locator("#q")).to_have_value("rollback")
    assert page.locator(".hit h2").all_inner_texts() == before


def test_a_copied_link_is_the_same_screen_elsewhere(window: Visit, browser: Browser) -> None:
    page = window.open("/?q=certificate&unit=document")
    window.answered("certificate")
    page.get_by_role("button", name="link", exact=True).click()
    copied = page.evaluate("navigator.clipboard.readText()")
    elsewhere = browser.new_context()
    other = elsewhere.new_page()
    other.goto(copied)
    other.wait_for_selector("#app[data-ready] .list[aria-busy=false] .hit")
    assert other.locator(".hit h2").all_inner_texts() == page.locator(".hit h2").all_inner_texts()
    assert other.get_by_label("one hit a document").is_checked()
    elsewhere.close()


def test_facets_narrow_and_exclude_in_the_query_language(window: Visit) -> None:
    page = window.open("/?q=deploy")
    page.locator(".facet", has_text="operations").first.click()
    expect(page.locator("#q")).to_have_value("deploy path:/handbook/operations/")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.stack > .hit .path')]"
        ".every(one => one.textContent.includes('operations/'))"
    )
    page.locator(".facet", has_text="operations").first.click()
    expect(page.locator("#q")).to_have_value("deploy")
    page.locator(".facet", has_text="markdown").first.click(modifiers=["Alt"])
    expect(page.locator("#q")).to_have_value("deploy -type:markdown")


def test_a_language_narrows_and_code_has_its_lines(window: Visit) -> None:
    page = window.open("/?q=berth")
    page.locator(".facet", has_text="TypeScript").click()
    expect(page.locator("#q")).to_have_value("berth path:*.ts")
    window.answered("berth path:*.ts")
    lines = page.locator(".hit").first.locator(".snippet .line")
    shown = lines.evaluate_all("all => all.map(one => Number(one.dataset.line))")
    assert len(shown) > 1
    assert shown == [*range(shown[0], shown[0] + len(shown))]
    page.wait_for_selector(".pane .line")
    marked = lines.filter(has=page.locator("mark")).first
    whole = page.locator(f".pane .line[data-line='{marked.get_attribute('data-line')}']")
    assert marked.inner_text().strip() == whole.inner_text().strip()


def test_no_hits_says_which_filter_took_them(window: Visit) -> None:
    page = window.open("/?q=deploy+type%3Acode+path%3A*.md")
    expect(page.locator(".freed li")).to_contain_text(["type:code takes away", "path:*.md"])
    boxes = "name => document.querySelector(name).getBoundingClientRect().toJSON()"
    answer = page.evaluate(boxes, ".list")
    assert answer["left"] >= page.evaluate(boxes, ".narrow")["right"]  # beside it, as with hits
    assert answer["width"] > 400
    page.locator(".freed a").first.click()
    expect(page.locator("#q")).to_have_value("deploy path:*.md")
    expect(page.locator(".hit").first).to_be_visible()


def test_communities_are_bubbles_and_a_list(window: Visit) -> None:
    page = window.open("/g?communities=1")
    bubbles = page.locator(".bubble")
    expect(bubbles.first).to_be_visible()
    titles = page.locator(".bubbles + ol a").all_inner_texts()
    told = page.locator(".bubbles title").all_text_contents()
    assert all(one.startswith(title) for one, title in zip(told, titles, strict=True))
    assert window.violations() == []
    bubbles.first.click()
    expect(page.locator(".graph h1")).to_have_text(titles[0])


def test_why_not_is_answered_in_words(window: Visit) -> None:
    page = window.open("/?q=deploy")
    page.get_by_text("Not what you looked for?").click()
    page.get_by_label("The document that you expected").fill("HB-P-0040")
    page.get_by_role("button", name="Why not?").click()
    expect(page.locator(".whynot a")).to_contain_text("HB-P-0040")
    expect(page.locator(".whynot")).to_contain_text(re.compile(r"meaning \d+th"))


def test_a_mistake_is_shown_where_it_is_and_is_no_error_page(window: Visit) -> None:
    page = window.open("/")
    page.locator("#q").fill("deploy updated:whenever")
    expect(page.locator(".problem u")).to_have_text("updated:whenever")
    expect(page.locator(".failure")).to_have_count(0)


def test_bars_add_up_to_the_score(window: Visit) -> None:
    """The parts of the first bar are as long as the track: it is the best score."""
    page = window.open("/?q=deploy")
    page.locator(".hit").first.get_by_role("button", name="Explain").click()
    shown = page.locator(".sum tbody tr:not(.total) td:last-child").all_inner_texts()
    adds = [float(one) for one in shown if not one.startswith("×")]
    factors = [float(one.removeprefix("×")) for one in shown if one.startswith("×")]
    total = float(page.locator(".sum .total td").inner_text())
    assert sum(adds) * math.prod(factors) == pytest.approx(total, abs=0.002)
    widths = page.locator(".hit").first.locator(".bar rect:not(.track)")
    long = sum(float(one.get_attribute("width") or 0) for one in widths.all())
    assert long == pytest.approx(96, abs=0.1)


def test_everything_is_done_by_keys(window: Visit) -> None:
    page = window.open("/")
    page.keyboard.type("deploy")
    window.answered("deploy")
    page.keyboard.press("ArrowDown")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") != first
    expect(page.locator(".hit.current")).to_have_count(1)
    page.keyboard.press("k")
    page.keyboard.press("e")
    expect(page.locator(".sum")).to_be_visible()
    page.keyboard.press("f")
    expect(page.locator(".facet:focus")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".document h1").first).to_have_text(first)
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    expect(page.locator("#q")).to_have_value("deploy")


def test_every_screen_can_be_searched_from_without_leaving_it(window: Visit) -> None:
    """By keys alone; Escape leads back to where one was."""
    page = window.open("/health-page")
    page.wait_for_selector(".finding")
    page.locator(".finding summary").first.focus()
    page.keyboard.press("/")
    box = page.get_by_role("combobox", name="Search")
    expect(box).to_be_focused()
    page.keyboard.type("rollbac")  # is not finished yet
    options = page.get_by_role("listbox", name="Hits").get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(options.first).to_contain_text("handbook/")
    assert window.violations() == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".finding summary").first).to_be_focused()
    expect(page).to_have_url(re.compile("/health-page$"))
    page.keyboard.press("Control+k")
    page.keyboard.type("rollback")
    expect(options.first).to_contain_text("handbook/")
    page.keyboard.press("ArrowDown")
    title = options.nth(1).locator("bdi").first.inner_text()
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.locator(".document h1").first).to_have_text(title)
    expect(page.locator(".text mark").first).to_be_attached()
    page.keyboard.press("/")
    page.keyboard.type("zzqqxx")
    expect(options).to_have_text([re.compile("Nothing fits|All hits")])
    page.set_viewport_size({"width": 320, "height": 700})
    assert not window.scrolls_sideways
    page.keyboard.press("Enter")
    window.answered("zzqqxx")


def test_the_answer_to_an_earlier_question_is_not_taken_for_this_one(window: Visit) -> None:
    """It comes between a key and the request that the key leads to."""
    page = window.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "zzqqxx" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/search", hold)
    window.open("/")
    values = {"query": "zzqqxx", "mode": "keyword", "explain": True}
    earlier = page.request.post(f"{window.address}/api/search", data=values).body()
    page.locator("#q").fill("zzqqxx")
    while not held:
        page.wait_for_timeout(5)
    page.locator("#q").fill("deploy")
    held[0].fulfill(body=earlier, content_type="application/json")
    window.answered("deploy")
    assert page.locator(".stack > .hit").count() > 0


def test_the_pane_follows_the_hit(window: Visit) -> None:
    page = window.open("/?q=deploy")
    page.wait_for_selector(".pane .text > *")
    for at in (0, 1):
        page.locator(".stack > .hit h2 a").nth(at).focus()
        title = page.locator(".stack > .hit h2 a").nth(at).inner_text()
        expect(page.locator(".pane header a")).to_have_text(title)
    expect(page.locator(".pane mark").first).to_be_attached()


def test_a_document_arrives_at_the_passage(window: Visit) -> None:
    page = window.open("/?q=rollback")
    page.locator(".hit h2 a").first.click()
    page.wait_for_selector(".arrived")
    expect(page.locator(".arrived")).to_be_in_viewport()
    expect(page.locator(".text mark").first).to_be_attached()


def test_a_hit_opens_in_the_editor_at_its_line(window: Visit, library: Kb) -> None:
    """No editor is here: the browser asks for its address in vain."""
    page = window.open("/?q=rollback")
    where = page.locator(".hit .path").first.inner_text()
    with page.expect_request(lambda asked: asked.url.startswith("vscode:")) as asked:
        page.locator(".hit").first.get_by_role("button", name="Editor").click()
    assert asked.value.url == f"vscode://file{library.folder}/{where}"
    window.foreign.clear()
    window.complaints.clear()


def test_a_link_is_followed(window: Visit) -> None:
    page = window.open("/d/HB-T-0021")
    from_here = page.locator("h3:has-text('From here') + ul")
    expect(from_here).to_contain_text("Database migrations")
    expect(page.locator("h3:has-text('To here') + ul")).to_contain_text("parent")
    page = window.open("/d/HB-I-0018")
    link = page.locator(".rail li a").first
    title = link.inner_text()
    link.click()
    expect(page.locator(".document h1").first).to_have_text(title)


def test_the_graph_is_the_same_each_time_and_its_list_says_the_same(window: Visit) -> None:
    pictures = []
    for _ in range(2):
        page = window.open("/g/HB-I-0018")
        page.wait_for_selector(".picture .node")
        pictures.append(
            page.locator(".node").evaluate_all(
                "all => all.map(one => one.getAttribute('transform'))"
            )
        )
    assert pictures[0] == pictures[1]
    assert len(pictures[0]) <= 60
    assert page.locator(".cypher").count() == 0  # not unless that is served
    assert page.locator(".nodes li").count() == len(pictures[0])
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="SVG").click()
    text = downloaded.value.path().read_text("utf-8")
    assert text.startswith("<svg")
    assert "HB-I-0018" in downloaded.value.suggested_filename
    page.get_by_label("Path to").fill("HB-T-0022")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Path")).to_be_visible()
    expect(page).to_have_url(re.compile("to=HB-T-0022"))


def test_health_names_what_mends_it_worst_first(window: Visit) -> None:
    page = window.open("/health-page")
    page.wait_for_selector(".finding")
    expect(page.locator(".finding code", has_text="kb embed").first).to_be_visible()
    kinds = page.locator(".finding").evaluate_all("all => all.map(one => one.classList[1])")
    assert kinds == sorted(kinds, key=["error", "warning", "info"].index)


def test_an_expiring_note_is_seen_and_going_back_leads_to_where_one_was(window: Visit) -> None:
    page = window.open("/t")
    expect(page.locator(".strip")).to_contain_text("The staging key ends")
    link = page.locator(".days a").nth(30)
    link.scroll_into_view_if_needed()
    top = page.evaluate("scrollY")
    assert top > 0
    link.click()
    expect(page.locator(".document h1").first).to_be_visible()
    page.go_back()
    page.wait_for_function("top => Math.abs(scrollY - top) < 2", arg=top)


def test_searching_and_reading_work_without_a_script(browser: Browser, site: Served) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 700})
    window = visit(context, site.address)
    page = window.page
    page.goto(site.address)
    page.locator("#q").fill("rollback")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    assert "rollback" in page.locator(".hits mark").first.inner_text().lower()
    page.locator(".hit a").first.click()
    page.wait_for_selector(".document .text mark")
    assert page.locator(".document h1").first.inner_text()
    page.goto(site.address + "/g")
    expect(page.get_by_role("heading", name="Graph")).to_be_visible()
    context.close()
    assert window.complaints == []


def test_a_base_that_goes_away_is_said_and_found_again(window: Visit) -> None:
    page = window.open("/?q=deploy")
    page.context.set_offline(True)
    page.locator("#q").fill("certificate")
    expect(page.locator(".away")).to_be_visible()
    page.context.set_offline(False)
    expect(page.locator(".away")).to_have_count(0)
    expect(page.locator(".hit").first).to_be_visible()
    window.complaints.clear()


def test_dark_and_light_are_chosen_and_kept(window: Visit) -> None:
    page = window.open("/")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for _ in range(2):
        page.get_by_role("button", name="Colours").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate(ground) != light
    page.reload()
    page.wait_for_selector("#app[data-ready]")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_settings_are_changed_and_tokens_made_and_held_to(browser: Browser, tmp_path: Path) -> None:
    """A change is shown before it is written; the first token does not lock anybody out; who may
    only read has nothing to write with; one that is revoked is asked for again."""
    folder = two_projects(tmp_path / "base")
    context = browser.new_context()
    with serving(folder) as served:
        window = visit(context, served.address)
        page = window.open("/settings")
        page.locator("summary", has_text="search").first.click()
        page.get_by_role("button", name="Change search.profile").click()
        page.get_by_label("search.profile", exact=True).fill("memory")
        page.get_by_role("button", name="Show the change").click()
        expect(page.locator(".change pre")).to_contain_text("memory")
        assert not any("memory" in one.read_text() for one in folder.rglob("kb.toml"))
        page.get_by_role("button", name="Write it").click()
        expect(page.locator(".told")).to_contain_text("search.profile is memory")
        assert any("memory" in one.read_text() for one in folder.rglob("kb.toml"))
        late: list[Route] = []  # asked before there was a token, and refused afterwards
        page.route("**/api/inbox", lambda route: late.append(route))
        window.open("/settings")
        while not late:
            page.wait_for_timeout(20)
        page.get_by_label("Name", exact=True).fill("mine")
        page.get_by_role("button", name="Make a token").click()
        expect(page.get_by_text("It is shown this once")).to_be_visible()
        with page.expect_response(lambda told: told.url.endswith("inbox") and told.status == 200):
            page.unroute("**/api/inbox")  # which lets go of what is held
        expect(page.get_by_text("It is shown this once")).to_be_visible()
        expect(page.locator("#token")).to_have_count(0)
        assert served.post("status").status_code == 401
        reading = Kb(folder).json("token", "new", "reader", "--scope", "read")["token"]
        other = browser.new_context()
        window = visit(other, served.address)
        page = window.page
        page.goto(served.address + "/d/AP-1")
        page.get_by_label("Token", exact=True).fill(reading)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator(".rail h2").first).to_be_visible()
        expect(page.locator(".doing")).to_have_count(0)
        window.open("/inbox")
        page.wait_for_selector(".card, [role=status]")
        expect(page.get_by_role("button", name="Accept")).to_have_count(0)
        Kb(folder)("token", "revoke", "reader")
        page.goto(served.address + "/?q=rocket")
        expect(page.locator("#token")).to_be_visible()
        other.close()
        context.close()


def test_an_empty_base_says_how_to_begin(browser: Browser, kb: Kb) -> None:
    context = browser.new_context()
    with serving(kb.folder) as served:
        page = visit(context, served.address).open("/")
        expect(page.get_by_text("This base is empty")).to_be_visible()
        expect(page.locator(".empty code").first).to_have_text("kb add FOLDER")
        context.close()
