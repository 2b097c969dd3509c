"""The API as programs use it: answers, errors, limits, and its description."""

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from conftest import Kb
from knowbase import config
from knowbase.http.failures import STATUSES, response_to
from knowbase.http.openapi import document
from knowbase.http.served import methods_of, served
from knowbase.values.parameters import parameters
from servers import Served, serving, two_projects

OPERATIONS = {operation.name: operation for operation in served().values()}
WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    3.5,
    10**30,
    "",
    "x",
    [],
    [1],
    [[]],
    {},
    {"a": 1},
    "\ud800",
)
NESTED = b"[" * 900 + b"]" * 900
MANY = b",".join(b"tag%d" % number for number in range(50_000))
HARMLESS: dict[str, dict[str, Any]] = {  # nothing is removed on the way, and it goes fast
    "rm": {"dry_run": True},
    "expire": {"delete": False},
    "forget": {"erase": False},
    "search": {"mode": "keyword"},
    "why-not": {"mode": "keyword"},
}
INSIDES = ("SELECT", "Traceback", gettempdir(), ".py", "apsw", "sqlite")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_projects(tmp_path_factory.mktemp("api") / "base")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with serving(folder) as server:
        yield server


def error_of(response: httpx.Response) -> dict[str, Any]:
    """The error of a response, which has the one shape of all errors."""
    told = response.json()
    assert set(told) == {"error"}, told
    assert set(told["error"]) == {"code", "message", "field", "hint"}, told
    assert response.headers["content-type"] == "application/json"
    error: dict[str, Any] = told["error"]
    return error


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/nothing", None, 404, "not_found"),
        ("GET", "/nowhere", None, 404, "not_found"),
        ("GET", "/api/list/", None, 404, "not_found"),
        ("GET", "/api/note", None, 405, "method_not_allowed"),
        ("DELETE", "/api/get", None, 405, "method_not_allowed"),
        ("BREW", "/api/get", None, 405, "method_not_allowed"),
        ("POST", "/api/search", b"{", 400, "malformed"),
        ("POST", "/api/search", b"[]", 400, "malformed"),
        ("POST", "/api/search", b'{"threshold": NaN}', 400, "malformed"),
        ("POST", "/api/search", b"\xff\xfe{", 400, "malformed"),
        ("POST", "/api/search", b"[" * 60_000, 400, "malformed"),
        ("POST", "/api/search?query=x", b"{}", 400, "malformed"),
        ("GET", "/api/search?query=x&query=y", None, 400, "malformed"),
        ("GET", "/api/get?reference=NO-1", None, 404, "not_found"),
        ("GET", "/api/get", None, 422, "invalid_input"),
        ("GET", "/api/search?tpo=1", None, 422, "invalid_input"),
        ("GET", "/api/search?query=x&top=many", None, 422, "invalid_input"),
        ("POST", "/api/session/start", b'{"session": "s-ap"}', 409, "conflict"),
        ("POST", "/api/note", b'{"text": "x", "code": "AP-1"}', 409, "conflict"),
        ("POST", "/api/kb_search", b'{"query": "x", "limit": 51}', 422, "invalid_input"),
        ("POST", "/api/search", b'{"threshold": 1%s}' % (b"0" * 400), 422, "invalid_input"),
        ("POST", "/api/search", b'{"top": 1%s}' % (b"0" * 400), 422, "invalid_input"),
        ("POST", "/api/search", b'{"tags": %s}' % NESTED, 422, "invalid_input"),
        ("POST", "/api/search", b'{"query": %s}' % NESTED, 422, "invalid_input"),
        ("POST", "/api/search", b'{"tags": ["%s"]}' % MANY, 413, "too_large"),
        ("POST", "/api/note", b'{"text": "x", "tags": ["%s"]}' % MANY, 422, "invalid_input"),
    ],
)
def test_each_mistake_has_its_status_and_the_same_shape(
    server: Served, method: str, path: str, body: bytes | None, status: int, code: str
) -> None:
    """S4-19"""
    headers = {"Content-Type": "application/json"} if body else {}
    response = server.client.request(method, path, content=body, headers=headers)
    assert response.status_code == status, response.text
    assert error_of(response)["code"] == code
    assert (response.status_code == 405) == ("allow" in response.headers)


@pytest.mark.parametrize(
    ("media_type", "status"),
    [
        ('application/json; charset="utf-8"', 200),
        ("Application/JSON ;charset=UTF-8", 200),
        ("application/json; charset=latin-1", 415),
        ("application/jsonp", 415),
        ("text/plain", 415),
    ],
)
def test_json_is_known_by_its_media_type(server: Served, media_type: str, status: int) -> None:
    headers = {"Content-Type": media_type}
    response = server.client.post("/api/list", content=b'{"limit": 1}', headers=headers)
    assert response.status_code == status


def test_what_is_missing_is_called_as_it_is_sent(server: Served) -> None:
    answer = server.client.get("/api/get")
    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == "reference is missing"


def test_a_refused_value_is_named_with_what_it_may_be(server: Served) -> None:
    """S4-13"""
    error = error_of(server.post("kb_search", query="x", role="boss"))
    assert (error["field"], error["hint"]) == ("role", "one of pm, dev, qa, all")
    error = error_of(server.post("search", query="x", top=0))
    assert (error["field"], error["hint"]) == ("top", "at least 1")


@pytest.mark.parametrize("name", [name for name, one in OPERATIONS.items() if not one.near])
def test_no_value_of_a_wrong_kind_is_a_failure_of_the_server(server: Served, name: str) -> None:
    operation = OPERATIONS[name]
    needed = {one.name: ["AP-1"] if one.kind is tuple else "AP-1"
              for one in parameters(operation.request) if one.required}  # fmt: skip
    harmless = HARMLESS.get(name, {})
    for field in parameters(operation.request):
        for value in WRONG if field.name not in harmless else ():
            body = json.dumps({**needed, **harmless, field.name: value}).encode()
            headers = {"Content-Type": "application/json"}
            path = f"/api/{name.replace(' ', '/')}"
            response = server.client.post(path, content=body, headers=headers)
            assert response.status_code < 500, (field.name, value, response.text)


def test_something_else_than_json_is_refused(server: Served) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        response = server.client.post(
            "/api/note", content=b'{"text": "x"}', headers={"Content-Type": kind}
        )
        assert response.status_code == 415
        assert error_of(response)["hint"] == "Content-Type: application/json"
    assert server.client.post("/api/tags").status_code == 200  # nothing is to be said


def test_a_request_that_is_too_large_is_refused_however_it_is_sent(folder: Path) -> None:
    with serving(folder, env={"KB_SERVE_MAX_REQUEST_KB": "4"}) as server:
        large = json.dumps({"text": "x" * 5000}).encode()
        headers = {"Content-Type": "application/json"}
        whole = server.client.post("/api/note", content=large, headers=headers)
        pieces = server.client.post("/api/note", content=iter([large]), headers=headers)
        assert [whole.status_code, pieces.status_code] == [413, 413]
        assert error_of(pieces)["code"] == "too_large"
        assert server.json("tags")


def test_an_answer_that_takes_too_long_is_given_up(folder: Path) -> None:
    """The writer waits for a lock that somebody else holds for longer than the limit."""
    import apsw

    env = {"KB_SERVE_TIMEOUT": "0.5", "KB_STORE_BUSY_TIMEOUT": "2"}
    with serving(folder, env=env) as server:
        other = apsw.Connection(str(folder / ".kb" / "base.db"))
        other.execute("BEGIN IMMEDIATE")
        try:
            response = server.post("session start", session="late")
        finally:
            other.execute("ROLLBACK")
            other.close()
        assert (response.status_code, error_of(response)["code"]) == (504, "timeout")
        assert server.json("tags")


def test_a_locked_base_is_said_and_when_to_come_again(folder: Path) -> None:
    import apsw

    with serving(folder, env={"KB_STORE_BUSY_TIMEOUT": "0"}) as server:
        other = apsw.Connection(str(folder / ".kb" / "base.db"))
        other.execute("BEGIN IMMEDIATE")
        try:
            response = server.post("session start", session="locked")
        finally:
            other.execute("ROLLBACK")
            other.close()
        assert (response.status_code, error_of(response)["code"]) == (503, "base_locked")
        assert response.headers["retry-after"] == "1"


def test_trouble_inside_is_masked_and_the_log_has_it(tmp_path: Path, folder: Path) -> None:
    """S4-19: the base is damaged while it is served."""
    copy = tmp_path / "damaged"
    shutil.copytree(folder, copy)
    with serving(copy, env={"KB_SERVE_LOG": "json"}) as server:
        base = copy / ".kb" / "base.db"
        for path in base.parent.glob("base.db*"):
            path.write_bytes(b"this is no database at all" * 1000)
        response = server.post("list")
        assert response.status_code >= 500
        assert error_of(response)["code"] in (
            "base_damaged",
            "not_a_base",
            "base_error",
            "internal",
        )
        assert not [word for word in INSIDES if word in response.text]
        assert server.client.get("/health/live").status_code == 200
        ready = server.client.get("/health")
        assert (ready.status_code, ready.json()["ready"]) == (503, False)
        assert not [word for word in INSIDES if word in ready.text]
        lines = [json.loads(line) for line in server.log.read_text().splitlines()]
        assert [line for line in lines if "Traceback" in line.get("traceback", "")]


def test_what_a_server_cannot_help_tells_nothing_of_its_insides() -> None:
    for kind, status, _ in STATUSES:
        if status >= 500 and kind.code not in ("overloaded", "stopping", "timeout", "internal"):
            told = bytes(response_to(kind("SELECT at db.internal:5432", hint="/etc/kb")).body)
            assert b"db.internal" not in told
            assert b"/etc" not in told


def test_what_a_client_has_already_is_not_sent_again(server: Served) -> None:
    for path in ("/api/get?reference=AP-1", "/api/list?limit=3", "/api/tags", "/openapi.json"):
        first = server.client.get(path)
        tag = first.headers["etag"]
        again = server.client.get(path, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    assert "etag" not in server.client.get("/api/search?query=engine").headers


def test_a_changed_document_has_another_tag(server: Served) -> None:
    server.json("note", text="first", code="TAG-1")
    tag = server.client.get("/api/get?reference=TAG-1").headers["etag"]
    server.json("note", text="second", replace="TAG-1")
    again = server.client.get("/api/get?reference=TAG-1", headers={"If-None-Match": tag})
    assert again.status_code == 200


def test_a_list_says_where_it_goes_on(server: Served) -> None:
    found, path = [], "/api/list?limit=4&tags=engine"
    while path:
        response = server.client.get(path)
        found += [one["code"] for one in response.json()["documents"]]
        path = response.links["next"]["url"] if "next" in response.links else ""
    assert len(found) == len(set(found)) == response.json()["total"] > 4


def test_long_answers_are_packed_for_those_who_can_unpack(server: Served) -> None:
    packed = server.client.get("/openapi.json")
    assert packed.headers["content-encoding"] == "gzip"
    plainly = server.client.get("/openapi.json", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plainly.headers
    assert plainly.content == packed.content
    assert len(gzip.compress(plainly.content)) < len(plainly.content)


def test_every_answer_has_the_headers_that_keep_browsers_careful(server: Served) -> None:
    for path in ("/", "/api/tags", "/api/nothing", "/openapi.json", "/health", "/metrics"):
        headers = server.client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] in ("no-store", "private, no-cache")
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


def test_the_description_is_openapi_and_names_every_operation() -> None:
    described = document()
    OpenAPIV31SpecValidator(described).validate()
    for path, operation in served().items():
        assert set(described["paths"][path]) == {one.lower() for one in methods_of(operation)}


@pytest.mark.parametrize(
    "query",
    [
        "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
        "load/* '*/ */csv WITH HEADERS FROM '/etc/passwd' AS row RETURN row",
        "RETURN '/*' UNION LOAD /*x*/ CSV FROM '/etc/passwd' AS line RETURN line",
    ],
)
def test_a_query_in_cypher_reads_no_file_of_the_server(server: Served, query: str) -> None:
    response = server.post("graph query", query=query)
    assert response.status_code == 422
    assert "root" not in response.text


def test_cypher_is_not_served_unless_somebody_says_so(folder: Path) -> None:
    with serving(folder, env={"KB_SERVE_CYPHER": "false"}) as server:
        response = server.post("graph query", query="MATCH (d) RETURN d.code")
        assert response.status_code == 403
        assert "serve.cypher" in error_of(response)["hint"]
        assert server.client.get("/api/graph/query?query=RETURN+1").status_code == 403


def test_a_query_that_crashes_graphqlite_crashes_nothing_else(server: Served) -> None:
    response = server.post("graph query", query="MATCH (n) RETURN n ORDER BY " + "n.cod" * 480)
    assert response.status_code in (200, 422)
    response = server.post("graph query", query="RETURN " + "A" * 80_000)
    assert "longer than" in error_of(response)["message"]
    assert server.json("graph query", query="RETURN 1 AS one")["rows"] == [{"one": 1}]


def test_a_query_in_cypher_ends_in_time(folder: Path) -> None:
    with serving(folder, env={"KB_GRAPH_QUERY_TIMEOUT": "0.2"}) as server:
        everything = ", ".join(f"({name})" for name in "abcdefghijklm")
        response = server.post("graph query", query=f"MATCH {everything} RETURN count(*)")
        assert "it takes too long" in error_of(response)["message"]


def test_local_operations_are_not_served(server: Served) -> None:
    for name in ("add", "sync", "watch", "init", "embed", "eval"):
        assert server.post(name).status_code == 404
    for name in ("graph export", "graph show", "serve", "tokens"):
        assert server.post(name).status_code == 404


def test_every_limit_is_a_setting() -> None:
    names = [name for name in config.Settings._fields if name.startswith("serve_")]
    assert len(names) == 25
    assert all(name in config.ABOUT for name in names)


def test_commands_about_serving_are_explained_and_completed(folder: Path) -> None:
    kb = Kb(folder)
    assert "--port" in kb("serve", "--help").out
    assert "--project" in kb("token", "new", "--help").out
    assert "token new" in kb("--help").out
    assert "revoke" in kb("token", "--help").out
    completed = kb("completion", "bash").out
    assert '"serve") words="--host' in completed
    assert '"token new") words="--scope' in completed
    assert kb("help", "serve").out == kb("serve", "--help").out
    assert kb("help", "token", "new").out == kb("token", "new", "--help").out
