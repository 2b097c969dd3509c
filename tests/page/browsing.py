"""A browser, and a base that is worth looking at, once for all tests of the page."""

import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hostile
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from conftest import FIXTURES, Kb
from knowbase import Base, Note
from servers import Served, serving

expect.set_options(timeout=30_000)  # what takes that long will not happen
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MEMORIES = (
    "Deploys happen on Tuesdays, after the tests of the night have passed.",
    "Deploys happen on Thursdays, after the tests of the night have passed.",
    "Feature flags are kept in the settings table and cached for a minute.",
    "The team reviews pull requests within one working day.",
    "Logs are kept for thirty days, and for a year where the law wants it.",
    "Customers are told of an incident within an hour.",
)
WHOLE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def chromium() -> str | None:
    """The browser of this machine; playwright's own cannot be downloaded everywhere."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")  # while it runs, nothing else can run an event loop
def browser() -> Iterator[Browser]:
    found = chromium()
    if found is None:
        pytest.skip("needs a browser: apt-get install chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


def fill(kb: Kb) -> Kb:
    """The handbook, and memories of agents."""
    shutil.copytree(FIXTURES / "handbook", kb.folder / "handbook")
    kb("init")
    kb("add", "handbook")
    with Base(str(kb.base)) as base:
        base.sessions.start("s1", "web")
        for number, text in enumerate(MEMORIES, start=1):
            base.remember(
                Note(text, code=f"ME-{number}", project="web", session="s1", type="decision")
            )
        soon = (dt.datetime.now(dt.UTC) + dt.timedelta(days=3)).date().isoformat()
        base.remember(Note("The staging key ends.", code="ME-9", project="web", expires_at=soon))
        base.sessions.end("s1", "We decided how to deploy.")
    return kb


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """With documents that nobody should trust."""
    kb = fill(Kb(tmp_path_factory.mktemp("library")))
    hostile.write(kb.folder / "hostile")
    kb("add", "hostile", "--defer")
    return kb


@pytest.fixture(scope="session")
def site(library: Kb) -> Iterator[Served]:
    env = {"KB_EMBED_BACKGROUND": "false", "KB_SERVE_CYPHER": "false"}
    with serving(library.folder, env=env) as served:
        yield served


class Visit(NamedTuple):
    """A browser's window, and whatever it complained about or asked others for."""

    page: Page
    address: str
    complaints: list[str]
    foreign: list[str]

    def open(self, place: str) -> Page:
        """Go there and wait until the page has taken over."""
        self.page.goto(self.address + place)
        self.page.wait_for_selector("#app[data-ready]")
        return self.page

    def search(self, query: str) -> Page:
        """Type it, and wait for its hits."""
        self.page.locator("#q").fill(query)
        return self.answered(query)

    def answered(self, query: str) -> Page:
        """Wait for the whole answer to a search."""
        self.page.wait_for_function(
            "q => new URLSearchParams(location.search).get('q') === q"
            " && document.querySelector('.list')?.getAttribute('aria-busy') === 'false'"
            " && document.querySelector('.list .status p')?.textContent.trim()",
            arg=query,
        )
        return self.page

    def violations(self, *rules: str) -> list[str]:
        """What axe finds wrong with what is shown, by these rules or by all."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text("utf-8"))
        found: dict[str, Any] = self.page.evaluate(
            "rules => axe.run(document, {resultTypes: ['violations'], runOnly: rules})",
            [*rules] or WHOLE,
        )
        return [
            f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
            for one in found["violations"]
            for node in one["nodes"][:3]
        ]

    @property
    def scrolls_sideways(self) -> bool:
        return bool(
            self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")
        )


def visit(context: BrowserContext, address: str) -> Visit:
    """A new window that listens to everything."""
    page = context.new_page()
    made = Visit(page, address, [], [])
    page.on(
        "console",
        lambda told: (
            made.complaints.append(told.text) if told.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: made.complaints.append(str(error)))
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith((address, "data:", "blob:"))
            else made.foreign.append(asked.url)
        ),
    )
    return made


@pytest.fixture
def window(browser: Browser, site: Served) -> Iterator[Visit]:
    """A window of its own for one test; what it saw must have been in order."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.address)
    made = visit(context, site.address)
    yield made
    context.close()
    assert made.complaints == []
    assert made.foreign == []
