"""The graph of the plain store."""

from collections.abc import Collection

from knowbase.query.conditions import EVERYTHING, Condition
from knowbase.store.plain import links
from knowbase.store.plain.contents import Contents
from knowbase.store.wiring import wired
from knowbase.values.edges import MOST_SIMILAR, Edge, Node, Wiring
from knowbase.values.reading import Link


class PlainGraph(Contents):
    """See `knowbase.store.contract.GraphStore` for what each method promises."""

    def edges(self, condition: Condition) -> list[Edge]:
        allowed = {d.id for d in self._passing(condition) if d.deleted_at is None}
        found = links.resolved(self._state) + self._similar
        seq = {one.id: one.seq for one in self._state.documents.values()}
        kept = [edge for edge in found if allowed.issuperset(edge[:2])]
        return sorted(kept, key=lambda e: (seq[e.source], seq[e.target], e.relation))

    def wiring(self, condition: Condition) -> Wiring:
        passing = [d for d in self._passing(condition) if d.deleted_at is None]
        passing.sort(key=lambda document: document.seq)
        number = {document.id: document.seq for document in passing}
        return wired(
            {d.seq: Node(d.id, d.code, d.title, d.tags) for d in passing},
            [(number[one.source], number[one.target], *one[2:4]) for one in self.edges(condition)],
        )

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> list[Edge]:
        allowed = {d.id for d in self._passing(condition) if d.deleted_at is None}
        starts = {one for one in documents if one in self._state.documents and self._is_alive(one)}
        return links.around(self.edges(EVERYTHING), starts, allowed, depth)

    def unresolved(self, document: str) -> list[Link]:
        return links.unresolved(self._state, document)

    def unresolved_in(self, documents: Collection[str]) -> dict[str, list[Link]]:
        return {one: found for one in documents if (found := self.unresolved(one))}

    def dead_links(self) -> list[tuple[str, int]]:
        numbers: dict[str, int] = {}
        for document, known in self._state.documents.items():
            if known.type == "commit":
                continue
            for target in {link.target for link in self.unresolved(document)}:
                numbers[target] = numbers.get(target, 0) + 1
        return sorted(numbers.items(), key=lambda one: (-one[1], one[0]))

    def sharing_tags(
        self, document: str, least: int, condition: Condition
    ) -> list[tuple[str, int]]:
        own = set(self._state.documents[document].tags) if document in self._state.documents else ()
        others = [d for d in self._passing(condition) if d.id != document and d.deleted_at is None]
        shared = [(d.seq, d.id, len(set(own) & set(d.tags))) for d in others]
        kept = [one for one in shared if one[2] >= least]
        kept.sort(key=lambda one: (-one[2], one[0]))
        return [(identity, number) for _, identity, number in kept]

    def link_similar(self, threshold: float, most: int = MOST_SIMILAR) -> int:
        self._similar = links.similar(self._state, self._model, threshold, most)
        return len(self._state.documents)

    def relink(self) -> None:
        self._similar = []
