"""The rescue file: what only a base has, as JSON lines, written before anything is changed."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from knowbase.errors import BaseDamaged
from knowbase.store.contract import Snapshot
from knowbase.store.sqlite.backups import synced
from knowbase.values.copies import batches

_OWN = ("sessions", "uses", "verdicts", "relations", "saved", "tags")


def write(path: str, lines: Iterable[Mapping[str, Any]]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
    synced(path)


def of_rows(damaged: str) -> Iterator[Mapping[str, Any]]:
    """Of a damaged file: rows as they are. The texts of files are not part of it."""
    from knowbase.store.sqlite.salvage import Salvage

    salvage = Salvage(damaged)
    from_files: set[int] = set()
    try:
        for found in salvage.rows():
            values = {
                name: value for name, value in found.values.items() if not isinstance(value, bytes)
            }
            if found.table == "documents":
                if values["path"] is not None:
                    from_files.add(values["seq"])
                    names = ("seq", "id", "code", "path", "said")
                    values = {name: values[name] for name in names}
                yield {"kind": "documents", **values}
            elif found.table in _OWN:
                yield {"kind": found.table, **values}
            elif found.table == "chunks" and values["document"] not in from_files:
                yield {"kind": "chunks", **values}
    finally:
        salvage.close()


def of_parts(whole: Snapshot) -> Iterator[Mapping[str, Any]]:
    """Of a base that can be read in parts."""
    for batch in batches(whole.seqs()):
        for seq in batch:
            try:
                copies = whole.copies([seq])
                for copy in copies:
                    texts = [one.chunk.text for one in copy.chunks]
                    yield {
                        "kind": "documents",
                        **copy.document._asdict(),
                        "metadata": dict(copy.document.metadata),
                        "said": dict(copy.said),
                        "verdicts": copy.verdicts,
                        "texts": texts if copy.document.path is None else [],
                    }
            except BaseDamaged:
                yield {"kind": "documents", "seq": seq, "unreadable": True}
    shared = whole.shared()
    for kind in ("sessions", "uses", "relations", "saved"):
        for one in getattr(shared, kind):
            yield {"kind": kind, **one._asdict()}
