"""What mem0 answers to `get_all`, or writes as an export: memories, and relations of its graph."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from knowbase.errors import ReadError
from knowbase.exchange.sources.conversation import line_of
from knowbase.exchange.sources.entities import Relation, entity
from knowbase.exchange.sources.opening import (
    check_there,
    elements,
    moment,
    objects_in,
    pieces_of,
    text_in,
)
from knowbase.ingest.foreign import Foreign, Left, plain_reading

WHAT = "mem0 export"
_LISTS = ("results", "memories")
_TEXTS = ("memory", "data", "text")
_OWN = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "role", "hash")


def items(path: str) -> Iterator[Foreign | Left]:
    check_there(path)
    found = False
    relations: list[dict[str, Any]] = []
    for entry in elements(pieces_of(path), WHAT):
        if not isinstance(entry, dict):
            told = Left("an entry", "it is not a memory of mem0")
            yield entry if isinstance(entry, Left) else told
            continue
        lists = [name for name in _LISTS if isinstance(entry.get(name), list)]
        held = objects_in(entry[lists[0]]) if lists else [entry]
        relations += objects_in(entry.get("relations"))
        found = found or bool(lists) or bool(text_in(entry.get("memory")))
        for one in held:
            yield _memory(one)
    if not found:
        raise ReadError("there are no memories in it", hint="the JSON that get_all() gives")
    yield from _entities(relations)


def _memory(entry: Mapping[str, Any]) -> Foreign | Left:
    text = next(filter(None, (text_in(entry.get(name)) for name in _TEXTS)), "")
    said = f"{entry.get('user_id')} {text}"  # an export by a schema of one's own has no ids
    identity = text_in(entry.get("id")) or hashlib.sha256(said.encode()).hexdigest()[:32]
    title = line_of(text, "Untitled")[:80]
    if not text:
        given_id = text_in(entry.get("id"))
        name = f"entry {given_id}" if given_id else "an entry"
        if any(one in entry for one in _TEXTS):
            return Left(name, "it has no text", wrong=False)
        return Left(name, "it is not a memory of mem0")
    given = entry.get("metadata")
    own = {name: entry[name] for name in _OWN if isinstance(entry.get(name), str)}
    metadata = {**(given if isinstance(given, dict) else {}), **own}
    author = own.get("actor_id") or own.get("user_id") or own.get("agent_id")
    categories = entry.get("categories")
    created = moment(entry.get("created_at"))
    stated = {
        "created_at": created,
        "updated_at": moment(entry.get("updated_at")) or created,
        "expires_at": moment(entry.get("expiration_date")),
        "tags": tuple(one for one in categories or () if isinstance(one, str))
        if isinstance(categories, list)
        else (),
        "metadata": {**metadata, **({"author": author} if author else {})},
    }
    reading = plain_reading("fact", title, text)
    return Foreign(f"mem0:{identity}", "fact", title, text, stated, reading)


def _entities(relations: list[dict[str, Any]]) -> Iterator[Foreign]:
    """The graph has names alone: each is a document, with what leads from it."""
    leading: dict[str, list[Relation]] = {}
    for one in relations:
        source = text_in(one.get("source"))
        target = text_in(one.get("target")) or text_in(one.get("destination"))
        kind = text_in(one.get("relationship")) or text_in(one.get("relation"))
        if source and target:
            leading.setdefault(target, [])
            found = Relation(kind, target, f"mem0:entity:{target}")
            leading.setdefault(source, []).append(found)
    for name, known in leading.items():
        yield entity(f"mem0:entity:{name}", name, (), tuple(dict.fromkeys(known)), {})
