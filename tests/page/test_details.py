"""What the screens say and do not say, in a real browser."""

import re
from pathlib import Path

from browsing import Visit, browser, library, site, visit, window
from playwright.sync_api import Browser, expect

from conftest import Kb
from servers import Served, serving, two_projects

__all__ = ["browser", "library", "site", "window"]  # fixtures

NARROW = {"width": 320, "height": 700}


def test_a_window_has_the_name_of_what_it_shows(window: Visit, site: Served) -> None:
    """Once it is there, however late, and the next one's after a link."""
    name = site.json("get", reference="HB-T-0021")["document"]["title"]
    for place in ("/d/HB-T-0021", "/g/HB-T-0021"):
        page = window.open(place)
        expect(page).to_have_title(re.compile(rf"^(\(\d+\) )?{re.escape(name)} · knowbase$"))
    page = window.open("/d/HB-I-0018")
    link = page.locator(".rail li a").first
    other = link.inner_text()
    link.click()
    expect(page).to_have_title(re.compile(re.escape(other)))
    page.get_by_role("link", name="Timeline").click()
    expect(page).to_have_title(re.compile("Timeline · knowbase$"))


def test_looking_at_the_timeline_is_no_search(window: Visit, site: Served) -> None:
    site.json("searches")
    before = site.json("searches")["count"]
    page = window.open("/t")
    expect(page.locator(".strip")).to_contain_text("The staging key ends")
    page.wait_for_selector(".days li")
    assert site.json("searches")["count"] == before


def test_a_day_has_a_number_once_all_of_it_is_there(window: Visit, site: Served) -> None:
    page = window.open("/t")
    page.wait_for_selector(".days h3")
    assert site.json("browse", limit=1)["total"] > 50
    expect(page.locator(".days > li").last.locator(".number")).to_have_count(0)
    window.open("/t?n=1000")
    expect(page.locator(".days > li").last.locator("h3 .number")).to_have_count(1)


def test_an_error_goes_with_its_action(window: Visit) -> None:
    page = window.open("/d/ME-3")
    page.get_by_role("button", name="Relate to").click()
    page.get_by_label("Code of the other document").fill("NOT-THERE")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".doing .failure")).to_be_visible()
    page.get_by_role("button", name="Archive").click()
    expect(page.locator(".doing .failure")).to_have_count(0)
    expect(page.get_by_role("button", name="Tag", exact=True)).to_have_count(1)
    window.complaints.clear()
    page = window.open("/d/HB-T-0021")  # a file: its tags stand in it
    expect(page.get_by_role("button", name="Archive")).to_be_visible()
    expect(page.get_by_role("button", name="Tag", exact=True)).to_have_count(0)


def test_a_server_that_is_away_is_said_once(window: Visit) -> None:
    """What was found before stands under its own question; nothing is said of the new one."""
    page = window.open("/?q=deploy")
    window.answered("deploy")
    page.context.set_offline(True)
    page.locator("#q").fill("certificate")
    expect(page.locator(".earlier")).to_contain_text("deploy")
    assert page.get_by_text("does not answer").count() == 1
    expect(page.locator(".failure, .foot, .meaning p")).to_have_count(0)
    page.context.set_offline(False)
    expect(page.locator(".earlier")).to_have_count(0)
    window.search("tag:xyzzy")
    expect(page.get_by_text("Nothing fits")).to_be_visible()
    page.context.set_offline(True)
    page.locator("#q").fill("kerosene")
    expect(page.locator(".away")).to_be_visible()
    expect(page.get_by_text("Nothing fits")).to_have_count(0)
    page.context.set_offline(False)
    expect(page.locator(".away")).to_have_count(0)
    window.complaints.clear()


def test_the_health_of_an_empty_base(browser: Browser, kb: Kb) -> None:
    context = browser.new_context()
    with serving(kb.folder) as served:
        page = visit(context, served.address).open("/health-page")
        expect(page.get_by_text("loaded with the first document")).to_be_visible()
        expect(page.get_by_text("Documents by type")).to_have_count(0)
        context.close()


def test_who_is_held_to_a_project_is_not_sent_where_they_may_not_go(
    browser: Browser, tmp_path: Path
) -> None:
    folder = two_projects(tmp_path / "base")
    token = Kb(folder).json("token", "new", "one", "--project", "apollo")["token"]
    context = browser.new_context()
    with serving(folder, token=token) as served:
        plain = served.client.get("/", headers={"Accept": "text/html"}).text
        assert "/health-page" not in plain
        page = visit(context, served.address).open("/")
        page.get_by_label("Token", exact=True).fill(token)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("link", name="Timeline")).to_be_visible()
        expect(page.get_by_role("link", name="Health")).to_have_count(0)
        context.close()


def test_an_address_that_there_is_not(window: Visit, site: Served) -> None:
    """For people the page's frame; programs and the API get JSON."""
    page = window.open("/zzz")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    window.complaints[:] = [one for one in window.complaints if "404" not in one]
    told = site.client.get("/zzz", headers={"Accept": "text/html"})
    assert told.status_code == 404
    assert '<a href="/">Search</a>' in told.text
    for path, accept in (("/zzz", "*/*"), ("/api/zzz", "text/html"), ("/ui/zzz", "text/html")):
        told = site.client.get(path, headers={"Accept": accept})
        assert (told.status_code, told.json()["error"]["code"]) == (404, "not_found")
    assert site.client.get("/api/note", headers={"Accept": "text/html"}).status_code == 405


def test_a_slip_is_mended_once_it_stands(window: Visit) -> None:
    """Not with every letter: the word may go on. A link's words are finished."""
    page = window.open("/")
    asked: list[str] = []
    page.on(
        "request", lambda one: asked.append(one.post_data or "") if "search" in one.url else None
    )
    window.search("certificats")
    expect(page.locator(".notice", has_text="is searched too")).to_be_visible()
    drafts = [one for one in asked if '"certificats"' in one and '"draft":true' in one]
    assert len(drafts) >= 1
    window.open("/?q=certificats")
    window.answered("certificats")
    assert page.locator(".notice", has_text="is searched too").count() == 1


def test_a_narrow_window_is_enough(window: Visit, site: Served) -> None:
    """Deep lists do not make it scroll sideways, the screens stand in one row."""
    page = window.page
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    documents = site.json("list", limit=200)["documents"]
    nested = next(one["code"] for one in documents if one["title"] == "Nested")
    window.open(f"/d/{nested}")
    page.wait_for_selector(".text li li", state="attached")
    assert not window.scrolls_sideways
    tops = page.locator(".top nav a").evaluate_all(
        "all => all.map(one => Math.round(one.getBoundingClientRect().top))"
    )
    assert len(set(tops)) == 1
    assert page.get_by_role("link", name="Timeline").count() == 1
    long = next(one["code"] for one in documents if one["title"].startswith("long title"))
    page.set_viewport_size({"width": 1360, "height": 900})
    page = window.open("/?q=deploy")
    target = page.locator("label", has_text="one hit a document").bounding_box()
    assert target is not None
    assert min(target["width"], target["height"]) >= 24
    window.open("/")
    link = page.locator(f"a[href='/d/{long}']")
    if link.count():
        box = link.first.bounding_box()
        assert box is not None
        assert box["height"] < 80


def test_words_of_a_table_stay_whole_in_the_pane(window: Visit, library: Kb) -> None:
    heads = " | ".join(f"Responsibility{number}" for number in range(9))
    text = f"# Wide\n\nzeppelins\n\n| {heads} |\n|{'---|' * 9}\n| {heads} |\n"
    library("note", text, "--code", "WIDE-1")
    try:
        page = window.open("/?q=zeppelins")
        page.wait_for_selector(".pane .text td")
        high = page.locator(".pane .text td").first.evaluate(
            "one => one.getBoundingClientRect().height"
        )
        assert high < 45  # one line
    finally:
        library("rm", "WIDE-1", "--yes")


def test_a_mistake_is_said_once(window: Visit) -> None:
    page = window.open("/?q=deploy+updated%3Awhenever")
    expect(page.locator(".problem u")).to_have_text("updated:whenever")
    window.answered("deploy updated:whenever")
    expect(page.locator(".notice", has_text="whenever")).to_have_count(0)


def test_a_document_that_there_is_not_is_said_plainly(window: Visit) -> None:
    page = window.open("/g/NOPE")
    expect(page.locator(".failure")).to_be_visible()
    expect(page.locator(".filters, .canvas")).to_have_count(0)
    window.open("/?q=deploy")
    page.get_by_text("Not what you looked for?").click()
    page.get_by_label("The document that you expected").fill("NOPE")
    page.get_by_role("button", name="Why not?").click()
    expect(page.locator(".whynot [aria-live] p")).to_contain_text("NOPE")
    expect(page.locator(".whynot .failure")).to_have_count(0)
    window.complaints.clear()


def test_the_list_of_the_graph_says_who_refers_to_whom(window: Visit) -> None:
    page = window.open("/g/HB-T-0021?relations=REFERENCES")
    page.wait_for_selector(".nodes li")
    told = " ".join(page.locator(".nodes li > span:last-child").all_inner_texts())
    assert "refers to it" in told
    assert "is referred to" in told


def test_the_number_of_a_facet_stays_on_its_line(window: Visit) -> None:
    """However long the name of a folder is."""
    page = window.open("/?q=deploy")
    page.wait_for_selector(".facet .number")
    heights = page.evaluate(
        """() => [...document.querySelectorAll('.facet')].map(facet => {
          facet.querySelector('.name').textContent = 'a/long/name/of/a/folder/in/a/deep/tree';
          const number = facet.querySelector('.number');
          number.textContent = '20';
          return number.offsetHeight / parseFloat(getComputedStyle(number).lineHeight);
        })"""
    )
    assert heights
    assert max(heights) < 1.5
