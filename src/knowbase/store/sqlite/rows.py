"""Rows as values: which columns are read, and what they become."""

from collections.abc import Sequence
from typing import Any

from knowbase.values.documents import Chunk, Document, Passage
from knowbase.values.files import FileRecord

DOCUMENT = (
    "d.id, d.seq, d.code, d.title, d.type,"
    " (SELECT group_concat(name, char(31)) FROM"
    " (SELECT name FROM tags WHERE document = d.seq ORDER BY name)),"
    " d.path, d.created_at, d.updated_at, d.parent, d.project, d.roles, d.confidence,"
    " d.archived, d.expires_at, d.superseded_by, d.valid_until, d.scope, d.sector, d.tier,"
    " d.salience, d.access_count, d.last_accessed_at, d.confirmed, d.deleted_at, d.content_hash,"
    " d.metadata"
)
CHUNK = (
    "c.slug, c.chunk_index, c.heading, c.header, c.text, c.overlap, c.line, c.page,"
    " c.tokens, c.hash"
)
_CHUNK_COLUMNS = CHUNK.count(",") + 1
FILE = "path, source, size, mtime_ns, sha256, document, problem, excluded"


def document(row: Sequence[Any]) -> Document:
    plain = Document(*row)
    return plain._replace(
        tags=tuple(row[5].split("\x1f")) if row[5] else (),
        roles=tuple(_json(row[11])),
        archived=bool(plain.archived),
        metadata=_json(row[-1]),
    )


def _json(text: str) -> Any:
    """A column of JSON; most are empty, and those need no parser."""
    if text in ("[]", "{}"):
        return () if text == "[]" else {}
    import json

    return json.loads(text)


def passage(row: Sequence[Any]) -> Passage:
    """From `c.id`, the chunk's columns and the document's."""
    chunk = Chunk(*row[1 : 1 + _CHUNK_COLUMNS])
    return Passage(row[0], chunk, document(row[1 + _CHUNK_COLUMNS :]))


def file_record(row: Sequence[Any]) -> FileRecord:
    record = FileRecord(*row)
    return record._replace(excluded=bool(record.excluded))
