"""Every served operation answers the same in Python, on the command line and over HTTP."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import knowbase
from conftest import Kb
from knowbase import Base
from knowbase.contracts.entries import OPERATIONS as ENTRIES
from knowbase.http.served import served
from knowbase.operations.declare import Operation
from knowbase.operations.results import plain
from knowbase.values.parameters import build, parameters
from servers import Served, serving, two_projects

OPERATIONS = {one.name: one for one in served().values() if not one.near}
"""What is near (settings, tokens) differs between three places: see test_near.py."""
EXAMPLES: dict[str, dict[str, Any]] = {
    "undo": {"list": True},  # first: what the others change is written down as each one's own
    "log": {"reference": "ZE-3"},
    "history": {"reference": "ZE-3"},
    "history prune": {"keep": "forever", "dry_run": True},
    "diff": {"old": "ZE-3@now", "new": "ZE-1"},
    "note": {"text": "Parity is a virtue", "tags": ["a", "b"], "code": "PN-1"},
    "notes": {"notes": [{"text": "One of two", "code": "PN-2"}, {"text": "Two", "code": "PN-3"}]},
    "remember": {"text": "Hatches open outwards", "code": "PR-1", "session": "s-ap"},
    "search": {"query": "engine tests", "top": 3, "explain": True, "tags": ["engine", "test"]},
    "get": {"reference": "AP-1"},
    "render": {"reference": "AP-2", "query": "engine tests"},
    "list": {"limit": 2, "offset": 1, "include": ["superseded"]},
    "browse": {"folder": "notes", "limit": 2},
    "tags": {},
    "timeline": {"anchor": "AP-2", "before": 1},
    "context": {"reference": "AP-2"},
    "brief": {"project": "apollo", "max_tokens": 300},
    "inbox": {"project": "apollo", "limit": 3},
    "verdict": {"reference": "AP-5", "verdict": "accept"},
    "relate": {"source": "AP-1", "target": "AP-3"},
    "feedback": {"hit": "AP-1", "verdict": "good", "session": "s-ap"},
    "supersede": {"old": "AP-6", "new": "AP-5"},
    "forget": {"references": ["AP-7"]},
    "restore": {"references": ["AP-4"]},
    "archive": {"references": ["ZE-6"]},
    "tag": {"references": ["AP-5"], "add": ["parity"]},
    "extend": {"references": ["AP-5"], "until": "2031-01-01"},
    "expire": {"within": "30d"},
    "sessions": {"project": "apollo"},
    "session start": {"session": "parity", "project": "apollo"},
    "session end": {"session": "s-ap", "summary": "it was good"},
    "session show": {"session": "s-ze"},
    "links": {"reference": "AP-1"},
    "related": {"reference": "AP-2", "limit": 3},
    "neighbourhood": {"reference": "AP-2", "depth": 2, "limit": 4},
    "path": {"source": "AP-2", "target": "ZE-3"},
    "communities": {"seed": 3},
    "rank": {"top": 4},
    "graph query": {"query": "MATCH (d:Document) RETURN d.code ORDER BY d.code"},
    "graph rebuild": {},
    "rm": {"references": ["ZE-7"]},
    "status": {},
    "doctor": {},
    "searches": {},
    "profiles": {},
    "profiles show": {"name": "memory"},
    "why-not": {"reference": "AP-3", "query": "kerosene", "top": 1},
    "query": {"query": "engine -test tag:engine"},
    "saved add": {"name": "valves", "query": "valves {where}", "top": 2},
    "saved list": {},
    "saved run": {"name": "engines", "set": ["what=kerosene, oxygen"], "top": 2},
    "saved rm": {"name": "unwanted"},
    "synonyms add": {"words": ["valve", "tap"]},
    "synonyms list": {},
    "synonyms import": {"text": "fuel, kerosene"},
    "synonyms remove": {"word": "tap"},
    "kb_search": {"query": "rocket engine", "limit": 2, "explain": True},
    "kb_get_related": {"entry_id": "AP-2", "limit": 2},
}
OF_A_PROCESS = ("searches",)  # each has its own numbers
UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
DIFFERENT = {"query_time_ms", "timings", "base", "size_bytes", "disk"}


class Sides(NamedTuple):
    """Three copies of one base, each asked in its own way."""

    python: Base
    cli: Kb
    http: Served
    known: frozenset[str]  # ids that were there from the start


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    folder = tmp_path_factory.mktemp("parity")
    original = two_projects(folder / "original")
    Kb(original)("inbox")  # links what is alike: whoever may only read leaves that to the next one
    for name in ("python", "cli", "http"):
        shutil.copytree(original, folder / name)
    with (
        knowbase.open(str(folder / "python")) as base,
        serving(folder / "http") as server,
    ):
        known = frozenset(UUID.findall(json.dumps(plain(base.documents(include=("superseded",))))))
        yield Sides(base, Kb(folder / "cli"), server, known)


def test_every_served_operation_is_compared() -> None:
    assert set(EXAMPLES) == set(OPERATIONS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_answer_on_every_surface(sides: Sides, name: str) -> None:
    """S4-01, S4-14: and kb_search, kb_get_related over HTTP as in Python"""
    operation, values = OPERATIONS[name], EXAMPLES[name]
    result = operation.run(sides.python, build(operation.request, values))
    expected = _comparable(json.loads(json.dumps(plain(result))), sides.known)
    answered = _comparable(sides.http.json(name, **values), sides.known)
    if name in OF_A_PROCESS:
        expected, answered = set(expected), set(answered)
    assert answered == expected
    if name not in (*ENTRIES, *OF_A_PROCESS):
        said = sides.cli.json(*_arguments(operation, values))
        assert _comparable(said, sides.known) == expected


@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if not one.writes])
def test_what_only_reads_can_be_asked_by_its_address(sides: Sides, name: str) -> None:
    values = EXAMPLES[name]
    asked = {key: ",".join(v) if isinstance(v, list) else v for key, v in values.items()}
    path = f"/api/{name.replace(' ', '/')}"
    response = sides.http.client.get(path, params=asked)
    assert response.status_code == 200, response.text
    posted = sides.http.json(name, **values)
    assert _comparable(response.json(), sides.known) == _comparable(posted, sides.known)
    if any(isinstance(v, list) for v in values.values()):
        again = sides.http.client.get(path, params=values)
        assert _comparable(again.json(), sides.known) == _comparable(posted, sides.known)


def _comparable(value: Any, known: frozenset[str]) -> Any:
    """The JSON without times, places and the ids of what is new."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k not in DIFFERENT}
        return {k: _comparable(v, known) for k, v in kept.items()}
    if isinstance(value, list):
        return [_comparable(one, known) for one in value]
    if isinstance(value, str):
        text = TIME.sub("TIME", value)
        return UUID.sub(lambda found: found[0] if found[0] in known else "NEW", text)
    return value


def _arguments(operation: Operation, values: dict[str, Any]) -> list[str]:
    """The words of the command that asks for the same."""
    flags, words = [], []
    for field in parameters(operation.request):
        value = values.get(field.name)
        if value is None or value is False:
            continue
        given = list(map(_word, value)) if isinstance(value, list) else [_word(value)]
        flag = "--" + field.name.replace("_", "-")
        if field.param.positional:
            words += given
        elif field.kind is bool:
            flags.append(flag)
        elif given[0].startswith("{"):
            flags += [word for one in given for word in (flag, one)]
        else:
            flags += [flag, ",".join(given)]
    return [*operation.name.split(), *flags, "--yes", *words]


def _word(value: Any) -> str:
    return json.dumps(value) if isinstance(value, dict) else str(value)


def test_the_example_folder_is_where_the_server_runs(sides: Sides) -> None:
    """The three sides are three files: what one writes, no other one reads."""
    paths = {sides.python.path, str(sides.cli.base)}
    assert len(paths) == 2
    assert sides.http.json("status")["base"] not in paths
    assert Path(sides.http.json("status")["base"]).exists()
