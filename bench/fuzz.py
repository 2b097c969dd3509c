"""Whether the server takes what /openapi.json says, and nothing else: Schemathesis against a
running `kb serve`.

    pip install schemathesis
    python3 bench/fuzz.py                  # 25 cases for each operation, and those of its limits
    python3 bench/fuzz.py --cases 200 --seed 7 --only 'inbox|verdict'

Ends with 1 when a valid request was refused, an invalid one taken, an answer was not as described,
or the server failed. A small check of the same is in tests/serving/test_described.py.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers import Served, serving, two_projects

CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_schema_conformance", "negative_data_rejection", "positive_data_acceptance",
    "unsupported_method",
)  # fmt: skip
NOT_ASKED = "metrics|graph/query|api/events|task/start"
"""Text for Prometheus; a language of its own; a stream; what takes paths for one task alone."""
OF_THE_SERVER = "api/(token|config|task)"
"""What changes the server itself: with a token made, nobody gets further without one."""
THERE = {
    "reference": ["AP-1", "AP-2", "ZE-3"], "references": ["AP-6", "ZE-6"], "source": ["AP-1"],
    "target": ["AP-2"], "old": ["AP-7"], "new": ["ZE-7"], "anchor": ["AP-3"],
    "hit": ["AP-3"], "key": ["search.calibrate_after"], "value": ["5"],
    "verdict": ["accept", "later", "undo"],
}  # fmt: skip
"""What the base has: made up names lead no further than to "not found". What a setting takes
depends on its key, and two verdicts need another document: no pattern says so."""
NOT_MADE = "code"
"""Of its pattern, which is about what can be seen, texts are made for minutes: see
tests/serving/test_described.py."""
SETTINGS = """
[checks]
negative_data_rejection.expected-statuses = [
    400, 401, 403, 404, 405, 406, 409, 411, 413, 415, 422, 428, 429,
]
positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 413]
"""
"""What is too long is refused for that; to ask for what is not there is not wrong in form."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a pattern of paths")
    given = parser.parse_args()
    command = shutil.which("schemathesis", path=f"{Path(sys.executable).parent}") or shutil.which(
        "schemathesis"
    )
    if command is None:
        print("schemathesis is not installed: pip install schemathesis", file=sys.stderr)
        return 2
    apart = OF_THE_SERVER.replace("(", "(?:")
    rounds = [given.only] if given.only else ["^(?!/" + apart + ")", "/" + apart]
    return max([_round(command, given.cases, given.seed, paths) for paths in rounds])


def _round(command: str, cases: int, seed: int, paths: str) -> int:
    """Against a server and a base of its own."""
    with tempfile.TemporaryDirectory() as folder:
        base = two_projects(Path(folder) / "base")
        settings = Path(folder) / "schemathesis.toml"
        settings.write_text(SETTINGS)
        with serving(base) as server:
            arguments = [
                "--config-file", str(settings),
                "run", str(_described(server, Path(folder))), "--url", server.address,
                "--checks", ",".join(CHECKS),
                "--phases", "examples,coverage,fuzzing",
                "--max-examples", str(cases),
                "--seed", str(seed),
                "--exclude-path-regex", NOT_ASKED,
                "--include-path-regex", paths,
                "--continue-on-failure",
            ]  # fmt: skip
            return subprocess.run([command, *arguments], check=False, cwd=folder).returncode


def _described(server: Served, folder: Path) -> Path:
    """The server's description, with names of what is there as examples of names."""
    told = server.client.get("/openapi.json").json()
    for methods in told["paths"].values():
        for method in methods.values():
            for one in method.get("parameters", ()):
                one["schema"] = _with_names(one["name"], one["schema"])
            content = method.get("requestBody", {}).get("content", {})
            for media in content.values():
                fields = media["schema"]["properties"]
                fields.pop(NOT_MADE, None)
                for name in list(fields):
                    fields[name] = _with_names(name, fields[name])
    path = folder / "openapi.json"
    path.write_text(json.dumps(told))
    return path


def _with_names(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    items = schema.get("items", {})
    if "properties" in items:
        fields = {one: told for one, told in items["properties"].items() if one != NOT_MADE}
        inner = {one: _with_names(one, told) for one, told in fields.items()}
        return {**schema, "items": {**items, "properties": inner}}
    if name not in THERE:
        return schema
    if "enum" in schema and not set(schema["enum"]) & set(THERE[name]):
        return schema  # another thing of the same name
    if schema["type"] == "array":
        return {**schema, "items": {**items, "enum": THERE[name]}}
    plain = {key: told for key, told in schema.items() if key != "pattern"}
    return {**plain, "enum": [*THERE[name], *[None] * ("null" in schema["type"])]}


if __name__ == "__main__":
    sys.exit(main())
