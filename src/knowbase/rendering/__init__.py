"""A document as it is read: headings, links that lead somewhere, code with its lines, and the
passages that a query finds in it."""

from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.query.conditions import FORGOTTEN, Not
from knowbase.rendering.confined import Source, pieces_of, tree_of
from knowbase.rendering.links import Names, front_matter, has_names, resolve
from knowbase.rendering.markdown import Heading, Piece
from knowbase.rendering.marking import Passages, mark
from knowbase.rendering.parts import Start, lines_of, part_of, slug_of
from knowbase.values.documents import FIELDS, Document

if TYPE_CHECKING:
    from knowbase.graph.network import LinkedDocuments
    from knowbase.text.sections import SectionText

LONGEST = 200_000  # characters that are shown at once
LONGEST_CODE = 100_000
MOST_TARGETS = 10_000  # documents that the links of one are looked for among
_MARKDOWN_READERS = ("markdown:read_markdown_file", "canvas:read_canvas")
_SHOWN_ABOVE = ("code", "title", "type", "created_at", "updated_at")


class Rendered(NamedTuple):
    """A document as it is read; see rendering/tree.py for what a node is."""

    id: str
    code: str
    title: str
    type: str
    path: str | None
    kind: str  # markdown, code, text or pages
    language: str | None  # of code
    front_matter: tuple[tuple[str, str], ...]
    outline: tuple[Heading, ...]
    tree: tuple[Any, ...]
    marks: int  # passages that the query finds: p1, p2 …
    first_line: int
    next_line: int | None  # where it goes on, if not all of it is shown
    total_lines: int
    truncated: bool
    when: str | None = None  # the moment that it is shown at; None: as it is


def render(
    store: "LinkedDocuments",
    document: Document,
    sections: "tuple[SectionText, ...]",
    passages: Passages,
    start: Start,
) -> Rendered:
    """As much of a document as can be read at once."""
    kind, grammar = _kind_of(document, sections)
    headings = {slug_of(one): one.heading or "" for one in sections}
    part = part_of(sections, start, LONGEST_CODE if kind == "code" else LONGEST)
    tree = tree_of(Source(kind, grammar, _pieces(document, kind, part.sections), headings))
    nodes = tree.nodes
    if has_names(nodes):
        resolve(nodes, Names(document, _targets(store, document)))
    return Rendered(
        id=document.id,
        code=document.code,
        title=document.title,
        type=document.type,
        path=document.path,
        kind=kind,
        language=grammar.partition(":")[0] if grammar else None,
        front_matter=front_matter(_said(document)),
        outline=tree.outline,
        marks=mark(nodes, passages),
        tree=tuple(nodes),
        first_line=part.first,
        next_line=part.following,
        total_lines=lines_of(sections),
        truncated=not part.is_whole,
    )


def _kind_of(document: Document, sections: "tuple[SectionText, ...]") -> tuple[str, str | None]:
    from knowbase.read.code import grammar_of
    from knowbase.read.formats import CODE, format_of

    if any(one.page is not None for one in sections):
        return "pages", None
    found = format_of(document.path) if document.path else None
    if document.type == "code" or found is CODE:
        name = (document.path or "").rpartition("/")[2]
        text = sections[0].text if sections else ""
        return "code", grammar_of(name.rpartition(".")[2].lower(), text)
    is_markdown = found is None or found.reader in _MARKDOWN_READERS or document.type == "notebook"
    return ("markdown" if is_markdown else "text"), None


def _pieces(
    document: Document, kind: str, sections: "tuple[SectionText, ...]"
) -> tuple[Piece, ...]:
    """Sections that are one text in their file as one, others one by one."""
    told = [(slug_of(one), one.line, one.text) for one in sections]
    if kind == "code" or (kind == "markdown" and document.type != "notebook"):
        return pieces_of(told)
    return tuple(
        Piece(
            text,
            ((0, line, ""),),
            slug,
            (section.heading or "") if kind == "pages" else "",
        )
        for (slug, line, text), section in zip(told, sections, strict=True)
    )


def _said(document: Document) -> dict[str, object]:
    """What its front matter and commands say of it, beside what stands in every heading."""
    defaults = Document._field_defaults
    stated = {
        name: getattr(document, name)
        for name, field in FIELDS.items()
        if field.keys and name not in _SHOWN_ABOVE
    }
    told = {name: value for name, value in stated.items() if value not in (defaults.get(name), ())}
    return {**told, **document.metadata}


def _targets(store: "LinkedDocuments", document: Document) -> list[Document]:
    from knowbase.graph.walks import documents_of

    edges = store.edges_around((document.id,), 1, Not(FORGOTTEN))
    ids = dict.fromkeys(edge.target for edge in edges if edge.source == document.id)
    ids |= dict.fromkeys(edge.source for edge in edges if edge.relation == "PARENT_OF")
    found = documents_of(store, list(ids)[:MOST_TARGETS])
    return [*found.values(), document]
