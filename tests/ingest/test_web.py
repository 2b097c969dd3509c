"""Pages of the web: fetched from a real server, kept with their address, and asked for again."""

import gzip
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note
from knowbase.errors import InvalidInput, NotAllowed, ReadError
from knowbase.ingest import fetching
from knowbase.ingest.web import page_id
from knowbase.query.conditions import Compare
from knowbase.values.access import Access
from knowbase.values.documents import ALL

ARTICLE = """<!DOCTYPE html><html><head><meta charset="utf-8">
<title>How to prune roses | Garden Weekly</title>
<meta property="og:site_name" content="Garden Weekly"><meta name="author" content="Ana Lopes">
<meta name="description" content="When to cut roses back.">
<meta property="article:published_time" content="2025-02-03T09:00:00+01:00">
<script type="application/ld+json">{"@graph": [{"dateModified": "2025-03-01T10:00:00Z"}]}</script>
</head><body>
<header><nav><a href="/">Home</a> <a href="/walrus">Walruses</a></nav></header>
<div class="cookie-banner">We use cookies everywhere. <button>Accept</button></div>
<div id="wrap"><div class="post"><h1>How to prune roses<button>Copy</button></h1>
<p>Prune roses in late winter, once the hardest frosts are over, and cut above a bud that faces
outward. A clean cut heals sooner than a torn one, so sharpen the secateurs before you start.</p>
<h2>Tools</h2><p>A SAW, gloves and secateurs. See also the <a href="soil">page on soil</a>, and
ask a neighbour, who may lend you a ladder if the bush has grown higher than you can reach.</p>
<p hidden>Hidden words</p><div class="share-buttons">Share this on a network</div></div>
<aside><h3>Popular</h3><p>Ten tulips you must see</p></aside></div>
<footer>© Garden Weekly</footer></body></html>"""


class Page(NamedTuple):
    """What a server has at a path."""

    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)
    status: int = 200


class Site:
    """A real server on this machine, whose pages a test may change."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.raw: dict[str, bytes] = {}  # what is sent as it is, and then the line is cut
        self.hold = threading.Event()  # … not before this
        self.hold.set()
        self.asked: list[tuple[str, str | None]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.answer(self)

            def do_CONNECT(self) -> None:
                self.close_connection = False  # what follows comes through the tunnel
                self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        tag = handler.headers.get("If-None-Match")
        self.asked.append((handler.path, tag))
        if handler.path in self.raw:
            handler.wfile.write(self.raw[handler.path])
            self.hold.wait(10)
            return
        page = self.pages.get(handler.path, Page(status=404))
        etag = dict(page.headers).get("ETag")
        if etag is not None and tag == etag:
            page = Page(headers=(("ETag", etag),), status=304)
        handler.send_response(page.status)
        for name, value in page.headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(page.body)))
        handler.end_headers()
        handler.wfile.write(page.body)

    def put(self, path: str, body: str | bytes, **headers: str) -> str:
        given = {"Content-Type": "text/html; charset=utf-8"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body.encode() if isinstance(body, str) else body
        self.pages[path] = Page(data, tuple(given.items()))
        return self.url + path

    def redirect(self, path: str, target: str) -> str:
        self.pages[path] = Page(headers=(("Location", target),), status=302)
        return self.url + path

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    made = Site()
    yield made
    made.close()


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Base]:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")  # words are enough here
    with knowbase.create(str(tmp_path / "base.db")) as made:
        yield made


def test_a_page_is_taken_without_what_stands_around_it(site: Site, kb: Kb) -> None:
    url = site.put("/roses", ARTICLE, ETag='"1"')
    env = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    report = kb.json("add", url, "--tags", "garden", env=env)
    assert report["added"] == ["How to prune roses"]
    found = kb.json("get", url)
    document = found["document"]
    assert (document["title"], document["type"]) == ("How to prune roses", "web")
    assert document["created_at"] == "2025-02-03T08:00:00.000000Z"
    assert document["updated_at"] == "2025-03-01T10:00:00.000000Z"
    assert document["tags"] == ["garden"]
    assert document["metadata"]["address"] == url
    assert document["metadata"]["author"] == "Ana Lopes"
    assert "faces\noutward" in found["text"] or "faces outward" in found["text"]
    for word in ("cookies", "Walruses", "tulips", "Share", "Garden Weekly", "Hidden"):
        assert word not in found["text"]
    assert [one["heading"] for one in found["sections"]] == [None, "Tools"]
    assert kb.json("search", "saw ladder")["hits"][0]["section"].endswith(":tools")
    assert site.asked == [("/roses", None)]  # nothing that was not named


def test_a_sync_asks_again_and_says_what_is_gone(site: Site, base: Base) -> None:
    roses, soil = site.put("/roses", ARTICLE, ETag='"1"'), site.put("/soil", ARTICLE, ETag='"7"')
    assert len(base.add([roses, soil]).added) == 2
    code = base.get(roses).document.code
    base.tag([code], add=["mine"])
    report = base.sync()
    assert (report.unchanged, report.changed, report.warnings) == (2, (), ())
    assert site.asked[2:] == [("/roses", '"1"'), ("/soil", '"7"')]
    site.put("/roses", ARTICLE.replace("A SAW", "A chainsaw"), ETag='"2"')
    site.put("/soil", ARTICLE, ETag='"8"')  # another mark on the same text
    report = base.sync()
    assert (report.changed, report.unchanged) == (("How to prune roses",), 1)
    after = base.get(roses)
    assert (after.document.code, after.document.tags) == (code, ("mine",))
    assert "chainsaw" in after.text
    del site.pages["/roses"]
    report = base.sync()
    assert "it is gone" in report.warnings[0]
    assert (report.removed, base.get(roses).document.code) == ((), code)
    assert base.sync(prune=True).removed == (roses,)
    assert base.status().documents == 1
    site.close()
    report = base.sync()
    assert "stays as it was" in report.warnings[0]
    assert (report.failed, base.status().documents) == ((), 1)


def test_tags_that_a_page_was_added_with_are_not_what_it_says(site: Site, base: Base) -> None:
    url = site.put("/roses", ARTICLE)  # without a mark: its text alone says whether it changed
    base.add([url], tags=["garden"])
    report = base.sync()
    assert (report.unchanged, report.changed) == (1, ())
    assert base.get(url).document.tags == ("garden",)
    assert base.add([url], tags=["roses"]).changed == ("How to prune roses",)
    assert set(base.get(url).document.tags) == {"garden", "roses"}


def test_watching_files_fetches_nothing(site: Site, base: Base, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\ntext\n")
    base.add([tmp_path / "a.md", site.put("/roses", ARTICLE)])
    asked = len(site.asked)
    next(base.watch())
    assert len(site.asked) == asked


def test_pages_are_linked_where_they_link(site: Site, base: Base) -> None:
    roses = site.put("/roses", ARTICLE)
    soil = site.put("/soil", ARTICLE.replace("prune roses", "mind soil").replace("roses", "worms"))
    base.add([roses, soil])
    found = base.graph.links(base.get(roses).document.code).links
    assert ("REFERENCES", "to", "How to mind soil") in {
        (one.relation, one.direction, one.document.title) for one in found
    }


def test_other_kinds_of_pages_and_encodings(site: Site, base: Base) -> None:
    plain = site.put("/notes", "Just a heron.\n", Content_Type="text/plain")
    markdown = site.put(
        "/readme.md", "# Read me\n\n## Part\n\nIbis.\n", Content_Type="text/markdown"
    )
    packed = site.put("/packed", gzip.compress(ARTICLE.encode()), Content_Encoding="gzip")
    latin = ARTICLE.replace("utf-8", "iso-8859-1").replace("hardest", "härtesten")
    old = site.put("/old", latin.encode("iso-8859-1"), Content_Type="text/html")
    picture = site.put("/picture", b"\x89PNG\r\n\x1a\n", Content_Type="image/png")
    report = base.add([plain, markdown, packed, old, picture])
    assert len(report.added) == 4
    assert [one.path for one in report.failed] == [picture]
    assert "Ibis" in base.get(markdown).text
    assert "härtesten" in base.get(old).text
    assert base.get(packed).document.title == "How to prune roses"


def test_redirects_lead_to_pages_alone(site: Site, base: Base, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("top secret")
    site.put("/roses", ARTICLE)
    report = base.add(site.redirect("/moved", "/roses"))
    assert report.added == ("How to prune roses",)
    moved = base.get(f"{site.url}/moved").document
    assert moved.metadata["redirected_to"] == f"{site.url}/roses"
    for number, target in enumerate(
        (f"file://{tmp_path}/secret.txt", "ftp://127.0.0.1/x", "data:text/plain,x", "/loop")
    ):
        bad = site.redirect("/loop" if target == "/loop" else f"/bad{number}", target)
        assert base.add(bad).failed, target
    assert base.status().documents == 1


def test_the_open_web_does_not_lead_into_a_private_network(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first address counts as public here; where it leads to is this machine."""
    site.put("/private", ARTICLE)
    url = site.redirect("/public", f"{site.url.replace('127.0.0.1', 'localhost')}/private")
    peers = iter([True, False])
    monkeypatch.setattr(fetching, "_is_public", lambda _: next(peers))
    with pytest.raises(ReadError, match="private network"):
        fetching.fetch(url, fetching.Known(), 1 << 20)
    assert [path for path, _ in site.asked] == ["/public"]


def by_proxy(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything goes by a proxy, which the site is, but for this machine."""
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, site.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("NO_PROXY", raising=False)


def test_what_a_proxy_fetches_does_not_lead_into_a_private_network(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_proxy(site, monkeypatch)
    private = site.put("/private", ARTICLE)
    near, far = "http://open.example/near", "http://open.example/far"
    for path, target in ((near, private), (far, "http://other.example/")):
        site.pages[path] = Page(headers=(("Location", target),), status=302)
    site.pages["http://other.example/"] = Page(ARTICLE.encode())
    with pytest.raises(ReadError, match="private network"):
        fetching.fetch(near, fetching.Known(), 1 << 20)
    assert [path for path, _ in site.asked] == [near]
    assert fetching.fetch(far, fetching.Known(), 1 << 20).address == "http://other.example/"


def test_what_comes_through_a_tunnel_does_not_lead_into_a_private_network(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tunnel is a real one; what it carries is not encrypted here."""
    by_proxy(site, monkeypatch)
    secure = type("Plain", (fetching._Connection,), {"_context": None})
    monkeypatch.setattr(fetching, "_SecureConnection", secure)
    site.redirect("/", site.put("/private", ARTICLE))
    with pytest.raises(ReadError, match="private network"):
        fetching.fetch("https://open.example/", fetching.Known(), 1 << 20)
    assert [path for path, _ in site.asked] == ["/"]


WHOLE = ARTICLE.replace("A SAW", "A chainsaw").encode()
PACKED = gzip.compress(WHOLE)


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        (f"Content-Length: {len(WHOLE)}", WHOLE[:900]),
        (f"Content-Length: {len(PACKED)}\r\nContent-Encoding: gzip", PACKED[:600]),
        ("Content-Encoding: gzip", PACKED[:600]),
        ("Content-Encoding: gzip", PACKED[:-1]),
        ("Content-Encoding: gzip", PACKED + PACKED[:600]),
        ("Transfer-Encoding: chunked", b"400\r\n" + WHOLE[:900]),
        ("Transfer-Encoding: chunked", b"384\r\n" + WHOLE[:900] + b"\r\n"),
    ],
)
def test_half_a_page_does_not_take_the_place_of_a_whole_one(
    site: Site, base: Base, headers: str, sent: bytes
) -> None:
    url, soil = site.put("/roses", ARTICLE), site.put("/soil", ARTICLE)
    base.add([url, soil])
    text = base.get(url).text
    site.raw["/roses"] = f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n".encode() + sent
    report = base.sync()
    assert (report.changed, report.unchanged, len(report.warnings)) == ((), 1, 1)
    assert "a part of it alone; it stays as it was" in report.warnings[0]
    assert base.get(url).text == text


def test_a_page_that_is_cut_off_for_taking_too_long_is_not_taken(
    site: Site, base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "SECONDS", 0.3)
    site.raw["/slow"] = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + WHOLE[:900]
    site.hold.clear()
    report = base.add(f"{site.url}/slow")
    site.hold.set()
    assert (report.added, len(report.failed)) == ((), 1)
    assert "takes longer" in report.failed[0].reason


@pytest.mark.parametrize("name", ["gzip", "GZIP", "x-gzip", " X-GZip "])
def test_what_is_packed_is_unpacked_however_that_is_written(
    site: Site, base: Base, name: str
) -> None:
    half = len(WHOLE) // 2
    members = gzip.compress(WHOLE[:half]) + gzip.compress(WHOLE[half:])
    urls = [
        site.put(f"/{number}", body, Content_Encoding=name)
        for number, body in enumerate((PACKED, members, PACKED + b"\r\n"))
    ]
    base.add(urls)
    for url in urls:
        assert "chainsaw" in base.get(url).text
        assert "ladder" in base.get(url).text


def test_a_page_that_is_too_large_or_too_slow_is_refused(
    site: Site, base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = site.put("/bomb", gzip.compress(b"<p>" + b"x" * (64 << 20)), Content_Encoding="gzip")
    assert "larger than" in base.add(bomb).failed[0].reason
    monkeypatch.setattr(fetching, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:

        def drip() -> None:
            connection, _ = silent.accept()
            with connection:
                try:
                    while True:
                        connection.sendall(b"H")
                        if ended.wait(0.05):
                            return
                except OSError:
                    return

        ended = threading.Event()
        threading.Thread(target=drip, daemon=True).start()
        slow = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        reason = base.add(slow).failed[0].reason
        ended.set()
    assert "cannot be fetched" in reason


def test_hostile_markup_costs_itself_alone(site: Site, base: Base) -> None:
    odd = (
        "<div>" * 5_000,
        "<![" * 1000,
        "<p" * 3_000,
        "\0" * 100,
        "<main></article></main>" * 99,
    )
    urls = [site.put(f"/{number}", one) for number, one in enumerate(odd)]
    good = site.put("/good", ARTICLE)
    assert "How to prune roses" in base.add([*urls, good]).added


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("http://user:secret@127.0.0.1/", "password"),
        ("https://", "not an address"),
        ("http://[::1", "not an address"),
        ("http://a..b/", "not the name of a host"),
    ],
)
def test_an_address_that_is_none_is_refused(base: Base, given: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        base.add(given)


def test_addresses_have_one_way_to_be_written() -> None:
    one = fetching.address_of("HTTPS://Example.ORG:443/a b?q=ü#part")
    assert one == "https://example.org/a%20b?q=%C3%BC"
    assert fetching.address_of(one) == one


def test_those_whom_a_base_is_served_to_fetch_nothing(site: Site, base: Base) -> None:
    url = site.put("/roses", ARTICLE)
    base.add(url)
    asked = len(site.asked)
    for access in (Access(project="web"), Access(write=False)):
        with pytest.raises(NotAllowed):
            base.within(access).add(url)
        with pytest.raises(NotAllowed):
            base.within(access).add_history(".")
    assert len(site.asked) == asked


def claiming(url: str) -> str:
    """A text that says of itself that it was fetched from there."""
    said = f"type: web\naddress: {url}\norigin: web:{url}\nfingerprint: '0'\nid: {page_id(url)}\n"
    return f"---\n{said}---\n# Roses\n\nWritten by hand.\n"


def test_a_file_cannot_have_itself_fetched(site: Site, base: Base, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(claiming(site.put("/inside", ARTICLE)))
    base.add(tmp_path / "docs")
    assert base.store.documents(Compare("type", "=", "web"), ALL)  # it is believed that much
    report = base.sync()
    assert (site.asked, report.added, report.changed, report.warnings) == ([], (), (), ())


@pytest.mark.parametrize("access", [Access(), Access(project="apollo")])
def test_a_note_cannot_have_itself_fetched(site: Site, base: Base, access: Access) -> None:
    note = base.within(access).note(Note(claiming(site.put("/inside", ARTICLE))))
    assert note.type == "web"
    assert base.sync().warnings == ()
    assert base.sync(prune=True).removed == ()
    assert site.asked == []


def test_a_page_that_is_written_over_cannot_lead_elsewhere(site: Site, base: Base) -> None:
    roses, inside = site.put("/roses", ARTICLE), site.put("/inside", ARTICLE)
    base.add(roses)
    base.note(Note(claiming(inside), replaces=base.get(roses).document.code))
    base.sync()
    assert [path for path, _ in site.asked] == ["/roses"]


def test_a_served_base_does_not_fetch(kb: Kb) -> None:
    told = kb.error("add", "https://example.org/", "--base", "http://127.0.0.1:1", code=2)
    assert "not through a server" in told


LOGIN = """<html><head><title>Sign in</title></head><body><main><h1>Sign in</h1>
<form action="/session">Name <input name="user"> Password <input type="password" name="word">
<button>Go</button></form><p>Please sign in to go on to the wiki.</p></main></body></html>"""


def test_a_form_that_asks_who_you_are_does_not_take_the_place_of_a_page(
    site: Site, base: Base
) -> None:
    url, form = site.put("/roses", ARTICLE), site.put("/door?next=/roses", LOGIN)
    base.add(url)
    text = base.get(url).text
    site.redirect("/roses", "/door?next=/roses")
    report = base.sync()
    assert (report.changed, len(report.warnings)) == ((), 1)
    assert f"asks who you are ({form}); it stays as it was" in report.warnings[0]
    assert base.get(url).text == text
    script = LOGIN.replace('type="password"', 'type="text"')  # which asks for the password later
    site.redirect("/roses", site.put("/sso/sign-in", script))
    assert base.sync().changed == ()
    assert "asks who you are" in base.add(site.redirect("/wiki", form)).failed[0].reason
    assert base.add(form).added == ("Sign in",)  # which was named


def test_a_page_that_goes_wrong_costs_no_other_of_its_server(site: Site, base: Base) -> None:
    site.raw["/garbage"] = b"\x00garbage\r\n\r\n"
    loop, empty = site.redirect("/loop", "/loop"), site.put("/script", "<script>go()</script>")
    roses = site.put("/roses", ARTICLE)
    report = base.add([f"{site.url}/garbage", loop, empty, roses])
    assert report.added == ("How to prune roses",)
    assert [one.path for one in report.failed] == [f"{site.url}/garbage", loop, empty]
    assert "leads on and on" in report.failed[1].reason
    assert "has no text" in report.failed[2].reason


def test_a_server_that_cannot_be_asked_is_asked_once(base: Base) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    pages = [f"http://127.0.0.1:{port}/{number}" for number in range(3)]
    report = base.add(pages)
    assert [one.path for one in report.failed] == pages
    assert {one.reason for one in report.failed} == {report.failed[0].reason}
