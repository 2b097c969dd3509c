"""Tokens as they are kept: by many at once, taken back for good, and not to be guessed."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Kb, environment
from knowbase.errors import InvalidInput
from knowbase.http import tokens, uses
from knowbase.http.attempts import BURST, FORGIVEN, LONGEST, MOST, TURN, Attempts
from knowbase.http.failures import TooMany
from knowbase.http.gate import Gate
from knowbase.http.tokens import Token, hashed
from servers import serving, wait_until

MAKING = """
import sys, knowbase
from knowbase.http.token_commands import New, Revoke, new, revoke
first = sys.argv[1]
with knowbase.open(".") as base:
    for number in range(10):
        made = new(base, New())
        new(base, New(f"{first}-{number}"))
        revoke(base, Revoke(made.name))
"""


def test_no_token_is_lost_and_none_comes_back_when_many_are_made_at_once(kb: Kb) -> None:
    kb("init")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MAKING, str(number)], cwd=kb.folder, env=environment()
        )
        for number in range(4)
    ]
    assert [one.wait(60) for one in processes] == [0] * 4
    listed = kb.json("token", "list")["tokens"]
    assert sorted(one["name"] for one in listed) == sorted(
        f"{process}-{number}" for process in range(4) for number in range(10)
    )
    left = {path.name for path in kb.base.parent.glob("*tokens*")}
    assert left == {"base.db.tokens.toml", "base.db.tokens.toml.lock"}
    assert {path.stat().st_mode & 0o077 for path in kb.base.parent.glob("*tokens*")} == {0}


def test_what_cannot_be_written_leaves_the_tokens_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "tokens.toml")
    tokens.change(path, lambda _: (Token("one", hashed("1")),))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInput, match="No space left"):
        tokens.change(path, lambda known: (*known, Token("two", hashed("2"))))
    assert [one.name for one in tokens.read(path)] == ["one"]
    assert not list(tmp_path.glob("*.new"))


def test_a_change_that_looks_like_no_change_is_noticed(tmp_path: Path) -> None:
    """As many bytes in the same moment of the file system's clock."""
    path = tmp_path / "tokens.toml"
    tokens.change(str(path), lambda _: (Token("a", hashed("first token")),))
    gate = Gate(str(path), {})
    assert gate.known("first token")
    before = path.stat()
    path.write_text(path.read_text().replace(hashed("first token"), hashed("other token")))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert gate.known("first token") is None
    assert gate.known("other token")


def test_an_empty_project_is_no_token_for_all_of_them(kb: Kb) -> None:
    kb("init")
    assert "project" in kb.error("token", "new", "--project", "", code=2)
    assert kb.json("token", "list")["tokens"] == []


def test_a_server_tells_when_a_token_was_used_and_slows_down_guesses(kb: Kb) -> None:
    kb("init")
    used, unused = tokens.made(), tokens.made()
    kept = (Token("used", hashed(used), created_at="2026"), Token("unused", hashed(unused)))
    tokens.change(str(kb.base) + ".tokens.toml", lambda _: kept)
    with serving(kb.folder, token=used) as server:
        assert server.client.get("/api/tags").status_code == 200
        wait_until(lambda: bool(uses.read(str(kb.base) + ".tokens.toml")))
        first, second = kb.json("token", "list")["tokens"]
        assert (first["name"], second["last_used_at"]) == ("used", None)
        assert first["created_at"] < first["last_used_at"]
        assert "never used" in kb("token", "list").out

        def guess(token: str) -> tuple[int, str | None]:
            headers = {"Authorization": f"Bearer {token}"}
            told = server.client.get("/api/tags", headers=headers)
            return told.status_code, told.headers.get("retry-after")

        statuses = [guess(f"wrong {number}")[0] for number in range(BURST)]
        assert set(statuses) == {401}
        status, later = guess("wrong again")
        assert (status, int(later or 0) > 0) == (429, True)
        # Others behind the same address: who was there before, and who comes only now.
        assert server.client.get("/api/tags").status_code == 200
        assert guess(unused)[0] == 200
        kb("token", "revoke", "used")
        assert server.client.get("/api/tags").status_code in (401, 429)
        assert "many wrong tokens" in server.log.read_text()


def test_guesses_are_looked_at_in_turn_and_forgiven_in_time() -> None:
    now = 0.0
    attempts = Attempts(lambda: now)
    for _ in range(BURST):
        assert attempts.delay("a", "x") == 0.0
        assert not attempts.was_wrong("a")
    delays = [attempts.delay("a", "x") for _ in range(int(LONGEST / TURN))]
    assert delays == sorted(set(delays))
    assert delays[-1] <= LONGEST
    with pytest.raises(TooMany):
        attempts.delay("a", "x")
    assert attempts.delay("b", "x") == 0.0
    attempts.was_right("a", "good")
    assert attempts.delay("a", "good") == 0.0
    now = FORGIVEN * BURST * 2
    assert attempts.delay("a", "x") == 0.0


def test_guesses_from_everywhere_take_no_more_memory() -> None:
    attempts = Attempts()
    for number in range(3 * MOST):
        attempts.was_wrong(str(number))
        attempts.was_right(str(number), "x")
    assert len(attempts._wrong) == len(attempts._right) == MOST


def test_uses_are_written_seldom_and_never_in_the_way(tmp_path: Path) -> None:
    path = str(tmp_path / "tokens.toml")
    told = uses.Uses(path)
    for _ in range(1000):
        told.note(hashed("x"))
    wait_until(lambda: bool(uses.read(path)))
    before = uses.read(path)
    time.sleep(0.01)
    told.note(hashed("x"))
    assert uses.read(path) == before
    told.write()
    assert uses.read(path)[hashed("x")[: uses.KEPT]] > before[hashed("x")[: uses.KEPT]]
    uses.Uses(str(tmp_path / "no" / "\0" / "tokens.toml")).write()
