"""Part 8: every served operation and tool is asked, with a token that is held to one project, for
what another project has. The same is asked of a base without that project: answers that differ
depend on what is not the asker's."""

import itertools
import json
import random
import re
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx

import postgres
from campaign.part import Budget, Outcome, complaint, on_all_cores, shortly
from campaign.strangers import (
    CODE,
    FORGOTTEN,
    MARK,
    WORDS,
    Foreign,
    alone,
    beside,
    codes_of_new,
    use_up_numbers,
)
from conftest import Kb
from knowbase.http.served import methods_of, served
from knowbase.mcp.schemas import input_schema
from knowbase.mcp.tools import tools
from knowbase.move import move
from knowbase.operations.declare import Operation
from knowbase.values.parameters import Parameter, parameters
from servers import Served, serving

ALL = 10_000  # calls to choose from: each declared value, and several at once
EACH = 3_000  # calls of each engine
ENGINES = ("sqlite", "postgres")
CLOSE = 2e-3  # two numbers that differ by less may differ by the moment of the question
OWN: Mapping[str, Any] = {
    "reference": "AP-1", "anchor": "AP-2", "query": "engine", "text": "A new note on the engine",
    "source": "AP-2", "target": "AP-3", "old": "AP-6", "new": "AP-7", "references": ["AP-7"],
    "hit": "AP-3", "verdict": "good", "session": "s-ap", "name": "engines", "entry_id": "AP-1",
    "key": "search.default_top", "value": "5", "task": "sync", "id": "T1", "word": "engine",
    "words": ["engine", "motor"], "pattern": "*.zzz",
}  # fmt: skip
"""What the asker has, for parameters that must be given."""
PLAIN_PATHS = ("/openapi.json", "/metrics", "/health", "/api/nothing", "/")
ACCEPT = {"Accept": "application/json, text/event-stream"}
_ITS_OWN = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"  # ids of what is new
    r"|\b[0-9a-f]{16}\b|\b[0-9a-f]{12}\b"  # of lines of the log, of sessions
    r"|\d{4}-\d\d-\d\dT[\d:.]+Z?|127\.0\.0\.1:\d+"
)
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")
_TIMES = ("query_time_ms", "timings", "elapsed_ms", "uptime")


class Call(NamedTuple):
    """One question: a path with values, or a message for agents."""

    name: str
    method: str
    path: str
    values: Mapping[str, Any]
    writes: bool = False

    def __str__(self) -> str:
        return f"{self.name} {json.dumps(self.values, ensure_ascii=True)[:160]}"


class Told(NamedTuple):
    status: int
    headers: str
    body: str


def hostile(parameter: Parameter, others: Foreign) -> list[Any]:
    """What somebody might give, by the declaration."""
    if parameter.param.choices:
        options = [*parameter.param.choices, "bogus"]
        return [[one] for one in options] if parameter.kind is tuple else options
    if parameter.kind is bool:
        return [True]
    if parameter.kind is int:
        return [0, 1, 1000, -1, 10**12, *map(int, others.numbers[:2])]
    if parameter.kind is float:
        return [-1, 0, 0.99, 5]
    texts = [*others.references(), *WORDS.values(), f"{MARK}*", "²", "%", "*", "\0", "a" * 5000]
    if parameter.name == "query":
        texts += queries(others)
    return [[text] for text in texts] if parameter.kind is tuple else texts


def queries(others: Foreign) -> list[str]:
    code = others.codes[0]
    asked = [
        "project:zeus", "NOT project:apollo", "engine OR project:zeus", f"{WORDS['text'][:-1]}q",
        f"under:{code}", f"like:{code}", f"related:{code}", f"children:{code} OR engine",
        f"tag:{WORDS['tag']}", f"session:{WORDS['session']}", f"role:{WORDS['role']}",
        f'"{WORDS["text"]} engine"', f"-{WORDS['text']} engine", f"engine {WORDS['text']}",
        f"under:{others.numbers[0]}", "is:superseded", "related:AP-1", "like:AP-1", "*", "",
    ]  # fmt: skip
    return [*asked, "MATCH (d:Document) RETURN d.code, d.title"]


def calls(others: Foreign, chance: random.Random) -> Iterator[Call]:
    """Each parameter of each operation with each hostile value; then several at once."""
    operations = [*served().items()]
    for path, operation in operations:
        for values in _valued(operation, others):
            yield from _asked(path, operation, values)
    for name, tool in tools().items():
        taken = set(input_schema(tool)["properties"])
        for values in _valued(tool.operation, others):
            if set(values) <= taken:
                params = {"name": name, "arguments": values}
                yield Call(f"tool {name}", "tools/call", "/mcp", params, tool.writes)
    yield from _other_questions(others)
    while True:
        path, operation = chance.choice(operations)
        several = dict(_required(operation))
        for one in chance.sample(parameters(operation.request), min(3, _number(operation))):
            several[one.name] = chance.choice(hostile(one, others))
        yield from _asked(path, operation, several)


def _number(operation: Operation) -> int:
    return len(parameters(operation.request))


def _required(operation: Operation) -> dict[str, Any]:
    return {
        one.name: OWN[one.name]
        for one in parameters(operation.request)
        if one.required or one.name in ("text", "query", "references", "reference")
    }


def _valued(operation: Operation, others: Foreign) -> Iterator[dict[str, Any]]:
    required = _required(operation)
    yield required
    for one in parameters(operation.request):
        for value in hostile(one, others):
            yield {**required, one.name: value}


def _asked(path: str, operation: Operation, values: dict[str, Any]) -> Iterator[Call]:
    for method in methods_of(operation):
        yield Call(operation.name, method, path, values, operation.writes)


def _other_questions(others: Foreign) -> Iterator[Call]:
    for path in PLAIN_PATHS:
        yield Call(path, "GET", path, {})
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        yield Call(method, method, "/mcp", {})
    for one in (*others.references(), WORDS["saved"]):
        for kind in ("document", "saved"):
            yield Call("resource", "resources/read", "/mcp", {"uri": f"kb://{kind}/{one}"})
    for arguments in ({"task": WORDS["text"]}, {"task": "engine", "project": "zeus"}):
        yield Call("prompt", "prompts/get", "/mcp", {"name": "recall", "arguments": arguments})


def told(server: Served, call: Call) -> Told:
    """What the server answers."""
    if call.path == "/mcp" and call.method != "GET":
        asked = {"jsonrpc": "2.0", "id": 1, "method": call.method, "params": call.values}
        response = server.client.post("/mcp", json=asked, headers=ACCEPT)
    elif call.method == "POST":
        response = server.client.post(call.path, json=call.values)
    else:
        response = server.client.get(call.path, params=call.values)
    return Told(response.status_code, str(response.headers), response.text)


def leaks(call: Call, beside_them: Told, without: Told) -> Iterator[str]:
    """What an answer gives away."""
    given = json.dumps(call.values, ensure_ascii=False).casefold()
    said = (beside_them.headers + beside_them.body).casefold()
    for secret in (*WORDS.values(), f"{CODE}-".casefold()):
        if secret in said and secret not in given and secret not in without.body.casefold():
            yield f"{call}: {secret} is told"
    if beside_them.status >= 500:
        yield f"{call}: status {beside_them.status}"
    if beside_them.status != without.status:
        yield f"{call}: status {beside_them.status}, without the others {without.status}"
    else:
        one, other = _read(beside_them.body), _read(without.body)
        if (at := difference(one, other)) is not None:
            yield f"{call}: depends on others: {at}"


def _read(body: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return body


def difference(one: Any, other: Any, at: str = "answer") -> str | None:
    """Where two answers differ, apart from times, new ids and the last digits of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return f"{at}: {sorted(one.keys() ^ other.keys())}"
        pairs = ((f"{at}.{key}", one[key], other[key]) for key in one if key not in _TIMES)
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{at}: {len(one)} and {len(other)} of them"
        pairs = ((f"{at}[{n}]", *both) for n, both in enumerate(zip(one, other, strict=True)))
    else:
        return None if _alike(one, other) else f"{at}: {str(one)[:60]!r} and {str(other)[:60]!r}"
    return next(filter(None, (difference(a, b, where) for where, a, b in pairs)), None)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        left, right = (_NUMBER.split(_ITS_OWN.sub("", text)) for text in (one, other))
        return len(left) == len(right) and all(
            _close(float(a), float(b)) if _NUMBER.fullmatch(a) and _NUMBER.fullmatch(b) else a == b
            for a, b in zip(left, right, strict=True)
        )
    if isinstance(one, float) or isinstance(other, float):
        return _close(one, other)
    return bool(one == other)


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * max(1.0, abs(one))


class Pair(NamedTuple):
    """The homes of two bases that stay as they are, and what one of them has more."""

    beside: Path
    alone: Path
    others: Foreign


def prepared(folder: Path) -> Pair:
    apollo = alone(folder / "alone")
    others = beside(apollo, folder / "beside")
    use_up_numbers(apollo, len(others.numbers) + FORGOTTEN)
    return Pair(folder / "beside", apollo, others)


def served_copy(home: Path, engine: str, stack: ExitStack) -> Served:
    """A server of a copy of the base, asked with a token that is held to apollo."""
    copy = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "copy"
    shutil.copytree(home, copy)
    place = str(copy / ".kb" / "base.db")
    if engine == "postgres":
        target = postgres.new_base()
        move(place, target)
        place = target
    token = Kb(copy).json("token", "new", "--project", "apollo", "--base", place)["token"]
    return stack.enter_context(serving(copy, "--base", place, token=str(token)))


def ask_until_they_part(
    pair: Pair, engine: str, calls: deque[Call], seconds: float
) -> tuple[int, list[str]]:
    """Take calls off and make them, until one is done by one server and refused by the other:
    from then on they know different things. How many there were, and what they gave away."""
    done = 0
    wrong: list[str] = []
    with ExitStack() as stack:
        first, second = (served_copy(home, engine, stack) for home in (pair.beside, pair.alone))
        ends = time.monotonic() + seconds
        while calls and time.monotonic() < ends:
            call = calls.popleft()
            done += 1
            try:
                answers = told(first, call), told(second, call)
            except httpx.HTTPError as error:
                wrong.append(complaint(call, error))
                break
            wrong += map(shortly, leaks(call, *answers))
            if answers[0].status != answers[1].status:
                break
    return done, wrong


def ask_all(engine: str, budget: Budget, seed: int) -> Outcome:
    """Calls of chance, out of all that there are and as many others. Those that write come last:
    what is new has ids of its own on each server, by which some orders differ."""
    chance, done = random.Random(seed), 0
    wrong: list[str] = []
    name = f"calls, {engine}"
    with tempfile.TemporaryDirectory() as folder:
        pair = prepared(Path(folder))
        every = list(itertools.islice(calls(pair.others, chance), ALL))
        chosen = chance.sample(every, min(ALL, budget.of(EACH)))
        waiting = deque(sorted(chosen, key=lambda call: call.writes))
        ends, left = budget.ends(), budget.seconds  # the first servers start in their own time
        while waiting and left > 0:
            number, found = ask_until_they_part(pair, engine, waiting, left)
            done, wrong = done + number, wrong + found
            left = ends - time.monotonic()
    return Outcome({name: done}, {name: len(chosen)}, tuple(wrong))


def compare_codes() -> Outcome:
    """Whether the code of a new note tells how many documents others have."""
    with tempfile.TemporaryDirectory() as folder:
        codes = codes_of_new(Path(folder))
    same = len(set(codes)) == 1
    wrong = () if same else (f"the code of a new note is {codes[1]}, without others {codes[0]}",)
    return Outcome({}, wrong=wrong)


def work(budget: Budget, seed: int) -> Outcome:
    """One engine a process; with one process, both."""
    whole = budget._replace(share=budget.share * budget.workers)
    mine = ENGINES[budget.worker :: budget.workers]
    total = Outcome({})
    for engine in mine:
        total += ask_all(engine, whole.part(1 / len(mine)), seed)
    return total


def run(budget: Budget, seed: int) -> Outcome:
    return on_all_cores(work, budget, seed) + compare_codes()
