"""Rows as values: which columns are read, and what they become."""

import json
from collections.abc import Sequence
from typing import Any

from knowbase.values.documents import Chunk, Document, Passage
from knowbase.values.files import FileRecord

DOCUMENT = (
    "d.id, d.seq, d.code, d.title, d.type, d.tags, d.path, d.created_at, d.updated_at, d.parent,"
    " d.project, d.roles, d.confidence, d.archived, d.expires_at, d.superseded_by, d.valid_until,"
    " d.scope, d.sector, d.tier, d.salience, d.access_count, d.last_accessed_at, d.confirmed,"
    " d.deleted_at, d.content_hash, d.metadata"
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
        tags=tuple(plain.tags), roles=tuple(plain.roles), metadata=json.loads(row[-1])
    )


def passage(row: Sequence[Any]) -> Passage:
    """From `c.id`, the chunk's columns and the document's."""
    chunk = Chunk(*row[1 : 1 + _CHUNK_COLUMNS])
    return Passage(row[0], chunk, document(row[1 + _CHUNK_COLUMNS :]))


def file_record(row: Sequence[Any]) -> FileRecord:
    return FileRecord(*row)
