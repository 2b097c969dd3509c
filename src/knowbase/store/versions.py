"""Versions as values: what they are stored as, what they say, and how two of them differ."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from knowbase.store.rows import damaged, from_json
from knowbase.store.seals import OF_USE, SIZE
from knowbase.values.copies import ChunkCopy, Copy
from knowbase.values.documents import EDITABLE, Chunk, Document
from knowbase.values.edges import Relation
from knowbase.values.findings import DAMAGE, PROBLEM, Finding
from knowbase.values.history import (
    BEFORE,
    Change,
    Kept,
    PastChunk,
    PastVersion,
    Touched,
    Version,
    packed,
)
from knowbase.values.reading import Link

NO_CHANGE = ("updated_at", "split_by", *OF_USE)
"""What may differ between two versions that are one."""
_TEXTS = ("tags", "roles")
_UNTOLD = ("id", "seq", "content_hash")


def unpacked(data: str) -> Kept:
    """A version as it was packed; its chunks are elsewhere. A field that came later has its
    default."""
    try:
        values = from_json(data, dict)
        known = {name: one for name, one in values["document"].items() if name in Document._fields}
        known |= {name: tuple(known[name]) for name in _TEXTS}
        copy = Copy(
            Document(**known),
            values["said"],
            tuple(Link(*one) for one in values["links"]),
            (),
            (),
        )
        return Kept(copy, tuple(Relation(*one) for one in values["relations"]))
    except (KeyError, TypeError) as error:
        raise damaged("a version cannot be read") from error


def relocated(data: str, place: Callable[[Copy], Copy]) -> str:
    """The same version of a base that lies elsewhere."""
    kept = unpacked(data)
    return packed(kept._replace(copy=place(kept.copy)))


def version_of(past: PastVersion) -> Version:
    document = unpacked(past.data).document if past.data is not None else None
    return Version(past.id, past.since, past.until, document)


def as_it_was(
    version: PastVersion,
    after: Iterable[PastVersion],
    chunks: Iterable[PastChunk],
    current: Copy | None,
) -> Kept | None:
    """A version with its text: from what was replaced since, and what is there unchanged.

    `after` are the later versions in order, `chunks` what chunks said until later changes.
    """
    if version.data is None:
        return None
    kept = unpacked(version.data)
    said: dict[int, PastChunk] = {}
    for one in sorted(chunks, key=lambda chunk: -chunk.until):
        if one.until >= version.until:
            said[one.chunk] = one  # the first that was replaced is what it said then
    there = {one.id: one for one in current.chunks} if current is not None else {}
    places = next((one.places for one in (version, *after) if one.places is not None), None)
    standing: list[Any] = (
        from_json(places, list)
        if places is not None
        else [(one.id, one.chunk.line, one.chunk.page) for one in there.values()]
    )
    found = [
        _chunk(number, position, (line, page), said.get(number), there.get(number))
        for position, (number, line, page) in enumerate(standing)
    ]
    return kept._replace(copy=kept.copy._replace(chunks=tuple(found)))


def _chunk(
    number: int,
    position: int,
    place: tuple[int, int | None],
    past: PastChunk | None,
    there: ChunkCopy | None,
) -> ChunkCopy:
    line, page = place
    if past is None:
        if there is None:
            raise damaged("a version lacks a part of its text")
        return there._replace(position=position, chunk=there.chunk._replace(line=line, page=page))
    chunk = Chunk(
        past.slug, past.chunk_index, past.heading, past.header, past.text, past.overlap,
        line, page, past.tokens, past.hash,
    )  # fmt: skip
    return ChunkCopy(number, position, chunk, past.title, past.terms, past.vectors)


def text_key(heading: str | None, header: str, text: str) -> bytes:
    """The same for the same text, wherever it stood."""
    from hashlib import blake2b

    return blake2b(
        repr((heading, header, text)).encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()


def from_the_start(next_seq: int, next_chunk: int) -> Change:
    """What stands before all changes where no history is known: what is there, was."""
    from datetime import UTC, datetime

    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") if next_seq > 1 else ""
    return BEFORE._replace(at=at, next_seq=next_seq, next_chunk=next_chunk)


def number_before(later: int | None, last: int, before: Change) -> int | None:
    """The number at a moment, when the first change after it has this one; None when there was
    no base yet."""
    number = last if later is None else later - 1
    return None if number < 0 or (number == 0 and before.next_seq == 1) else number


def version_seal(data: str | None, places: str | None) -> bytes:
    """Beside a version: what no longer fits was damaged. A text has its key for that."""
    from hashlib import blake2b

    return blake2b(repr((data, places)).encode("utf-8", "surrogatepass"), digest_size=SIZE).digest()


def touched_json(change: Change) -> str:
    return json.dumps(change.touched, ensure_ascii=False)


def touched_of(text: str) -> tuple[Touched, ...]:
    try:
        return tuple(Touched(*one) for one in from_json(text, list))
    except TypeError as error:
        raise damaged("what a change touched cannot be read") from error


def told(leftovers: int, changed: int) -> Iterator[Finding]:
    """What a check says of a history."""
    if leftovers:
        what = f"texts of versions that are not there, or without their text: {leftovers}"
        yield Finding("history", PROBLEM, what, "kb history prune --keep off")
    if changed:
        what = f"versions and their texts that are not what was written: {changed}"
        yield Finding("history", DAMAGE, what, "kb history prune --keep off")


def differing_fields(old: Kept, new: Kept) -> tuple[str, ...]:
    """The names of what two versions do not agree on, their text apart."""
    found = [
        name
        for name in Document._fields
        if name not in NO_CHANGE
        and name not in _UNTOLD
        and getattr(old.document, name) != getattr(new.document, name)
    ]
    return (*found, *(("relations",) if old.relations != new.relations else ()))


def value_of(kept: Kept, name: str) -> object:
    """Of a field that differs."""
    if name == "relations":
        return tuple(f"{one.relation} {one.target}" for one in kept.relations)
    value = getattr(kept.document, name)
    return dict(value) if name == "metadata" else value


def same_text(old: Kept, new: Kept) -> bool:
    """Whether at most what commands say, and relations, are not the same."""
    said: dict[str, Any] = dict.fromkeys((*NO_CHANGE, *EDITABLE), "")
    before, after = ((one.document._replace(**said), one.copy.links) for one in (old, new))
    return before == after and standing(old.copy) == standing(new.copy)


def standing(copy: Copy) -> list[object]:
    """Where each chunk is, and what it says; positions may have gaps."""
    return [(one.id, one.chunk._replace(tokens=0)) for one in copy.chunks]
