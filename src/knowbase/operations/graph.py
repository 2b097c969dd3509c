"""Operations on the graph of documents: links, related work, communities, importance."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import NoParameters, Operation, as_it_was
from knowbase.search.request import AS_OF, INCLUDE, TAGS, TYPE
from knowbase.values.edges import WEIGHTS
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.graph import Answers, Rebuilt
    from knowbase.graph.clusters import Ranking
    from knowbase.graph.export import Exported
    from knowbase.graph.neighbourhood import Neighbourhood
    from knowbase.graph.related import RelatedAnswer
    from knowbase.graph.walks import DocumentLinks, Path
    from knowbase.values.communities import Communities

REFERENCE = Param("a code, id, number or path", positional=True, single=True, metavar="DOCUMENT")
RELATIONS = Param(
    f"only these links: {', '.join(WEIGHTS)}, or what texts call theirs",
    metavar="RELATION,RELATION",
)
FORMATS = ("graphqlite", "graphml", "json", "dot")


class Links(NamedTuple):
    reference: Annotated[str, REFERENCE]
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def links(base: "Base", request: Links) -> "DocumentLinks":
    return base.graph.links(request.reference)


class RelatedRequest(NamedTuple):
    reference: Annotated[str, REFERENCE]
    limit: Annotated[int, Param("how many", least=1, most=20, metavar="N", short="n")] = 5
    depth: Annotated[
        int, Param("how many links far; 0: family and tags alone", least=0, most=6, metavar="N")
    ] = 2
    include: Annotated[tuple[str, ...], INCLUDE] = ()
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def related(base: "Base", request: RelatedRequest) -> "RelatedAnswer":
    return base.graph.related(*request[:-1])


class NeighbourhoodRequest(NamedTuple):
    reference: Annotated[str, REFERENCE]
    depth: Annotated[int, Param("how many links far", least=1, most=3, metavar="N")] = 1
    limit: Annotated[
        int, Param("how many documents, the nearest", least=1, most=500, metavar="N", short="n")
    ] = 60
    relations: Annotated[tuple[str, ...], RELATIONS] = ()
    type: Annotated[tuple[str, ...], TYPE] = ()
    tags: Annotated[tuple[str, ...], TAGS] = ()
    strength: Annotated[float, Param("leave out weaker links", least=0, most=1)] = 0.0
    include: Annotated[tuple[str, ...], INCLUDE] = ()
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def neighbourhood(base: "Base", request: NeighbourhoodRequest) -> "Neighbourhood":
    from knowbase.graph.neighbourhood import Wanted

    base.check_types(request.type)
    return base.graph.neighbourhood(request.reference, Wanted(*request[1:-1]))


class PathRequest(NamedTuple):
    source: Annotated[str, REFERENCE._replace(metavar="FROM")]
    target: Annotated[str, REFERENCE._replace(metavar="TO")]
    include: Annotated[tuple[str, ...], INCLUDE] = ()
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def path(base: "Base", request: PathRequest) -> "Path":
    return base.graph.path(*request[:-1])


class CommunitiesRequest(NamedTuple):
    algorithm: Annotated[str, Param("how they are found", choices=("louvain", "leiden"))] = (
        "louvain"
    )
    seed: Annotated[int, Param("the same seed, the same answer", least=0, metavar="N")] = 1
    resolution: Annotated[
        float, Param("higher makes more and smaller ones", least=0.01, most=100)
    ] = 1.0
    relations: Annotated[tuple[str, ...], RELATIONS] = ()
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def communities(base: "Base", request: CommunitiesRequest) -> "Communities":
    return base.graph.communities(*request[:-1])


class RankRequest(NamedTuple):
    top: Annotated[int, Param("how many", least=1, most=10_000, metavar="N", short="n")] = 20
    relations: Annotated[tuple[str, ...], RELATIONS] = ()
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def rank(base: "Base", request: RankRequest) -> "Ranking":
    return base.graph.rank(*request[:-1])


class ExportRequest(NamedTuple):
    path: Annotated[str, Param("the file to write", positional=True, single=True, metavar="FILE")]
    format: Annotated[str | None, Param("else what the file's name ends in", choices=FORMATS)] = (
        None
    )
    relations: Annotated[tuple[str, ...], RELATIONS] = ()


def export(base: "Base", request: ExportRequest) -> "Exported":
    return base.graph.export(*request)


class CypherRequest(NamedTuple):
    query: Annotated[str, Param("a query in Cypher", positional=True)]


def ask(base: "Base", request: CypherRequest) -> "Answers":
    return base.graph.query(request.query)


class ShowRequest(NamedTuple):
    reference: Annotated[str, REFERENCE]
    output: Annotated[
        str, Param("the picture to write, such as graph.svg", metavar="FILE", short="o")
    ]
    depth: Annotated[int, Param("how many links far", least=1, most=6, metavar="N")] = 2


def show(base: "Base", request: ShowRequest) -> "Exported":
    return base.graph.show(request.reference, request.depth, request.output)


def rebuild(base: "Base", _: NoParameters) -> "Rebuilt":
    return base.graph.rebuild()


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "links",
            "Show the links from and to a document, and those that lead nowhere",
            Links,
            links,
            examples=("kb links PROJ-I-0018",),
        ),
        Operation(
            "related",
            "Show related work: parent, siblings, shared tags, then what links lead to",
            RelatedRequest,
            related,
            examples=("kb related PROJ-I-0018 --limit 5", "kb related notes/a.md --depth 0"),
        ),
        Operation(
            "neighbourhood",
            "Show what is nearest to a document by its links, and the links between",
            NeighbourhoodRequest,
            neighbourhood,
            examples=("kb neighbourhood KB-7 --depth 2", "kb neighbourhood KB-7 --json"),
        ),
        Operation(
            "path",
            "Show the fewest links that lead from one document to another",
            PathRequest,
            path,
            examples=("kb path PROJ-I-0018 KB-7",),
        ),
        Operation(
            "communities",
            "Show which documents belong together by their links",
            CommunitiesRequest,
            communities,
            examples=("kb communities", "kb communities --algorithm leiden --seed 7 --json"),
        ),
        Operation(
            "rank",
            "Show the most important documents by their links (PageRank)",
            RankRequest,
            rank,
            examples=("kb rank --top 20", "kb rank --relations REFERENCES"),
        ),
        Operation(
            "graph export",
            "Write the graph to a file for graphqlite, or as GraphML, JSON or DOT",
            ExportRequest,
            export,
            local=True,
            examples=("kb graph export graph.db", "kb graph export graph.graphml"),
        ),
        Operation(
            "graph query",
            "Ask the graph in Cypher",
            CypherRequest,
            ask,
            switch="serve_cypher",
            examples=(
                'kb graph query \'MATCH (d:Document {code: "KB-7"})-[*1..2]-(r)'
                " RETURN DISTINCT r.code'",
            ),
        ),
        Operation(
            "graph show",
            "Draw what is around a document as a picture (SVG)",
            ShowRequest,
            show,
            local=True,
            examples=("kb graph show PROJ-I-0018 --depth 2 -o graph.svg",),
        ),
        Operation(
            "graph rebuild",
            "Find every link anew from what is stored",
            NoParameters,
            rebuild,
            writes=True,
            whole=True,
            examples=("kb graph rebuild",),
        ),
    )
}
