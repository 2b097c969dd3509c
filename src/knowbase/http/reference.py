"""/docs: the description of the API as one page of HTML, without a script or a foreign host."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.4 ui-monospace,monospace}
pre{overflow-x:auto;padding:.5rem;border:1px solid #8884;border-radius:4px}
details{border:1px solid #8884;border-radius:4px;margin:.5rem 0;padding:.5rem 1rem}
summary{cursor:pointer}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;border-top:1px solid #8884}
td{overflow-wrap:anywhere}
.method{display:inline-block;min-width:3.5rem;font-weight:600}
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
"""Nothing but this one style: whatever a text says, nothing of it is run or fetched."""


def page(described: Mapping[str, Any]) -> str:
    """The page of a description."""
    info = described["info"]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{escape(info['title'])} API</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
        f"<p>{escape(info['description'])}</p>",
        '<p>For programs: <a href="openapi.json">openapi.json</a>.</p>',
        *_operations(described),
        "<h2>Errors</h2>",
        *_statuses(described),
        "</body></html>",
    ]
    return "\n".join(parts)


def _operations(described: Mapping[str, Any]) -> Iterable[str]:
    """Every method of every path, under the tag that it has."""
    by_tag: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            by_tag.setdefault(told["tags"][0], []).append(_operation(path, method, told))
    for tag, shown in by_tag.items():
        yield f"<h2>{escape(tag.capitalize())}</h2>"
        yield from shown


def _operation(path: str, method: str, told: Mapping[str, Any]) -> str:
    head = (
        f'<summary><span class="method">{escape(method.upper())}</span>'
        f" <code>{escape(path)}</code> {escape(told['summary'])}</summary>"
    )
    answer = told["responses"]["200"]["content"]
    parts = [head, *_parameters(told), *(_answer(kind, one) for kind, one in answer.items())]
    return f'<details id="{escape(told["operationId"])}">{"".join(parts)}</details>'


def _parameters(told: Mapping[str, Any]) -> Iterable[str]:
    fields = [
        (one["name"], one["required"], one["schema"], one["description"])
        for one in told.get("parameters", ())
    ]
    body = told.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = body.get("schema", {"properties": {}, "required": []})
    for name, one in schema["properties"].items():
        fields.append((name, name in schema["required"], one, one["description"]))
    if not fields:
        return
    yield "<table><tr><th>name</th><th>what it is</th><th>what it may be</th></tr>"
    for name, is_needed, one, text in fields:
        needed = " (needed)" if is_needed else ""
        yield (
            f"<tr><td><code>{escape(name)}</code>{needed}</td><td>{escape(text)}</td>"
            f"<td><code>{escape(_bounds(one))}</code></td></tr>"
        )
    yield "</table>"


def _bounds(schema: Mapping[str, Any]) -> str:
    return json.dumps(
        {name: value for name, value in schema.items() if name != "description"},
        ensure_ascii=False,
    )


def _answer(kind: str, told: Mapping[str, Any]) -> str:
    shown = json.dumps(told["schema"], indent=1, ensure_ascii=False)
    return f"<details><summary>answer: {escape(kind)}</summary><pre>{escape(shown)}</pre></details>"


def _statuses(described: Mapping[str, Any]) -> Iterable[str]:
    listed = described["components"]["responses"]["Error"]["description"].split("; ")
    yield "<table>"
    for one in listed:
        status, _, text = one.partition(": ")
        yield f"<tr><td>{escape(status)}</td><td>{escape(text)}</td></tr>"
    yield "</table>"
    schemas = described["components"]["schemas"]
    for name in ("Error", "ProblemDetails"):
        shown = json.dumps(schemas[name], indent=1, ensure_ascii=False)
        yield f"<details><summary>{name}</summary><pre>{escape(shown)}</pre></details>"
    yield "<h2>Objects</h2>"
    for name, schema in schemas.items():
        shown = json.dumps(schema, indent=1, ensure_ascii=False)
        yield (
            f'<details id="schema-{escape(name)}"><summary>{escape(name)}</summary>'
            f"<pre>{escape(shown)}</pre></details>"
        )
