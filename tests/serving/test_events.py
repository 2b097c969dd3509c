"""Changes and progress as they happen, and what was searched for."""

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

import knowbase
from conftest import Kb
from knowbase import Note
from knowbase.http.events import _look
from knowbase.values.access import Access
from servers import PATIENCE, Served, serving


def told(
    server: Served,
    act: Callable[[], object],
    wanted: str,
    token: str = "",
    *,
    when: Callable[[Any], bool] = lambda _: True,
) -> Any:
    """What the first event of a kind says that follows something."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with (
        httpx.Client(base_url=server.address, headers=headers, timeout=PATIENCE) as client,
        client.stream("GET", "/api/events") as stream,
    ):
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        assert next(lines) == "retry: 3000"
        Thread(target=act, daemon=True).start()
        return next(filter(when, map(json.loads, _data(lines, wanted))))


def _data(lines: Iterator[str], wanted: str) -> Iterator[str]:
    kind = ""
    ends = time.monotonic() + PATIENCE  # what keeps the stream open is no answer
    for line in lines:
        assert time.monotonic() < ends, f"nothing of the kind {wanted!r} was told"
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: ") and kind == wanted:
            yield line[6:]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("events")
    with knowbase.create(str(folder)) as base:
        base.note(Note("A first one.", project="ours"))
    with serving(folder) as running:
        yield running


def test_what_is_written_here_or_by_another_process_is_told(server: Served) -> None:
    def here() -> None:
        server.post("note", text="Written here.")

    def elsewhere() -> None:
        Kb(server.log.parent)("note", "Written elsewhere.")

    for act in (here, elsewhere):
        before = server.json("status")["documents"]
        change = told(server, act, "changed")
        assert change["documents"] == before + 1
        assert change["at"].endswith("Z")


def test_a_change_by_another_process_that_adds_and_removes_nothing_is_told(server: Served) -> None:
    kb = Kb(server.log.parent)
    kb("note", "An old one.", "--code", "OLD-1")
    kb("note", "The newest one.")
    for command in (("archive", "OLD-1"), ("restore", "OLD-1"), ("verdict", "OLD-1", "accept")):
        assert told(server, partial(kb.__call__, *command), "changed")["documents"] >= 3


def test_nothing_is_counted_while_nobody_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with knowbase.create(str(tmp_path / "base.db")) as base:
        base.note(Note("Of ours.", project="ours", code="O-1"))
        base.note(Note("Of others.", project="theirs", code="T-1"))
        whole, held = Access(), Access(project="ours")
        first = {access: _look(base, access, 0, None) for access in (whole, held)}
        base.lifecycle.archive(["T-1"])
        second = {access: _look(base, access, 0, first[access]) for access in (whole, held)}
        assert first[whole].mark != second[whole].mark
        assert first[held].mark == second[held].mark
        monkeypatch.setattr(type(base.store), "counts", None)
        for access in (whole, held):
            assert _look(base, access, 0, second[access]) is second[access]


def test_vectors_that_are_missing_and_made_are_told_as_progress(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    for number in range(4):
        kb.write(f"more/{number}.md", f"# Page {number}\n\nSome words on {number}.\n")
    with serving(tmp_path, env={"KB_EMBED_BACKGROUND": "false"}) as server:
        seen = []

        def all_are_made(progress: Any) -> bool:
            seen.append(progress)
            if len(seen) == 1:  # nobody makes them until now
                kb("embed")
            return bool(progress["done"] == progress["total"])

        told(server, lambda: kb("add", "more", "--defer"), "progress", when=all_are_made)
        assert {one["task"] for one in seen} == {"embed"}
        assert seen[0]["done"] == 0
        assert seen[-1]["done"] == 4


def test_one_project_is_told_of_its_own_changes_alone(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    kb("note", "A first one.", "--project", "ours")
    owner = kb("token", "new", "owner").out.strip()
    held = kb("token", "new", "held", "--project", "ours").out.strip()
    with serving(tmp_path, token=owner) as server:
        began: list[bool] = []

        def both() -> None:
            server.post("note", text="Of others.", project="theirs")
            time.sleep(3)  # in which nothing is told
            began.append(True)
            server.post("note", text="Of ours.", project="ours", code="O-2")

        change = told(server, both, "changed", held)
        assert began
        assert set(change) == {"at"}
        assert server.client.get("/api/events", headers={"Authorization": ""}).status_code == 401


def test_a_server_that_is_stopped_ends_its_streams(tmp_path: Path) -> None:
    knowbase.create(str(tmp_path)).close()
    with serving(tmp_path) as server, server.client.stream("GET", "/api/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        server.process.terminate()
        assert list(_data(lines, "changed")) == []
        assert server.process.wait(PATIENCE) == 0


def test_searches_are_counted_for_the_whole_base_alone(server: Served) -> None:
    before = server.json("searches")
    server.json("search", query="first")
    server.json("search", query="zzqqxx", mode="keyword")
    after = server.json("searches")
    assert after["count"] == before["count"] + 2
    assert after["without_hits"] == before["without_hits"] + 1
    assert after["last_without_hits"][0]["query"] == "zzqqxx"
    assert after["latency_ms"]["p50"] <= after["latency_ms"]["p95"]
    assert 0 <= after["semantic_share"] <= 1
    out = Kb(server.log.parent)("searches", "--base", server.address).out
    assert "found nothing: zzqqxx" in out


def test_who_is_held_to_a_project_is_told_nothing_of_what_others_search(tmp_path: Path) -> None:
    with knowbase.create(str(tmp_path / "base.db")) as base:
        base.searches(count=True)
        base.within(Access(project="ours")).search("secret words")
        assert base.searches().count == 1
        with pytest.raises(knowbase.KnowbaseError):
            base.within(Access(project="ours")).searches()


def first_lines(server: Served, known: str) -> list[str]:
    """How a stream begins for who has heard of the base before."""
    headers = {"Last-Event-ID": known} if known else {}
    with (
        httpx.Client(base_url=server.address, headers=headers, timeout=PATIENCE) as client,
        client.stream("GET", "/api/events") as stream,
    ):
        lines = stream.iter_lines()
        return [next(lines) for _ in range(4)]


def test_who_comes_back_is_told_what_changed_meanwhile(server: Served) -> None:
    known = first_lines(server, "")[2].removeprefix("id: ")
    assert first_lines(server, known)[2:] == [f"id: {known}", ""]
    server.post("note", text="Written while nobody listened.")
    *_, named, event = first_lines(server, known)
    assert event == "event: changed"
    assert named != f"id: {known}"
    assert first_lines(server, named.removeprefix("id: "))[2:] == [named, ""]
