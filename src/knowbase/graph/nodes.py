"""What a node of an exported graph has of its document."""

from knowbase.values.documents import Document


def properties(document: Document) -> dict[str, str | int]:
    """S3-33: what a node says of its document; what is not there is left out."""
    phase = next((tag[6:] for tag in document.tags if tag.startswith("phase/")), None)
    found: dict[str, str | int | None] = {
        "id": document.id,
        "code": document.code,
        "short_code": document.code,
        "title": document.title,
        "type": document.type,
        "phase": phase,
        "path": document.path,
        "project": document.project,
        "number": document.seq,
    }
    return {name: value for name, value in found.items() if value is not None}
