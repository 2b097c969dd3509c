"""Where in a tree the passages are that a query finds, and the words in them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from knowbase.rendering.tree import Node, blocks_in, element
from knowbase.text.analysis import Word
from knowbase.text.snippets import matches_in, snippet
from knowbase.values.documents import Chunk

MOST_MARKS = 2_000  # words
MOST_PASSAGES = 20


class Passages(NamedTuple):
    """Chunks that were found, the best first, and the words that were looked for."""

    chunks: tuple[Chunk, ...] = ()
    words: tuple[Word, ...] = ()


def mark(nodes: list[Node], passages: Passages) -> int:
    """Mark them in the tree: the block of each with its id p1, p2 …, and the words within. How
    many have been."""
    by_slug = {
        node["a"]["id"]: node
        for top in nodes
        for node in _with_ids(top)
        if node["a"].get("class") in ("section", "page")
    }
    everything = list(blocks_in(nodes))
    left = MOST_MARKS
    number = 0
    for chunk in passages.chunks:
        own = by_slug.get(chunk.slug)
        blocks = list(blocks_in([own])) if own is not None else everything
        best = chunk.line + snippet(chunk.text, passages.words).line
        at = _block_at(blocks, best)
        if at is None:
            continue
        number += _name(at, f"p{number + 1}")
        end = chunk.line + chunk.text.count("\n")
        for block in blocks:
            if left > 0 and (block is at or chunk.line <= int(block["a"]["data-line"]) <= end):
                left -= _mark_words(block, passages.words, left)
    return number


def _with_ids(node: Node) -> list[dict[str, Any]]:
    if isinstance(node, str):
        return []
    inner = [one for one in node["c"] if isinstance(one, dict)]
    return [one for one in (node, *inner) if "id" in one["a"]]


def _block_at(blocks: Sequence[dict[str, Any]], line: int) -> dict[str, Any] | None:
    """The last block that begins at this line or before it; else the first."""
    before = [one for one in blocks if int(one["a"]["data-line"]) <= line]
    return before[-1] if before else (blocks[0] if blocks else None)


def _name(block: dict[str, Any], name: str) -> bool:
    """Whether it was none before. A heading or a line keeps its own id: then the passage is what
    stands in it."""
    if "passage" in block["a"].get("class", "").split():
        return False
    block["a"]["class"] = f"{block['a'].get('class', '')} passage".strip()
    if "id" in block["a"]:
        block["c"] = [element("span", block["c"], id=name)]
    else:
        block["a"]["id"] = name
    return True


def _mark_words(block: dict[str, Any], words: Sequence[Word], most: int) -> int:
    """The words of a query as `mark`; how many."""
    number = 0
    waiting = [block]
    while waiting:
        node = waiting.pop()
        if node["e"] == "mark":
            continue
        children: list[Node] = []
        for child in node["c"]:
            if isinstance(child, str) and number < most:
                found = _marked(child, words)
                number += sum(isinstance(one, dict) for one in found)
                children += found
            else:
                children.append(child)
                if isinstance(child, dict):
                    waiting.append(child)
        node["c"] = children
    return number


def _marked(text: str, words: Sequence[Word]) -> list[Node]:
    if not text.strip():
        return [text]
    parts: list[Node] = []
    at = 0
    for token in matches_in(text, words):
        parts += [text[at : token.start], element("mark", [text[token.start : token.end]])]
        at = token.end
    return [part for part in (*parts, text[at:]) if part != ""]
