"""What a person reads of links, related work, communities and importance."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, counted, safe, states_of

if TYPE_CHECKING:
    from knowbase.graph import Answers, Rebuilt
    from knowbase.graph.clusters import Ranking
    from knowbase.graph.export import Exported
    from knowbase.graph.neighbourhood import Neighbourhood
    from knowbase.graph.related import RelatedAnswer
    from knowbase.graph.walks import DocumentLinks, LinkLine, Path
    from knowbase.values.communities import Communities
    from knowbase.values.documents import Document

WIDE = 60  # characters of a value in a table


def _line(paint: Painter, document: "Document") -> str:
    code = paint("cyan", safe(document.code))
    state = "".join(f" · {state}" for state in states_of(document))
    return f"{code}: {safe(document.title)} ({safe(document.type)}){state}"


def _arrow(line: "LinkLine") -> str:
    from knowbase.values.edges import SYMMETRIC

    if line.relation in SYMMETRIC:
        return "↔"
    return "→" if line.direction == "to" else "←"


def _nowhere(number: int) -> str:
    return f"{number} {'leads' if number == 1 else 'lead'} nowhere"


def render_links(paint: Painter, result: "DocumentLinks") -> Iterable[str]:
    yield _line(paint, result.document)
    for line in result.links:
        weight = f" {line.weight:.2f}" if line.relation == "SIMILAR_TO" else ""
        detail = paint("dim", f" · {safe(line.origin)}{weight}")
        yield f"  {line.relation} {_arrow(line)} {_line(paint, line.document)}{detail}"
    for link in result.unresolved:
        yield f"  {paint('red', 'leads nowhere')}: {safe(link.target)} ({link.kind})"
    yield paint("dim", f"{counted(len(result.links), 'link')}, {_nowhere(len(result.unresolved))}")


def render_related(paint: Painter, result: "RelatedAnswer") -> Iterable[str]:
    for one in result.results:
        why = {
            "tag_overlap": counted(one.shared_tags, "shared tag"),
            "linked": f"linked, {one.proximity:.3f}",
        }.get(one.relation, one.relation)
        yield f"{_line(paint, one.document)}{paint('dim', f' · {why}')}"
    yield paint("dim", f"{len(result.results)} of {result.metadata.total} related")


def render_neighbourhood(paint: Painter, result: "Neighbourhood") -> Iterable[str]:
    codes = {one.id: one.code for one in result.nodes}
    for one in result.nodes:
        more = paint("dim", f" · {one.more} more") if one.more else ""
        code = paint("cyan", safe(one.code))
        yield f"{'  ' * one.depth}{code}: {safe(one.title)} ({safe(one.type)}){more}"
    for link in result.links:
        ends = safe(codes[link.source]), safe(codes[link.target])
        yield f"{ends[0]} {link.relation} {ends[1]}{paint('dim', f' · {link.strength:.2f}')}"
    for dead in result.dead:
        source = safe(codes[dead.source])
        yield f"{source} {paint('red', 'leads nowhere')}: {safe(dead.text)}"
    told = f"{counted(len(result.nodes), 'document')}, {counted(len(result.links), 'link')}"
    nowhere = f", {result.dead_total} lead nowhere" if result.dead_total else ""
    left = f" · {result.left_out} left out" if result.left_out else ""
    yield paint("dim", f"{told}{nowhere}{left}")


def render_path(paint: Painter, result: "Path") -> Iterable[str]:
    yield _line(paint, result.source)
    for step in result.steps:
        yield f"  {step.relation} {_arrow(step)} {_line(paint, step.document)}"
    if not result.found:
        yield f"no links lead from there to {_line(paint, result.target)}"


def render_communities(paint: Painter, result: "Communities") -> Iterable[str]:
    for place, community in enumerate(result.communities, start=1):
        label = paint("bold", safe(community.label))
        yield f"{place}. {label} · {counted(community.size, 'document')}"
        for document in community.central:
            yield f"     {_line(paint, document)}"
    number = len(result.communities)
    groups = f"{number} communit{'y' if number == 1 else 'ies'}"
    alone = counted(result.unlinked, "document")
    yield paint(
        "dim",
        f"{groups} by {result.algorithm},"
        f" modularity {result.modularity:.3f} · {alone} without links",
    )


def render_ranking(paint: Painter, result: "Ranking") -> Iterable[str]:
    for one in result.documents:
        detail = paint("dim", f" · {counted(one.links_to_it, 'link')} to it")
        yield f"{one.score:.5f}  {_line(paint, one.document)}{detail}"
    yield paint("dim", f"{len(result.documents)} of {counted(result.total, 'document')}")


def render_export(paint: Painter, result: "Exported") -> Iterable[str]:
    yield f"{safe(result.path)} ({result.format})"
    yield paint("dim", f"{counted(result.documents, 'document')}, {counted(result.links, 'link')}")


def render_rows(paint: Painter, result: "Answers") -> Iterable[str]:
    import json

    names = list(dict.fromkeys(name for row in result.rows for name in row))
    if names:
        yield paint("bold", safe("  ".join(names)))
    for row in result.rows:
        values = (row.get(name) for name in names)
        texts = [
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for value in values
        ]
        yield "  ".join(safe(text if len(texts) == 1 else text[:WIDE]) for text in texts)
    yield paint("dim", counted(len(result.rows), "row"))


def render_rebuilt(paint: Painter, result: "Rebuilt") -> Iterable[str]:
    for relation, number in result.links.items():
        yield f"{number:8}  {relation}"
    links, documents = sum(result.links.values()), result.documents
    yield paint("dim", f"{counted(links, 'link')} of {counted(documents, 'document')}")
