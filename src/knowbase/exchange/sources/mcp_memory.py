"""The file of the MCP memory server: a line for each entity and each relation."""

import os
from collections.abc import Iterator
from typing import Any

from knowbase.errors import ReadError
from knowbase.exchange.sources.entities import Relation, entity
from knowbase.exchange.sources.opening import (
    check_there,
    elements,
    json_lines,
    objects_in,
    pieces_of,
    text_in,
)
from knowbase.ingest.foreign import Foreign, Left

WHAT = "file of the memory server"
MOST = 256 << 20  # bytes: relations may stand behind all entities, so all of it is kept


def items(path: str) -> Iterator[Foreign | Left]:
    check_there(path)
    if os.path.isdir(path) or os.path.getsize(path) > MOST:
        raise ReadError(
            f"it is not a file of at most {MOST >> 20} MB", hint="memory.jsonl of the memory server"
        )
    entities: dict[str, dict[str, Any]] = {}
    relations: dict[str, list[Relation]] = {}
    for line in _lines(path):
        if line.get("type") == "entity" and text_in(line.get("name")):
            entities.setdefault(text_in(line["name"]), line)
        elif line.get("type") == "relation":
            source, target = text_in(line.get("from")), text_in(line.get("to"))
            if source and target:
                found = Relation(text_in(line.get("relationType")), target, _key(target))
                relations.setdefault(source, []).append(found)
    if not entities and not relations:
        raise ReadError("there are no entities in it", hint="memory.jsonl of the memory server")
    for name in relations:
        entities.setdefault(name, {})
    for name, line in entities.items():
        kind = text_in(line.get("entityType"))
        said = line.get("observations")
        observations = (
            [one for one in said if isinstance(one, str)] if isinstance(said, list) else []
        )
        stated = {
            "tags": (kind,) if kind else (),
            "metadata": {"entity_type": kind} if kind else {},
        }
        yield entity(_key(name), name, observations, relations.get(name, ()), stated)


def _lines(path: str) -> Iterator[dict[str, Any]]:
    """Of a file of lines, or of a whole graph in one object, as `read_graph` answers."""
    found = False
    for line in json_lines(path):
        if isinstance(line, dict):
            found = True
            yield from _of_graph(line)
    if not found:
        for entry in elements(pieces_of(path), WHAT):
            yield from _of_graph(entry) if isinstance(entry, dict) else ()


def _of_graph(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "type" in line or not isinstance(line.get("entities"), list):
        yield line
        return
    for one in objects_in(line["entities"]):
        yield {**one, "type": "entity"}
    for one in objects_in(line.get("relations")):
        yield {**one, "type": "relation"}


def _key(name: str) -> str:
    return f"mcp-memory:{name}"
