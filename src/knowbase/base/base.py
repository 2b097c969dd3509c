"""Base: the object that users hold, and what can be asked of it."""

import os
from typing import TYPE_CHECKING

from knowbase.base import given
from knowbase.base.filling import Filling, Path
from knowbase.errors import Conflict, NotAllowed
from knowbase.store.lagging import afresh, may_lag
from knowbase.store.location import home_of, is_url, locate, new_place
from knowbase.store.opening import create_store
from knowbase.store.partial import allowed
from knowbase.values.arguments import checks_arguments, wrong
from knowbase.values.characters import composed, storable
from knowbase.values.documents import ALL, Document, Page, each_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.base.doctor import Diagnosis
    from knowbase.base.keywords import Texts
    from knowbase.base.originals import Original
    from knowbase.base.status import SourceState, Status
    from knowbase.ingest.embedding import Embedding, Step
    from knowbase.ingest.ignoring import Ignored
    from knowbase.ingest.removal import Removal
    from knowbase.memory.brief import Brief
    from knowbase.memory.inbox import Inbox, Wanted
    from knowbase.memory.judging import Judged
    from knowbase.memory.notes import Tagged
    from knowbase.memory.sessions import DocumentContext
    from knowbase.memory.use import Feedback
    from knowbase.upkeep.backup import Backup
    from knowbase.upkeep.check import Checked
    from knowbase.upkeep.compact import Compacted
    from knowbase.values.documents import Listing
    from knowbase.values.notes import Note, Remembered


def open(path: "Path | None" = None) -> "Base":  # noqa: A001 - knowbase.open reads well
    """An existing base, by its path or found upwards from the working folder."""
    return Base(locate(_place(path)))


def create(path: "Path | None" = None, *, profile: str | None = None) -> "Base":
    """A new base at `path` (a file, a folder to hold .kb/base.db, or a URL), else here; its
    ranking recipe is kept in kb.toml."""
    target = new_place(_place(path) or os.environ.get("KB_BASE") or os.getcwd())
    if profile is not None:
        from knowbase.base.choosing import check_profile, keep_profile

        check_profile(profile, home_of(target))
    is_new = create_store(target)
    if profile is not None:
        keep_profile(profile, home_of(target))
    base = Base(target)
    base.is_new = is_new
    return base


LEAST_BRIEF = 50  # tokens


@may_lag("brief", "inbox")
@checks_arguments
class Base(Filling):
    """One knowledge base."""

    @property
    def _has_own_file(self) -> bool:
        """Whether there is a file, and nothing in it that is not the caller's."""
        return not is_url(self.path) and self.access.project is None

    def status(self) -> "Status":
        with allowed():  # what does not answer is a part of it
            return self._status()

    def _status(self) -> "Status":
        from knowbase.base.status import Status
        from knowbase.ingest.drafts import out_of_step
        from knowbase.ingest.telling import suspects, unread
        from knowbase.memory.lifecycle import hidden_by_state
        from knowbase.query.conditions import EVERYTHING

        newer = self.models.newer()
        files = self.store.files().values()
        return Status(
            base=self.shown,
            size_bytes=_size(self.path) if self._has_own_file else None,
            **self.store.counts()._asdict(),
            model=self.store.model(),
            newer_model=newer.embedder.model if newer else None,
            models=tuple(self.store.models()),
            sources=self._sources(),
            problems=tuple(self.store.problems()),
            unread=unread(files),
            suspects=suspects(files, self.store),
            out_of_step=self.store.count(out_of_step(self.ingest_services().drafter)),
            copy_of=self.store.copying().source() if self.access.is_full else None,
            vector_index=self.store.vector_index() if self.access.is_full else None,
            hidden=hidden_by_state(self.store, EVERYTHING, self.now()),
            lost_writes=self.store.has_lost_writes(),
            replicas=tuple(self.store.replicas()) if self.access.is_full else (),
            cluster=self.store.cluster() if self.access.is_full else None,
        )

    def _sources(self) -> "tuple[SourceState, ...]":
        from knowbase.base.moments import is_watched, moments
        from knowbase.base.status import SourceState

        synced = moments(self.shown, "synced")
        return tuple(
            SourceState(*one, synced.get(one.path), is_watched(self.shown, one.path))
            for one in self.store.sources()
        )

    def original(self, reference: str) -> "Original":
        """The PDF that a document was read from."""
        from knowbase.base.originals import original

        return original(self, self.references.resolve(reference, by_name=True)[0])

    def doctor(self) -> "Diagnosis":
        """What is wrong, the worst first, and the command that mends it."""
        from knowbase.base.doctor import diagnose

        return diagnose(self, self.status(), self.check)

    def embed(
        self,
        model: str | None = None,
        *,
        drop_old: bool = False,
        reindex: bool = False,
        progress: "Callable[[Step], None]" = lambda _: None,
        lease: float | None = None,
    ) -> "Embedding":
        """Make the vectors that are missing; those of another model beside, then switch to it.

        If told, the index of the vectors is written anew. With `lease`, the vectors are shared
        with others who do so: who died loses what it was at after as many seconds."""
        from knowbase.ingest.embedding import indexed

        result = self.models.embed(model, drop_old=drop_old, progress=progress, lease=lease)
        if reindex:
            self.store.renew_index(anew=True, tell=indexed(progress))
        if lease is None:  # else each of many would compare all, at the same time
            self.ingest_services().link_similar(indexed(progress))
        return result

    # upkeep

    def backup(
        self,
        target: "Path",
        *,
        keep: int | None = None,
        dry_run: bool = False,
        progress: "Callable[[Step], None]" = lambda _: None,
    ) -> "Backup":
        """The whole base as one verified file, taken while others write; into a folder, dated."""
        from knowbase.upkeep.backup import Wanted, backup

        wanted = Wanted(given.path(target, "target"), keep, dry_run)
        return backup(self.store, self.path, wanted, self.now(), progress)

    def check(
        self, *, deep: bool = False, progress: "Callable[[Step], None]" = lambda _: None
    ) -> "Checked":
        """What is damaged or out of step; deep: every document, vector and file is read."""
        from knowbase.upkeep.check import check

        return check(self.store, self.shown, self.home, deep=deep, progress=progress)

    def compact(self, *, dry_run: bool = False) -> "Compacted":
        """The file written anew without holes; dry_run: only what takes how much of it."""
        from knowbase.upkeep.compact import compact

        return compact(self.store, self.shown, dry_run=dry_run)

    # memory

    def remember(self, note: "Note | str") -> "Remembered":
        """Write a memory, unless its text is known; what says almost the same is told."""
        from knowbase.memory.notes import remember
        from knowbase.values.notes import as_note

        return remember(self._note_services(), as_note(note))

    def tag(self, references: "Texts", *, add: "Texts" = (), remove: "Texts" = ()) -> "Tagged":
        """Give notes and memories tags, or take tags from them; a file says its own."""
        from knowbase.memory.notes import Tagged, retagged, untagged

        services = self._note_services()
        documents = each_once(self.whole(reference) for reference in references)
        now = retagged(services, documents, tuple(add), tuple(remove))
        return Tagged(tuple(now), untagged(documents, tuple(remove)))

    def feedback(self, reference: str, verdict: str, session: str | None = None) -> "Feedback":
        """Whether a hit was good: a use that counts, once a session or a day."""
        from knowbase.memory.use import REINFORCEMENT, feedback_on

        with afresh():
            document = self.get(reference).document  # a section that is not there is an error
        counts = self.profile_for().record_use != "off"
        amount = REINFORCEMENT if counts else 0.0
        found = feedback_on(self.store, document, verdict, session, self.now(), amount)
        if self._searched is not None:
            self._searched.judge(document, verdict, session, self.now())
        return found

    def ignore(
        self, pattern: str, folder: str | None = None, *, dry_run: bool = False
    ) -> "Ignored":
        """Leave files out from the next sync on: a line in a .kbignore. With `dry_run`, only what
        it would leave out."""
        from knowbase.ingest.ignoring import ignore

        if not self.access.is_full:
            raise NotAllowed("what is read concerns the whole base")
        return ignore(self.store, self.home, pattern, folder, dry_run=dry_run)

    def relate(
        self,
        source: str,
        target: str,
        relation: str = "RELATED_TO",
        *,
        by: str = "user",
        remove: bool = False,
    ) -> "DocumentContext":
        """Say what two documents have to do with each other, or that it is so no more; `by` is
        who says so, a user or an agent."""
        self.sessions.relate(source, target, relation, by=by, remove=remove)
        return self.sessions.context(source)

    def brief(self, project: str | None = None, max_tokens: int = 2000) -> "Brief":
        """What is worth knowing before work starts, packed to a number of tokens."""
        from knowbase.memory.brief import Briefing

        tokens = given.number(max_tokens, "max_tokens", LEAST_BRIEF)
        briefing = Briefing(self.store, self.models.count_tokens, self.now())
        return briefing.brief(project and composed(storable(project)), tokens)

    def inbox(self, wanted: "Wanted | None" = None) -> "Inbox":
        """Memories that nobody has decided on yet, and what is worth knowing of each."""
        from knowbase.memory.inbox import Sorting, Wanted

        if not isinstance(wanted, Wanted | None):
            raise wrong("wanted", wanted, "a Wanted, such as Wanted(project='web')")

        has_vectors = self.settings.embed_vectors and self.store.model() is not None
        self._link_similar()
        return Sorting(self.store, self.now(), has_vectors=has_vectors).inbox(wanted or Wanted())

    def verdict(
        self,
        reference: str,
        verdict: str,
        other: str | None = None,
        text: str = "",
        *,
        by: str = "user",
    ) -> "Judged":
        """Decide on a memory: accept, forget, supersede the other, merge with it, later; undo."""
        from knowbase.memory.judging import Judging
        from knowbase.memory.notes import merged

        def find(reference: str) -> Document:
            return self.references.find_any(reference) or self.whole(reference)

        def write(one: Document, another: Document, text: str) -> Document:
            return merged(self._note_services(), one, another, text)

        judging = Judging(self.store, find, self.whole, write, self.now)
        return judging.judge(reference, verdict, other, text, by)

    def expire(
        self,
        within: str | None = None,
        *,
        delete: bool = False,
        page: Page = Page(),  # noqa: B008 - a value, never changed
    ) -> "Listing | Removal":
        """What has expired or will; with `delete`, all that has is removed for good. What is a
        part of a file comes and goes with that, and is not listed."""
        from knowbase.ingest.removal import without_parts

        due = self.lifecycle.due(within, ALL).documents
        files = self.store.files() if any(one.path for one in due) else {}
        alone = without_parts(due, files)
        if not delete:
            from knowbase.values.documents import Listing

            shown = alone[page.offset : page.offset + page.limit]
            return Listing(tuple(shown), len(alone))
        if within is not None:
            raise Conflict(
                "what has not expired is not deleted", field="within", hint="without within"
            )
        return self.remove([one.id for one in alone])

    def remove(self, references: "Texts", *, dry_run: bool = False) -> "Removal":
        """Remove documents, or a source with all its documents, from the base; never a file."""
        from knowbase.ingest.removal import removal_of
        from knowbase.memory.lifecycle import still_hidden

        def resolve(reference: str) -> Document:
            return self.references.find_any(reference) or self.whole(reference)

        named, home = tuple(references), self.ingest_services().home
        changes, removal = removal_of(named, self.store, home, resolve)
        if not dry_run:
            self.store.apply(changes, self.now())
        notices = still_hidden(self.store, removal.documents)
        return removal._replace(dry_run=dry_run, notices=notices)


def _place(path: "Path | None") -> str | None:
    return None if path is None else given.path(path, "path")


def _size(path: str) -> int:
    return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))
