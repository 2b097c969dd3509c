"""How long it takes from a key to painted hits, in the browser.

python bench/page.py [--chunks 5000] [--keys 60] [--folder BASE]

Serves a base with so many chunks of made-up text, types into the page of a real browser, and
prints the percentiles of three times: from the key to the paint that shows its hits, of the
request alone as the browser sees it, and to the first paint of the page. On a busy machine these
say little: beside them stand its load, and the CPU time that a key costs the server and the page.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "page")]

from browsing import chromium  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402

from conftest import COMMAND, Kb, environment  # noqa: E402
from servers import serving  # noqa: E402

WORDS = """river mountain deploy rollback certificate harbour tide engine valve schedule storage
index ranking passage vector memory session folder report budget release backup restore network
timeout retry queue worker token secret policy review incident customer invoice""".split()  # noqa: SIM905
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=5000)
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument(
        "--folder", type=Path, help="of a base that is there, in place of a new one"
    )
    given = parser.parse_args()
    if given.folder is not None:
        report(Kb(given.folder.resolve()), given.keys)
        return
    with tempfile.TemporaryDirectory() as folder:
        kb = Kb(Path(folder))
        write(kb.folder / "texts", given.chunks)
        kb("init")
        add = [*COMMAND, "add", "texts", "--quiet"]  # longer than tests wait for a command
        subprocess.run(add, cwd=kb.folder, env=environment(), check=True)
        report(kb, given.keys)


def report(kb: Kb, keys: int) -> None:
    browser = chromium() or sys.exit("needs a browser: apt-get install chromium")
    chunks = kb.json("status")["chunks"]
    with serving(kb.folder) as site, sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = running.new_page(viewport={"width": 1360, "height": 900})
        told = measure(page, site.address, keys)
        server, thread = cpu(page, site.process.pid, keys)
        running.close()
    print(
        f"{chunks:,} chunks, {keys} keys, load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
    )
    print(f"CPU of a key: server {server:.1f} ms, the page's thread {thread:.1f} ms")
    for name, times in told.items():
        print(f"{name:32} p50 {at(times, 0.5):6.1f} ms   p95 {at(times, 0.95):6.1f} ms")


def write(folder: Path, chunks: int) -> None:
    """Sections of some sixty words; each makes a chunk."""
    folder.mkdir(parents=True)
    drawn = random.Random(7)
    for number in range(0, chunks, 20):
        sections = [
            f"## Part {number + one}\n\n{' '.join(drawn.choices(WORDS, k=60))}.\n"
            for one in range(20)
        ]
        (folder / f"text-{number}.md").write_text(f"# Text {number}\n\n" + "\n".join(sections))


def measure(page: Page, address: str, keys: int) -> dict[str, list[float]]:
    page.goto(address)
    page.wait_for_selector("#app[data-ready]")
    paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
    first = float(page.evaluate(paint))
    page.evaluate(
        "document.querySelector('#q').addEventListener('keydown',"
        " () => window.pressedAt = performance.now(), true)"
    )
    times = type_words(page, keys, 11)
    requests: list[dict[str, Any]] = page.evaluate(
        "performance.getEntriesByType('resource').filter(one => one.name.endsWith('/api/search'))"
        ".map(one => ({duration: one.duration}))"
    )
    return {
        "key to painted hits": times[:keys],
        "request, as the browser sees it": [one["duration"] for one in requests],
        "first paint of the page": [first],
    }


def type_words(page: Page, keys: int, seed: int) -> list[float]:
    """Letter by letter, each once the hits of the one before are there."""
    drawn = random.Random(seed)
    times: list[float] = []
    while len(times) < keys:
        page.locator("#q").fill("")
        for letter in drawn.choice(WORDS)[:6]:
            page.keyboard.press(letter)
            times.append(float(page.evaluate(SETTLED)))
            page.wait_for_timeout(40)
    return times


def cpu(page: Page, server: int, keys: int) -> tuple[float, float]:
    """Milliseconds of CPU that a key costs the server, and the thread that draws the page."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> tuple[float, float]:
        metrics = session.send("Performance.getMetrics")["metrics"]
        thread = next(one["value"] for one in metrics if one["name"] == "TaskDuration")
        ticks = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), thread

    before = spent()
    typed = len(type_words(page, keys, 13))
    after = spent()
    of_server, of_thread = (1000 * (b - a) / typed for a, b in zip(before, after, strict=True))
    return of_server, of_thread


def at(times: list[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


if __name__ == "__main__":
    main()
