"""Writing notes and memories: documents that have no file."""

import uuid
from collections.abc import Callable, Sequence
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import Conflict, InvalidInput, ReadError
from knowbase.ingest.services import IngestServices, read_again
from knowbase.memory.alike import similar_documents
from knowbase.memory.lifecycle import former_successor, superseding
from knowbase.query.conditions import Condition, Visible, both
from knowbase.query.moments import span
from knowbase.read.frontmatter import KEPT, UNFIT
from knowbase.store.contract import DocumentStore, FileStore
from knowbase.store.rules import known_text, same_project
from knowbase.text.sections import sections_of
from knowbase.values.changes import Changes, Draft, Edit, session_name
from knowbase.values.characters import storable
from knowbase.values.codes import MOST, fit_code
from knowbase.values.documents import FIELDS, STATED, Document, Page
from knowbase.values.kinds import clean_tags
from knowbase.values.notes import Note, Noted, Remembered
from knowbase.values.reading import Reading
from knowbase.values.sessions import Session, Use

if TYPE_CHECKING:
    from knowbase.values.vectors import Model

EPOCH = "1970-01-01T00:00:00.000000Z"


class NoteServices:
    """What writing needs of its base."""

    def __init__(
        self,
        ingest: IngestServices,
        whole: Callable[[str], Document],  # the document that a reference names
        check_type: Callable[[str], None],  # refuses a type that the base does not know
    ) -> None:
        self.ingest = ingest
        self.whole = whole
        self.check_type = check_type


def write_note(services: NoteServices, note: Note) -> Document:
    """A note as a document: sectioned and embedded like a file."""
    writing = Writing(services, note, "note")
    return Noted.of(writing.write(), writing.notices)


def remember(services: NoteServices, note: Note) -> Remembered:
    """A text, unless it is known: the same one is not written twice, a similar one is told."""
    writing = Writing(services, note, "fact")
    known = None if note.replaces else writing.the_same()
    if known is not None:
        changes = writing.changes_for(known.id, "reinforced")
        notices = writing.repointed(known.id)
        services.ingest.store.apply(changes, writing.now)
        superseded = services.whole(writing.superseded.id) if writing.superseded else None
        return Remembered(known, False, superseded=superseded, notices=notices)
    draft = writing.draft()
    if writing.old is None and writing.superseded is None:
        draft = draft._replace(once=True)  # somebody else may be about to write it
    replaced = writing.superseded.id if writing.superseded else ""
    similar = similar_documents(
        services.ingest.store, draft, writing.neighbours, writing.model, replaced
    )
    repointed = writing.repointed(draft.id)
    document = writing.write(draft)
    superseded = services.whole(writing.superseded.id) if writing.superseded else None
    is_new = document.id == draft.id
    notices = (*repointed, *(writing.notices if is_new else ()))
    return Remembered(document, is_new, similar, superseded, notices)


def merged(services: NoteServices, one: Document, another: Document, text: str) -> Document:
    """Two memories as one new note: what the first one is, with this text or the texts of both."""
    store = services.ingest.store
    texts = [_whole_text(store, each) for each in (one, another)]
    both_texts = texts[0] if texts[0].split() == texts[1].split() else "\n\n".join(texts)
    project = one.project if one.project == another.project else None
    note = Note(
        text or both_texts,
        type=one.type,
        title="" if text else one.title,  # another text has a title of its own
        tags=tuple(dict.fromkeys((*one.tags, *another.tags))),
        project=project,
        confidence=one.confidence,
    )
    return write_note(services, note)


def _whole_text(store: DocumentStore, document: Document) -> str:
    sections = sections_of(store.chunks(document.id), document.code)
    return "".join(section.text for section in sections).strip()


class Tagged(NamedTuple):
    """The documents whose tags were changed, as they are now."""

    documents: tuple[Document, ...]
    notices: tuple[str, ...] = ()  # tags to be taken away that none of them had


def untagged(documents: Sequence[Document], remove: Sequence[str]) -> tuple[str, ...]:
    """What is said of tags that are to be taken away and that nothing has."""
    had = {tag for one in documents for tag in one.tags}
    which = documents[0].code if len(documents) == 1 else "none of them"
    verb = "has no" if len(documents) == 1 else "has the"
    return tuple(f"{which} {verb} tag {tag!r}" for tag in clean_tags(remove) if tag not in had)


def retagged(
    services: NoteServices, documents: Sequence[Document], add: Sequence[str], remove: Sequence[str]
) -> list[Document]:
    """The notes with other tags; nothing is written if one of them comes from a file."""
    given, taken = clean_tags(add), set(clean_tags(remove))
    if not given and not taken:
        raise InvalidInput("no tag is named", field="add", hint="tags to add, or to remove")
    for one in documents:
        if one.path is not None:
            raise _tagged_elsewhere(services.ingest.store, one, taken)
    return [
        _retagged(
            services, one, tuple(tag for tag in clean_tags((*one.tags, *given)) if tag not in taken)
        )
        for one in documents
    ]


def _tagged_elsewhere(store: FileStore, document: Document, taken: set[str]) -> InvalidInput:
    """Where the tags of a document that has a file come from."""
    path = document.path or ""
    record = store.files((path,)).get(path)
    given = {one.path: taken.intersection(one.tags) for one in store.sources()}
    if record is not None and (tags := sorted(given.get(record.source, ()))):
        told = f"{document.code} has the tag {tags[0]!r} from kb add {quote(record.source)}"
        hint = f"kb add {quote(record.source)} --untag {quote(','.join(tags))}"
        return InvalidInput(told, field="references", hint=hint)
    told = f"the tags of {document.code} come from its file"
    return InvalidInput(told, field="references", hint=f"change them in {path}")


def _retagged(services: NoteServices, document: Document, tags: tuple[str, ...]) -> Document:
    if set(tags) == set(document.tags):
        return document
    ingest = services.ingest
    now, reading = ingest.clock(), read_again(ingest, document).stating(tags=tags)
    draft = ingest.drafter.draft(document.id, reading, None, now)
    embedded = ingest.drafter.embed_or_wait([draft], ingest.store)
    changes = Changes(drafts=embedded.drafts, model=embedded.model)
    return ingest.store.apply(changes, now)[0]


class Writing:
    """One text on its way into the base."""

    def __init__(self, services: NoteServices, note: Note, default_type: str) -> None:
        note = _cleaned(services, note)
        self._services = services
        self._note = note
        self.now = services.ingest.clock()
        self.model: Model | None = None  # whose vectors the draft has
        self.notices: tuple[str, ...] = ()
        self.old = _replaced(services, note)
        self.superseded = services.whole(note.supersedes) if note.supersedes else None
        self.reading = self._read(default_type)

    def the_same(self) -> Document | None:
        """A document of the same project and type that has this text."""
        draft = Draft("", self.reading, None, self.now, (), ())
        found = self._services.ingest.store.documents(known_text(draft, self.now), Page(2))
        others = [one for one in found if self.superseded is None or one.id != self.superseded.id]
        return next(iter(others), None)

    @property
    def neighbours(self) -> Condition:
        """What is shown of the same project."""
        return both(Visible(self.now), same_project(self.reading.value("project")))

    def repointed(self, document: str) -> tuple[str, ...]:
        """What is said when what it takes the place of has a successor already."""
        if self.superseded is None:
            return ()
        return former_successor(self._services.ingest.store, self.superseded, document)

    def draft(self) -> Draft:
        ingest = self._services.ingest
        document = self.old.id if self.old is not None else str(uuid.uuid4())
        embedded = ingest.drafter.embed_or_wait([self.unembedded(document)], ingest.store)
        self.model, self.notices = embedded.model, tuple(filter(None, (embedded.warning,)))
        return embedded.drafts[0]

    def unembedded(self, document: str) -> Draft:
        """The draft of a document of this id, without vectors."""
        ingest = self._services.ingest
        code = self.reading.value("code")
        _check_code(ingest.store, code, document)
        draft = ingest.drafter.draft(document, self.reading, None, self.now)
        draft = draft._replace(own_code=code is not None, since=self._note.since or "")
        if ingest.drafter.left_out(draft) is not None:  # nobody has the rest elsewhere
            most = ingest.drafter.reader.limits.chunks
            raise InvalidInput(
                f"the text is too long: it has more than {most} chunks",
                field="text",
                hint="read.max_chunks",
            )
        return draft

    def write(self, draft: Draft | None = None) -> Document:
        """The document, what it supersedes and its session, all at once."""
        draft = draft or self.draft()
        changes = self.changes_for(draft.id, "created" if self.old is None else "updated")
        ingest = self._services.ingest
        changes = changes._replace(drafts=(draft,), model=self.model)
        return ingest.store.apply(changes, self.now)[0]

    def changes_for(self, document: str, usage: str) -> Changes:
        session, changes = self._note.session, Changes()
        if session is not None:
            changes = changes._replace(
                sessions=(Session(session, self.reading.value("project"), self.now),),
                uses=(Use(session, document, usage, self.now),),
            )
        edits = []
        if self.superseded is not None:
            edits.append(superseding(self.superseded, document, self.now))
        if self.old is not None and "expires_at" in self._note.stated:
            edits.append(Edit(document, {"expires_at": self._note.stated["expires_at"]}))
        return changes._replace(edits=tuple(edits))

    def _read(self, default_type: str) -> Reading:
        note = self._note
        try:
            reading = self._services.ingest.drafter.reader.note(note.text)
        except ReadError as error:
            raise InvalidInput(error.message, field=error.field or "text") from error
        for warning in reading.warnings:
            if warning.startswith(UNFIT):  # whoever writes a note can mend it
                raise InvalidInput(warning.partition(KEPT)[0], field="text")
        if not reading.title and reading.sections:
            first = reading.sections[0]
            reading = reading._replace(title=_first_line(first.heading or first.text))
        if not reading.sections:
            raise InvalidInput("there is no text", field="text")
        by = reading.value("superseded_by")
        if by is not None and self._services.ingest.store.find(by) is None:
            raise InvalidInput(f"superseded_by names no document ({by})", field="text")
        kind = note.value("type") or reading.type
        kind = default_type if kind == "markdown" else kind
        self._services.check_type(kind)
        title = " ".join(note.stated.get("title", "").split())
        stated = {**note.stated, "tags": clean_tags((*reading.tags, *note.stated.get("tags", ())))}
        reading = reading.stating(**stated)._replace(type=kind, title=title or reading.title)
        if reading.value("project") is None and self.old is None:
            reading = reading.stating(project=self._session_project())
        return reading if self.old is None else self._renewed(reading, self.old)

    def _session_project(self) -> str | None:
        """What is made in a session belongs to the session's project."""
        if self._note.session is None:
            return None
        found = self._services.ingest.store.sessions((self._note.session,))
        return next((session.project for session in found.values()), None)

    def _renewed(self, reading: Reading, old: Document) -> Reading:
        """What is not said anew stays."""
        stated = {name: value for name, value in reading.stated.items() if value not in (None, ())}
        kept = {name: getattr(old, name) for name in STATED if not FIELDS[name].kept}
        metadata = {**old.metadata, **reading.value("metadata")}
        note = self._note
        return reading._replace(
            stated={**kept, **stated, "code": reading.value("code"), "metadata": metadata},
            type=note.value("type") or old.type,
            title=note.value("title")
            or _lasting_title(self._services.ingest.store, old)
            or reading.title,
        )


def _cleaned(services: NoteServices, note: Note) -> Note:
    """The note with its names as they are stored."""
    note = storable(note)
    stated = dict(note.stated)
    if "expires_at" in stated:
        stated["expires_at"] = _moment(stated["expires_at"])
    if "parent" in stated:
        stated["parent"] = services.whole(stated["parent"]).code
    session = session_name(note.session) if note.session is not None else None
    return note._replace(**stated, session=session)


def _moment(text: str) -> str:
    found = span(text, EPOCH)
    if found is None:
        raise InvalidInput(
            f"expires_at cannot be {text!r}", field="expires_at", hint="such as 2030-12-31"
        )
    return found.start


def _lasting_title(store: DocumentStore, old: Document) -> str | None:
    """A note's title, unless it was taken from the text."""
    text = "".join(part.text for part in sections_of(store.chunks(old.id), old.code))
    return None if old.title in (_first_line(text), text.lstrip("# ")) else old.title


def _replaced(services: NoteServices, note: Note) -> Document | None:
    """The note that this one takes the place of, when that may be."""
    if note.since and not note.replaces:
        told = "since is for a note that is replaced"
        raise InvalidInput(told, field="since", hint="replace names it")
    replaced = services.whole(note.replaces) if note.replaces else None
    if replaced is not None and replaced.path is not None:
        raise Conflict(
            f"{replaced.code} comes from a file",
            field="replace",
            hint="change the file instead",
        )
    return replaced


def _check_code(store: DocumentStore, code: str | None, document: str) -> None:
    """Refuse what is not a code, and one that another document has."""
    if code and fit_code(code) != code:
        raise InvalidInput(
            "this cannot be a code", field="code", hint=f"up to {MOST} characters that can be seen"
        )
    owner = store.find(code) if code else None
    if owner is None or owner.id == document:
        return
    whose = repr(owner.title) if owner.deleted_at is None else "a forgotten document"
    raise Conflict(f"the code {owner.code} belongs to {whose}", field="code", hint="take another")


def _first_line(text: str) -> str:
    line = (text.strip().splitlines() or [""])[0].lstrip("# ").strip()
    return line if len(line) <= 80 else line[:79].rstrip() + "…"
