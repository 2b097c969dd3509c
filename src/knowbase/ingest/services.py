"""What adding and writing work with."""

from collections.abc import Callable

from knowbase.ingest.drafts import Drafter
from knowbase.ingest.pending import Disk
from knowbase.ingest.places import Home
from knowbase.read.frontmatter import links_in
from knowbase.store.contract import Store
from knowbase.store.linking import Likeness, Tell, index_or_later, link_or_later
from knowbase.text.sections import stored_sections
from knowbase.values.documents import Document
from knowbase.values.reading import Reading, stored_reading


class IngestServices:
    """What adding and writing work with."""

    def __init__(
        self,
        store: Store,
        drafter: Drafter,
        disk: Disk,
        clock: Callable[[], str],
        likeness: Likeness,
        *,
        defer: bool = False,  # store text without vectors; they follow
    ) -> None:
        self.store = store
        self.drafter = drafter
        self.disk = disk
        self.clock = clock
        self.likeness = likeness
        self.defer = defer

    @property
    def home(self) -> Home:
        return self.disk.home

    def link_similar(self, tell: Tell | None = None) -> None:
        """Compare what was written with everything: after much, or while nobody waits."""
        if self.drafter.makes_vectors:
            link_or_later(self.store, self.likeness)
            self.index(tell)

    def index(self, tell: Tell | None = None) -> None:
        """Bring the index of vectors in step, if much has changed since it was written."""
        if self.drafter.makes_vectors:
            index_or_later(self.store, tell)


def read_again(services: IngestServices, note: Document) -> Reading:
    """What a stored note says, with its fields: its text has no front matter any more, so what
    stands first in it is not looked at for one."""
    sections = stored_sections(services.store.chunks(note.id))
    text = "".join(section.header + section.text for section in sections)
    links = (*services.drafter.reader.note(text).links, *links_in(note.metadata))
    return stored_reading(note, sections)._replace(links=tuple(dict.fromkeys(links)))
