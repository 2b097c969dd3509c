"""The first answer of `kb mcp`: the SDK's, given before the SDK is loaded."""

import json
import subprocess
import sys
from typing import Any

import pytest
from mcp_types import version

from conftest import COMMAND, Kb, environment
from knowbase.mcp.greeting import VERSIONS

LOADED = """
import sys
from knowbase.mcp.greeting import greet
opening = greet(1 << 20)
print(opening.answered, "mcp" in sys.modules or "anyio" in sys.modules, file=sys.stderr)
"""


def greeting(**more: Any) -> dict[str, Any]:
    client = {"name": "a client", "version": "1", **more.pop("client", {})}
    able = {"roots": {"listChanged": True}, "sampling": {}}
    params = {"protocolVersion": VERSIONS[-2], "capabilities": able, "clientInfo": client, **more}
    return {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params}


def answers(kb: Kb, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [*COMMAND, "mcp"],
        cwd=kb.folder,
        env=environment(),
        input="".join(f"{json.dumps(one)}\n" for one in messages),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_client_is_greeted_as_the_sdk_would(handbook: Kb) -> None:
    """Once, and what follows is answered by the SDK."""
    following: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
    ]
    quick = answers(handbook, greeting(), *following)
    by_the_sdk = answers(handbook, greeting(_meta={"progressToken": 1}), *following)
    assert quick == by_the_sdk
    assert [one["id"] for one in quick] == ["first", 2]
    assert version.HANDSHAKE_PROTOCOL_VERSIONS == VERSIONS


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (greeting(), VERSIONS[-2]),
        (greeting(protocolVersion="2099-01-01"), VERSIONS[-1]),
        (greeting(protocolVersion=7), None),
        (greeting(client={"version": None}), None),
        (greeting(capabilities={"roots": 5}), None),
        ({**greeting(), "method": "ping"}, None),
        ({**greeting(), "id": True}, None),
    ],
)
def test_only_the_usual_is_answered_without_the_sdk(
    asked: dict[str, Any], answered: str | None
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        input=json.dumps(asked) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.split() == ["None" if answered is None else "first", "False"]
    found = json.loads(done.stdout)["result"]["protocolVersion"] if answered else done.stdout
    assert found == (answered or "")
