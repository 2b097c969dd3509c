"""What befalls a page that is open: its server stops, its base is another one, sheer number."""

import shutil
from pathlib import Path
from urllib.parse import urlsplit

from browsing import browser, visit
from playwright.sync_api import Browser, expect

from conftest import Kb
from servers import serving

__all__ = ["browser"]  # a fixture

QUIETLY = {"KB_EMBED_BACKGROUND": "false"}


def test_a_server_that_stops_is_said_and_found_again(browser: Browser, kb: Kb) -> None:
    kb("note", "Ferries leave at dawn.", "--code", "N-1")
    context = browser.new_context()
    with serving(kb.folder, env=QUIETLY) as served:
        window = visit(context, served.address)
        page = window.open("/")
        port = str(urlsplit(served.address).port)
    page.locator("#q").fill("ferries")
    expect(page.locator(".away")).to_contain_text("is kb serve still running?")
    with serving(kb.folder, "--port", port, env=QUIETLY):
        expect(page.locator(".away")).to_have_count(0)
        expect(page.locator(".hit")).to_contain_text("N-1")
        context.close()


def test_a_base_that_is_replaced_is_the_one_that_is_shown(
    browser: Browser, kb: Kb, tmp_path: Path
) -> None:
    kb("note", "Ferries leave at dawn.", "--code", "N-1")
    other = Kb(tmp_path / "other")
    other.folder.mkdir()
    other("init")
    other("note", "Trains leave at noon.", "--code", "N-2")
    context = browser.new_context()
    with serving(kb.folder, env=QUIETLY) as served:
        page = visit(context, served.address).open("/d/N-1")
        expect(page.locator(".text")).to_contain_text("Ferries")
        for one in kb.base.parent.glob("base.db*"):
            one.unlink()
        for one in other.base.parent.glob("base.db*"):
            shutil.copy(one, kb.base.parent)
        page.reload()
        expect(page.get_by_text("There is no document 'N-1'")).to_be_visible()
        page.keyboard.press("/")
        page.keyboard.type("trains")
        hits = page.get_by_role("listbox", name="Hits")
        expect(hits.get_by_role("option").first).to_contain_text("Trains leave")
        context.close()


def test_ten_thousand_tags_leave_a_page_that_can_be_used(browser: Browser, kb: Kb) -> None:
    for number in range(100):
        tags = ", ".join(f"tag{number * 100 + one}" for one in range(100))
        kb.write(f"docs/{number}.md", f"---\ntags: [{tags}]\n---\n# Page {number}\n\nmanifold\n")
    kb("add", "docs", "--defer")
    context = browser.new_context(viewport={"width": 320, "height": 700})
    with serving(kb.folder, env=QUIETLY) as served:
        window = visit(context, served.address)
        page = window.open("/?q=manifold")
        page.locator("summary", has_text="Narrow down").click()
        page.locator(".facet", has_text="tag").first.click()
        expect(page.locator("#q")).to_have_value("manifold tag:tag0")
        expect(page.locator(".hit")).to_have_count(1)
        assert page.locator(".facet").count() < 60
        assert not window.scrolls_sideways
        window.open("/health-page")
        expect(page.locator(".finding", has_text="10000 tags are used once")).to_be_visible()
        context.close()
    assert window.complaints == []
