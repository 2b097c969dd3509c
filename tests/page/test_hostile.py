"""Hostile documents in every screen: no script of theirs runs, nothing foreign is asked for."""

import re
from collections.abc import Iterator

import hostile
import pytest
from browsing import Visit, browser, visit
from playwright.sync_api import Browser, expect

from conftest import Kb
from servers import Served, serving

__all__ = ["browser"]  # a fixture

ALIVE = "script, iframe, style, img, svg[onload], base, meta, [onclick], [onerror], [onmouseover]"
SCREENS = {
    "start": ("/", ".newest li"),
    "search": ("/?q=quarrelsome&n=60", ".facet"),
    "nothing": ("/?q=quarrelsome+path:zz%3Cscript%3Ewindow.hurt=1%3C/script%3E", ".nothing"),
    "document": ("/d/N-1", ".rail h3"),
    "version": ("/d/N-1@%23FIRST", ".past"),
    "diff": ("/d/N-1?since=%23FIRST", ".diff ins"),
    "removed": ("/d/N-3", ".versions li"),
    "graph": ("/g/N-1", ".picture circle"),
    "graphs": ("/g", ".page h1"),
    "timeline": ("/t", ".days li"),
    "log": ("/t?show=changes", ".log tr"),
    "then": ("/t?as_of=%23FIRST", ".days li"),
    "around": ("/t?doc=N-1", ".around li"),
    "inbox": ("/inbox", ".card .diff"),
    "health": ("/health-page", ".versions dt"),
    "settings": ("/settings", "#editor"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    kb = Kb(tmp_path_factory.mktemp("hostile"))
    kb("init")
    hostile.write(kb.folder / "hostile")
    kb("add", "hostile", "--defer")
    with serving(kb.folder, env={"KB_EMBED_BACKGROUND": "false"}) as served:
        hostile.live(served)
        yield served


@pytest.fixture
def window(browser: Browser, site: Served) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    made = visit(context, site.address)
    yield made
    context.close()
    assert [one for one in made.complaints if "404" not in one] == []
    assert made.foreign == []


def assert_inert(window: Visit) -> None:
    page = window.page
    assert page.evaluate("window.hurt") is None
    assert page.locator("main").locator(ALIVE).count() == 0
    for href in page.locator("main a").evaluate_all("all => all.map(one => one.href)"):
        assert re.match(r"(https?|mailto):", href), href


@pytest.mark.parametrize("name", SCREENS)
def test_every_screen_leaves_hostile_text_inert(window: Visit, site: Served, name: str) -> None:
    address, shown = SCREENS[name]
    first = site.json("history", reference="N-1")["steps"][-1]["number"]
    page = window.open(address.replace("FIRST", str(first)))
    page.wait_for_selector(shown, state="attached")
    assert_inert(window)
    for summary in page.locator("main summary:visible").all():
        summary.click()
    assert_inert(window)
    page.set_viewport_size({"width": 320, "height": 700})
    assert not window.scrolls_sideways


def test_hostile_documents_are_inert(window: Visit) -> None:
    """Those of files, and what lies deeper: their parts, a search over a screen, an export."""
    page = window.open("/?q=quarrelsome&n=60")
    page.wait_for_selector(".hit")
    codes = page.locator(".hit .code").all_inner_texts()
    assert len({*codes}) > 10
    for code in dict.fromkeys(codes):
        window.open(f"/d/{code}?q=quarrelsome")
        page.wait_for_selector(".document .text", state="attached")
        assert_inert(window)
        assert not window.scrolls_sideways
    huge = page.request.post(f"{window.address}/api/list", data={"limit": 100}).json()
    code = next(one["code"] for one in huge["documents"] if one["title"] == "Huge")
    window.open(f"/d/{code}")
    page.get_by_role("link", name="Go on").first.click()
    expect(page).to_have_url(re.compile("line="))
    page.keyboard.press("/")
    page.keyboard.type("quarrelsome")
    expect(page.get_by_role("option").nth(7)).to_be_visible()
    assert_inert(window)
    window.open("/g/N-1")
    page.wait_for_selector(".picture circle")
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="SVG").click()
    assert "<script" not in downloaded.value.path().read_text("utf-8")


def test_hostile_text_is_inert_without_a_script_of_ours(browser: Browser, site: Served) -> None:
    """What the server renders, with scripts allowed and ours kept away."""
    context = browser.new_context()
    window = visit(context, site.address)
    window.page.route("**/ui/*.js", lambda route: route.abort())
    for address in ("/", "/?q=quarrelsome", "/d/N-1?q=quarrelsome", "/d/N-1@%231", "/d/N-3"):
        window.page.goto(site.address + address)
        assert_inert(window)
    context.close()
    assert window.foreign == []
