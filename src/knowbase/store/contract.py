"""What every store promises, by subject; each method is a consistent read or a transaction."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from knowbase.query.conditions import EVERYTHING, Condition
from knowbase.query.words import FieldWeights, Frequencies, KeywordQuery
from knowbase.store.facets import Ages, Counted
from knowbase.store.seals import Seals
from knowbase.text.analysis import Word
from knowbase.values.calibration import Calibration
from knowbase.values.changes import Changes, SavedSearch
from knowbase.values.cluster import ClusterState
from knowbase.values.copies import Copy, Frame, SharedParts
from knowbase.values.documents import Candidate, Counts, Document, Page, Passage
from knowbase.values.edges import MOST_SIMILAR, Edge, Relation, Wiring
from knowbase.values.files import FileRecord, Look, Settled, Source
from knowbase.values.findings import Finding
from knowbase.values.history import Change, HistoryPart, Kept, Version, Wanted
from knowbase.values.reading import Link
from knowbase.values.replicas import ReplicaState
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Claim, IndexState, Model, StoredModel, Vector


class DocumentStore(Protocol):
    """Documents: written with all that is said of them, found by name or by what they have."""

    def apply(self, changes: Changes, now: str, *, wait: bool = True) -> list[Document]:
        """Write all of it or nothing; the documents that the drafts became.

        What has been written survives a power cut, and another writer is waited for; unless told
        not to wait: then `BaseLocked` is raised at once, and the disk may follow later.
        """

    def find(self, reference: str) -> Document | None:
        """By id, code (any case), path or, all digits, seq; forgotten or not."""

    def documents(self, condition: Condition, page: Page) -> list[Document]: ...

    def count(self, condition: Condition) -> int: ...

    def chunks(self, document: str) -> list[Passage]:
        """A document's chunks in order."""

    def codes(self) -> list[str]:
        """Of all that are not forgotten."""

    def openings(self, documents: Collection[str]) -> dict[str, str]:
        """The first chunk's text of each of these documents."""

    def heads(self, documents: Collection[str]) -> dict[str, Document]:
        """For each superseded one of these, the end of its chain: what holds today.

        A chain that ends with a forgotten document, or in a circle, leads nowhere.
        """

    def tags(self, condition: Condition) -> list[tuple[str, int]]:
        """Tags and how many documents have them, most used first."""

    def projects(self, condition: Condition) -> list[tuple[str, int]]:
        """Projects and how many documents they have, the largest first."""

    def meta_keys(self, condition: Condition) -> list[tuple[str, int]]:
        """Keys of front matter and how many documents have them, most used first."""

    def heaviest(self, condition: Condition, limit: int) -> list[tuple[str, int]]:
        """The ids of the documents with the most chunks, and how many those are."""

    def counts(self, condition: Condition = EVERYTHING) -> Counts:
        """Of the documents that pass."""

    def generation(self) -> Hashable:
        """Another one when anybody has written something else than use since, which is known in
        a moment; it may be another one although nothing was."""

    def digest(self, condition: Condition = EVERYTHING) -> str:
        """Another one when other documents pass, or what they say or is said of them is another;
        use and vectors aside. It takes reading a few bytes of each."""

    def semantic_coverage(self, condition: Condition = EVERYTHING) -> float:
        """How much of what passes has a vector of the active model, from 0 to 1."""


class RetrievalStore(Protocol):
    """Chunks and words: the legs of a search."""

    def one_state(self) -> AbstractContextManager[None]:
        """Within it a file is read in one state, which takes less time than one for each statement;
        writing ends it. A server's statements are each in a state of their own."""

    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        """Chunks with any, or all, of the words, best BM25 first."""

    def matching(self, query: KeywordQuery, condition: Condition) -> int:
        """How many documents the keyword leg could find, were it asked for all."""

    def frequencies(self, words: Sequence[Word], among: Condition = EVERYTHING) -> Frequencies:
        """How many chunks of this part have each of the words: how rare they are."""

    def semantic(
        self, vector: Vector, condition: Condition, limit: int, model: Model | None = None
    ) -> list[Candidate]:
        """Chunks by cosine similarity over every vector of the model, best first.

        The model is the active one unless it is named: a vector is only ever compared with
        those of the model that made it, even while another process switches.
        """

    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        """Those of the words that no chunk has."""

    def nearest_words(self, word: Word, limit: int) -> list[str]:
        """Words of the base that are spelled most like this one, as they are written there."""

    def newest(self, condition: Condition, limit: int) -> list[Passage]:
        """The first chunk of each of the newest documents."""

    def passages(self, chunks: Collection[int]) -> dict[int, Passage]: ...

    def facets(self, condition: Condition, wanted: Sequence[str], ages: Ages) -> Counted:
        """How many documents with a chunk that passes have which type, tag …, most first."""


class SessionStore(Protocol):
    """Sessions, what was used in them, and relations; what is forgotten is not counted."""

    def sessions(self, ids: Collection[str]) -> dict[str, Session]: ...

    def recent_sessions(self, project: str | None, page: Page) -> list[Session]:
        """Those of the project, or all, the last started first."""

    def uses_in(self, session: str) -> list[Use]:
        """In the order of time."""

    def latest_uses(self, documents: Collection[str], usage: str | None = None) -> dict[str, Use]:
        """The last use of each of these documents, of any kind or of one."""

    def relations(self, document: str) -> list[Relation]:
        """Those from or to this document, oldest first."""

    def related_counts(self, documents: Collection[str], shown: Condition) -> dict[str, int]:
        """How many relations each has to a document that passes; those without are left out."""


class GraphStore(Protocol):
    """Links between documents; what is forgotten is not part of the graph."""

    def edges(self, condition: Condition) -> list[Edge]:
        """Every link between documents that pass, by the numbers of source and target."""

    def wiring(self, condition: Condition) -> Wiring:
        """The same links, in the same order, and what documents that pass are called."""

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> list[Edge]:
        """The links that a walk of at most `depth` hops from these documents can take, in any
        direction, over documents that pass; those it starts from need not."""

    def unresolved(self, document: str) -> list[Link]:
        """The links of a document's text that lead to no document yet; codes are left out."""

    def unresolved_in(self, documents: Collection[str]) -> dict[str, list[Link]]:
        """The same of each of these that has any."""

    def dead_links(self) -> list[tuple[str, int]]:
        """What texts name and nothing is called, and how many documents do so, most first;
        commits name files that may be long gone, and do not count."""

    def sharing_tags(
        self, document: str, least: int, condition: Condition
    ) -> list[tuple[str, int]]:
        """Other documents with at least so many of its tags, those with the most first."""

    def link_similar(self, threshold: float, most: int = MOST_SIMILAR) -> int:
        """Bring SIMILAR_TO in step with the vectors; how many documents were looked at.

        Two documents are linked when one is among the `most` nearest of the other, above the
        threshold. Only documents whose vectors changed are compared with all others, and those
        who lost one of their nearest, unless the threshold or the number is another than before.
        """

    def relink(self) -> None:
        """Forget every link but what was read and said, and find them all again;
        `link_similar` then looks at every document."""


class FileStore(Protocol):
    """What was added from the disk, and as what it is known."""

    def sources(self) -> list[Source]: ...

    def files(self, within: Collection[str] | None = None) -> dict[str, FileRecord]:
        """By path: all, or those at these paths and below them."""

    def looks(self, source: str, settled: Settled) -> dict[str, Look]:
        """By path, the settled files of a source as the disk showed them."""

    def unsettled(self, sources: Collection[str], settled: Settled) -> dict[str, FileRecord]:
        """By path, all that are not settled files of these sources."""

    def problems(self) -> list[FileRecord]:
        """Files that could not be read."""

    def has_lost_writes(self) -> bool:
        """Whether something that was stored is known to be gone: the database's journal was
        deleted. Files are to be looked at again; what only the base had cannot be."""

    def clear_lost_writes(self) -> None:
        """Every file has been looked at again."""


class SavedSearchStore(Protocol):
    """Searches under a name."""

    def saved_searches(self) -> list[SavedSearch]:
        """By name."""

    def save_search(self, search: SavedSearch, *, replace: bool = False) -> bool:
        """Whether it was written: a name that is taken is, only to be replaced.

        One that takes another's place keeps the moment when that was made.
        """

    def drop_search(self, name: str) -> bool:
        """Whether there was one."""

    def synonyms(self) -> list[str]:
        """The queries of those whose name begins with `SYNONYMS`: words that stand for each
        other, a group each."""

    def replace_synonyms(
        self, before: Sequence[str], dropped: Sequence[str], group: SavedSearch | None = None
    ) -> bool:
        """Drop the groups of these names and write another one, in one transaction; whether it
        was done: not when `synonyms` gives something else than it did before."""


class CalibrationStore(Protocol):
    """What the base has learnt of its own answers."""

    def calibration(self) -> Calibration | None: ...

    def put_calibration(self, calibration: Calibration) -> None:
        """In place of the one before."""

    def hashes(self, chunks: Collection[int]) -> Mapping[int, str]:
        """Of what was embedded of these chunks, as far as they are still there."""


class Claims(Protocol):
    """Texts that wait for a vector, shared among those who make them at the same time."""

    def take(self, model: Model, claim: Claim, limit: int) -> list[Passage]:
        """Chunks without a vector of this model that nobody else is at: some of `limit` texts,
        left to this holder until the lease is over or `put_vectors` has them."""

    def extend(self, claim: Claim) -> None:
        """All that its holder has, from now on for as long again."""

    def give_back(self, claim: Claim) -> None:
        """All that its holder has is free at once."""


class LeaseStore(Protocol):
    """Work that one process does for all that have the base open."""

    def lease(self, work: str, holder: str, seconds: float) -> bool:
        """Whether it is this holder's for so long from now on. Who holds it takes it again to go
        on; a lease that has run out, because its holder was killed, is anybody's."""

    def end_lease(self, work: str, holder: str) -> None:
        """It is anybody's, if it was this holder's."""


class SpaceStore(Protocol):
    """What a base takes on the disk."""

    def space(self) -> Mapping[str, int]:
        """The bytes that each kind of content takes; nothing where the engine does not tell."""

    def compact(self) -> bool:
        """Write all content anew, as closely as it goes, and give the rest back to the disk.
        False: not now, since others read or write, or there is no room for a second copy. Where a
        server looks after its disk, nothing is done."""


class VectorStore(Protocol):
    """Embedding models, and the vectors that they made of the chunks."""

    def model(self) -> Model | None:
        """The active one: searches use its vectors."""

    def models(self) -> list[StoredModel]:
        """Every model that has vectors here, the active one first, then in order of arrival."""

    def use_model(self, model: Model, source: str = "") -> None:
        """Make this the active model of a base without one; refuse when another one is."""

    def put_vectors(self, model: Model, source: str, vectors: Mapping[str, Vector]) -> None:
        """Vectors by the hash of what was embedded, for each chunk that has it and no vector.

        A model that is new here stays in the background until it is switched to.
        """

    def unembedded(self, model: Model, after: int, limit: int) -> list[Passage]:
        """Chunks without a vector of this model, by number, those up to `after` left out."""

    def claims(self) -> Claims | None:
        """None where the base lies on one machine: one process embeds it."""

    def switch_model(self, model: Model) -> bool:
        """Make it the active one if no chunk lacks its vector; whether it is."""

    def drop_model(self, model: Model) -> None:
        """Remove its vectors and free their space; the active one's are refused."""

    def vectors(self, hashes: Collection[str], model: Model | None = None) -> Mapping[str, Vector]:
        """Vectors of the model, or the active one, by the hash of what was embedded."""

    def renew_index(
        self, *, anew: bool = False, tell: Callable[[int, int], None] | None = None
    ) -> bool:
        """Bring in step what searches of many vectors are made faster by and that is derived from
        them, if it is due, or make it anew; whether anything was done. No answer depends on it.
        Where it takes long, it is told how many vectors of how many are in it."""

    def vector_index(self) -> IndexState | None:
        """What there is of it; None when there is none, or the database looks after it."""


class HistoryStore(Protocol):
    """What the base was. A change has a number, which says what came before what; its moment is
    shown. Use and vectors' models are not part of it."""

    def changes(self, wanted: Wanted) -> list[Change]:
        """The newest first."""

    def numbered(self, numbers: Collection[int]) -> dict[int, Change]: ...

    def last(self) -> int:
        """The number of the newest change."""

    def number_at(self, moment: str) -> int | None:
        """Of the last change before the first that is later; None: there was no base yet."""

    def versions(self, document: str | None = None) -> list[Version]:
        """Of the document with this id, oldest first, up to what it is now; or of all documents,
        without what they are now."""

    def version(self, document: str, number: int) -> Kept | None:
        """The document of this id as it was after a change; None when it was not, or that is no
        longer kept."""

    def lost(self, number: int) -> int:
        """How many documents were there after a change, and what they were is not kept."""

    def past(self, reference: str, number: int | None = None) -> str | None:
        """The id of the document that last was called so: an id, a code in any case, a path. Or
        that was after a change, of those that have been changed since."""

    def prune(self, ended: Sequence[tuple[str, int]]) -> None:
        """Forget, of each of these documents, the versions that ended by that change."""

    def leftovers(self) -> int:
        """Texts that no version has, and parts of versions without one; there should be none."""


class CopySource(Protocol):
    """A base as a whole, in parts that can be copied into another one."""

    def history(self) -> Iterator[HistoryPart]:
        """What the base was, change by change; nothing where that is not known."""

    def frame(self) -> Frame: ...

    def seqs(self) -> list[int]:
        """The numbers of all documents, forgotten or not, in order."""

    def copies(self, seqs: Collection[int]) -> list[Copy]:
        """Those of the documents that there are, in order."""

    def shared(self) -> SharedParts: ...


class Snapshot(CopySource, Protocol):
    """A base as it was at one moment, whoever writes to it meanwhile."""

    def seals(self, seqs: Collection[int]) -> dict[int, Seals]:
        """What was written beside these documents."""

    def vector_seals(self, seqs: Collection[int]) -> dict[tuple[int, Model], bytes | None]:
        """What was written beside the vectors of these documents, by chunk and model."""

    def findings(self, *, deep: bool) -> Iterator[Finding]:
        """What the engine finds wrong with its tables and indexes, and which of them are not in
        step; deep: by reading everything."""

    def pages_to(self, path: str, step: Callable[[int, int], None]) -> bool:
        """Write it into an empty file, telling how many pages of how many are done; False when
        this engine has no pages of its own, and the parts have to be copied."""


class Copying(CopySource, Protocol):
    """A base that can become a copy of another one."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """All of it as it is now, for as long as it is read."""

    def seal(self) -> int:
        """Seal what was written before there were seals; how many documents."""

    def identity(self) -> str:
        """The same for one base under all its names, another one for any other base."""

    def source(self) -> str | None:
        """What this base is becoming a copy of; None when it is whole."""

    def start(self, source: str, frame: Frame) -> None:
        """Note what this becomes a copy of, and take over the models and counters."""

    def paste(self, copies: Sequence[Copy]) -> None:
        """Write these documents as they are, in place of those with their ids or numbers."""

    def paste_shared(self, shared: SharedParts) -> None:
        """Write it in place of what there is, and find all links again."""

    def paste_history(self, parts: Iterable[HistoryPart]) -> None:
        """Write it in place of what there is, once all documents are there."""

    def end(self) -> None:
        """The copy is whole."""

    def replace(self, source: CopySource, before: Callable[[], None]) -> None:
        """All of the source in place of all that there is, in one transaction; `before` is
        called once nobody else can write any more."""


class Present(Protocol):
    """A base as it is, which knows what it was."""

    def history(self) -> HistoryStore: ...

    def as_of(self, number: int) -> "Store":
        """The base as it was after a change: every read answers so, and nothing is written.

        Words are counted among what was there. What use a document was, sessions, saved searches
        and settings are those of today; what is forgotten today is forgotten there, and what is
        no longer kept is not there. Whoever asks for it closes it.
        """


class Store(
    Present,
    DocumentStore,
    RetrievalStore,
    SessionStore,
    GraphStore,
    FileStore,
    SavedSearchStore,
    CalibrationStore,
    LeaseStore,
    SpaceStore,
    VectorStore,
    Protocol,
):
    """One base."""

    keeps: Callable[[Document], bool] | None
    """Whether the versions of a document are kept; None: of all."""

    def close(self) -> None: ...

    def replicas(self) -> list[ReplicaState]:
        """Copies of the base's server that answer what may lag, and whether they do now."""

    def cluster(self) -> ClusterState | None:
        """The servers that its chunks are distributed over, if they are."""

    def copying(self) -> Copying:
        """The base as a whole, with all ids and its history."""
