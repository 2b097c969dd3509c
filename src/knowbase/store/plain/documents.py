"""Reading documents in the plain store, and counting what they have."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable

from knowbase.query.conditions import EVERYTHING, FORGOTTEN, Condition, Not, both
from knowbase.store.plain.contents import Contents
from knowbase.store.seals import OF_USE
from knowbase.values.characters import clean
from knowbase.values.documents import Counts, Document, Page, Passage


class PlainDocuments(Contents):
    """The reading of `knowbase.store.contract.DocumentStore`."""

    def find(self, reference: str) -> Document | None:
        documents, reference = self._state.documents.values(), clean(reference)
        by_id = [d for d in documents if d.id == reference]
        by_code = [d for d in documents if d.code.lower() == reference.lower()]
        by_path = [d for d in documents if d.path == reference]
        by_seq = [d for d in documents if str(d.seq) == reference]
        return next(iter([*by_id, *by_code, *by_path, *by_seq]), None)

    def documents(self, condition: Condition, page: Page) -> list[Document]:
        found = self._passing(condition)
        if page.order != "newest":
            clock = "expires_at" if page.order == "expires" else "created_at"
            backwards = page.order == "created last"
            found.sort(key=lambda d: (getattr(d, clock), d.seq), reverse=backwards)
        return found[page.offset : page.offset + page.limit]

    def count(self, condition: Condition) -> int:
        return len(self._passing(condition))

    def chunks(self, document: str) -> list[Passage]:
        found = [
            (s.position, key) for key, s in self._state.chunks.items() if s.document == document
        ]
        return [self._passage(key) for _, key in sorted(found)]

    def codes(self) -> list[str]:
        kept = [d for d in self._state.documents.values() if d.deleted_at is None]
        return [d.code for d in sorted(kept, key=lambda d: d.seq)]

    def openings(self, documents: Collection[str]) -> dict[str, str]:
        known = [one for one in documents if one in self._state.documents]
        first = {one: self.chunks(one)[:1] for one in known}
        return {one: "".join(passage.chunk.text for passage in first[one]) for one in known}

    def heads(self, documents: Collection[str]) -> dict[str, Document]:
        found = {}
        for start in documents:
            seen, last = {start}, self._state.documents.get(start)
            following = last and self._next(last)
            while following is not None and following.id not in seen:
                seen.add(following.id)
                last, following = following, self._next(following)
            ended = last is not None and following is None and last.id != start
            if last is not None and ended and last.deleted_at is None:
                found[start] = last
        return found

    def _next(self, document: Document) -> Document | None:
        name = document.superseded_by
        known = [d for d in self._state.documents.values() if name]
        by_id = [d for d in known if d.id == name]
        by_code = [d for d in known if d.code.lower() == (name or "").lower()]
        by_path = [d for d in known if d.path == name]
        return next(iter([*by_id, *by_code, *by_path]), None)

    def tags(self, condition: Condition) -> list[tuple[str, int]]:
        return _counted(tag for d in self._passing(condition) for tag in d.tags)

    def projects(self, condition: Condition) -> list[tuple[str, int]]:
        return _counted(d.project for d in self._passing(condition) if d.project is not None)

    def meta_keys(self, condition: Condition) -> list[tuple[str, int]]:
        return _counted(key for d in self._passing(condition) for key in d.metadata)

    def heaviest(self, condition: Condition, limit: int) -> list[tuple[str, int]]:
        passing = {document.id: document.seq for document in self._passing(condition)}
        number = Counter(one.document for one in self._state.chunks.values())
        found = [(one, count) for one, count in number.items() if one in passing]
        return sorted(found, key=lambda pair: (-pair[1], passing[pair[0]]))[:limit]

    def counts(self, condition: Condition = EVERYTHING) -> Counts:
        chunks, embedded = self._covered(condition)
        shown = self._passing(both(Not(FORGOTTEN), condition))
        return Counts(
            documents=len(shown),
            chunks=chunks,
            embedded=embedded,
            tags=len(self.tags(both(Not(FORGOTTEN), condition))),
            types=Counter(document.type for document in shown),
            forgotten=self.count(both(FORGOTTEN, condition)),
        )

    def generation(self) -> Hashable:
        return self.digest(), self.counts().embedded

    def digest(self, condition: Condition = EVERYTHING) -> str:
        from hashlib import sha256

        nothing = {name: Document._field_defaults[name] for name in OF_USE}
        passing = sorted(self._passing(condition), key=lambda one: one.seq)
        told = [
            (one._replace(**nothing), [passage.chunk for passage in self.chunks(one.id)])
            for one in passing
        ]
        return sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()

    def semantic_coverage(self, condition: Condition = EVERYTHING) -> float:
        chunks, embedded = self._covered(condition)
        return embedded / chunks if chunks else 1.0

    def _covered(self, condition: Condition) -> tuple[int, int]:
        """How many chunks pass, and how many of them have a vector of the active model."""
        passing = {document.id for document in self._passing(condition)}
        chunks = {key for key, one in self._state.chunks.items() if one.document in passing}
        return len(chunks), len(chunks & self._vectors(self._model).keys())


def _counted(names: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0]))
