"""The graph of documents: what belongs to a document, what leads where, what matters.

Links are kept by the store; this asks for them and answers in documents.
"""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, get_args

from knowbase.config import Settings
from knowbase.errors import NotFound
from knowbase.graph.network import LinkedDocuments, Network
from knowbase.query.conditions import EVERYTHING, AnyOf, Compare, Condition, Visible
from knowbase.store.lagging import may_lag
from knowbase.store.linking import link_or_later
from knowbase.values.arguments import checks_arguments, wrong
from knowbase.values.changes import Changes, Codes
from knowbase.values.documents import ALL, Document, Page
from knowbase.values.edges import WEIGHTS, Wiring

if TYPE_CHECKING:
    from knowbase.graph.clusters import Ranking
    from knowbase.graph.export import Exported
    from knowbase.graph.neighbourhood import Neighbourhood, Wanted
    from knowbase.graph.related import RelatedAnswer
    from knowbase.graph.walks import DocumentLinks, Path
    from knowbase.values.communities import Communities

BATCH = 200  # documents that are read again at once


class Rebuilt(NamedTuple):
    """The links that were found anew."""

    documents: int
    links: dict[str, int]  # by relation


class Answers(NamedTuple):
    """What a Cypher query returns."""

    rows: tuple[dict[str, object], ...]


@may_lag("links", "related", "neighbourhood", "path", "communities", "rank", "network", "around")
@checks_arguments
class Graph:
    """The links of a base."""

    def __init__(
        self,
        store: LinkedDocuments,
        whole: Callable[[str], Document],  # the document that a reference names
        clock: Callable[[], str],
        settings: Settings,
        code_pattern: Callable[[], re.Pattern[str]],
    ) -> None:
        self.store = store
        self.whole = whole
        self.clock = clock
        self.settings = settings
        self.code_pattern = code_pattern

    def _bring_in_step(self) -> None:
        """Link what was written since with what is similar to it."""
        link_or_later(self.store, self.settings)

    def links(self, reference: str) -> "DocumentLinks":
        """Each link from or to a document, and what its text names and nothing is called."""
        from knowbase.graph.walks import links_of

        self._bring_in_step()
        return links_of(self.store, self.whole(reference))

    def related(
        self, reference: str, limit: int = 5, depth: int = 2, include: Sequence[str] = ()
    ) -> "RelatedAnswer":
        """Parent, siblings, documents with shared tags, then what links lead to."""
        from knowbase.graph.related import Relatives

        self._bring_in_step()
        document = self.whole(reference)
        return Relatives(self.store, document, self.shown(include)).answer(limit, depth)

    def neighbourhood(self, reference: str, wanted: "Wanted | None" = None) -> "Neighbourhood":
        """What is nearest to a document by its links, as much as can be looked at."""
        from knowbase.graph.neighbourhood import Wanted, neighbourhood

        wanted = wanted or Wanted()
        self._bring_in_step()
        start, shown = self.whole(reference), self.shown(wanted.include)
        return neighbourhood(self.store, start, shown, wanted)

    def path(self, source: str, target: str, include: Sequence[str] = ()) -> "Path":
        """The fewest links that lead from one document to another, in any direction."""
        from knowbase.graph.walks import path_between

        self._bring_in_step()
        start, end = self.whole(source), self.whole(target)
        passing = AnyOf((self.shown(include), Compare("id", "=", end.id)))
        return path_between(self.store, start, end, passing)

    def communities(
        self,
        algorithm: str = "louvain",
        seed: int = 1,
        resolution: float = 1.0,
        relations: Sequence[str] = (),
    ) -> "Communities":
        """Documents that are linked among each other more than with others."""
        return self._communities(self._wiring(relations), algorithm, seed, resolution)

    def communities_among(self, passing: Condition) -> "Communities":
        """S3-13: the communities of the documents that pass, by Louvain."""
        _check_condition(passing)
        return self._communities(self._wiring(passing=passing))

    def _communities(
        self, wiring: Wiring, algorithm: str = "louvain", seed: int = 1, resolution: float = 1.0
    ) -> "Communities":
        from knowbase.graph.clusters import communities
        from knowbase.graph.walks import documents_of

        asked = (algorithm, seed, resolution)
        return communities(wiring, asked, lambda ids: documents_of(self.store, ids))

    def rank(self, top: int = 20, relations: Sequence[str] = ()) -> "Ranking":
        """Documents by PageRank: what is linked from what matters, matters. That two are alike is
        nobody's word for either: such links count only when they are asked for."""
        from knowbase.graph.clusters import ranking
        from knowbase.graph.walks import documents_of

        wiring = self._wiring(relations)
        if not relations:
            wiring = _only(wiring, set(wiring.names) - {"SIMILAR_TO"})
        return ranking(wiring, top, lambda ids: documents_of(self.store, ids))

    def _wiring(self, relations: Sequence[str] = (), passing: Condition | None = None) -> Wiring:
        """Every document that is shown, and every link between them, of these relations or all."""
        self._bring_in_step()
        found = self.store.wiring(passing if passing is not None else self.shown())
        present = set(found.names)
        wanted = _checked({name.upper() for name in relations}, present)
        return _only(found, wanted) if wanted and present - wanted else found

    def network(self, relations: Sequence[str] = (), passing: Condition | None = None) -> Network:
        """Every document that is shown, and every link between them, of these relations or all."""
        if passing is not None:
            _check_condition(passing)
        self._bring_in_step()
        shown = passing if passing is not None else self.shown()
        found = self.store.edges(shown)
        wanted = _checked({name.upper() for name in relations}, {edge.relation for edge in found})
        edges = [edge for edge in found if not wanted or edge.relation in wanted]
        documents = sorted(self.store.documents(shown, ALL), key=lambda document: document.seq)
        known = {document.id for document in documents}
        # Another process may have written between the two.
        kept = (edge for edge in edges if edge.source in known and edge.target in known)
        return Network(tuple(documents), tuple(kept))

    def around(self, reference: str, depth: int, include: Sequence[str] = ()) -> Network:
        """A document, what is within so many links of it, and the links between them."""
        from knowbase.graph.walks import documents_of

        self._bring_in_step()
        start = self.whole(reference)
        edges = self.store.edges_around((start.id,), depth, self.shown(include))
        ids = {end for edge in edges for end in edge[:2]} | {start.id}
        return Network(tuple(documents_of(self.store, ids).values()), tuple(edges))

    def export(
        self,
        path: str,
        format: str | None = None,  # noqa: A002 - what it is called everywhere
        relations: Sequence[str] = (),
    ) -> "Exported":
        """Write the graph to a file: for graphqlite, or as GraphML, JSON or DOT."""
        from knowbase.graph.export import export

        return export(self.network(relations), path, format)

    def query(self, cypher: str) -> Answers:
        """Ask the graph in Cypher; whatever the query writes is forgotten at once."""
        from knowbase.graph.cypher import ask

        limits = self.settings.graph_query_timeout, self.settings.graph_query_memory_mb
        return Answers(tuple(ask(self.network(), cypher, *limits)))

    def show(self, reference: str, depth: int, path: str) -> "Exported":
        """Draw what is around a document."""
        from knowbase.graph.picture import draw

        return draw(self.around(reference, depth), self.whole(reference), path)

    def rebuild(self) -> Rebuilt:
        """Find every link anew from the stored texts, names and vectors."""
        documents = self.store.documents(EVERYTHING, Page(ALL.limit, order="created"))
        for start in range(0, len(documents), BATCH):
            found = tuple(self._codes(one) for one in documents[start : start + BATCH])
            self.store.apply(Changes(codes=found), self.clock())
        self.store.relink()
        self.store.link_similar(self.settings.graph_similarity, self.settings.graph_most_similar)
        counts: dict[str, int] = {}
        for edge in self.store.edges(EVERYTHING):
            counts[edge.relation] = counts.get(edge.relation, 0) + 1
        return Rebuilt(len(documents), dict(sorted(counts.items())))

    def _codes(self, document: Document) -> Codes:
        """The codes that a stored text names, as they were found when it was read."""
        from knowbase.read.links import code_links
        from knowbase.text.sections import sections_of

        sections = sections_of(self.store.chunks(document.id), document.code)
        text = "".join(section.text for section in sections)
        found = code_links(text, self.code_pattern())
        return Codes(document.id, tuple(link.target for link in found))

    def shown(self, include: Sequence[str] = ()) -> Condition:
        """What the lifecycle shows."""
        return Visible(self.clock(), frozenset(include))


def _only(wiring: Wiring, relations: set[str]) -> Wiring:
    """The links of these relations alone."""
    import numpy as np

    kept = np.array([name in relations for name in wiring.names], bool)[wiring.relations]
    return wiring._replace(
        sources=wiring.sources[kept],
        targets=wiring.targets[kept],
        relations=wiring.relations[kept],
        weights=wiring.weights[kept],
    )


def _check_condition(given: Condition) -> None:
    if not isinstance(given, get_args(Condition)):
        raise wrong("passing", given, "a condition")


def _checked(wanted: set[str], present: set[str]) -> set[str]:
    """The relations that are asked for; one that there is not is a mistake."""
    known = {*WEIGHTS, *present}
    for name in sorted(wanted - known):
        told = ", ".join(sorted(known))
        raise NotFound(
            f"there are no links {name!r} here", field="relations", hint=f"one of {told}"
        )
    return wanted
