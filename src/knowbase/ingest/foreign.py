"""What comes from elsewhere, once or again and again: conversations, pages, commits.

Each has a key of its origin, from which its id is made, and a fingerprint of all that it says: so
what is known is found without a list of what was taken, and what did not change is not read.
"""

import hashlib
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from knowbase.errors import ReadError
from knowbase.ingest.batch import BATCH_CHUNKS, Batch, is_of_one_file, reason_of
from knowbase.ingest.pending import FileProblem
from knowbase.ingest.report import Progress, Taken
from knowbase.ingest.services import IngestServices
from knowbase.logs import log
from knowbase.query.conditions import OneOf
from knowbase.read.frontmatter import links_in
from knowbase.values.changes import Draft
from knowbase.values.documents import ALL, Document
from knowbase.values.kinds import clean_tags
from knowbase.values.reading import Reading, Section

ORIGIN, FINGERPRINT = "origin", "fingerprint"
"""In a document's metadata: the key that it came with, and what it said."""
AT_ONCE = 200  # documents that are looked up together …
MOST_TEXT = 4 << 20  # … or as many as have this many characters
_OURS = uuid.UUID("0b6b1c5e-7a0d-5c39-9f5a-3f6a1d2f4c88")


class Foreign(NamedTuple):
    """A document as its origin has it: Markdown, unless it was read already."""

    key: str  # such as "chatgpt:6f…": the same whenever it comes again
    type: str
    title: str
    text: str = ""
    stated: Mapping[str, Any] = {}  # fields of the document, by name
    reading: Reading | None = None
    tagged: bool = True  # words with a # before them are tags of its own
    aside: Mapping[str, Any] = {}  # kept in its metadata, but no reason to write it again
    written: str | None = None  # when, unless it knows better itself
    given: Mapping[str, Any] = {}  # tags and project, by whoever takes it: not what its origin says

    @property
    def id(self) -> str:
        return id_of(self.key)


class Left(NamedTuple):
    """Something that is not taken, and why."""

    name: str
    reason: str
    wrong: bool = True  # False: nothing is, there is just nothing to take


def id_of(key: str) -> str:
    return str(uuid.uuid5(_OURS, key))


def plain_reading(kind: str, title: str, text: str) -> Reading:
    """A text in which nothing is looked for but its links."""
    return Reading(kind, title, (Section("_preamble", None, "", text, 1),))


def take(
    services: IngestServices,
    items: Iterable[Foreign | Left],
    *,
    unit: str = "documents",
    total: int = 0,
    dry_run: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Taken:
    """Write what is new or otherwise; Ctrl-C ends it early with what was done."""
    taking = _Taking(services, dry_run)
    taking.tell = lambda: progress(
        Progress(taking.seen, max(total, taking.seen), taking.batch.embedded, taking.last, unit)
    )
    try:
        with closing(_grouped(items)) as groups:
            for group in groups:
                taking.group(group)
        if not dry_run:
            services.link_similar()
    except KeyboardInterrupt:
        return taking.result(interrupted=True)
    return taking.result()


def _grouped(items: Iterable[Foreign | Left]) -> Generator[list[Foreign | Left], None, None]:
    group: list[Foreign | Left] = []
    size = 0
    for item in items:
        group.append(item)
        size += len(item.text) if isinstance(item, Foreign) else 0
        if len(group) >= AT_ONCE or size >= MOST_TEXT:
            yield group
            group, size = [], 0
    yield group


class _Taking:
    """One run."""

    def __init__(self, services: IngestServices, dry_run: bool) -> None:
        self._services = services
        self._dry_run = dry_run
        self.batch = Batch(services.store, services.drafter, services.clock, defer=services.defer)
        self.tell: Callable[[], None] = lambda: None
        self.batch.each = lambda: self.tell()
        self.seen = 0
        self.last = ""
        self._added: list[str] = []
        self._changed: list[str] = []
        self._unchanged = 0
        self._texts: dict[str, int] = {}  # hashes, by identity
        self._failed: list[FileProblem] = []
        self._skipped: list[FileProblem] = []

    def result(self, *, interrupted: bool = False) -> Taken:
        return Taken(
            tuple(self._added), tuple(self._changed), self._unchanged, tuple(self._failed),
            tuple(self._skipped), tuple(self.batch.warnings), self.batch.embedded,
            self.batch.reused, self.batch.waiting, interrupted,
        )  # fmt: skip

    def group(self, group: Iterable[Foreign | Left]) -> None:
        items: dict[str, Foreign] = {}
        for item in group:
            self.seen += 1
            if isinstance(item, Left):
                listed = self._failed if item.wrong else self._skipped
                listed.append(FileProblem(item.name, item.reason))
                continue
            text = hash(item.text)
            if self._texts.setdefault(item.id, text) != text:
                told = "one before it has the same id and another text; the last one counts"
                self.batch.warnings.append(f"{item.title}: {told}")
            items[item.id] = item
        known = self._known(items)
        waiting: list[tuple[Draft, Foreign]] = []
        for identity, item in items.items():
            old = known.get(identity)
            if old is not None and _is_same(old, item):
                self._unchanged += 1
            elif self._dry_run:
                (self._changed if old else self._added).append(item.title)
            else:
                self._prepare(item, old, waiting)
            if sum(len(draft.chunks) for draft, _ in waiting) >= BATCH_CHUNKS:
                self._flush(waiting, known)
        self._flush(waiting, known)

    def _known(self, items: Mapping[str, Foreign]) -> dict[str, Document]:
        if not items:
            return {}
        found = self._services.store.documents(OneOf("id", tuple(items)), ALL)
        return {one.id: one for one in found}

    def _prepare(
        self, item: Foreign, old: Document | None, waiting: list[tuple[Draft, Foreign]]
    ) -> None:
        try:
            draft = self._draft(item, old)
        except Exception as error:  # nothing, however odd, stops the rest
            if not is_of_one_file(error):
                raise
            log("error", "not read", title=item.title, exc_info=error)
            told = error.message if isinstance(error, ReadError) else reason_of(error)
            self._failed.append(FileProblem(item.title, told))
            return
        if not draft.chunks:
            self._skipped.append(FileProblem(item.title, "empty"))
            return
        if item.reading is not None:
            self.batch.warnings += [f"{item.title}: {one}" for one in item.reading.warnings]
        told_of = self._services.drafter.left_out(draft)
        if told_of is not None:
            self.batch.warnings.append(f"{item.title}: {told_of}")
        waiting.append((draft, item))

    def _draft(self, item: Foreign, old: Document | None) -> Draft:
        drafter = self._services.drafter
        reading = item.reading or drafter.reader.note(item.text)
        metadata = {
            **reading.value("metadata"),
            **item.stated.get("metadata", {}),
            **item.aside,
            ORIGIN: item.key,
            FINGERPRINT: fingerprint(item),
        }
        before = old.tags if old is not None else ()
        own = reading.tags if item.tagged else ()
        given = item.given.get("tags", ())
        tags = clean_tags((*before, *own, *item.stated.get("tags", ()), *given))
        reading = reading.stating(**{**item.stated, "metadata": metadata, "tags": tags})
        links = tuple(dict.fromkeys((*reading.links, *links_in(metadata))))
        reading = reading._replace(type=item.type, title=item.title, links=links)
        # what commands and people said of it stays
        kept = old.project if old is not None else None
        project = item.given.get("project") or reading.value("project") or kept
        reading = reading.stating(project=project)
        return drafter.draft(item.id, reading, None, item.written or self._services.clock())

    def _flush(self, waiting: list[tuple[Draft, Foreign]], known: Mapping[str, Document]) -> None:
        if not waiting:
            return
        try:
            self.batch.write_drafts([draft for draft, _ in waiting])
        except Exception as error:
            if not is_of_one_file(error):
                raise
            self._one_by_one(waiting, known)
        else:
            for _, item in waiting:
                self._written(item, known)
        waiting.clear()

    def _one_by_one(
        self, waiting: list[tuple[Draft, Foreign]], known: Mapping[str, Document]
    ) -> None:
        for draft, item in waiting:
            try:
                self.batch.write_drafts([draft])
            except Exception as error:
                if not is_of_one_file(error):
                    raise
                log("error", "not stored", title=item.title, exc_info=error)
                self._failed.append(FileProblem(item.title, reason_of(error)))
            else:
                self._written(item, known)

    def _written(self, item: Foreign, known: Mapping[str, Document]) -> None:
        (self._changed if item.id in known else self._added).append(item.title)
        self.last = item.title
        self.tell()


def _is_same(old: Document, item: Foreign) -> bool:
    """Known and as it was; what was forgotten stays so, whatever its origin says by now."""
    if old.deleted_at is not None:
        return True
    has_tags = set(clean_tags(item.given.get("tags", ()))) <= set(old.tags)
    has_project = item.given.get("project") in (None, old.project)
    return has_tags and has_project and old.metadata.get(FINGERPRINT) == fingerprint(item)


def fingerprint(item: Foreign) -> str:
    """The same for as long as its origin says the same."""
    told = (item.type, item.title, item.text, sorted(item.stated.items()), item.reading)
    return hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:16]
