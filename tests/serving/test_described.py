"""The server takes what /openapi.json says, and nothing else. bench/fuzz.py tries it at length."""

import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import strategies as st

import knowbase
from servers import Served, serving

PATHS = ("search", "list", "notes", "expire", "session/start", "saved/run", "inbox", "kb_search")
REFUSED = (400, 404, 409, 413, 415, 422)  # 413: too many of a text that happens to be long
SHARED: dict[str, Any] = {"mode": "keyword", "delete": False}  # fast, and nothing is removed
STATE = ("session", "session_filter", "under", "children", "parent", "replace", "supersede")
"""What they name must be there: no description can tell what is."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("described")
    with knowbase.create(str(folder)) as base:
        base.saved.add("mine", "engine")
    with serving(folder) as running:
        yield running


def body_schema(server: Served, path: str) -> dict[str, Any]:
    told = server.client.get("/openapi.json").json()["paths"][f"/api/{path}"]["post"]
    found: dict[str, Any] = told["requestBody"]["content"]["application/json"]["schema"]
    return found


def kind_of(schema: dict[str, Any]) -> str:
    kind = schema["type"]
    return str(kind[0] if isinstance(kind, list) else kind)


def texts_of(pattern: str) -> list[str]:
    """Some texts that a pattern allows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        letters = st.characters(min_codepoint=32, max_codepoint=0x24F)
        return [st.from_regex(pattern, alphabet=letters).example() for _ in range(3)]


def fitting(schema: dict[str, Any]) -> list[Any]:
    """Values that a schema allows, those at its bounds among them."""
    kind = kind_of(schema)
    if "enum" in schema:
        return [*schema["enum"][:2], *schema["enum"][-1:]]
    if kind == "array":
        inner = schema["items"]
        some = {"text": "A text."} if inner["type"] == "object" else fitting(inner)[0]
        return [[some], [some, some]]
    if kind in ("integer", "number"):
        return [schema.get("minimum", 0), schema.get("maximum", 1)]
    if kind == "boolean":
        return [False, True]
    texts = texts_of(schema["pattern"]) if "pattern" in schema else ["x", "Ω 'quoted' \\ text"]
    return [one[: schema.get("maxLength", 10_000)] for one in texts]


def unfit(schema: dict[str, Any]) -> list[Any]:
    """Values that it does not allow."""
    kind = kind_of(schema)
    wrong: list[Any] = [{"an": "object"}, 3.5 if kind != "number" else "3.5"]
    if "null" not in schema["type"]:
        wrong.append(None)
    if "enum" in schema:
        wrong.append("none of these")
    if kind == "array":
        wrong += ["text", [5], [None], *([[]] if schema.get("minItems") else [])]
        wrong.append([fitting(schema)[0][0]] * (schema.get("maxItems", 1000) + 1))
    if kind == "integer":
        wrong += [schema["minimum"] - 1, schema["maximum"] + 1, "5", True]
    if "pattern" in schema:
        texts = ("", "\u00a7", "\x1e ")
        wrong += [one for one in texts if re.search(schema["pattern"], one) is None]
    if "maxLength" in schema:
        wrong.append("x" * (schema["maxLength"] + 1))
    return wrong


@pytest.mark.parametrize("path", PATHS)
def test_each_value_is_taken_or_refused_as_it_is_described(server: Served, path: str) -> None:
    schema = body_schema(server, path)
    properties = schema["properties"]
    start = {name: value for name, value in SHARED.items() if name in properties}
    start |= {name: fitting(properties[name])[0] for name in schema["required"]}
    start |= {"name": "mine"} if path == "saved/run" else {}
    start |= {"query": "engine"} if path == "kb_search" else {}  # a word in every syntax
    for name, one in properties.items():
        for value in fitting(one) if name not in (*STATE, *SHARED) else ():
            status = server.client.post(f"/api/{path}", json={**start, name: value}).status_code
            assert status in (200, 404, 409), (name, value, status)
        for value in unfit(one):
            status = server.client.post(f"/api/{path}", json={**start, name: value}).status_code
            assert status in REFUSED, (name, value, status)
        if "null" in one["type"]:
            answer = server.client.post(f"/api/{path}", json={**start, name: None})
            assert answer.status_code == 200, (name, answer.text)
    assert server.client.post(f"/api/{path}", json={**start, "colour": 1}).status_code == 422
    for name in schema["required"]:
        less = {key: value for key, value in start.items() if key != name}
        assert server.client.post(f"/api/{path}", json=less).status_code == 422, name


def test_in_a_list_of_notes_too_no_text_stands_for_a_list(server: Served) -> None:
    for wrong in ({"roles": "dev"}, {"tags": "ops"}, {"confidence": "0.5"}):
        answer = server.post("notes", notes=[{"text": "A text."}, {"text": "Another.", **wrong}])
        assert answer.status_code == 422, wrong
        assert answer.json()["error"]["field"] == next(iter(wrong))


def test_a_whole_number_may_have_a_point(server: Served) -> None:
    for whole in (7.0, 7):
        answer = server.post("search", query="engine", mode="keyword", top=whole)
        assert answer.json()["filters"]["top"] == 7
    assert server.client.get("/api/list?limit=7.0").status_code == 200
    for wrong in ("7.5", "1e3", "1_000", "７", ".0", "0x7"):
        assert server.client.get(f"/api/list?limit={wrong}").status_code == 422, wrong
