"""How long it takes from a key to painted hits, in the browser.

    python bench/page.py [--chunks 5000 100000] [--home /tmp/pagebase] [--texts FOLDER …]

Serves a base of real pages in each size, types words of its titles into the page of a real
browser, and prints the percentiles of three times: from the key to the paint that shows its hits,
of the request alone as the browser sees it, and to the first paint of the page. On a busy machine
these say little: beside them stand its load, and the CPU time that a key costs the server and the
page. Bases are built from the collections that `--texts` names (docs/ without it), kept at
`HOME-5k`, `HOME-100k` and used again; what each is made of is said (bench/realistic.py).
"""

import argparse
import os
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "page")]

from browsing import chromium  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402

import realistic  # noqa: E402
from conftest import Kb  # noqa: E402
from servers import serving  # noqa: E402

GOALS = {5_000: 100, 100_000: 200}  # ms from the key to the painted hits, on an idle machine
LETTERS = 6  # of a word that is typed
TITLES = 400  # documents whose titles have the words
SETTLED = """() => new Promise(done => {
  const look = () => {
    const list = document.querySelector('.list');
    const query = new URLSearchParams(location.search).get('q');
    const isThere = list && list.getAttribute('aria-busy') === 'false' && window.shownFor !== query
      && document.querySelector('.hit');
    if (!isThere) return requestAnimationFrame(look);
    window.shownFor = query;
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - window.pressedAt), 0));
  };
  look();
})"""


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--chunks", type=int, nargs="+", default=[5_000])
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--home", help="the first part of the folders in which bases are kept")
    parser.add_argument("--texts", type=Path, nargs="+", default=[ROOT / "docs"])
    given = parser.parse_args()
    for chunks in given.chunks:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(f"{given.home}-{chunks // 1000}k" if given.home else folder)
            report(Kb(home), base_in(home, given.texts, chunks), chunks, given.keys)


def base_in(home: Path, texts: list[Path], chunks: int) -> str:
    """What the base there is made of; it is built when there is none."""
    told = home / "made-of.txt"
    if not told.exists():
        told.write_text(realistic.build(home, texts, chunks) + "\n")
    return told.read_text().strip()


def report(kb: Kb, made_of: str, chunks: int, keys: int) -> None:
    browser = chromium() or sys.exit("needs a browser: apt-get install chromium")
    words = words_of(kb)
    env = {"KB_EMBED_BACKGROUND": "false"}  # nothing else is done meanwhile
    with serving(kb.folder, env=env) as site, sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = running.new_page(viewport={"width": 1360, "height": 900})
        told = measure(page, site.address, words, keys)
        server, thread = cpu(page, site.process.pid, words, keys)
        running.close()
    print(made_of)
    print(f"{keys} keys, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"CPU of a key: server {server:.1f} ms, the page's thread {thread:.1f} ms")
    for name, times in told.items():
        goal = f"   goal {GOALS[chunks]} ms" if name.startswith("key") and chunks in GOALS else ""
        print(f"{name:32} p50 {at(times, 0.5):6.1f} ms   p95 {at(times, 0.95):6.1f} ms{goal}")
    print(flush=True)


def words_of(kb: Kb) -> list[str]:
    """Words of titles, in lower case."""
    titles = [one["title"] for one in kb.json("list", "--limit", str(TITLES))["documents"]]
    found = {word.lower() for title in titles for word in re.findall(r"[A-Za-z]{5,}", title)}
    return sorted(found)


def measure(page: Page, address: str, words: list[str], keys: int) -> dict[str, list[float]]:
    firsts = [first_paint(page, address) for _ in range(5)]
    page.evaluate(
        "document.querySelector('#q').addEventListener('keydown',"
        " () => window.pressedAt = performance.now(), true)"
    )
    type_words(page, words, LETTERS, 5)  # until the model is loaded
    page.evaluate("performance.clearResourceTimings()")
    times = type_words(page, words, keys, 11)
    requests: list[dict[str, Any]] = page.evaluate(
        "performance.getEntriesByType('resource').filter(one => one.name.endsWith('/api/search'))"
        ".map(one => ({duration: one.duration}))"
    )
    return {
        "key to painted hits": times[:keys],
        "request, as the browser sees it": [one["duration"] for one in requests],
        "first paint of the page": firsts,
    }


def first_paint(page: Page, address: str) -> float:
    page.goto(address)
    page.wait_for_selector("#app[data-ready]")
    paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
    return float(page.evaluate(paint))


def type_words(page: Page, words: list[str], keys: int, seed: int) -> list[float]:
    """Letter by letter, each once the hits of the one before are there."""
    drawn = random.Random(seed)
    times: list[float] = []
    while len(times) < keys:
        page.locator("#q").fill("")
        for letter in drawn.choice(words)[:LETTERS]:
            page.keyboard.press(letter)
            times.append(float(page.evaluate(SETTLED)))
            page.wait_for_timeout(40)
    return times


def cpu(page: Page, server: int, words: list[str], keys: int) -> tuple[float, float]:
    """Milliseconds of CPU that a key costs the server, and the thread that draws the page."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> tuple[float, float]:
        metrics = session.send("Performance.getMetrics")["metrics"]
        thread = next(one["value"] for one in metrics if one["name"] == "TaskDuration")
        ticks = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), thread

    before = spent()
    typed = len(type_words(page, words, keys, 13))
    after = spent()
    of_server, of_thread = (1000 * (b - a) / typed for a, b in zip(before, after, strict=True))
    return of_server, of_thread


def at(times: list[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


if __name__ == "__main__":
    main()
