"""The file that a document was read from, for who wants to see it as it was printed."""

import os
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import Conflict, NotFound

if TYPE_CHECKING:
    from knowbase.base.services import BaseServices
    from knowbase.values.documents import Document

MOST_MB = 100
_MARK, _LOOKED_AT = b"%PDF-", 1024  # a PDF has it in its first bytes


class Original(NamedTuple):
    """A file as it lies on the disk."""

    code: str
    path: str
    media_type: str
    size_bytes: int
    content: str  # in Base64


def original(base: "BaseServices", document: "Document") -> Original:
    """The document's own file, if it is the PDF that was read; nothing else is ever given."""
    path = document.path or ""
    record = base.store.files((path,)).get(path) if path.lower().endswith(".pdf") else None
    if record is None:
        raise Conflict(
            f"{document.code} was not read from a PDF of its own",
            field="reference",
            hint=f"kb get {document.code} shows its text",
        )
    content = _read(os.path.join(base.home, path), path)
    if sha256(content).hexdigest() != record.sha256 or _MARK not in content[:_LOOKED_AT]:
        raise Conflict(
            f"{path} is another file than the one that was read",
            field="reference",
            hint="kb sync reads it again",
        )
    told = b64encode(content).decode("ascii")
    return Original(document.code, path, "application/pdf", len(content), told)


def _read(place: str, path: str) -> bytes:
    try:
        with open(place, "rb") as file:
            if os.fstat(file.fileno()).st_size > MOST_MB << 20:
                raise Conflict(f"{path} is larger than {MOST_MB} MB", field="reference")
            return file.read()
    except OSError as error:
        raise NotFound(
            f"the file {path} is not there", field="reference", hint="kb sync notices that"
        ) from error
