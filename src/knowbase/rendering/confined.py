"""Trees of what others wrote, made in a process that can be killed."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from knowbase.errors import TookTooLong
from knowbase.rendering.markdown import Heading, MarkdownTree, Piece, block_of_code
from knowbase.rendering.tree import Node, element, shown
from knowbase.values.visible import one_line

JOB = "knowbase.rendering.confined:tree_for_parent"
SHORT = 2_000  # characters, which are a tree in a moment whatever they say
SECONDS, MEMORY_MB = 10.0, 1024


class Source(NamedTuple):
    """The text of a document, or as much of it as is shown."""

    kind: str  # markdown, code, text or pages
    grammar: str | None
    pieces: tuple[Piece, ...]
    headings: Mapping[str, str] = {}  # of its sections, by their slugs


class Tree(NamedTuple):
    """What is shown of a document, its links not resolved yet."""

    nodes: list[Node]
    outline: tuple[Heading, ...]


def tree_of(source: Source) -> Tree:
    """The tree; plain lines of text when that takes too long or too much."""
    if _is_quick(source):
        return made(source)
    from knowbase.process.child import ChildFailed, Limits, children

    facts = {**source._asdict(), "pieces": [piece._asdict() for piece in source.pieces]}
    try:
        told = children(JOB, Limits(SECONDS, MEMORY_MB)).call(facts)
    except (ChildFailed, TookTooLong):
        return made(source._replace(kind="text"))
    return Tree(told["nodes"], tuple(Heading(*one) for one in told["outline"]))


def _is_quick(source: Source) -> bool:
    texts = [piece.text for piece in source.pieces]
    if sum(map(len, texts)) > SHORT:
        return False
    rows = [line.count("|") for text in texts for line in text.split("\n")]
    return len(rows) * max(rows, default=0) <= SHORT  # a table fills its rows up


def tree_for_parent(facts: Mapping[str, Any], _: bytes) -> dict[str, Any]:
    """What the process does."""
    pieces = tuple(_piece(one) for one in facts["pieces"])
    found = made(Source(facts["kind"], facts["grammar"], pieces, facts["headings"]))
    return {"nodes": found.nodes, "outline": [tuple(one) for one in found.outline]}


def _piece(told: Mapping[str, Any]) -> Piece:
    starts = tuple((int(here), int(line), str(slug)) for here, line, slug in told["starts"])
    return Piece(told["text"], starts, told["slug"], told["heading"])


def made(source: Source) -> Tree:
    """The tree of each piece after the other."""
    if source.kind == "code":
        return _program(source)
    tree = MarkdownTree(tuple(source.headings))
    nodes: list[Node] = []
    for piece in source.pieces:
        found: list[Node] = []
        if piece.heading:
            anchor = tree.anchor(piece.heading, piece.slug)
            heading = Heading(2, one_line(piece.heading), anchor, piece.line(0))
            tree.outline.append(heading)
            found.append(element("h2", [heading.title], id=anchor))
        if source.kind == "markdown":
            found += tree.nodes(piece)
        else:
            found += _paragraphs(piece, tree, source.kind == "pages")
        slug = "" if piece.heading else piece.slug
        kind = "page" if source.kind == "pages" else "section"
        wrapped = bool(piece.slug or piece.heading)
        nodes += [element("div", found, class_=kind, id=slug)] if wrapped else found
    return Tree(nodes, tuple(tree.outline))


def _program(source: Source) -> Tree:
    """All lines of a program in one block; its definitions are the outline."""
    lines: list[Node] = []
    outline: list[Heading] = []
    for piece in source.pieces:
        block = block_of_code(piece.text, source.grammar, piece.line(0))
        found = block["c"][0]["c"]
        for here, line, slug in piece.starts:
            if slug and here < len(found):
                found[here]["a"]["id"] = slug
                title = one_line(source.headings.get(slug, slug))
                outline.append(Heading(2, title, slug, line))
        lines += found
    language = source.grammar.partition(":")[0] if source.grammar else ""
    name = f"code lang-{language.replace('_', '-')}" if language else "code"
    return Tree([element("pre", [element("code", lines)], class_=name)], tuple(outline))


def _paragraphs(piece: Piece, tree: MarkdownTree, is_page: bool) -> list[Node]:
    """A text as it is, in paragraphs; readers write the headings of other formats with #."""
    found: list[Node] = []
    gathered: list[str] = []
    start = 0

    def end() -> None:
        if gathered:
            text = shown("\n".join(gathered))
            found.append(element("p", [text], class_="plain", line=piece.line(start)))
            gathered.clear()

    for here, line in enumerate(piece.text.split("\n")):
        level = 0 if is_page else _level(line)
        if level:
            end()
            title = one_line(line[level:])
            anchor = tree.anchor(title, piece.slug_at(here))
            tree.outline.append(Heading(level, title, anchor, piece.line(here)))
            found.append(element(f"h{level}", [title], id=anchor, line=piece.line(here)))
        elif not line.strip():
            end()
        else:
            start = start if gathered else here
            gathered.append(line)
    end()
    return found


def _level(line: str) -> int:
    level = len(line) - len(line.lstrip("#"))
    return level if 1 <= level <= 6 and line[level : level + 1] == " " and line.strip("# ") else 0


def pieces_of(sections: Sequence[tuple[str, int, str]]) -> tuple[Piece, ...]:
    """Sections (slug, line, text) that follow each other in a file, as one text."""
    starts: list[tuple[int, int, str]] = []
    here = 0
    for slug, line, text in sections:
        starts.append((here, line, "" if slug == "_preamble" else slug))
        here += text.count("\n")
    return (Piece("".join(text for _, _, text in sections), tuple(starts)),) if starts else ()
