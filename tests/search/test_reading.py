"""A search can be read from top to bottom: what lies between the operation and the SQL is short."""

import inspect
import shutil
import sys
from pathlib import Path
from types import CodeType, FrameType

import knowbase
from knowbase.operations import load
from knowbase.values.parameters import build

HANDBOOK = Path(__file__).parents[1] / "fixtures" / "handbook"
MOST_LINES = 300


def test_from_the_operation_to_the_sql_there_are_at_most_300_lines(tmp_path: Path) -> None:
    """Counted while a hybrid search with a filter runs: each function that is under way when the
    legs read from the database, and each that says what the request means."""
    shutil.copytree(HANDBOOK, tmp_path / "handbook")
    operation = load("search")
    request = build(operation.request, {"query": "restore a backup", "tags": ["ops"]})
    read: set[CodeType] = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        place = frame.f_code.co_filename
        if place.endswith("/search/understand.py"):
            read.add(frame.f_code)
        if frame.f_code.co_name == "_read" and place.endswith("/sqlite/connection.py"):
            stack = _knowbase_functions(frame)
            if any(code.co_name == "retrieve" for code in stack):
                read.update(stack)

    with knowbase.create(str(tmp_path / "handbook")) as base:
        base.add([str(tmp_path / "handbook")])
        sys.setprofile(watch)
        try:
            answer = operation.run(base, request)
        finally:
            sys.setprofile(None)
    assert answer.search_modes_used == ("keyword", "semantic")
    names = {code.co_qualname for code in read}
    assert {"search", "Finding.search", "understand", "SqliteRetrieval.keyword"} <= names
    lines = {code: len(inspect.getsourcelines(code)[0]) for code in read if not _is_inner(code)}
    assert sum(lines.values()) <= MOST_LINES, sorted((n, c.co_name) for c, n in lines.items())


def _knowbase_functions(frame: FrameType | None) -> list[CodeType]:
    found = []
    while frame is not None:
        if "/knowbase/" in frame.f_code.co_filename:
            found.append(frame.f_code)
        frame = frame.f_back
    return found


def _is_inner(code: CodeType) -> bool:
    """Whether it is a part of another function, whose lines count already."""
    return "<" in code.co_qualname
