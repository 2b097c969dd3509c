"""Notes, which have no file, split again by the settings of today."""

from collections.abc import Sequence

from knowbase.ingest.batch import BATCH_DOCUMENTS, Batch, is_of_one_file, reason_of
from knowbase.ingest.services import IngestServices, read_again
from knowbase.logs import log
from knowbase.values.changes import Draft
from knowbase.values.documents import Document


def split_again(services: IngestServices, batch: Batch, notes: Sequence[Document]) -> list[str]:
    """The codes of those that were."""
    changed: list[str] = []
    for start in range(0, len(notes), BATCH_DOCUMENTS):
        some = notes[start : start + BATCH_DOCUMENTS]
        drafts = {note.code: _drafted_again(services, batch, note) for note in some}
        done = {code: draft for code, draft in drafts.items() if draft is not None}
        batch.write_drafts(list(done.values()))
        changed += done
    return changed


def _drafted_again(services: IngestServices, batch: Batch, note: Document) -> Draft | None:
    """None, and said, for one that stays as it is: nobody has its text elsewhere."""
    try:
        reading = read_again(services, note)
        draft = services.drafter.draft(note.id, reading, None, note.updated_at)
    except Exception as error:
        if not is_of_one_file(error):
            raise
        log("error", "not split again", code=note.code, exc_info=error)
        batch.warnings.append(f"{note.code}: {reason_of(error)}; it stays as it is")
        return None
    if services.drafter.left_out(draft) is not None:
        batch.warnings.append(f"{note.code}: it has too many chunks; it stays as it is")
        return None
    return draft
