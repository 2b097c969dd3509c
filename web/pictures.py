"""Renew the pictures of docs/page.md: every screen, of the library that the tests look at."""

import base64
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "page")]

from browsing import chromium, fill  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

from conftest import Kb  # noqa: E402
from servers import serving  # noqa: E402

TARGET = ROOT / "docs" / "pictures"
SIZE = {"width": 1180, "height": 740}
SMALL = """picture => new Promise(done => {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext('2d').drawImage(image, 0, 0);
    done(canvas.toDataURL('image/webp', 0.8));
  };
  image.src = picture;
})"""
CHANGED = "Feature flags are kept in the flags table and cached for ten seconds; see Caching."
SCREENS = {
    "search": ("/?q=how+do+we+deploy", "light", ".facet"),
    "search-dark": ("/?q=retry", "dark", ".facet"),
    "document": ("/d/HB-T-0021?q=rollback", "light", ".rail h3"),
    "changes": ("/d/ME-3?since=%23FIRST", "light", ".diff ins"),
    "graph": ("/g/HB-I-0018", "light", ".picture circle"),
    "timeline": ("/t", "light", ".weeks .in"),
    "inbox": ("/inbox?group=near_duplicate", "light", ".card"),
    "health": ("/health-page", "light", ".versions dt"),
    "settings": ("/settings", "light", "#editor"),
}


def main() -> None:
    found = chromium() or sys.exit("needs a browser: apt-get install chromium")
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        kb = fill(Kb(Path(folder)))
        kb("note", CHANGED, "--replace", "ME-3")
        first = kb.json("history", "ME-3")["steps"][-1]["number"]
        with (
            serving(kb.folder, env={"KB_EMBED_BACKGROUND": "false"}) as site,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            for name, (place, scheme, shown) in SCREENS.items():
                address = site.address + place.replace("FIRST", str(first))
                take(browser, address, (name, scheme, shown))
            browser.close()


def take(browser: Browser, address: str, wanted: tuple[str, str, str]) -> None:
    name, scheme, shown = wanted
    context = browser.new_context(viewport=SIZE, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(shown)
    page.wait_for_timeout(2500)  # until what arrives has faded
    taken = base64.b64encode(page.screenshot()).decode()
    page.goto("about:blank")  # whose canvas may be read
    small = page.evaluate(SMALL, f"data:image/png;base64,{taken}")
    (TARGET / f"{name}.webp").write_bytes(base64.b64decode(small.partition(",")[2]))
    context.close()


if __name__ == "__main__":
    main()
