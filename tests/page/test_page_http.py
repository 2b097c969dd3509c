"""The page over HTTP: who gets what of it, under which headers, with and without a token."""

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from conftest import COMMAND, Kb, environment
from servers import SECRET, serving, two_projects, wait_until

HTML = {"Accept": "text/html,application/xhtml+xml"}
NAVIGATING = {**HTML, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
TOKEN = "a-token-that-is-long-enough-for-everybody"
HURT = '"><script>window.hurt=1</script>'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two projects, and a note that would run if anybody let it."""
    made = two_projects(tmp_path_factory.mktemp("page") / "base")
    text = f"# {HURT}\n\n{HURT} <mark>moonrover</mark> rocket [x](javascript:alert(1))"
    Kb(made)("note", text, "--code", "XS-1")
    return made


def test_people_get_the_page_and_programs_what_they_had(folder: Path) -> None:
    with serving(folder) as served:
        told = served.client.get("/")
        assert told.headers["Content-Type"] == "application/json"
        assert told.json()["name"] == "knowbase"
        page = served.client.get("/", headers=HTML)
        assert page.headers["Content-Type"].startswith("text/html")
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        for kind in ("<style", " style=", "javascript:", " onerror=", " onclick="):
            assert kind not in page.text
        files = re.findall(r'"(/ui/[^"]+)"', page.text)
        assert len(files) >= 3
        for name in files:
            found = served.client.get(name)
            assert found.status_code == 200
            assert "immutable" in found.headers["Cache-Control"]
        assert served.client.get("/ui/manifest.json").status_code == 404
        assert served.client.get("/ui/../page/html.py").status_code == 404
        for path in ("/g", "/g/AP-1", "/t", "/inbox", "/health-page", "/settings"):
            assert served.client.get(path, headers=HTML).status_code == 200


def test_search_and_reading_need_no_script(folder: Path) -> None:
    with serving(folder) as served:
        found = served.client.get("/", params={"q": "rocket kerosene"}, headers=HTML)
        assert '<a href="/d/AP-1?q=rocket+kerosene"' in found.text
        assert "<mark>rocket</mark>" in found.text
        read = served.client.get("/d/AP-1", params={"q": "kerosene"}, headers=HTML)
        assert "<mark>kerosene</mark>" in read.text
        missing = served.client.get("/d/NOT-THERE", headers=HTML)
        assert missing.status_code == 404
        assert missing.headers["Content-Type"].startswith("text/html")
        assert "NOT-THERE" in missing.text


def test_what_documents_say_is_text(folder: Path) -> None:
    """A title, a snippet, a text and a query that are scripts stay what they are."""
    with serving(folder) as served:
        for path, params in (("/", {"q": f"moonrover {HURT}"}), ("/", {})):
            page = served.client.get(path, params=params, headers=HTML).text
            assert "<script>window" not in page
        page = served.client.get("/d/XS-1", params={"q": HURT}, headers=HTML).text
        assert "<script>window" not in page
        assert "&lt;script&gt;window" in page
        assert 'href="javascript' not in page


def test_without_a_token_the_page_says_nothing_of_the_base(folder: Path) -> None:
    with serving(folder, env={"KB_TOKEN": TOKEN}) as served:
        for path in ("/?q=rocket", "/", "/d/AP-1", "/g/AP-1", "/inbox"):
            page = served.client.get(path, headers=NAVIGATING)
            assert page.status_code == 200
            assert "kerosene" not in page.text
            assert "AP-1" not in page.text.replace(path, "")
        assert served.client.get("/api/access").status_code == 401
        right = {**HTML, "Authorization": f"Bearer {TOKEN}"}
        assert "kerosene" in served.client.get("/?q=rocket", headers=right).text
        wrong = {**HTML, "Authorization": "Bearer wrong"}
        assert served.client.get("/?q=rocket", headers=wrong).status_code == 401


def test_a_token_of_a_project_sees_its_own_on_the_page(folder: Path) -> None:
    made = Kb(folder).json("token", "new", "one", "--project", "apollo", "--scope", "read")
    try:
        with serving(folder, token=made["token"]) as served:
            assert served.client.get("/api/access").json() == {
                "write": False, "project": "apollo", "local": True, "cypher": True,
            }  # fmt: skip
            page = served.client.get("/?q=rocket+engine", headers=HTML).text
            assert "AP-1" in page
            assert SECRET not in page
            assert served.client.get("/d/ZE-1", headers=HTML).status_code == 404
    finally:
        Kb(folder)("token", "revoke", "one")


def test_other_sites_may_link_here_and_not_ask(folder: Path) -> None:
    with serving(folder) as served:
        linked = {**NAVIGATING, "Sec-Fetch-Site": "cross-site"}
        assert served.client.get("/?q=rocket", headers=linked).status_code == 200
        asking = {**HTML, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        assert served.client.get("/?q=rocket", headers=asking).status_code == 403
        framed = {**HTML, "Origin": "http://evil.example"}
        assert served.client.get("/?q=rocket", headers=framed).status_code == 403
        renamed = {**NAVIGATING, "Host": "evil.example"}
        assert served.client.get("/?q=rocket", headers=renamed).status_code == 403


@pytest.mark.parametrize("command", [("serve", "--open"), ("web",)])
def test_the_browser_is_opened_at_the_page(folder: Path, command: tuple[str, ...]) -> None:
    """With a program in place of the browser that writes down what it was given."""
    seen = folder / f"opened-{command[0]}"
    script = folder / "browser.py"
    script.write_text(f"import sys; open({str(seen)!r}, 'w').write(sys.argv[1])\n")
    process = subprocess.Popen(
        [*COMMAND, *command, "--port", "0"],
        cwd=folder,
        env=environment(BROWSER=f"{sys.executable} {script} %s"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: seen.exists() and seen.read_text().startswith("http://127.0.0.1:"))
        assert httpx.get(seen.read_text(), headers=HTML, timeout=60).status_code == 200
    finally:
        process.terminate()
        process.wait(60)
