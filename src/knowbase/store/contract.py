"""What every store promises."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from knowbase.changes import Changes, Link
from knowbase.edges import Edge
from knowbase.query.conditions import Condition
from knowbase.query.words import KeywordQuery
from knowbase.store.values import FieldWeights, Page
from knowbase.text.analysis import Word
from knowbase.types import (
    Candidate,
    Counts,
    Document,
    FileRecord,
    Model,
    Passage,
    Relation,
    Session,
    Source,
    Use,
    Vector,
)


class Store(Protocol):
    """One base. Every method is one consistent read, or one transaction."""

    def close(self) -> None: ...

    # writing
    def apply(self, changes: Changes, now: str, *, wait: bool = True) -> list[Document]:
        """Write all of it or nothing; the documents that the drafts became.

        Another writer is waited for, unless told not to: then `BaseLocked` is raised at once.
        """

    def use_model(self, model: Model) -> None:
        """Make this the model whose vectors are stored; refuse when another one's are."""

    # documents
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

        What is forgotten is no part of a chain; a circle has no end.
        """

    def tags(self, condition: Condition) -> list[tuple[str, int]]:
        """Tags and how many documents have them, most used first."""

    # retrieval
    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        """Chunks with any, or all, of the words, best BM25 first."""

    def semantic(self, vector: Vector, condition: Condition, limit: int) -> list[Candidate]:
        """Chunks by cosine similarity over every vector of the active model, best first."""

    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        """Those of the words that no chunk has."""

    def nearest_words(self, word: Word, limit: int) -> list[str]:
        """Words of the base that are spelled most like this one, as they are written there."""

    def newest(self, condition: Condition, limit: int) -> list[Passage]:
        """The first chunk of each of the newest documents."""

    def passages(self, chunks: Collection[int]) -> dict[int, Passage]: ...

    # sessions and relations; what is forgotten is not counted
    def sessions(self, ids: Collection[str]) -> dict[str, Session]: ...

    def recent_sessions(self, project: str | None, page: Page) -> list[Session]:
        """Those of the project, or all, the last started first."""

    def uses_in(self, session: str) -> list[Use]:
        """In the order of time."""

    def latest_uses(self, documents: Collection[str], usage: str | None = None) -> dict[str, Use]:
        """The last use of each of these documents, of any kind or of one."""

    def relations(self, document: str) -> list[Relation]:
        """Those from or to this document, oldest first."""

    def related_counts(self, documents: Collection[str]) -> dict[str, int]:
        """How many relations each of these documents has; those without are left out."""

    # the graph; what is forgotten is no part of it
    def edges(self, condition: Condition) -> list[Edge]:
        """Every link between documents that pass, by the numbers of source and target."""

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> list[Edge]:
        """The links that a walk of at most `depth` hops from these documents can take, in any
        direction, over documents that pass; those it starts from need not."""

    def unresolved(self, document: str) -> list[Link]:
        """The links of a document's text that lead to no document yet; codes are left out."""

    def sharing_tags(
        self, document: str, least: int, condition: Condition
    ) -> list[tuple[str, int]]:
        """Other documents with at least so many of its tags, those with the most first."""

    def link_similar(self, threshold: float) -> int:
        """Bring SIMILAR_TO in step with the vectors; how many documents were looked at.

        Only documents whose vectors changed are compared with all others, unless the threshold
        is another one than before.
        """

    def relink(self) -> None:
        """Forget every link but what was read and said, and find them all again;
        `link_similar` then looks at every document."""

    # files
    def sources(self) -> list[Source]: ...

    def files(self) -> dict[str, FileRecord]: ...

    def problems(self) -> list[FileRecord]:
        """Files that could not be read."""

    # vectors and the whole
    def model(self) -> Model | None: ...

    def vectors(self, hashes: Collection[str]) -> Mapping[str, Vector]:
        """Stored vectors by the hash of what was embedded: the work that need not be done again."""

    def counts(self) -> Counts: ...
