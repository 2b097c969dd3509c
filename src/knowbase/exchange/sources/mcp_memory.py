"""The file of the MCP memory server: a line for each entity and each relation."""

import codecs
import json
import os
from collections.abc import Iterator
from typing import Any

from knowbase.errors import ReadError
from knowbase.exchange.sources.entities import Relation, entity
from knowbase.exchange.sources.opening import (
    check_there,
    moment,
    reading_files,
    text_in,
)
from knowbase.ingest.foreign import Foreign, Left

MOST = 256 << 20  # bytes: relations may stand behind all entities, so all of it is kept


def items(path: str) -> Iterator[Foreign | Left]:
    check_there(path)
    if os.path.isdir(path) or os.path.getsize(path) > MOST:
        raise ReadError(
            f"it is not a file of at most {MOST >> 20} MB", hint="memory.jsonl of the memory server"
        )
    entities: dict[str, dict[str, Any]] = {}
    relations: dict[str, list[Relation]] = {}
    senseless: list[str] = []
    for place, line in _lines(path):
        kind, name = line.get("type"), text_in(line.get("name"))
        source, target = _either(line, "from", "from_entity"), _either(line, "to", "to_entity")
        if kind in ("relation", None) and source and target:
            found = Relation(text_in(line.get("relationType")), target, _key(target))
            relations.setdefault(source, []).append(found)
        elif kind in ("entity", None) and name:
            known = entities.setdefault(name, line)
            if known is not line:
                known["observations"] = [*_observations(known), *_observations(line)]
        else:
            senseless.append(place)
    if not entities and not relations:
        raise ReadError("there are no entities in it", hint="memory.jsonl of the memory server")
    if senseless:
        yield _left(senseless)
    for name in relations:
        entities.setdefault(name, {})
    for name, line in entities.items():
        kind = text_in(line.get("entityType"))
        updated = moment(line.get("updatedAt")) or moment(line.get("createdAt"))
        created = moment(line.get("createdAt")) or updated
        stated = {
            "tags": (kind,) if kind else (),
            "metadata": {"entity_type": kind} if kind else {},
            **({"created_at": created, "updated_at": updated} if created else {}),
        }
        said = tuple(dict.fromkeys(_observations(line)))
        yield entity(_key(name), name, said, relations.get(name, ()), stated)


def _either(line: dict[str, Any], *names: str) -> str:
    """What the first of the names says that is there: others have changed the server's own."""
    return next(filter(None, (text_in(line.get(name)) for name in names)), "")


def _observations(line: dict[str, Any]) -> list[str]:
    said = line.get("observations")
    return [one for one in said if isinstance(one, str)] if isinstance(said, list) else []


def _left(places: list[str]) -> Left:
    more = len(places) - 1
    others = f", nor {'are' if more > 1 else 'is'} {more} more" if more else ""
    return Left(places[0], f"it is neither an entity nor a relation{others}")


def _lines(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of a file of lines, or of a whole graph in one object, as `read_graph` answers: each with
    where it stands. What is not an object is an empty one."""
    with reading_files(path), open(path, "rb") as file:
        data = file.read().removeprefix(codecs.BOM_UTF8)
    whole = _parsed(data)
    if isinstance(whole, dict):
        yield from _of_graph(whole)
    elif isinstance(whole, list):
        for number, one in enumerate(whole, 1):
            yield f"entry {number}", one if isinstance(one, dict) else {}
    else:
        for number, raw in enumerate(data.splitlines(), 1):
            found = _parsed(raw)
            if raw.strip():
                yield f"line {number}", found if isinstance(found, dict) else {}


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _of_graph(graph: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if "type" in graph:
        yield "line 1", graph
    for kind, name in (("entity", "entities"), ("relation", "relations")):
        listed = graph.get(name)
        for number, one in enumerate(listed if isinstance(listed, list) else (), 1):
            yield f"{kind} {number}", {**one, "type": kind} if isinstance(one, dict) else {}


def _key(name: str) -> str:
    return f"mcp-memory:{name}"
