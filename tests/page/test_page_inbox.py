"""The inbox in a real browser: one key a verdict, none of them lost."""

import re

from browsing import Visit, browser, library, site, window
from playwright.sync_api import Page, Route, expect

from servers import Served

__all__ = ["browser", "library", "site", "window"]  # fixtures

PRESS = """keys => {
  const current = () => document.querySelector('.card.current h2')?.textContent ?? '';
  const before = {shown: '', acted: []};
  const press = () => {
    if (!keys.length || !current() || current() === before.shown) return;
    before.shown = current();
    before.acted.push(before.shown);
    document.body.dispatchEvent(new KeyboardEvent('keydown', {key: keys.shift(), bubbles: true}));
  };
  new MutationObserver(press).observe(document, {subtree: true, childList: true, attributes: true});
  press();
  window.acted = before.acted;
}"""
"""Presses a key in the very moment in which another card has become the current one."""


def take_back(page: Page) -> None:
    """Leave the base as it was."""
    undo = page.get_by_role("button", name="Undo:")
    while undo.count():
        before = undo.inner_text()
        page.keyboard.press("u")
        expect(page.get_by_text(before, exact=True)).to_have_count(0)
    expect(page.locator(".cards[aria-busy=true]")).to_have_count(0)


def test_memories_are_judged_by_keys_and_taken_back(window: Visit, site: Served) -> None:
    """Five memories; what is forgotten is out of the next brief, and back after u."""
    page = window.open("/inbox")
    page.wait_for_selector(".card")
    expect(page.locator(".diff").first).to_contain_text("Thursdays")
    total = site.json("inbox", limit=1)["total"]
    for key in ("a", "l", "a", "x", "x"):
        shown = page.locator(".card.current h2").inner_text()
        page.keyboard.press(key)
        expect(page.locator(".card.current h2")).not_to_have_text(shown)
    expect(page.locator(".cards[aria-busy=true]")).to_have_count(0)  # all of it is written
    gone = page.get_by_role("button", name="Undo: forget").inner_text().split()[-1]
    assert gone not in site.json("brief", project="web")["text"]
    assert site.json("inbox", limit=1)["total"] < total
    take_back(page)
    assert site.json("inbox", limit=1)["total"] == total
    assert gone in site.json("brief", project="web")["text"]


def test_what_is_put_off_comes_back_at_the_end_and_undoing_is_seen(window: Visit) -> None:
    page = window.open("/inbox")
    page.wait_for_selector(".card")
    titles, cards = page.locator(".card h2"), page.locator(".card")
    before, first = cards.all_inner_texts(), titles.first.inner_text()
    page.keyboard.press("l")
    expect(titles.last).to_have_text(first)
    expect(cards).to_have_count(len(before))
    undo = page.get_by_role("button", name="Undo:")
    for key in ("a", "x"):
        shown = page.locator(".card.current h2").inner_text()
        page.keyboard.press(key)
        expect(page.locator(".card.current h2")).not_to_have_text(shown)
    for _ in range(3):
        page.keyboard.press("u")  # without waiting for the one before
    expect(undo).to_have_count(0)
    expect(cards).to_have_text([re.compile(".")] * len(before))
    page.wait_for_function(
        "before => JSON.stringify(before) === JSON.stringify("
        "[...document.querySelectorAll('.card')].map(one => one.innerText))",
        arg=before,
    )


def test_a_key_acts_on_the_card_that_is_seen(window: Visit, site: Served) -> None:
    """Also in the moment in which it appears: what is shown and what keys act on are the same."""
    page = window.open("/inbox")
    page.wait_for_selector(".card")
    page.evaluate(PRESS, ["a", "a", "a"])
    undo = page.get_by_role("button", name="Undo:")
    page.wait_for_function("() => window.acted.length === 3")
    acted = page.evaluate("window.acted")
    expect(page.locator(".cards[aria-busy=true]")).to_have_count(0)
    expect(undo).to_have_count(1)
    left = {one["document"]["title"] for one in site.json("inbox", limit=50)["items"]}
    assert len({*acted}) == 3
    assert not left & {*acted}
    take_back(page)


def test_cards_come_with_their_keys(window: Visit) -> None:
    """However late the server says what may be done: no card is shown that cannot be judged."""
    page = window.page
    held: list[Route] = []
    page.route("**/api/access", lambda route: held.append(route))
    page.add_init_script(f"addEventListener('DOMContentLoaded', () => ({PRESS})(['a']))")
    with page.expect_response("**/api/inbox"):
        window.open("/inbox")
    page.wait_for_timeout(200)  # time enough to show the answer
    held[0].continue_()
    expect(page.get_by_role("button", name="Undo: accept")).to_be_visible()
    take_back(page)


def test_the_next_card_comes_at_once_and_verdicts_are_sent_in_turn(
    window: Visit, site: Served
) -> None:
    held: list[Route] = []
    window.page.route("**/api/verdict", lambda route: held.append(route))
    page = window.open("/inbox")
    titles = page.locator(".card h2")
    expect(page.locator(".card.current")).to_have_count(1)
    before = titles.all_inner_texts()
    for key in ("a", "x", "l"):
        page.keyboard.press(key)
    page.keyboard.press("u")  # the one that was put off
    expect(page.locator(".card.current h2")).to_have_text(before[2])
    expect(titles).to_have_text(before[2:])
    assert len(held) == 1
    page.unroute("**/api/verdict")  # which lets go of what is held
    expect(page.locator(".cards[aria-busy=true]")).to_have_count(0)
    waiting = [one["document"]["title"] for one in site.json("inbox", limit=50)["items"]]
    assert waiting == before[2:]
    take_back(page)


def test_a_verdict_that_is_refused_brings_its_card_back(window: Visit) -> None:
    error = '{"error": {"code": "locked", "message": "somebody else writes"}}'
    window.page.route("**/api/verdict", lambda route: route.fulfill(status=503, body=error))
    page = window.open("/inbox")
    expect(page.locator(".card.current")).to_have_count(1)
    before = page.locator(".card h2").all_inner_texts()
    page.keyboard.press("x")
    expect(page.get_by_text("somebody else writes")).to_be_visible()
    expect(page.locator(".card h2")).to_have_text(before)
    expect(page.get_by_role("button", name="Undo:")).to_have_count(0)
    window.complaints.clear()


def test_what_comes_in_does_not_take_the_place_of_the_card_at_hand(
    window: Visit, site: Served
) -> None:
    page = window.open("/inbox")
    page.wait_for_selector(".card")
    page.keyboard.press("j")
    shown = page.locator(".card.current h2").inner_text()
    site.json("remember", text="Ferries leave the quay at dawn.", code="ME-20")
    expect(page.locator(".card", has_text="Ferries leave")).to_have_count(1)
    assert page.locator(".card.current h2").inner_text() == shown
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(page.locator(".card.current")).to_contain_text("Ferries leave")
    page.keyboard.press("x")
    expect(page.locator(".card.current h2")).not_to_contain_text("Ferries leave")
