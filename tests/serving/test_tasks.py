"""Long work that a server does for somebody: watched, and stopped."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import Kb
from knowbase.base.tasks import MOST_KEPT, Tasks
from knowbase.errors import Conflict
from servers import Served, serving, wait_until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("tasks")
    kb = Kb(folder)
    kb("init")
    kb.write("docs/first.md", "# First\n\nOne page.\n")
    kb("add", "docs", "--defer")
    token = kb("token", "new", "owner").out.strip()
    env = {"KB_EMBED_BACKGROUND": "false", "no_proxy": "127.0.0.1"}
    with serving(folder, token=token, env=env) as running:
        yield running


def state(server: Served, identity: str) -> Any:
    return next(one for one in server.json("tasks")["tasks"] if one["id"] == identity)


def finished(server: Served, identity: str) -> Any:
    wait_until(lambda: state(server, identity)["state"] != "running")
    return state(server, identity)


def test_tasks_are_listed_by_get_as_by_post(server: Served) -> None:
    listed = server.client.get("/api/tasks")
    assert listed.status_code == 200
    assert listed.json() == server.json("tasks")


def test_a_sync_and_an_embed_run_while_others_ask(server: Served) -> None:
    (server.log.parent / "docs" / "second.md").write_text("# Second\n\nAnother page.\n")
    with server.client.stream("GET", "/api/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        begun = server.json("task start", task="sync")
        assert (begun["task"], begun["state"]) == ("sync", "running")
        told = [json.loads(line[6:]) for line in _progress(lines, begun["id"])]
    assert told[-1]["state"] == "done"
    ended = finished(server, begun["id"])
    assert (ended["state"], ended["result"]) == ("done", "1 added")
    embedded = finished(server, server.json("task start", task="embed")["id"])
    assert embedded["state"] == "done"
    assert server.json("status")["embedded"] == server.json("status")["chunks"]


def _progress(lines: Iterator[str], identity: str) -> Iterator[str]:
    for line in lines:
        if line.startswith("data: ") and f'"id": "{identity}"' in line:
            yield line
            if '"state": "running"' not in line:
                return


def test_no_task_makes_a_server_fetch(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that was added where the base is, is asked for there alone."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    asked: list[str] = []

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(b"A heron stands in the shallows.")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as site:
        threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
        url = f"http://127.0.0.1:{site.server_address[1]}/heron"
        with knowbase.open(str(server.log.parent)) as base:
            assert base.add(url, defer=True).added
        for one in (url, url.upper(), "https://example.org/"):
            refused = server.post("task start", task="add", paths=["docs", one])
            assert refused.status_code == 403, refused.text
        begun = server.json("task start", task="sync")
        assert finished(server, begun["id"])["state"] == "done"
        site.shutdown()
    assert asked == ["/heron"]


def test_what_is_under_way_can_be_stopped_and_what_is_stored_stays(server: Served) -> None:
    folder = server.log.parent / "many"
    folder.mkdir()
    for number in range(400):
        words = " ".join(f"word{number}x{n}" for n in range(300))
        (folder / f"{number}.md").write_text(f"# Page {number}\n\n{words}\n")
    begun = server.json("task start", task="add", paths=[str(folder)])
    assert server.post("task start", task="add", paths=[str(folder)]).status_code == 409
    wait_until(lambda: state(server, begun["id"])["done"] > 0)
    server.json("task stop", id=begun["id"])
    assert finished(server, begun["id"])["state"] == "stopped"
    assert server.json("status")["documents"] < 400
    out = Kb(server.log.parent)("tasks", "--base", server.address, env=_token(server)).out
    assert f"{begun['id']}: add stopped" in out


def _token(server: Served) -> dict[str, str]:
    return {"KB_TOKEN": server.client.headers["Authorization"].removeprefix("Bearer ")}


def test_what_runs_stays_on_the_list_however_much_has_ended() -> None:
    tasks, end = Tasks(), threading.Event()
    tasks.is_served = True
    running = tasks.start("add", lambda _: end.wait(10))
    for _ in range(MOST_KEPT + 5):
        last = tasks.start("embed", lambda _: None).id
        wait_until(lambda: all(one.task == "add" or one.ended_at for one in tasks.all()))
        wait_until(lambda: not any(one.is_alive() for one in tasks._tasks[1:]))
    assert running.id in {one.id for one in tasks.all()}
    with pytest.raises(Conflict):
        tasks.start("add", lambda _: None)
    assert tasks.all()[0].id == last
    assert len(tasks.all()) <= MOST_KEPT + 2
    end.set()
    tasks.close()


def test_what_makes_no_sense_is_refused(server: Served, tmp_path: Path) -> None:
    assert server.post("task start", task="add").status_code == 422
    assert server.post("task start", task="sync", paths=["x"]).status_code == 422
    assert server.post("task start", task="dance").status_code == 422
    assert server.post("task stop", id="T99").status_code == 404
    missing = server.json("task start", task="add", paths=[str(tmp_path / "no such")])
    assert finished(server, missing["id"])["state"] == "failed"
    told = Kb(server.log.parent).error("task", "start", "sync", code=2)
    assert "server" in told


def test_without_a_token_nothing_is_added_for_anybody(tmp_path: Path) -> None:
    Kb(tmp_path)("init")
    with serving(tmp_path) as server:
        answer = server.post("task start", task="add", paths=["/etc"])
        assert answer.status_code == 403
        assert server.json("task start", task="sync")["state"] == "running"


def test_a_source_is_watched_until_that_is_stopped(kb: Kb) -> None:
    """By a task, or because the settings name it; other processes see it."""

    def is_watched(running: Served) -> bool:
        return bool(running.json("status")["sources"][0]["is_watched"])

    kb.write("docs/first.md", "# First\n\nOne page.\n")
    kb("add", "docs", "--defer")
    kb("config", "set", "index.watch", "docs,gone")
    with serving(kb.folder, env={"KB_EMBED_BACKGROUND": "false"}) as running:
        wait_until(lambda: is_watched(running))
        assert ", watched" in kb("status").out
        kb.write("docs/late.md", "# Late\n\nA page that came later.\n")
        wait_until(lambda: running.post("get", reference="docs/late.md").status_code == 200)
        assert running.post("task start", task="watch").status_code == 409  # one at a time
        begun = running.json("tasks")["tasks"][0]["id"]
        running.json("task stop", id=begun)
        assert finished(running, begun)["state"] == "stopped"
        assert not is_watched(running)
        assert not kb.json("status")["sources"][0]["is_watched"]
        unknown = running.json("task start", task="watch", paths=["x"])["id"]
        assert finished(running, unknown)["result"] == "x was not added"
        running.json("task start", task="watch", paths=["docs"])
        wait_until(lambda: is_watched(running))
    assert not kb.json("status")["sources"][0]["is_watched"]


def test_a_source_says_when_it_was_last_compared_with_the_disk(kb: Kb) -> None:
    kb.write("docs/first.md", "# First\n\nOne page.\n")
    kb("add", "docs", "--defer")
    added = kb.json("status")["sources"][0]["synced_at"]
    kb("sync", "--defer")
    assert kb.json("status")["sources"][0]["synced_at"] > added
    assert "synced 20" in kb("status").out
