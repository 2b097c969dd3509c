"""The full JSON answers of several hundred searches, on both engines: to show that a change
changes none of them.

python bench/answers.py record before.jsonl     # with the old source
python bench/answers.py compare before.jsonl    # with the new one: every answer, to the bit

The clock stands still and ids are written as codes, so that two runs give the same text.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import knowbase
from knowbase.base import Base
from knowbase.operations import load
from knowbase.operations.results import plain
from knowbase.values.parameters import build

ROOT = Path(__file__).resolve().parent.parent

HANDBOOK = ROOT / "tests" / "fixtures" / "handbook"
NOW = 1_800_000_000.0
MTIME = 1_790_000_000
PROFILES = ("best", "kb", "typed", "memory", "work", "entries")
MODES = ("hybrid", "keyword", "semantic")
QUERIES = (
    "how do I restore a backup", "money back for a train ticket", "getUserName", "東京 出張",
    "deploy friday", "JWT tokens", "regattta", "review number 2",
)  # fmt: skip
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"tags": ["ops"]},
    {"tags": ["ops", "policy"], "tags_match": "any"},
    {"type": ["markdown"], "include": ["superseded", "archived", "expired"]},
    {"under": "HB-I-0018"},
    {"role": "qa"},
    {"confidence": ">=0.5"},
    {"project": "web", "unit": "document"},
)
LANGUAGE = (
    "deploy -rollback", '"numbered SQL script"', "migrat*", "backup AND restore", "jwt OR oauth",
    "(backup OR certificate) AND renew", "like:HB-T-0021", 'similar:"money back"', "METIS-I-0018",
    "session:s1", "children:HB-I-0018", "is:superseded", "tag:ops NOT tag:production", "C++",
    "1.0.21", "", "under:nobody", "created:>2020 type:code", "related:HB-T-0021 depth:2",
    "review related:M-1", "weights:0.5,0.3,0.2 backup", "sector:episodic", "tier:nothing x",
    "updated:<2030 salience:>0.4 review", "tag:nobody backup", "+backup restore", 'a "broken',
)  # fmt: skip
EVERY_FILTER: tuple[dict[str, Any], ...] = (
    {"sector": "episodic"}, {"scope": "project"}, {"tier": "project"}, {"children": "HB-I-0018"},
    {"after": "2020-01-01"}, {"before": "2026-12-31"}, {"created": ">2026"}, {"updated": "<2030"},
    {"salience": ">0.4"}, {"min_salience": 0.5}, {"session_filter": "s1"}, {"threshold": 0.5},
    {"tier": "x"}, {"type": ["x"]}, {"top": 0}, {"under": "x"}, {"mode": "x"}, {"session": "x"},
)  # fmt: skip
OTHERS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("query", {"query": query}) for query in LANGUAGE if query),
    *(("why-not", {"reference": r, "query": q}) for r in ("M-0", "M-2", "HB-P-0040")
      for q in ("backup restore", "review number", "zeppelin")),
    ("why-not", {"reference": "HB-P-0040", "query": "money", "tags": ["nobody"]}),
    ("get", {"reference": "HB-T-0021:freeze"}), ("get", {"reference": "M-0"}),
    ("list", {"limit": 100}), ("list", {"tags": ["ops"]}), ("tags", {}), ("brief", {}),
    ("brief", {"project": "web"}), ("timeline", {"anchor": "M-1"}),
    ("context", {"reference": "M-1"}), ("links", {"reference": "HB-T-0021"}),
    ("related", {"reference": "HB-T-0021"}), ("sessions", {}), ("expire", {}), ("profiles", {}),
    ("path", {"source": "HB-T-0021", "target": "HB-T-0022"}),
)  # fmt: skip
ID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
UNSTABLE = ("query_time_ms", "timings", "base", "size_bytes")


def questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every question: the name of an operation and what it is given."""
    for profile, mode, query in product(PROFILES, MODES, QUERIES):
        yield "search", {"query": query, "profile": profile, "mode": mode, "explain": True}
    for profile, query, more in product(PROFILES, QUERIES[::3], FILTERS):
        yield "search", {"query": query, "profile": profile, **more}
    for query, mode in product(LANGUAGE, ("hybrid", "keyword")):
        yield "search", {"query": query, "mode": mode, "top": 5}
    for query, more in product((*QUERIES[:2], ""), EVERY_FILTER):
        yield "search", {"query": query, **more}
    yield from OTHERS


def filled_base(place: str, folder: Path) -> Base:
    """The handbook and some memories."""
    base = Base(knowbase.create(place).path, clock=lambda: NOW)
    base.home = str(folder)
    base.add([str(folder)])
    for number, sector in enumerate(("reflective", "episodic", "procedural")):
        values = {
            "text": f"Deploys of the web shop need review number {number}", "project": "web",
            "sector": sector, "session": "s1", "code": f"M-{number}", "tier": "project",
            "confidence": 0.2 + number / 3,
        }  # fmt: skip
        run(base, "remember", values)
    run(base, "supersede", {"old": "M-0", "new": "M-1"})
    run(base, "feedback", {"hit": "M-2", "verdict": "good"})
    run(base, "relate", {"source": "M-1", "target": "M-2"})
    return base


def run(base: Base, name: str, values: dict[str, Any]) -> Any:
    operation = load(name)
    return plain(operation.run(base, build(operation.request, values)))


def stable(value: Any) -> Any:
    """The answer without times and places."""
    if isinstance(value, dict):
        return {name: stable(part) for name, part in value.items() if name not in UNSTABLE}
    return [stable(one) for one in value] if isinstance(value, list) else value


def answers(place: str, folder: Path) -> Iterator[str]:
    base = filled_base(place, folder)
    everything = {"limit": 1000, "include": ["superseded", "archived", "expired"]}
    codes = {one["id"]: one["code"] for one in run(base, "list", everything)["documents"]}
    for name, values in questions():
        try:
            answer = stable(run(base, name, values))
        except knowbase.KnowbaseError as error:
            answer = {"error": error.as_dict()}
        text = json.dumps([name, values, answer], ensure_ascii=False, sort_keys=True)
        yield ID.sub(lambda found: codes.get(found[0], found[0]), text)
    base.close()


def all_answers() -> list[str]:
    sys.path.insert(0, str(ROOT / "tests"))
    import postgres

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "handbook"
        shutil.copytree(HANDBOOK, folder)
        for number, path in enumerate(sorted(folder.rglob("*"))):
            os.utime(path, (MTIME + number, MTIME + number))
        places = {"sqlite": str(folder), "postgres": postgres.new_base()}
        found = [(engine, line) for engine, at in places.items() for line in answers(at, folder)]
        postgres.stop()
        return [f"{engine} {line}" for engine, line in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    found = all_answers()
    if arguments.what == "record":
        arguments.file.write_text("\n".join(found) + "\n", encoding="utf-8")
        print(f"{len(found)} answers recorded")
        return 0
    expected = arguments.file.read_text(encoding="utf-8").splitlines()
    differing = [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]]
    for old, new in differing[:5]:
        at = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
        start = max(0, at - 200)
        print(
            f"{old[:150]}\n  before …{old[start : at + 100]}\n  now    …{new[start : at + 100]}\n"
        )
    print(f"{len(found) - len(differing)} of {len(found)} answers are the same to the bit")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
