"""A base that a server serves: the command and the library say of it what they say of one here."""

import asyncio
import gc
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from test_parity import EXAMPLES, OPERATIONS, TIME, UUID, _arguments

import knowbase
from knowbase import Client, Note
from knowbase.cli import main
from knowbase.cli.commands import NAMES, SURFACES, load
from knowbase.contracts.entries import OPERATIONS as ENTRIES
from knowbase.errors import BaseUnreachable, InvalidInput, NotABase, NotAllowed, NotFound
from knowbase.operations.results import plain
from knowbase.retrievers import found
from knowbase.values.documents import Listing, Page
from servers import serving, two_projects

MASKED = re.compile(
    r'\d+ ms|"\w+_ms": [\d.]+|\d\d:\d\d|/\S*base\.db|\([\d.]+ MB\)|"size_bytes": \d+'
)
OF_A_PLACE = ("doctor", "searches")  # a disk, a process: not the same here and there
LOCAL = [name for name in NAMES if name in SURFACES or load(name).local]
WRONG = (
    ("get", "KB-99"), ("get", "AP-1:nowhere"), ("search", "x", "--top", "0"),
    ("search", "x", "--type", "nope"), ("search", "x", "--after", "someday"), ("links", "AP-99"),
    ("search", "x", "--nope"),
    ("session", "show", "nope"), ("saved", "run", "nope"), ("profiles", "show", "nope"),
    ("session", "start", "s-ze"), ("supersede", "AP-1", "AP-1"), ("rm", "AP-1"), ("remember", "  "),
    ("search", "--strict", '"open'), ("relate", "AP-1", "AP-2", "--by", " "),
)  # fmt: skip


NAMED = ("here", "there", "elsewhere")


class Output(NamedTuple):
    code: int
    out: str
    err: str

    def masked(self, known: frozenset[str]) -> tuple[int, str, str]:
        """Without times, places and the ids of what is new."""

        def hide(text: str) -> str:
            text = UUID.sub(lambda one: one[0] if one[0] in known else "NEW", text)
            return MASKED.sub("…", TIME.sub("TIME", text))

        return self.code, hide(self.out), hide(self.err)


class Sides(NamedTuple):
    here: Path
    there: Path  # what is served
    elsewhere: Path  # a folder without a base
    address: str
    known: frozenset[str]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    folder = tmp_path_factory.mktemp("client")
    original = two_projects(folder / "original")
    (original / "docs").mkdir()
    (original / "docs" / "pumps.md").write_text("# Pumps\n\nTwo turbopumps feed the chamber.\n")
    with knowbase.open(original) as base:
        base.add(original / "docs")
        known = frozenset(one.id for one in base.documents(include=["superseded"]).documents)
    for name in NAMED[:2]:
        shutil.copytree(original, folder / name)
    (folder / "elsewhere").mkdir()
    with serving(folder / "there") as server:
        here, there, elsewhere = (folder / name for name in NAMED)
        yield Sides(here, there, elsewhere, server.address, known)


Run = Callable[..., Output]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """The command in this process: as many are run as there are operations."""

    def call(folder: Path, *arguments: str) -> Output:
        monkeypatch.chdir(folder)
        code = main(arguments)
        return Output(code, *capsys.readouterr())

    yield call
    gc.enable()


def test_every_served_operation_is_tried() -> None:
    served = {name for name in NAMES if name not in LOCAL and not load(name).near}
    assert served == set(OPERATIONS) - set(ENTRIES)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in (*ENTRIES, *OF_A_PLACE)])
def test_the_command_prints_the_same_of_a_served_base(sides: Sides, run: Run, name: str) -> None:
    operation = OPERATIONS[name]
    words = _arguments(operation, EXAMPLES[name])
    shapes: tuple[tuple[str, ...], ...] = (("--json",),) if operation.writes else ((), ("--json",))
    for shape in shapes:
        here = run(sides.here, *words, *shape)
        there = run(sides.elsewhere, "--base", sides.address, *words, *shape)
        assert there.masked(sides.known) == here.masked(sides.known)
        assert here.code == 0


def test_a_served_file_is_named_as_the_server_has_it(sides: Sides, run: Run) -> None:
    words = ("search", "turbopumps path:docs/", "--fts-only")
    there = run(sides.elsewhere, "--base", sides.address, *words)
    assert "docs/pumps.md:3" in there.out
    assert there.masked(sides.known) == run(sides.here, *words).masked(sides.known)


def test_what_is_written_reads_the_same_too(sides: Sides, run: Run) -> None:
    for words in (
        ("note", "Parity again", "--code", "PA-1"), ("remember", "Hatches again", "--code", "PA-2"),
        ("relate", "PA-1", "PA-2", "--by", "claude"), ("context", "PA-1"),
        ("feedback", "PA-1", "good"),
        ("supersede", "PA-1", "PA-2"), ("archive", "PA-2"), ("rm", "PA-1", "--dry-run"),
        ("expire", "--delete", "--yes"), ("rm", "PA-1", "--yes"), ("saved", "add", "pa", "x"),
    ):  # fmt: skip
        here = run(sides.here, *words)
        there = run(sides.elsewhere, *words, "--base", sides.address)
        assert there.masked(sides.known) == here.masked(sides.known)
        assert here.code == 0, here


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_what_is_refused_is_refused_in_the_same_words(
    sides: Sides, run: Run, words: tuple[str, ...]
) -> None:
    for shape in ((), ("--json",)):
        here = run(sides.here, *words, *shape)
        there = run(sides.elsewhere, "--base", sides.address, *words, *shape)
        assert there == here
        assert here.code in (2, 3)


@pytest.mark.parametrize("name", LOCAL)
def test_what_is_this_machines_own_says_so(sides: Sides, run: Run, name: str) -> None:
    needed = {"add": ["x"], "backup": ["x"], "move": ["x"], "backup restore": ["x"]}
    found = run(sides.elsewhere, *name.split(), *needed.get(name, []), "--base", sides.address)
    assert found.code == 2
    assert "works on a base of this machine" in found.err or "takes no --base" in found.err


def test_the_address_can_be_in_the_environment(
    sides: Sides, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_BASE", sides.address)
    assert "AP-1" in run(sides.elsewhere, "list").out
    assert run(sides.elsewhere, "init").code == 2


def test_a_client_is_asked_as_a_base_is(sides: Sides) -> None:
    with knowbase.connect(sides.address) as client, knowbase.open(sides.there) as base:
        answer = client.search("rocket engine", tags=["engine"], top=2)
        expected = base.search("rocket engine", tags=["engine"], top=2)
        assert [hit.to_dict() for hit in answer.hits] == [hit.to_dict() for hit in expected.hits]
        assert answer.hits[0].document.code == answer.hits[0].code
        assert [hit.text for hit in answer.hits] == [hit.text for hit in expected.hits]
        assert client.get("AP-1") == base.get("AP-1")
        assert client.documents(tags=["engine"]) == base.documents(tags=["engine"])
        assert client.documents().total > client.documents(where=["stage=1"]).total == 0
        assert client.tags() == base.tags()
        assert plain(client.plan("engine tag:test")) == plain(base.plan("engine tag:test"))
        assert client.why_not("AP-3", "kerosene", top=1) == base.why_not("AP-3", "kerosene", top=1)
        assert client.status().documents == base.status().documents
        assert client.call("related", reference="AP-2") == base.graph.related("AP-2")
        [passage] = found(client, "which engine burns kerosene", {"top": 1})
        assert passage.text == base.get("AP-1").text  # as a retriever of a framework has it
        note = Note("Clients write, too", tags=["client"], code="C-1", session="s-ap")
        assert client.remember(note).document.tags == ("client",)
        assert client.note("And note").title == "And note"
        assert client.relate("C-1", "AP-1", by="claude").related[0].origin == "claude"
        assert client.feedback("C-1", "good").document.code == "C-1"
        assert client.remove(["C-1"]).documents[0].code == "C-1"
        for call, kind in (
            (lambda: client.get("C-1"), NotFound), (lambda: client.get(5), InvalidInput),  # type: ignore[arg-type]
            (lambda: client.search("x", tagz=1), InvalidInput),  # type: ignore[call-arg]
            (lambda: client.search("x", tags="engine"), InvalidInput),  # type: ignore[arg-type]
            (lambda: client.call("add", paths=["x"]), InvalidInput),
            (lambda: client.call("nope"), InvalidInput),
        ):  # fmt: skip
            with pytest.raises(kind):
                call()

    async def ask() -> Any:
        async with knowbase.connect_async(sides.address) as awaited:
            return await asyncio.gather(awaited.search("engine"), awaited.get("AP-1"))

    answer, content = asyncio.run(ask())
    assert answer.hits
    assert content.document.code == "AP-1"


def test_a_page_of_what_expires_starts_where_it_is_asked_to(sides: Sides) -> None:
    with knowbase.connect(sides.address) as client, knowbase.open(sides.there) as base:
        for number in range(3):
            expires = f"2001-01-0{number + 1}T00:00:00Z"
            base.note(Note(f"Over {number}", code=f"OVER-{number}", expires_at=expires))
        page = Page(1, offset=1)
        found = client.expire(page=page)
        assert isinstance(found, Listing)
        assert found == base.expire(page=page)
        assert [one.code for one in found.documents] == ["OVER-1"]
        assert client.expire(delete=True).documents


def test_a_token_is_sent_and_its_lack_is_said(
    sides: Sides, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(sides.here, tmp_path / "guarded")
    (tmp_path / "elsewhere").mkdir()
    with serving(tmp_path / "guarded", env={"KB_TOKEN": "a-secret-token-of-ours"}) as server:
        asked = (tmp_path / "elsewhere", "get", "AP-1", "--base", server.address)
        assert run(*asked).code == 2
        monkeypatch.setenv("KB_TOKEN", "wrong")
        refused = run(*asked)
        assert (refused.code, "KB_TOKEN" in refused.err) == (2, True)
        monkeypatch.setenv("KB_TOKEN", "a-secret-token-of-ours\n")
        assert run(*asked).code == 0
        with pytest.raises(NotAllowed):
            Client(server.address, "another").get("AP-1")


@pytest.mark.parametrize(
    "address",
    ["http://", "http://user:pw@localhost:1", "http://localhost:99999", "http://localhost:1?x=y"],
)
def test_what_is_not_an_address_is_not_asked(address: str) -> None:
    with pytest.raises(InvalidInput, match="not the address of a server") as caught:
        knowbase.connect(address)
    assert "pw" not in str(caught.value)


def test_a_token_never_leaves_in_the_clear_nor_to_a_third_party(tmp_path: Path) -> None:
    for host in ("example.org", "127.0.0.1.evil.example", "127.evil.example", "localhost.example"):
        with pytest.raises(InvalidInput, match="plain http"):
            knowbase.connect(f"http://{host}", "a-token")
    for host in ("localhost", "127.0.0.1", "127.9.9.9", "[::1]"):
        knowbase.connect(f"http://{host}:1", "a-token")
    asked: list[str] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_response(302 if self.path == "/api/tags" else 200)
            self.send_header("Location", "/stolen")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"hi")

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        client = knowbase.connect(f"http://127.0.0.1:{server.server_address[1]}", "a-token")
        for call in (client.tags, client.status):
            with pytest.raises(NotABase, match="does not answer as a knowbase server"):
                call()
        assert asked == ["/api/tags", "/api/status"]
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(BaseUnreachable, match="no server answers"):
        client.tags()


def test_what_a_newer_server_says_beside_is_left_out(sides: Sides) -> None:
    from knowbase.client.typed import typed
    from knowbase.search.answer import Answer

    with knowbase.open(sides.here) as base:
        told = base.search("engine").to_dict()
    assert typed(Answer, {**told, "newer": 1}).to_dict() == told
