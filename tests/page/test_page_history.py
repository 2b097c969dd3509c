"""What was, in the page: versions, what differs, going back, and the log."""

import re
from collections.abc import Iterator

import pytest
from browsing import Visit, browser, visit
from playwright.sync_api import Browser, expect

from conftest import Kb
from servers import Served, serving

__all__ = ["browser"]  # a fixture

TEXTS = (
    "# Release\n\nWe deploy on Monday.",
    "# Release\n\nWe deploy on Tuesday.",
    "# Release\n\nWe deploy on Tuesday, once the tests have passed.",
)


@pytest.fixture
def served(kb: Kb) -> Iterator[Served]:
    """A note with three versions, and one that was removed."""
    kb("note", TEXTS[0], "--code", "N-1")
    for text in TEXTS[1:]:
        kb("note", text, "--replace", "N-1")
    kb("note", "# Old\n\nNobody needs it.", "--code", "N-2")
    kb("rm", "N-2", "--yes")
    with serving(kb.folder, env={"KB_EMBED_BACKGROUND": "false"}) as site:
        yield site


@pytest.fixture
def window(browser: Browser, served: Served) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    made = visit(context, served.address)
    yield made
    context.close()
    assert made.complaints == []
    assert made.foreign == []


def test_a_document_shows_its_versions_and_what_each_changed(window: Visit) -> None:
    page = window.open("/d/N-1")
    versions = page.locator(".versions li")
    expect(versions).to_have_count(3)
    expect(versions.first).to_have_attribute("aria-current", "true")
    versions.first.get_by_role("link", name="what changed").click()
    expect(page.locator(".diff ins")).to_have_text(", once the tests have passed")
    expect(page.locator(".document .text")).to_be_hidden()
    page.reload()
    expect(page.locator(".diff ins")).to_have_text(", once the tests have passed")
    versions.nth(1).get_by_role("link", name="what changed").click()
    expect(page.locator(".diff del")).to_have_text("Monday")
    expect(page.locator(".diff ins")).to_have_text("Tuesday")
    assert window.violations() == []
    page.get_by_role("link", name="As it was before").click()
    expect(page.locator(".document .text")).to_contain_text("Monday")


def test_a_document_as_it_was_is_an_address_and_can_be_again(window: Visit, served: Served) -> None:
    """And that is undone, after it is said what undoing does."""
    first = served.json("history", reference="N-1")["steps"][-1]["number"]
    page = window.open(f"/d/N-1@%23{first}")
    expect(page.locator(".past")).to_contain_text(f"As it was at change #{first}")
    expect(page.locator(".document .text")).to_contain_text("Monday")
    expect(page.locator(".doing")).to_have_count(0)
    assert window.violations() == []
    page.set_viewport_size({"width": 320, "height": 700})
    assert not window.scrolls_sideways
    page.get_by_role("button", name="Let it be this again").click()
    expect(page).to_have_url(re.compile("/d/N-1$"))
    expect(page.locator(".document .text")).to_contain_text("Monday")
    assert "Monday" in served.json("get", reference="N-1")["sections"][0]["text"]
    page.get_by_role("button", name="Undo the last change of N-1").click()
    expect(page.locator(".undo")).to_contain_text("N-1 as before")
    assert "Monday" in served.json("get", reference="N-1")["sections"][0]["text"]
    page.get_by_role("button", name="Undo it").click()
    expect(page.locator(".document .text")).to_contain_text("once the tests have passed")
    assert "Tuesday" in served.json("get", reference="N-1")["sections"][0]["text"]


def test_what_was_removed_is_found_and_brought_back(window: Visit, served: Served) -> None:
    page = window.open("/d/N-2")
    page.locator(".versions a").first.click()
    expect(page.locator(".document .text")).to_contain_text("Nobody needs it")
    page.get_by_role("button", name="Let it be this again").click()
    expect(page.locator(".past")).to_have_count(0)
    assert served.json("get", reference="N-2")["document"]["title"] == "Old"
    window.complaints[:] = [one for one in window.complaints if "404" not in one]


def test_the_log_says_who_changed_what_and_takes_it_back(window: Visit, served: Served) -> None:
    page = window.open("/t?show=changes")
    lines = page.locator(".log tbody tr")
    expect(lines).to_have_count(5)
    expect(lines.first).to_contain_text("cli rm")
    expect(lines.first).to_contain_text("removed N-2")
    assert window.violations() == []
    page.get_by_label("Through").select_option("http")
    expect(lines).to_have_count(0)
    expect(page).to_have_url(re.compile("surface=http"))
    page.get_by_label("Through").select_option("cli")
    lines.first.get_by_role("button").click()
    lines.first.get_by_role("button", name="Undo it").click()
    expect(page.locator(".told")).to_contain_text("N-2 as before")
    assert served.json("get", reference="N-2")["document"]["title"] == "Old"
    page.set_viewport_size({"width": 320, "height": 700})
    assert not window.scrolls_sideways


def test_what_was_is_read_without_a_script_and_changed_by_nobody_who_may_only_read(
    browser: Browser, served: Served, kb: Kb
) -> None:
    plain = browser.new_context(java_script_enabled=False)
    page = plain.new_page()
    page.goto(f"{served.address}/d/N-1@%231")
    expect(page.locator(".notice")).to_contain_text("As it was at #1")
    expect(page.locator(".document .text")).to_contain_text("Monday")
    page.get_by_role("link", name="As it is now").click()
    expect(page.locator(".document .text")).to_contain_text("Tuesday")
    page.goto(f"{served.address}/?q=deploy+as_of%3A%231")
    page.locator(".hit a").first.click()
    expect(page.locator(".document .text mark").first).to_have_text("deploy")
    expect(page.locator(".document .text")).to_contain_text("Monday")
    plain.close()
    token = kb.json("token", "new", "reader", "--scope", "read")["token"]
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{served.address}/d/N-1@%231")
    page.get_by_label("Token", exact=True).fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".versions li")).to_have_count(3)
    expect(page.locator(".past")).to_be_visible()
    expect(page.locator(".past button, .undo")).to_have_count(0)
    context.close()


def test_a_search_of_then_leads_to_what_was_then(window: Visit, served: Served) -> None:
    """By the query's own words, or by a day that is chosen; in the pane and in the timeline too."""
    page = window.open("/?q=deploy+as_of%3A%231")
    window.answered("deploy as_of:#1")
    expect(page.locator(".stack .snippet").first).to_contain_text("Monday")
    expect(page.locator(".pane .text")).to_contain_text("Monday")
    expect(page.locator(".meaning")).to_contain_text("as it was at")
    expect(page.locator(".as-of code")).to_have_text("#1")
    page.locator(".stack > .hit h2 a").first.click()
    expect(page).to_have_url(re.compile("/d/N-1@%231"))
    expect(page.locator(".document .text mark").first).to_have_text("deploy")
    expect(page.locator(".past")).to_contain_text("change #1")
    page.go_back()
    window.answered("deploy as_of:#1")
    page.get_by_role("button", name="now", exact=True).click()
    window.answered("deploy")
    expect(page.locator(".stack .snippet").first).to_contain_text("Tuesday")
    day = served.json("history", reference="N-1")["steps"][0]["at"][:10]
    page.locator(".as-of input").fill(day)
    expect(page.locator("#q")).to_have_value(f"deploy as_of:{day}")
    assert window.violations() == []
    page.set_viewport_size({"width": 320, "height": 700})
    assert not window.scrolls_sideways
    served.json("note", text="# Later\n\nIt came last.")
    page = window.open("/t?as_of=%231")
    expect(page.locator(".days")).to_contain_text("Release")
    expect(page.locator(".days")).not_to_contain_text("Later")
    page.locator(".days a").first.click()
    expect(page).to_have_url(re.compile("/d/N-1@%231"))
